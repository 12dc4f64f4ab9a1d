"""A table is a value: the name, key, schema and references of one kind of record.

Fixture files, `/_mock/state`, the durable store and OpenAPI read it. Records are kept in wire form;
keys that begin with an underscore are the mock's own and never served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError
from marshmallow.fields import Field, List, Nested

from mock_platform.core.fields import Instant, Timed, flatten
from mock_platform.store.interface import Record

AS = "_as"
RECORDED = "recorded"
"""`"_as": "recorded"` in a record: it was recorded elsewhere, and the keys that its table does not
know are kept and served."""

Step = int | str


@dataclass(frozen=True, slots=True)
class Reference:
    """A field that holds the key of a record in another table, or a list of such keys."""

    field: str
    table: str
    or_table: str | None = None
    """A second table in which the key may be."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Where the key may be."""
        return (self.table,) if self.or_table is None else (self.table, self.or_table)

    def targets(self, record: Record) -> Iterator[str]:
        """The keys that a record refers to; absent and null ones are none."""
        value = record.get(self.field)
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))
        elif isinstance(value, str):
            yield value


@dataclass(frozen=True)
class Table:
    """One kind of record. `key` is the field that holds its id."""

    name: str
    schema: type[Schema]
    key: str = "id"
    references: tuple[Reference, ...] = ()
    complete: Callable[[Record], Record] | None = None
    """Defaults that follow from other fields: takes a sound record, gives it with them."""
    check: Callable[[Record], Iterator[tuple[str, str]]] | None = None
    """Rules that one field alone cannot tell: gives (field, what is wrong)."""
    from_public: Callable[[Record], Record] = dict
    """Gives a record that has the form in which the interface serves it in stored form; what it
    does not know stays as it is."""
    created: Callable[[datetime], str] | None = None
    """The form of `created_at`, where it is none of the usual two."""

    @cached_property
    def _loader(self) -> Schema:
        return self.schema(unknown=INCLUDE)

    @cached_property
    def _by_name(self) -> Mapping[str, Field[Any]]:
        return {f.data_key or name: f for name, f in self._loader.load_fields.items()}

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Names of all fields, on the wire and of the mock's own."""
        return tuple(self._by_name)

    @cached_property
    def instants(self) -> Mapping[str, Instant]:
        """The fields that hold moments, by name."""
        found = self._by_name.items()
        return {name: field for name, field in found if isinstance(field, Instant)}

    @cached_property
    def timed(self) -> Mapping[str, Timed]:
        """The fields that hold objects with moments in them, by name."""
        found = self._by_name.items()
        return {name: field for name, field in found if isinstance(field, Timed)}

    @cached_property
    def stamps(self) -> Mapping[str, Callable[[datetime], str]]:
        """The fields, if required, that say when a record came and changed, with their forms."""
        found: dict[str, Callable[[datetime], str]] = {
            name: field.form
            for name, field in self.instants.items()
            if field.required and name in {"created_at", "updated_at"}
        }
        return found if self.created is None else found | {"created_at": self.created}

    def key_of(self, record: Record) -> str | None:
        """The record's key, or `None` if it has no usable one."""
        value = record.get(self.key)
        return value if isinstance(value, str) and value else None

    def load(self, record: Record) -> tuple[Record, list[tuple[str, str]]]:
        """The record with its defaults filled in, and everything that is wrong with it.

        Keys that the table does not know are faults, unless the record says that it was recorded.
        """
        record = self.from_public(record)
        faults: list[tuple[str, str]] = []
        recorded = record.get(AS) == RECORDED
        faults += [(name, self._unknown(name)) for name in self._strange(record, recorded=recorded)]
        if not recorded and AS in record:
            faults.append((AS, f"{AS} can only be {RECORDED!r}, got {record[AS]!r}"))
        if self.key_of(record) is None:
            faults.append((self.key, f"{self.key} must be a non-empty string: it is the key"))
        try:
            filled = self._read(record, recorded=recorded)
        except ValidationError as fault:
            return dict(record), faults + self._told(fault)
        loaded = {name: filled[name] for name in record if name in filled} | dict(filled)
        if self.complete is not None and not faults:
            loaded = self.complete(loaded)
        if self.check is not None and not faults:
            faults += list(self.check(loaded))
        return loaded, faults

    def strangers(self, record: Record) -> list[str]:
        """Where keys stand that the table does not know, such of the mock's own left out."""
        record = self.from_public(record)
        found = [name for name in record if name not in self.fields and not name.startswith("_")]
        try:
            self._loader.load(record)
        except ValidationError as fault:
            found += [_shown(steps) for steps in _unknown_steps(fault.messages)]
        return found

    def part_faults(self, part: Record) -> Iterator[tuple[str, str]]:
        """What is wrong with some fields of a record: names, and values that none can have.

        Objects are not looked into, and null is fine: a merge patch takes fields away with it.
        """
        for name, value in self.from_public(part).items():
            if name == AS:
                if value not in {None, RECORDED}:
                    yield name, f"{AS} can only be {RECORDED!r}, got {value!r}"
            elif name not in self.fields:
                if part.get(AS) != RECORDED or name.startswith("_"):
                    yield name, self._unknown(name)
            elif value is not None and not isinstance(value, dict):
                try:
                    self._by_name[name].deserialize(value, name, part)
                except ValidationError as fault:
                    yield from (
                        (at, text.explained) for at, text in flatten({name: fault.messages})
                    )

    def _strange(self, record: Record, *, recorded: bool) -> Iterator[str]:
        """Keys of a record that may not be there: unknown ones, and unknown ones of the mock's."""
        for name in record:
            known = name in self.fields or name == AS
            if not known and (not recorded or name.startswith("_")):
                yield name

    def _read(self, record: Record, *, recorded: bool) -> Record:
        """The record through its schema; a recorded one keeps unknown keys at any depth.

        Raises:
            ValidationError: Fields have faults.
        """
        try:
            return dict(self._loader.load(record))
        except ValidationError as fault:
            strange = list(_unknown_steps(fault.messages))
            if not recorded or not strange:
                raise
        known = deepcopy(record)
        kept = [(steps, _holder(known, steps).pop(steps[-1])) for steps in strange]
        loaded = dict(self._loader.load(known))
        for steps, value in kept:
            _holder(loaded, steps)[steps[-1]] = value
        return loaded

    def _told(self, fault: ValidationError) -> list[tuple[str, str]]:
        """What is wrong with a record, unknown keys of parts of it explained."""
        told = {_shown(steps): steps for steps in _unknown_steps(fault.messages)}
        found = []
        for name, text in flatten(fault.messages):
            steps = told.get(name)
            if steps is not None and text == _UNKNOWN:
                known = _names_at(self._loader, steps[:-1])
                found.append((name, _unknown(name, str(steps[-1]), "this part of a record", known)))
            else:
                found.append((name, text.explained))
        return found

    def _unknown(self, name: str) -> str:
        return _unknown(name, name, self.name, self.fields)


