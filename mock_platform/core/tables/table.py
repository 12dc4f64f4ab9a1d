"""A table is a value: the name, key, schema and references of one kind of record.

Fixture files, `/_mock/state`, the durable store and OpenAPI read it. Records are kept in wire form;
keys that begin with an underscore are the mock's own and never served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError, missing
from marshmallow.fields import Field, List, Nested
from msgspec import Struct

from mock_platform.core.documents.source import format_path
from mock_platform.core.errors import MAX_FAULTS, describe_unknown_field
from mock_platform.core.faults import flatten
from mock_platform.core.fields import Instant, Timed
from mock_platform.core.schema import Loader, list_fields, loader
from mock_platform.world.store.interface import Record

AS = "_as"
RECORDED = "recorded"
"""`"_as": "recorded"` in a record: it was recorded elsewhere, and the keys that its table does not
know are kept and served."""

PathStep = int | str


class Reference(Struct, frozen=True):
    """A field that holds the key of a record in another table, or a list of such keys.

    Example:
        >>> owner = Reference("user_id", "users")
        >>> list(owner.find_targets({"id": "1", "user_id": "12"})), owner.tables
        (['12'], ('users',))
    """

    field: str
    table: str
    or_table: str | None = None
    """A second table in which the key may be."""
    count: str | None = None
    """A field of the record that it leads to: how many records refer to it."""
    unless: tuple[str, str] | None = None
    """Another reference, and a flag of what that leads to: with it, the record is not counted."""
    share: int | None = None
    """Records made in bulk lead to new ones, each shared by so many; `None`: to those there are."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables in which the key may be."""
        return (self.table,) if self.or_table is None else (self.table, self.or_table)

    def find_targets(self, record: Record) -> Iterator[str]:
        """Yield the keys that a record refers to; missing and null fields are skipped."""
        value = record.get(self.field)
        if isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))
        elif isinstance(value, str):
            yield value


class Shown(Struct, frozen=True):
    """How an answer of the v2 interface shows the records of a table, for recordings.

    Answers do not say of which kind an object is: either its operation says it, or a key that only
    such objects have.

    Example:
        >>> Shown(("url", "created_at"), operations=("webhooks.list",), is_of_app=True).key
        'id'
    """

    needed: tuple[str, ...]
    """Keys without which an object cannot be a record."""
    parameter: str = ""
    """The parameter that asks for them."""
    operations: tuple[str, ...] = ()
    """The operations whose `data` has such records."""
    known_by: str = ""
    """The key by which they are known in the `data` of other operations."""
    key: str = "id"
    kept: tuple[str, ...] = ()
    """Keys that only recorded ones have, and that are served as they are."""
    is_of_app: bool = False
    """Whether they belong to the app that asked."""
    complete: Callable[[Record], Record | str] = dict
    """Return a record with what follows from its other keys, or why it cannot be one."""


