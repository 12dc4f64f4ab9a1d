"""The journal of a world elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mock_platform.client.errors import Refused
from mock_platform.client.local import Instant
from mock_platform.client.remote.control import Control, wire
from mock_platform.world.clock import parse_instant


@dataclass(frozen=True, slots=True)
class RemoteEntry:
    """An entry of the journal, credentials redacted; `changes` without the records themselves."""

    id: str
    at: datetime
    world: str
    method: str
    url: str
    status: int
    milliseconds: float
    operation: str | None
    caller: dict[str, Any] | None
    rule: dict[str, Any] | None
    near_misses: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    assumptions: list[str]
    warnings: list[str]
    diagnosis: dict[str, Any] | None
    traceback: str | None
    request_headers: list[tuple[str, str]]
    request_body: bytes
    response_headers: list[tuple[str, str]]
    response_body: bytes
    document: dict[str, Any]

    @classmethod
    def read(cls, document: dict[str, Any]) -> RemoteEntry:
        """The entry of a document of the control plane."""
        request, response = document["request"], document["response"]
        plain: dict[str, Any] = {"traceback": None} | {
            name: document[name]
            for name in cls.__dataclass_fields__
            if name in document and name != "at"
        }
        return cls(
            **plain,
            at=parse_instant(document["at"]),
            request_headers=[(name, value) for name, value in request["headers"]],
            request_body=request["body"]["text"].encode(),
            response_headers=[(name, value) for name, value in response["headers"]],
            response_body=response["body"]["text"].encode(),
            document=document,
        )

    def as_json(self) -> dict[str, Any]:
        """The entry as the control plane gave it."""
        return self.document


class RemoteJournal:
    """What a world was asked and how it answered."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def find(self, *, since: Instant | None = None, **query: Any) -> list[RemoteEntry]:
        """Entries that fit everything given, oldest first; with `limit`, the newest so many."""
        after = None if since is None else wire(since)
        found = self._control.ask("GET", "/requests", since=after, **query)["requests"]
        return [RemoteEntry.read(entry) for entry in found]

    def count(self, *, since: Instant | None = None, **query: Any) -> int:
        """How many entries fit everything given."""
        after = None if since is None else wire(since)
        count: int = self._control.ask("GET", "/requests/count", since=after, **query)["count"]
        return count

    def get(self, request_id: str) -> RemoteEntry | None:
        """The entry that `X-Mock-Request-Id` of an answer names, if it is still kept."""
        try:
            return RemoteEntry.read(self._control.ask("GET", f"/requests/{request_id}"))
        except Refused as refused:
            if refused.status != 404:
                raise
            return None

    def clear(self) -> None:
        """Forget everything."""
        self._control.ask("DELETE", "/requests")

    def __iter__(self) -> Iterator[RemoteEntry]:
        return iter(self.find())

    def __len__(self) -> int:
        return self.count()
