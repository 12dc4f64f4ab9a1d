"""The records of a world elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from mock_platform.client.errors import Refused
from mock_platform.client.remote.control import Control

Record = dict[str, Any]


class RemoteTable:
    """The records of one table."""

    def __init__(self, control: Control, name: str) -> None:
        self._control = control
        self.name = name

    def all(self) -> list[Record]:
        """Every record, in the order in which they came."""
        records: list[Record] = self._control.ask("GET", f"/state/{self.name}")["records"]
        return records

    def get(self, key: str) -> Record | None:
        """The record under a key, or `None`."""
        try:
            record: Record = self._control.ask("GET", self._path(key))
        except Refused as refused:
            if refused.status != 404:
                raise
        else:
            return record
        self.all()  # refused if it is the table that does not exist
        return None

    def put(self, record: Record, *, key: str | None = None, unchecked: bool = False) -> Record:
        """Create or replace a record; gives it as stored. Without `key` its `id` is taken."""
        named = record.get("id") if key is None else key
        if named is None:
            raise Refused(f"a record of {self.name} without id needs a key: put(record, key=…)")
        return self._send("PUT", str(named), record, unchecked=unchecked)

    def patch(self, key: str, changes: Record, *, unchecked: bool = False) -> Record:
        """Merge changes into a record (JSON merge patch: null takes a field out)."""
        return self._send("PATCH", key, changes, unchecked=unchecked)

    def delete(self, key: str) -> None:
        """Take a record out for good, whatever refers to it."""
        self._control.ask("DELETE", self._path(key))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key) is not None

    def __iter__(self) -> Iterator[Record]:
        return iter(self.all())

    def __len__(self) -> int:
        return len(self.all())

    def _send(self, method: str, key: str, body: Record, *, unchecked: bool) -> Record:
        flag = "true" if unchecked else None
        record: Record = self._control.ask(method, self._path(key), body, unchecked=flag)
        return record

    def _path(self, key: str) -> str:
        return f"/state/{self.name}/{quote(key, safe='')}"


class RemoteState:
    """All tables of one world by name."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def __getitem__(self, name: str) -> RemoteTable:
        return RemoteTable(self._control, name)

    def dump(self) -> dict[str, Any]:
        """The whole world as one document."""
        document: dict[str, Any] = self._control.ask("GET", "/state")
        return document

    def load(self, document: Mapping[str, Any], *, unchecked: bool = False) -> None:
        """Make the world what a document says."""
        self._control.ask("PUT", "/state", document, unchecked="true" if unchecked else None)