class Table(Struct, frozen=True, dict=True):
    """One kind of record. `key` is the field that holds its id.

    Example:
        >>> from mock_platform.core.fields import Integer, Text
        >>> class Shop(Schema):
        ...     id = Text(required=True)
        ...     seats = Integer(low=0, load_default=4)
        >>> table = Table("shops", Shop, references=(Reference("user_id", "users"),))
        >>> table.load({"id": "1"})
        ({'id': '1', 'seats': 4}, [])
        >>> table.load({"id": "1", "seats": -1})[1][0][0]
        'seats'
    """

    name: str
    schema: type[Schema]
    key: str = "id"
    references: tuple[Reference, ...] = ()
    complete: Callable[[Record], Record] | None = None
    """Takes a valid record, returns it with the defaults that follow from other fields."""
    check: Callable[[Record], Iterator[tuple[str, str]]] | None = None
    """Checks rules between several fields: yields (field, what is wrong)."""
    from_public: Callable[[Record], Record] = dict
    """Converts a record from the form that the interface serves to the stored form; keys that it
    does not know stay as they are."""
    shown: Shown | None = None
    """How recorded answers under `/2` show its records; those of other answers have its schema."""
    unlink: Callable[[Any, str, str], None] | None = None
    """Ends in a world what its records say about a record of a table, which is deleted then."""
    due: tuple[str, Callable[[Record], datetime | str | None]] | None = None
    """What a moment does to a record by itself, such as `expiry`, and the function that returns it.
    """
    made_up: tuple[str, str] | None = None
    """A field and a noun that name a record which others refer to, and which no answer shows."""
    draw: Callable[[Any], Record] | None = None
    """Takes a `Draft`, returns fields of a record that is made in bulk; moments are datetimes.

    With `None` the records of the default fixtures are models. What the caller gives wins."""
    once: tuple[str, ...] = ()
    """References whose combination no two records have."""
    unique: tuple[str, ...] = ()
    """Fields with short texts that no two records have alike, ignoring case."""
    is_scope: bool = False
    """Whether records made in bulk all refer to the first one, such as the first account."""

    @cached_property
    def _loader(self) -> Schema:
        return self.schema(unknown=INCLUDE)

    @cached_property
    def _load_sent(self) -> Loader:
        return loader(self._loader)

    @cached_property
    def _by_name(self) -> Mapping[str, Field[Any]]:
        return list_fields(self.schema)

    @cached_property
    def _fields_of_instance(self) -> Mapping[str, Field[Any]]:
        return {f.data_key or name: f for name, f in self._loader.load_fields.items()}

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """Names of all fields, those on the wire and the mock's own."""
        return tuple(self._by_name)

    @cached_property
    def needed_fields(self) -> frozenset[str]:
        """Names of the fields that every record has."""
        return frozenset(name for name, field in self._by_name.items() if field.required)

    def find_field(self, name: str) -> Field[Any]:
        """Return the field with a name."""
        return self._by_name[name]

    def is_list(self, name: str) -> bool:
        """Whether a field holds several values."""
        return isinstance(self._by_name[name], List)

    @cached_property
    def instants(self) -> Mapping[str, Instant]:
        """The fields that hold moments, by name."""
        found = self._by_name.items()
        return {name: field for name, field in found if isinstance(field, Instant)}

    @cached_property
    def timed_fields(self) -> Mapping[str, Timed]:
        """The fields that hold objects with moments inside, by name."""
        found = self._by_name.items()
        return {name: field for name, field in found if isinstance(field, Timed)}

    @cached_property
    def stamps(self) -> Mapping[str, Callable[[datetime], str]]:
        """The required fields for the times of creation and change, with their wire forms."""
        return {
            name: field.form
            for name, field in self.instants.items()
            if field.required and name in {"created_at", "updated_at"}
        }

    def key_of(self, record: Record) -> str | None:
        """Return the record's key, or `None` if it has no usable one."""
        value = record.get(self.key)
        return value if isinstance(value, str) and value else None

    def load(self, record: Record) -> tuple[Record, list[tuple[str, str]]]:
        """Return the record with its defaults filled in, and all its faults.

        Keys that the table does not know are faults, unless the record says that it was recorded.
        """
        record = self.from_public(record)
        # All faults of a record are collected, not only the first one, so that an author of
        # fixtures corrects a file in one go. What follows from other fields is only computed if
        # there are none: it could fail on values that the schema has just refused.
        faults: list[tuple[str, str]] = []
        recorded = record.get(AS) == RECORDED
        faults += [
            (name, describe_unknown_field(name, self.name, self.fields))
            for name in islice(self._find_refused_keys(record, recorded=recorded), MAX_FAULTS)
        ]
        if not recorded and AS in record:
            faults.append((AS, f"{AS} can only be {RECORDED!r}, got {record[AS]!r}"))
        if self.key_of(record) is None:
            faults.append((self.key, f"{self.key} must be a non-empty string: it is the key"))
        try:
            filled = self._read(record, recorded=recorded)
        except ValidationError as fault:
            return dict(record), faults + self._explain(fault)
        loaded = {name: filled[name] for name in record if name in filled} | filled
        if self.complete is not None and not faults:
            loaded = self.complete(loaded)
        if self.check is not None and not faults:
            faults += list(self.check(loaded))
        return loaded, faults

    @cached_property
    def _defaults(self) -> Record:
        found = ((name, field.load_default) for name, field in self._by_name.items())
        return {
            name: default() if callable(default) else default
            for name, default in found
            if default is not missing
        }

    def fill(self, record: Record) -> Record:
        """Return a record in stored form with its defaults, without checks: for made records.

        What follows from other fields is not filled in. Records share the defaults, such as an
        empty list; nothing in a store is changed in place.
        """
        return self._defaults | record

    def trust(self, record: Record) -> Record:
        """Return what `load` returns for a record without faults that is written out in full.

        The keys come in the same order. Defaults inside of objects are not filled in.
        """
        own = self.from_public(record)
        rest = self._defaults.items()
        filled = own | {name: value for name, value in rest if name not in own}
        return filled if self.complete is None else self.complete(filled)

    @cached_property
    def _kept_keys(self) -> frozenset[str]:
        """The keys that records have, with those that only recorded ones do."""
        return frozenset(self.fields if self.shown is None else (*self.fields, *self.shown.kept))

    def find_unknown_keys(self, record: Record) -> list[str]:
        """Return the places of keys that the table does not know, except the mock's own."""
        record = self.from_public(record)
        found = [
            name for name in record if name not in self._kept_keys and not name.startswith("_")
        ]
        if not any(isinstance(value, dict | list) for value in record.values()):
            return found
        try:
            self._load_sent(record)
        except ValidationError as fault:
            found += [format_path(steps) for steps in _find_unknown_steps(fault.messages)]
        return found

    def find_part_faults(self, part: Record) -> Iterator[tuple[str, str]]:
        """Yield faults of some fields of a record: unknown names, and values no record can have.

        Objects are not looked into, and null is fine: a merge patch removes fields with it.
        """
        for name, value in self.from_public(part).items():
            if name == AS:
                if value not in {None, RECORDED}:
                    yield name, f"{AS} can only be {RECORDED!r}, got {value!r}"
            elif name not in self.fields:
                if part.get(AS) != RECORDED or name.startswith("_"):
                    yield name, describe_unknown_field(name, self.name, self.fields)
            elif value is not None and not isinstance(value, dict):
                yield from self.read_value(name, value)[1]

    def read_value(self, name: str, value: Any) -> tuple[Any, list[tuple[str, str]]]:
        """Return the value of a field as it is stored, and its faults."""
        try:
            return self._fields_of_instance[name].deserialize(value, name, {name: value}), []
        except ValidationError as fault:
            found = flatten({name: fault.messages})
            return value, [(at, text.explanation) for at, text in found]

    def _find_refused_keys(self, record: Record, *, recorded: bool) -> Iterator[str]:
        """Yield unknown keys of a record; of a recorded one, only those with an underscore."""
        for name in record:
            known = name in self._by_name or name == AS
            if not known and (not recorded or name.startswith("_")):
                yield name

    def _read(self, record: Record, *, recorded: bool) -> Record:
        """Load the record with its schema; a recorded one keeps unknown keys at any depth.

        Raises:
            ValidationError: Fields have faults.
        """
        try:
            loaded: Record = self._load_sent(record)
            return loaded | {name: record[name] for name in record if name not in self._by_name}
        except ValidationError as fault:
            # A recorded record may have keys that the table does not know, at any depth. They are
            # taken out, the rest is loaded as usual with all checks, and then they are put back
            # where they were.
            strange = list(_find_unknown_steps(fault.messages))
            if not recorded or not strange:
                raise
        known = deepcopy(record)
        kept = [(steps, _find_holder(known, steps).pop(steps[-1])) for steps in strange]
        loaded = dict(self._loader.load(known))
        for steps, value in kept:
            _find_holder(loaded, steps)[steps[-1]] = value
        return loaded

    def _explain(self, fault: ValidationError) -> list[tuple[str, str]]:
        """Return the faults of a record, with an explanation for unknown keys of its parts."""
        unknown = {format_path(steps): steps for steps in _find_unknown_steps(fault.messages)}
        found = []
        for name, text in islice(flatten(fault.messages), MAX_FAULTS):
            steps = unknown.get(name)
            if steps is not None and text == _UNKNOWN:
                known = _find_names_at(self._loader, steps[:-1])
                found.append(
                    (
                        name,
                        describe_unknown_field(
                            str(steps[-1]), "this part of a record", known, name
                        ),
                    )
                )
            else:
                found.append((name, text.explanation))
        return found


