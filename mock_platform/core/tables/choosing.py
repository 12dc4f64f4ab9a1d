"""What the caller says of records to be made, and to which records each of them refers.

What the caller left open is chosen so that all agree: a line item is in the account of its
campaign.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count as numbers
from itertools import islice
from math import ceil, gcd, prod
from typing import Any

from msgspec import Struct
from msgspec import field as default

from mock_platform.core.errors import MAX_FAULTS, BadRecord, RecordFault, did_you_mean
from mock_platform.core.tables.drawing import Draft
from mock_platform.core.tables.known import KnownRecords, refuse
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import EARLIEST, parse_relative, read_seconds
from mock_platform.world.store.interface import Record

SPREAD = "spread"
"""The name of what is no field: over how long a time the records are spread, until now."""
_MAX_SPREAD_SECONDS = 20 * 365 * 86400.0
_MAX_NEAR = 1000
_USERS = "users"


class WantedRecords(Struct):
    """What the caller said of the records of a table, by stored field."""

    values: Record = default(default_factory=dict)
    keys: dict[str, list[str]] = default(default_factory=dict)
    """The keys that a reference takes in turn."""
    parents: dict[str, WantedRecords] = default(default_factory=dict)
    """What the caller said of the record that is made for a reference."""
    names: dict[str, str] = default(default_factory=dict)
    """How the caller called a field."""
    spread: float = 0.0


class Chooser:
    """Reads what the caller says, and chooses the targets of references.

    `make` makes records of a table at some moments, and returns their keys.
    """

    def __init__(
        self,
        known: KnownRecords,
        make: Callable[[Table, WantedRecords, Sequence[datetime]], list[str]],
    ) -> None:
        self._known = known
        self._make = make
        self._tables = known.tables

    def read(
        self, table: Table, fields: Record, more: tuple[str, ...] = (), at: str = ""
    ) -> WantedRecords:
        """Return what the caller said; `more` names what is no field, `at` is where that was."""
        if not isinstance(fields, dict):
            raise refuse(table, at or "fields", f"the fields are an object, got {fields!r}")
        wanted, faults = WantedRecords(), list[RecordFault]()
        for given, value in fields.items():
            try:
                if given in more:
                    wanted.spread = self._read_spread(table, value)
                else:
                    self._read_field(table, wanted, given, f"{at}{given}", value)
            except BadRecord as fault:
                faults += fault.faults
                if len(faults) >= MAX_FAULTS:
                    break
        if faults:
            raise BadRecord(faults)
        return wanted

    def _read_field(
        self, table: Table, wanted: WantedRecords, given: str, name: str, value: Any
    ) -> None:
        field = _find_field(table, given)
        if field is None:
            known = [*(_shorten(each.field) for each in table.references), *table.fields]
            known += [SPREAD] if given == name else []
            hint = did_you_mean(given, known)
            text = f"{name!r} is no field of {table.name}.{hint} Its fields: {', '.join(known)}"
            raise refuse(table, name, text)
        if field in wanted.names:
            text = f"{wanted.names[field]} and {name} are the same field, {field}; give one"
            raise refuse(table, name, text)
        wanted.names[field] = name
        reference = next((each for each in table.references if each.field == field), None)
        if reference is None or value is None or table.is_list(field):
            instant = table.instants.get(field)
            since = parse_relative(value) if instant and isinstance(value, str) else None
            if instant is not None and since is not None:
                value = instant.form(self._known.now + since)
            wanted.values[field], faults = table.read_value(field, value)
            if faults:
                raise BadRecord([name_fault(table, wanted, *each) for each in faults])
        elif isinstance(value, dict) and not self._is_record(reference, value):
            parent = self._tables[reference.table]
            wanted.parents[field] = self.read(parent, value, at=f"{name}.")
        else:
            wanted.keys[field] = self._read_keys(table, reference, name, value)

    def _read_spread(self, table: Table, value: Any) -> float:
        if not table.instants:
            raise refuse(table, SPREAD, f"{table.name} has no times to spread; leave spread out")
        try:
            seconds = -1.0 if isinstance(value, bool) else float(read_seconds(value))
        except (ValueError, TypeError):
            seconds = -1.0
        room = (self._known.now - EARLIEST).total_seconds()
        if not 0 <= seconds <= min(_MAX_SPREAD_SECONDS, room):
            text = (
                "spread is how long ago the oldest record was created: 30d, 12h, 1h30m or a number "
                f"of seconds, up to 20 years and not before 1970; got {value!r}"
            )
            raise refuse(table, SPREAD, text)
        return seconds

    def _is_record(self, reference: Reference, value: Record) -> bool:
        """Whether an object is a record that exists, as `state` returns it."""
        key = self._tables[reference.table].key_of(value)
        return key is not None and self._known.find(reference, key) is not None

    def _read_keys(self, table: Table, reference: Reference, given: str, value: Any) -> list[str]:
        parent, found = self._tables[reference.table], []
        for each in value if isinstance(value, list) else [value]:
            key = parent.key_of(each) if isinstance(each, dict) else each
            if isinstance(key, int) and not isinstance(key, bool):
                key = str(key)
            if not isinstance(key, str) or self._known.find(reference, key) is None:
                near = [str(record[parent.key]) for record in self._known.list_usable(parent.name)]
                hint = did_you_mean(str(key), near[:_MAX_NEAR])
                text = (
                    f"{given} refers to {each!r}, which is not in {' or '.join(reference.tables)}."
                    f"{hint} Give a key, a list of keys that are taken in turn, or an object: the "
                    "fields of a record that is made for it"
                )
                raise refuse(table, given, text)
            found.append(key)
        if not found:
            raise refuse(table, given, f"{given} is an empty list; name a key, or leave it out")
        return found

    def choose(
        self, table: Table, wanted: WantedRecords, moments: Sequence[datetime]
    ) -> dict[str, list[str]]:
        """Return the keys that each reference leads to, one for each record."""
        # First what the caller named, then the account, then the deepest references: what they lead
        # to decides the others, as a line item is paid by the funding instrument of its campaign.
        once = table.once or tuple(r.field for r in table.references if r.field == table.key)
        chosen = self._choose_distinct(table, once, wanted, moments) if once else {}
        for field, keys in wanted.keys.items():
            if field not in chosen:
                chosen[field] = [keys[index % len(keys)] for index in range(len(moments))]
        for reference in table.references:
            of_parent = wanted.parents.get(reference.field)
            if of_parent is None or reference.field in chosen:
                continue
            for own, theirs in self._list_shared(table, reference):
                if own in chosen and theirs not in of_parent.names:
                    of_parent.keys[theirs] = chosen[own][:1]
            chosen[reference.field] = self._make_parents(reference, of_parent, moments[:1]) * len(
                moments
            )
        for reference in sorted(table.references, key=self._rank, reverse=True):
            field = reference.field
            drawn = table.draw is not None and table.is_list(field)
            if field in table.needed_fields and not (
                drawn or field in chosen or field in wanted.values
            ):
                chosen[field] = self._choose(table, reference, chosen, moments)
        self._check_agreement(table, wanted, chosen)
        return chosen

    def _choose(
        self,
        table: Table,
        reference: Reference,
        chosen: Mapping[str, list[str]],
        moments: Sequence[datetime],
    ) -> list[str]:
        """Return keys for a reference that the caller left open."""
        for other in table.references:
            for own, theirs in self._list_shared(table, other) if other.field in chosen else ():
                if own == reference.field:
                    found = [
                        (self._known.find(other, key) or {}).get(theirs)
                        for key in chosen[other.field]
                    ]
                    if all(found):
                        return [str(key) for key in found]
        shared = [pair for pair in self._list_shared(table, reference) if pair[0] in chosen]
        groups: dict[tuple[str, ...], list[int]] = {}
        for index in range(len(moments)):
            known = tuple(chosen[own][index] for own, _ in shared)
            groups.setdefault(known, []).append(index)
        parent, keys = self._tables[reference.table], [""] * len(moments)
        draft = Draft(self._known, table, reference.field, moments[0])
        for known, members in groups.items():
            same = {theirs: key for (_, theirs), key in zip(shared, known, strict=True)}
            wanted = WantedRecords({}, {field: [key] for field, key in same.items()}, {}, {})
            if reference.share is not None:
                heads = [moments[index] for index in members[:: reference.share]]
                made = self._make_parents(reference, wanted, heads)
                for place, index in enumerate(members):
                    keys[index] = made[place // reference.share]
                continue
            pool = [
                str(record[parent.key])
                for record in self._known.list_usable(parent.name)
                if all(record.get(field) == key for field, key in same.items())
            ] or self._make_parents(reference, wanted, moments[:1])
            for index in members:
                keys[index] = pool[0] if parent.is_scope else draft.pick(pool)
        return keys

    def _make_parents(
        self, reference: Reference, wanted: WantedRecords, moments: Sequence[datetime]
    ) -> list[str]:
        """Make records that a reference leads to, each some hours before one of the moments."""
        parent = self._tables[reference.table]
        draft = Draft(self._known, parent, "before", moments[0])
        before = [moment - timedelta(minutes=draft.draw_between(60, 2880)) for moment in moments]
        return self._make(parent, wanted, before)

    def _choose_distinct(
        self,
        table: Table,
        once: tuple[str, ...],
        wanted: WantedRecords,
        moments: Sequence[datetime],
    ) -> dict[str, list[str]]:
        """Return keys of references whose combination no two records have: pairs of a relation."""
        references = [each for field in once for each in table.references if each.field == field]
        # Records of a user in an account are of the first account, but every account has settings.
        scopes = {r.field for r in references if len(once) > 1 and self._tables[r.table].is_scope}
        pools = [self._list_pool(each, wanted, moments, scopes) for each in references]
        pair = len(references) == 2 and references[0].table == references[1].table
        taken = {
            tuple(record.get(field) for field in once)
            for record in self._known.list_all(table.name)
        }
        growing = sorted(
            (each for each in references if each.field not in {*wanted.names, *scopes}),
            key=self._find_depth,
        )
        while (free := _count_free(pools, taken, pair=pair)) < len(moments):
            if not growing:
                names = " and ".join(wanted.names.get(field, field) for field in once)
                text = (
                    f"each combination of {names} is there once, and {free:,} more are possible "
                    f"with these, not {len(moments):,}; name more keys, or leave one out"
                )
                raise refuse(table, wanted.names.get(once[-1], once[-1]), text)
            place = references.index(growing[0])
            others = prod(len(pool) for each, pool in enumerate(pools) if each != place)
            missing = ceil((len(moments) - free) / max(1, others))
            made = self._make_parents(growing[0], WantedRecords(), [moments[0]] * missing)
            for each in growing:
                if each.table == growing[0].table:
                    pools[references.index(each)] += made
        walk = _walk(pools, Draft(self._known, table, "pairs", moments[0]))
        free_keys = (
            keys for keys in walk if keys not in taken and not (pair and keys[0] == keys[1])
        )
        found = list(islice(free_keys, len(moments)))
        return {field: [keys[place] for keys in found] for place, field in enumerate(once)}

    def _list_pool(
        self,
        reference: Reference,
        wanted: WantedRecords,
        moments: Sequence[datetime],
        scopes: Collection[str],
    ) -> list[str]:
        """Return the keys that a reference of a pair may lead to."""
        field, parent = reference.field, self._tables[reference.table]
        if field in wanted.parents:
            return self._make_parents(reference, wanted.parents[field], moments[:1])
        if field in wanted.keys:
            return list(dict.fromkeys(wanted.keys[field]))
        usable = [str(record[parent.key]) for record in self._known.list_usable(parent.name)]
        return usable[:1] if field in scopes else usable

    def _check_agreement(
        self, table: Table, wanted: WantedRecords, chosen: Mapping[str, list[str]]
    ) -> None:
        """Refuse references of the caller that contradict each other.

        Raises:
            BadRecord: A record would be in one account, and its campaign in another.
        """
        for reference in table.references:
            for own, theirs in self._list_shared(table, reference):
                if not {own, reference.field} <= wanted.names.keys() & chosen.keys():
                    continue
                for key, mine in dict.fromkeys(
                    zip(chosen[reference.field], chosen[own], strict=True)
                ):
                    other = (self._known.find(reference, key) or {}).get(theirs)
                    if other not in {None, mine}:
                        name = wanted.names[reference.field]
                        text = f"{reference.table}/{key} has {theirs} {other}, and {own} is {mine}"
                        raise refuse(table, name, f"{name}: {text}; name those that go together")

    def _list_shared(self, table: Table, reference: Reference) -> list[tuple[str, str]]:
        """Return the references that a record and what it refers to have both: (own, theirs)."""
        parent = self._tables[reference.table]
        return [
            (own.field, theirs.field)
            for own in table.references
            for theirs in parent.references
            if own is not reference
            and own.table == theirs.table != _USERS
            and own.field.lstrip("_") == theirs.field.lstrip("_")
        ]

    def _rank(self, reference: Reference) -> tuple[bool, int]:
        return self._tables[reference.table].is_scope, self._find_depth(reference)

    def _find_depth(self, reference: Reference) -> int:
        """Return how many records lead from a reference to one that needs no other."""
        parent = self._tables[reference.table]
        needed = [each for each in parent.references if each.field in parent.needed_fields]
        return 1 + max(map(self._find_depth, needed), default=0)


def _find_field(table: Table, given: str) -> str | None:
    """Return the stored field that a caller means: `campaign` is `campaign_id`."""
    if given in table.fields:
        return given
    short = {_shorten(each.field): each.field for each in reversed(table.references)}
    if given in short:
        return short[given]
    if f"_{given}" in table.fields:
        return f"_{given}"
    return next((name for name in table.from_public({given: ""}) if name in table.fields), None)


def _shorten(field: str) -> str:
    """Return the name of a reference without what makes it one."""
    return field.strip("_").removesuffix("_id").removesuffix("_key")


def name_fault(table: Table, wanted: WantedRecords, field: str, text: str) -> RecordFault:
    """Return a fault of a record, at the field as the caller called it."""
    first, dot, rest = field.partition(".")
    return RecordFault(table.name, "", wanted.names.get(first, first) + dot + rest, text)


def _count_free(pools: list[list[str]], taken: Collection[tuple[Any, ...]], *, pair: bool) -> int:
    """Return how many combinations of these keys no record has."""
    sets = [set(pool) for pool in pools]
    used = sum(all(key in known for key, known in zip(keys, sets, strict=True)) for keys in taken)
    selves = len(sets[0] & sets[1]) if pair else 0
    return prod(map(len, sets)) - used - selves


def _walk(pools: Sequence[Sequence[str]], draft: Draft) -> Iterator[tuple[str, ...]]:
    """Yield each combination of one key of each pool once, in an order that looks random."""
    total = prod(len(pool) for pool in pools)
    step = next(
        step for step in numbers(draft.draw_between(total // 3, total) | 1) if gcd(step, total) == 1
    )
    place = draft.draw_below(total)
    for _ in range(total):
        rest, keys = place, []
        for pool in pools:
            rest, index = divmod(rest, len(pool))
            keys.append(pool[index])
        yield tuple(keys)
        place = (place + step) % total