Tables = Mapping[str, Table]


def renamed(*names: tuple[str, str]) -> Callable[[Record], Record]:
    """A `from_public` for fields that are served under another name: (served, stored) each."""

    def stored(record: Record) -> Record:
        own = dict(record)
        for served, name in names:
            if served in own and own.setdefault(name, own[served]) == own[served]:
                del own[served]
        return own

    return stored


def recorded_keys(table: Table, record: Record) -> list[str]:
    """Where keys stand that were kept only because the record says that it was recorded."""
    return table.strangers(record) if record.get(AS) == RECORDED else []


def missing_references(
    table: Table, record: Record, exists: Callable[[str, str], bool]
) -> list[tuple[str, str]]:
    """References of a record that lead nowhere, as (field, what is wrong)."""
    return [
        (
            reference.field,
            f"{reference.field} refers to {key!r}, which is not in {' or '.join(reference.tables)}",
        )
        for reference in table.references
        for key in reference.targets(record)
        if not any(exists(name, key) for name in reference.tables)
    ]


_UNKNOWN = "Unknown field."
"""marshmallow's message for a key that a nested schema does not have."""


def _unknown(shown: str, name: str, owner: str, fields: Sequence[str]) -> str:
    near = get_close_matches(name, fields, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{shown!r} is no field of {owner}.{hint} Its fields: {', '.join(fields)}"


def _unknown_steps(messages: Any, steps: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """The places of unknown keys in marshmallow's nested messages."""
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            yield from _unknown_steps(inner, (*steps, key))
    elif isinstance(messages, list) and _UNKNOWN in messages:
        yield steps


def _shown(steps: Sequence[Step]) -> str:
    """A place as complaints write it: `components[0].media_key`."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _holder(value: Any, steps: Sequence[Step]) -> Any:
    """The object or array that holds what the last step leads to."""
    for step in steps[:-1]:
        value = value[step]
    return value


def _names_at(schema: Schema, steps: Sequence[Step]) -> tuple[str, ...]:
    """The names that an object may have which stands there in a record."""
    for step in steps:
        if isinstance(step, int):
            continue
        part: Any = schema.load_fields[step]
        while isinstance(part, List):
            part = part.inner
        assert isinstance(part, Nested)
        schema = part.schema
    return tuple(schema.load_fields)
