"""What there is when records are made: the records of a world or of fixtures, and the made ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from msgspec import Struct

from mock_platform.core import installed
from mock_platform.core.errors import BadRecord, RecordFault
from mock_platform.core.jsonio import loads
from mock_platform.core.tables.table import AS, Reference, Table, Tables
from mock_platform.world.clock import parse_instant, parse_relative, wire_seconds
from mock_platform.world.ids import Ids
from mock_platform.world.store.interface import Record

_UNUSABLE = ("deleted", "_suspended", "_deactivated", "_dropped")
_TRIES = 1000
_MIN_DIGITS = 8
_SNOWFLAKE_DIGITS = 15
_LEAST_LENGTH = 5


class Model(Struct):
    """A record of the default fixtures, as far as others are like it; its times are distances."""

    values: Record
    times: list[tuple[str, timedelta]]


class KnownRecords:
    """Reads the records that there are, and changes nothing; what is made is in `records`.

    `get` and `read` return a record and all records of a table.
    """

    def __init__(
        self,
        tables: Tables,
        get: Callable[[str, str], Record | None],
        read: Callable[[str], Iterable[Record]],
        now: datetime,
        seed: int,
    ) -> None:
        self.ids = Ids(seed, "make", apart=True)
        self.records: dict[str, dict[str, Record]] = {}
        self.tables = tables
        self.now = now
        self._get = get
        self._read = read
        self._usable: dict[str, list[Record]] = {}
        self._agreed: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._models: dict[str, list[Model]] = {}
        self._examples: dict[str, str] = {}
        """A key of each table, of the form of which others are drawn."""

    def add(self, table: Table, record: Record) -> str:
        """Add a record that was made, and return its key."""
        key: str = record[table.key]
        self.records.setdefault(table.name, {})[key] = record
        usable = self._usable.get(table.name)
        if usable is not None:
            usable.append(record)
        return key

    def find(self, reference: Reference, key: Any) -> Record | None:
        """Return the record with a key that a reference may lead to, or `None`."""
        for name in reference.tables if isinstance(key, str) else ():
            found = self.records.get(name, {}).get(key) or self._get(name, key)
            if found is not None:
                return found
        return None

    def list_all(self, name: str) -> list[Record]:
        """Return the records of a table, with those that were made."""
        key = self.tables[name].key
        found = {record[key]: record for record in self._read(name)}
        return list((found | self.records.get(name, {})).values())

    def list_usable(self, name: str) -> list[Record]:
        """Return the records of a table that others may refer to: live ones, in their order."""
        found = self._usable.get(name)
        if found is None:
            now = wire_seconds(self.now)
            found = self._usable[name] = [
                record
                for record in self.list_all(name)
                if not any(record.get(flag) for flag in _UNUSABLE)
                and record.get("entity_status") in {None, "ACTIVE"}
                and record.get("able_to_fund") is not False
                and not (record.get("end_time") or now) < now
            ]
        return found

    def draw_key(self, table: Table, moment: datetime | None) -> str:
        """Return a key that no record of the table has.

        Raises:
            BadRecord: There are hardly any more.
        """
        example = self._examples.get(table.name)
        if example is None:
            example = self._examples[table.name] = next(iter(read_shipped(table)), "")
        for _ in range(_TRIES):
            key = _draw_like(self.ids, example, moment)
            if not self.exists(table.name, key):
                return key
        raise refuse(table, "count", f"{table.name} has no room for so many records: make fewer")

    def find_unused(self, table: Table, options: Sequence[str], start: int) -> str:
        """Return a key of these that no record has, from a place on."""
        for place in range(len(options)):
            key = options[(start + place) % len(options)]
            if not self.exists(table.name, key):
                return key
        raise refuse(table, "count", f"{table.name} has all {len(options)} that there can be")

    def exists(self, table: str, key: str) -> bool:
        """Return whether a table has a record with a key."""
        return key in self.records.get(table, ()) or self._get(table, key) is not None

    def list_agreed(self, table: str, field: str, name: str) -> dict[str, Any]:
        """Return the value of `name` by that of `field`, which all records of a table agree on."""
        found = self._agreed.get((table, field, name))
        if found is None:
            found = self._agreed[table, field, name] = {
                str(record.get(field)): record.get(name) for record in self.list_usable(table)
            }
        return found

    def list_models(self, table: Table) -> list[Model]:
        """Return what records of the default fixtures have to say."""
        found = self._models.get(table.name)
        if found is None:
            found = self._models[table.name] = list(self._read_models(table))
        return found

    def _read_models(self, table: Table) -> Iterator[Model]:
        counted = {
            reference.count
            for other in self.tables.values()
            for reference in other.references
            if table.name in reference.tables
        }
        left_out = {table.key, AS, *table.unique, *counted, *(r.field for r in table.references)}
        for record in read_shipped(table).values():
            if any(record.get(flag) for flag in _UNUSABLE):
                continue
            values, moments = {}, {}
            for name, value in record.items():
                if name in table.instants and isinstance(value, str):
                    since = parse_relative(value)
                    moments[name] = parse_instant(value) if since is None else self.now + since
                elif name not in left_out:
                    timed = table.timed_fields.get(name)
                    write = None if timed is None else timed.writer(value)
                    values[name] = value if write is None else write(self.now)
            began = moments.pop("created_at", None) or next(iter(moments.values()), self.now)
            moments.pop("updated_at", None)
            yield Model(values, [(name, moment - began) for name, moment in moments.items()])


@cache
def read_shipped(table: Table) -> Mapping[str, Record]:
    """Return the records of a table of the default fixtures, by key; times may count from now."""
    file = installed.folder("fixtures") / f"{table.name}.json"
    records = loads(file.read_bytes()) if file.exists() else []
    keyed = ((table.key_of(own), own) for own in map(table.from_public, records))
    return {key: record for key, record in keyed if key is not None}


def refuse(table: Table, field: str, text: str) -> BadRecord:
    """Return the refusal of a field."""
    return BadRecord([RecordFault(table.name, "", field, text)])


def _draw_like(ids: Ids, example: str, moment: datetime | None) -> str:
    """Return an id of the form of an example."""
    if moment is not None:
        return ids.snowflake(moment)
    prefix, _, rest = example.partition("_")
    if prefix.isdecimal() and rest.isdecimal():
        return ids.media_key(int(prefix))
    if not example or (example.isdecimal() and len(example) >= _SNOWFLAKE_DIGITS):
        return ids.snowflake()
    if example.isdecimal():
        return ids.digits(max(len(example), _MIN_DIGITS))
    if example.isalnum() and example.islower():
        return ids.base36(max(len(example), _LEAST_LENGTH))
    return ids.uuid() if example.count("-") == 4 else ids.alphanumeric(min(len(example), 24))
