"""Makes records in bulk: related, valid, with believable names, times and money, from a seed.

A table says with `draw` what follows from its own rules. For any other table the records of the
default fixtures are models: what they say is kept, while keys, references, names and times are new.
References that were not chosen lead to records that exist, or that are made on the way. All that is
random follows from the seed, so the same seed makes the same records of the same world.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import count as numbers
from typing import Any

from msgspec import Struct

from mock_platform.core.errors import BadRecord, UnknownTable
from mock_platform.core.tables.choosing import SPREAD, Chooser, WantedRecords, name_fault
from mock_platform.core.tables.drawing import Draft, invent
from mock_platform.core.tables.known import KnownRecords, refuse
from mock_platform.core.tables.table import (
    Table,
    Tables,
    find_missing_references,
)
from mock_platform.world.clock import (
    EARLIEST,
    parse_instant,
)
from mock_platform.world.ids import check_seed
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

MAX_COUNT = 100_000
"""Records that one call makes at most, those made on the way not counted."""


_MINUTE_SECONDS = 60


class Made(Struct):
    """What was made: the keys that were asked for, and all records that are new or changed."""

    keys: list[str]
    records: dict[str, dict[str, Record]]


def make_records(
    world: World, tables: Tables, name: str, count: int, fields: Record, seed: int | None = None
) -> list[str]:
    """Make records of a table in one step, and return their keys, oldest first.

    `fields` are the same in all of them. A reference may be named without `_id`, and have a list of
    keys, which are taken in turn, or an object: the fields of a record that is made for it.

    Raises:
        UnknownTable: No table has this name.
        BadRecord: The count or a field is not allowed; nothing was made.
    """
    store, ids = world.store, world.ids
    chosen = check_seed(seed)
    if chosen is None:  # a draw would change the world even if nothing is made
        chosen = int.from_bytes(ids.noise(f"make/{ids.drawn}")[:7])

    def read(table: str) -> Iterable[Record]:
        with world.lock:
            return [entry.record for entry in store.page(table)]

    def make() -> Made:
        now = world.clock.now()
        if seed is not None and not world.clock.frozen:  # so that two runs in a row make the same
            now = now.replace(second=0, microsecond=0)
        known = KnownRecords(tables, store.get, read, now, chosen)
        return Maker(known).make(name, count, fields)

    # Requests wait for the lock of their world, so the records are made without it. Only if another
    # request changed the world meanwhile are they made again, under the lock.
    with world.lock:
        before = {table: store.version(table) for table in tables}
    made = make()
    with world.work():
        if any(store.version(table) != version for table, version in before.items()):
            made = make()
        if seed is None:
            ids.digits(1)  # so that the next call makes others
        for table, records in made.records.items():
            for key, record in records.items():
                store.put(table, key, record)
    return made.keys


class Maker:
    """Makes records among those of a world or of a folder of fixtures; those do not change."""

    def __init__(self, known: KnownRecords) -> None:
        self._known = known
        self._taken: dict[tuple[str, str], set[str]] = {}
        self._chooser = Chooser(known, self._make_for)

    def make(self, name: str, count: int, fields: Record) -> Made:
        """Make records of a table, and whatever they refer to.

        Raises:
            UnknownTable: No table has this name.
            BadRecord: The count or a field cannot be.
        """
        table = self._known.tables.get(name)
        if table is None:
            raise UnknownTable(name, self._known.tables)
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MAX_COUNT:
            bounds = f"a whole number from 1 to {MAX_COUNT:,}"
            text = f"count is {bounds}, got {count!r}; for more, call again"
            raise refuse(table, "count", text)
        wanted = self._chooser.read(table, fields, (SPREAD,))
        # Now may be a minute later than the time that is known here.
        length = wanted.spread - min(_MINUTE_SECONDS, wanted.spread / 2)
        start = self._known.now - timedelta(seconds=length)
        step = timedelta(seconds=length / count)
        draw = Draft(self._known, table, SPREAD, self._known.now)
        moments = [start + step * (index + draw.draw_below(1000) / 1000) for index in range(count)]
        created = wanted.values.get("created_at")
        if created is not None and SPREAD in fields:
            raise refuse(table, SPREAD, "created_at and spread exclude each other; give one")
        if not wanted.spread:
            moments = [_read_created(created) or self._known.now] * count
        keys = self._make_for(table, wanted, moments)
        return Made(keys, self._known.records)

    def _make_for(
        self, table: Table, wanted: WantedRecords, moments: Sequence[datetime]
    ) -> list[str]:
        """Make records of one table at some moments; return their keys."""
        chosen = self._chooser.choose(table, wanted, moments)
        keys: list[str] = []
        number = len(self._known.records.get(table.name, ()))
        trusted = False
        lists = [name for name in chosen if table.is_list(name)]
        for index, moment in enumerate(moments):
            draft = Draft(self._known, table, number + index, moment)
            draft.record = wanted.values | {name: each[index] for name, each in chosen.items()}
            for name in lists:
                draft.record[name] = [draft.record[name]]
            whole = self._fill(table, draft, wanted)
            if trusted:
                # The first one was loaded with all checks, and the others have the same form.
                stored = table.trust(whole)
                faults = [] if table.check is None else list(table.check(stored))
            else:
                stored, faults = table.load(whole)
                faults = faults or find_missing_references(table, stored, self._known.exists)
                trusted = not any(map(_has_objects, whole.values()))
            if faults:
                raise BadRecord([name_fault(table, wanted, *each) for each in faults])
            keys.append(self._known.add(table, stored))
            self._count(table, stored)
        return keys

    def _fill(self, table: Table, draft: Draft, wanted: WantedRecords) -> Record:
        """Return a whole record: what is known, what the table draws, and its key."""
        known = draft.record
        drawn = draft.model() if table.draw is None else table.draw(draft)
        whole: Record = {
            name: draft.moment for name in ("created_at", "updated_at") if name in table.instants
        }
        whole |= drawn | known
        written: dict[object, str] = {}  # most records have one moment several times
        for name, instant in table.instants.items():
            value = whole.get(name)
            if isinstance(value, datetime):
                at = value, instant.form
                whole[name] = written.get(at) or written.setdefault(
                    at, instant.form(max(value, EARLIEST))
                )
        for name in table.needed_fields:
            if name not in whole and name != table.key:
                whole[name] = invent(draft, name, table.find_field(name))
        for name in table.unique:
            whole[name] = self._make_unique(table, wanted, name, whole[name])
        if table.key not in whole:
            whole = table.from_public(whole)
        if table.key not in whole:
            once = [whole[field] for field in table.once]
            whole[table.key] = ":".join(once) if once and table.key == "_id" else draft.id()
        elif self._known.exists(table.name, str(whole[table.key])):
            text = f"{table.name} has a record {whole[table.key]!r} already"
            raise refuse(table, wanted.names.get(table.key, table.key), text)
        return whole

    def _count(self, table: Table, record: Record) -> None:
        """Count a new record in those that it refers to."""
        for reference in table.references:
            if reference.count is None:
                continue
            if reference.unless is not None:
                field, flag = reference.unless
                other = next(each for each in table.references if each.field == field)
                if (self._known.find(other, record[field]) or {flag: True}).get(flag):
                    continue
            for key in reference.find_targets(record):
                target = self._known.find(reference, key)
                if target is not None:
                    counted = target | {reference.count: (target.get(reference.count) or 0) + 1}
                    self._known.records.setdefault(reference.table, {})[key] = counted

    def _make_unique(self, table: Table, wanted: WantedRecords, name: str, value: Any) -> Any:
        """Return a value that no other record has in this field.

        Raises:
            BadRecord: The caller gave it, and another record has it.
        """
        taken = self._taken.get((table.name, name))
        if taken is None:
            taken = {
                str(record.get(name)).casefold() for record in self._known.list_all(table.name)
            }
            self._taken[table.name, name] = taken
        text = str(value)
        if text.casefold() in taken and name in wanted.values:
            given = wanted.names[name]
            raise refuse(
                table, given, f"{given} {text!r} is taken; each of {table.name} has its own"
            )
        for number in numbers(2):
            if text.casefold() not in taken:
                break
            text = f"{str(value)[: _LONGEST_UNIQUE - len(str(number))]}{number}"
        taken.add(text.casefold())
        return value if text == value else text


def list_by_depth(tables: Tables) -> list[str]:
    """Return the names of all tables, each after those to which its records have to refer."""
    found: dict[str, None] = {}

    def add(table: Table) -> None:
        for each in table.references:
            if each.field in table.needed_fields and each.table not in found:
                add(tables[each.table])
        found[table.name] = None

    for table in tables.values():
        add(table)
    return list(found)


def _read_created(value: Any) -> datetime | None:
    """Return the moment of creation that the caller gave; `None` without a sound one."""
    try:
        return parse_instant(value) if isinstance(value, str) else None
    except ValueError:  # which the schema explains
        return None


def _has_objects(value: Any) -> bool:
    """Whether a value has parts whose own defaults a schema may fill in."""
    return isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(each, dict | list) for each in value)
    )


_LONGEST_UNIQUE = 15
"""Characters of a screen name, which is what is unique."""
