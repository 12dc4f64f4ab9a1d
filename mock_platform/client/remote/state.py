"""The records of a world on a server elsewhere, one by one or as folders of fixtures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import quote

from mock_platform.api.served import TABLES
from mock_platform.client.remote.control import Control
from mock_platform.client.world_parts import StateFace, TableFace
from mock_platform.core.errors import (
    BadRecord,
    NoSuchAttribute,
    RecordFault,
    Refused,
    UnknownRecord,
    UnknownTable,
)
from mock_platform.core.jsonio import dumps
from mock_platform.core.tables.checking import copy_of_json, copy_with_key, load_record, require_key
from mock_platform.core.tables.table import Table, Tables
from mock_platform.world.clock import EARLIEST

if TYPE_CHECKING:
    from mock_platform.names import OwnName, TableName

Record = dict[str, Any]

_TABLES: Tables = {table.name: table for table in TABLES}
_NOT_IN_PATHS = frozenset({".", ".."})


class RemoteTable(TableFace):
    """The records of one table in a world."""

    def __init__(self, control: Control, table: Table) -> None:
        self._control = control
        self._table = table

    @property
    def name(self) -> TableName:
        return cast("TableName", self._table.name)

    def all(self) -> list[Record]:
        records: list[Record] = self._control.ask("GET", f"/state/{self.name}")["records"]
        return records

    def get(self, key: str) -> Record | None:
        if not require_key(key):
            return None
        record: Record | None = self._control.find(self._path(key))
        return record

    def put(self, record: Record, *, key: str | None = None, unchecked: bool = False) -> Record:
        taken = copy_with_key(self._table, record, key)
        named = self._table.key_of(self._table.from_public(taken))
        if named is None:  # it has no address to be put to
            raise BadRecord(self._find_faults(taken, unchecked=unchecked))
        return self._send("PUT", named, taken, unchecked=unchecked)

    def patch(self, key: str, changes: Record, *, unchecked: bool = False) -> Record:
        taken = copy_with_key(self._table, changes, require_key(key))
        return self._send("PATCH", key, taken, unchecked=unchecked)

    def delete(self, key: str) -> None:
        self._control.ask("DELETE", self._path(require_key(key)))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[Record]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())

    def _send(self, method: str, key: str, body: Record, *, unchecked: bool) -> Record:
        record: Record = self._control.ask(method, self._path(key), body, _make_query(unchecked))
        return record

    def _find_faults(self, record: Record, *, unchecked: bool) -> list[RecordFault]:
        """Return the faults of a record without a key, as the server would report them."""
        stamps = {name: form(EARLIEST) for name, form in self._table.stamps.items()}
        stamped = record if unchecked else stamps | record
        _, found = load_record(self._table, stamped, unchecked=unchecked)
        return [RecordFault(self.name, "", field, text) for field, text in found]

    def _path(self, key: str) -> str:
        if not key:
            raise UnknownRecord(self.name, key, [])
        if key in _NOT_IN_PATHS:
            raise Refused(
                f"A record with the key {key!r} has no address, because clients "
                "remove such steps from a path. Read it with all() and change it "
                "with state.load()."
            )
        return f"/state/{self.name}/{quote(key, safe='')}"


class RemoteState(Mapping["TableName | OwnName", RemoteTable], StateFace):
    """All tables of one world, by name."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def __getitem__(self, name: TableName | OwnName) -> RemoteTable:
        table = _TABLES.get(name)
        if table is None:
            raise UnknownTable(name, _TABLES)
        return RemoteTable(self._control, table)

    def __iter__(self) -> Iterator[TableName]:
        return iter(cast("Iterable[TableName]", _TABLES))

    if not TYPE_CHECKING:  # type checkers still report an attribute that does not exist

        def __getattr__(self, name: str) -> NoReturn:
            raise NoSuchAttribute(name, _TABLES)

    def __len__(self) -> int:
        return len(_TABLES)

    def __contains__(self, name: object) -> bool:
        return name in _TABLES

    def dump(self) -> dict[str, Any]:
        document: dict[str, Any] = self._control.ask("GET", "/state")
        return document

    def load(self, document: Mapping[str, Any], *, unchecked: bool = False) -> None:
        body = copy_of_json(document, "state")
        self._control.ask("PUT", "/state", body, _make_query(unchecked))


def apply_fixtures(state: RemoteState, now: datetime, folders: Iterable[Path | str]) -> None:
    """Put the records of folders into a world; they replace records with the same keys.

    Relative moments are relative to `now`.

    Raises:
        BadFixtures: The fixtures have faults.
    """
    from mock_platform.core.tables import fixtures

    document = state.dump()
    with TemporaryDirectory() as beneath:  # so that references to the world's own records hold
        for name, records in document["tables"].items():
            Path(beneath, f"{name}.json").write_bytes(dumps(records))
        base = fixtures.load([Path(beneath), *(Path(folder) for folder in folders)], TABLES, now)
    document["tables"] = {
        name: [row.record for row in rows.values()] for name, rows in base.rows.items()
    }
    state.load(document)


def _make_query(unchecked: bool) -> dict[str, str]:  # noqa: FBT001 - a value to be written
    return {"unchecked": "true"} if unchecked else {}