Tables = Mapping[str, Table]


def rename_fields(*names: tuple[str, str]) -> Callable[[Record], Record]:
    """Return a `from_public` for fields that are served under another name: (served, stored)."""

    def convert(record: Record) -> Record:
        own = dict(record)
        for served, name in names:
            if served in own and own.setdefault(name, own[served]) == own[served]:
                del own[served]
        return own

    return convert


def find_recorded_keys(table: Table, record: Record) -> list[str]:
    """Return the places of keys that were kept only because the record is marked as recorded."""
    return table.find_unknown_keys(record) if record.get(AS) == RECORDED else []


def find_missing_references(
    table: Table, record: Record, exists: Callable[[str, str], bool]
) -> list[tuple[str, str]]:
    """Return references of a record to missing records, as (field, what is wrong)."""
    return [
        (
            reference.field,
            f"{reference.field} refers to {key!r}, which is not in {' or '.join(reference.tables)}",
        )
        for reference in table.references
        for key in reference.find_targets(record)
        if not any(exists(name, key) for name in reference.tables)
    ]


_UNKNOWN = "Unknown field."
"""marshmallow's message for a key that a nested schema does not have."""


def _find_unknown_steps(
    messages: Any, steps: tuple[PathStep, ...] = ()
) -> Iterator[tuple[PathStep, ...]]:
    """Yield the places of unknown keys in marshmallow's nested messages."""
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            yield from _find_unknown_steps(inner, (*steps, key))
    elif isinstance(messages, list) and _UNKNOWN in messages:
        yield steps


def _find_holder(value: Any, steps: Sequence[PathStep]) -> Any:
    """Return the object or array that contains the value at the last step."""
    for step in steps[:-1]:
        value = value[step]
    return value


def _find_names_at(schema: Schema, steps: Sequence[PathStep]) -> tuple[str, ...]:
    """Return the field names that an object at this place of a record may have."""
    for step in steps:
        if isinstance(step, int):
            continue
        part: Any = schema.load_fields[step]
        while isinstance(part, List):
            part = part.inner
        assert isinstance(part, Nested)
        schema = part.schema
    return tuple(schema.load_fields)
