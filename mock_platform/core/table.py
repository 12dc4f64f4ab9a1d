"""A table is a value: the name, key, schema and references of one kind of record.

Fixture files, `/_mock/state`, the durable store and OpenAPI read it. Records are kept in wire form;
keys that begin with an underscore are the mock's own and never served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError
from marshmallow.fields import Field

from mock_platform.core.fields import Instant, flatten
from mock_platform.world.store import Record


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
    check: Callable[[Record], Iterator[tuple[str, str]]] | None = None
    """Rules that one field alone cannot tell: gives (field, what is wrong)."""
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
        """The record with its defaults filled in, and everything that is wrong with it."""
        faults = [(name, self._unknown(name)) for name in record if name not in self.fields]
        if self.key_of(record) is None:
            faults.append((self.key, f"{self.key} must be a non-empty string: it is the key"))
        try:
            filled = self._loader.load(record)
            loaded = {name: filled[name] for name in record if name in filled} | dict(filled)
        except ValidationError as fault:
            faults += [(name, str(text)) for name, text in flatten(fault.messages)]
            return dict(record), faults
        if self.check is not None and not faults:
            faults += list(self.check(loaded))
        return loaded, faults

    def part_faults(self, part: Record) -> Iterator[tuple[str, str]]:
        """What is wrong with some fields of a record: names, and values that none can have.

        Objects are not looked into, and null is fine: a merge patch takes fields away with it.
        """
        for name, value in part.items():
            if name not in self.fields:
                yield name, self._unknown(name)
            elif value is not None and not isinstance(value, dict):
                try:
                    self._by_name[name].deserialize(value, name, part)
                except ValidationError as fault:
                    yield from ((at, str(text)) for at, text in flatten({name: fault.messages}))

    def _unknown(self, name: str) -> str:
        near = get_close_matches(name, self.fields, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        return f"{name!r} is no field of {self.name}.{hint} Its fields: {', '.join(self.fields)}"


Tables = Mapping[str, Table]


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
