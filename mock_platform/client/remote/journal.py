"""The journal of a world on a server elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Unpack

from msgspec import Struct

from mock_platform.client.arguments import EntryQuery, PageQuery, serialize_query
from mock_platform.client.remote.control import Control
from mock_platform.client.world_parts import JournalFace
from mock_platform.world.clock import parse_instant

_REQUEST_ID = re.compile(r"r\d+", re.ASCII)


class RemoteChange(Struct, frozen=True):
    """What a request changed in one record."""

    table: str
    key: str
    kind: str
    fields: list[str]


class RemoteEntry(Struct, frozen=True):
    """An entry of the journal, without credentials."""

    id: str
    at: datetime
    world: str
    method: str
    url: str
    status: int
    ended: dict[str, Any] | None
    why: str | None
    milliseconds: float
    handler_milliseconds: float
    operation: str | None
    custom: str | None
    tool: str | None
    caller: dict[str, Any] | None
    rule: dict[str, Any] | None
    near_misses: list[dict[str, Any]]
    changes: list[RemoteChange]
    assumptions: list[str]
    warnings: list[str]
    diagnosis: dict[str, Any] | None
    cost: dict[str, Any] | None
    traceback: str | None
    request_headers: list[tuple[str, str]]
    request_body: bytes
    response_headers: list[tuple[str, str]]
    response_body: bytes
    document: dict[str, Any]

    @classmethod
    def read(cls, document: dict[str, Any]) -> RemoteEntry:
        """Return the entry from a document of the control plane."""
        request, response = document["request"], document["response"]
        plain: dict[str, Any] = {"traceback": None, "custom": None, "tool": None} | {
            name: document[name]
            for name in cls.__struct_fields__
            if name in document and name not in {"at", "changes"}
        }
        return cls(
            **plain,
            at=parse_instant(document["at"]),
            changes=[
                RemoteChange(each["table"], each["id"], each["change"], each["fields"])
                for each in document["changes"]
            ],
            request_headers=[(name, value) for name, value in request["headers"]],
            request_body=request["body"]["text"].encode(),
            response_headers=[(name, value) for name, value in response["headers"]],
            response_body=response["body"]["text"].encode(),
            document=document,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the entry as the control plane returned it."""
        return self.document


class RemoteJournal(JournalFace):
    """The requests that a world received, and its answers."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def find(self, **query: Unpack[PageQuery]) -> list[RemoteEntry]:
        sent = serialize_query(query, PageQuery)
        found = self._control.ask("GET", "/requests", query=sent)["requests"]
        return [RemoteEntry.read(entry) for entry in found]

    def count(self, **query: Unpack[EntryQuery]) -> int:
        sent = serialize_query(query, EntryQuery)
        count: int = self._control.ask("GET", "/requests/count", query=sent)["count"]
        return count

    def get(self, request_id: str) -> RemoteEntry | None:
        if _REQUEST_ID.fullmatch(request_id) is None:  # it would be the address of something else
            return None
        found = self._control.find(f"/requests/{request_id}")
        return None if found is None else RemoteEntry.read(found)

    def clear(self) -> None:
        self._control.ask("DELETE", "/requests")

    def __iter__(self) -> Iterator[RemoteEntry]:
        return iter(self.find())

    def __len__(self) -> int:
        return self.count()
