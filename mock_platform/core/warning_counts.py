"""Counts warnings for summaries: which code, on which operation, how often, with an example."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from mock_platform.core.errors import shorten
from mock_platform.core.world_counts import WorldCounts
from mock_platform.world import redact
from mock_platform.world.journal import JournalEntry

_MAX_ADDRESS = 300
"""Characters of an address in an example."""

WarningDocument = dict[str, Any]
"""What `GET /_mock/warnings` answers."""
_Key = tuple[str, str]
"""A code and an operation."""


class _Count(Struct):
    """The requests with one warning, and the first of them."""

    example: Mapping[str, str]
    requests: int = 0


class _Tally(Struct):
    """The counts of one world."""

    requests: int = 0
    counts: dict[_Key, _Count] = field(default_factory=dict)

    def add(self, other: _Tally) -> None:
        self.requests += other.requests
        for key, count in other.counts.items():
            known = self.counts.get(key)
            if known is None:
                self.counts[key] = replace(count)
            else:
                known.requests += count.requests


class WarningRecorder:
    """The counts of one server. Safe for concurrent use."""

    def __init__(self) -> None:
        self._counts = WorldCounts(_Tally, _Tally.add)
        self.worlds = self._counts.list_worlds
        """Return the names of the worlds that had warnings."""
        self.clear = self._counts.clear
        """Forget the counts of a world, or of all worlds."""

    def observe(self, entry: JournalEntry) -> None:
        """Count the warnings of a journal entry that has some; each code once."""
        with self._counts.lock:
            tally = self._counts.find(entry.world)
            tally.requests += 1
            for code, text in dict(reversed(entry.coded_warnings)).items():
                key = (code, entry.operation or "")
                count = tally.counts.get(key)
                if count is None:
                    count = tally.counts[key] = _Count(_make_example(entry, text))
                count.requests += 1

    def document(self, world: str | None = None) -> WarningDocument:
        """Return the counts of a world, or of all worlds together, the most frequent first."""
        merged = self._counts.merge(world)
        rows = [
            {
                "code": code,
                "operation": operation or None,
                "requests": count.requests,
                "example": dict(count.example),
            }
            for (code, operation), count in merged.counts.items()
        ]
        return {"requests": merged.requests, "warnings": _sort(rows)}


def merge_warnings(documents: Iterable[WarningDocument]) -> WarningDocument:
    """Return the counts of several servers or processes as one document."""
    rows: dict[_Key, dict[str, Any]] = {}
    requests = 0
    for document in documents:
        requests += document["requests"]
        for row in document["warnings"]:
            key = row["code"], row["operation"]
            known = rows.get(key)
            more = 0 if known is None else known["requests"]
            rows[key] = {**(known or row), "requests": row["requests"] + more}
    return {"requests": requests, "warnings": _sort(rows.values())}


def describe_warnings(document: WarningDocument) -> Iterator[str]:
    """Return the lines of a summary for people; none without warnings."""
    for row in document["warnings"]:
        example = row["example"]
        yield (
            f"{row['requests']} x {row['code']}, {row['operation'] or 'no operation'}: "
            f"{example['method']} {strip_origin(example['url'])}: {example['text']}"
        )


def count_requests(document: WarningDocument) -> str:
    """Return how many requests had warnings, in words."""
    requests = document["requests"]
    return f"{requests} request{'' if requests == 1 else 's'} with warnings"


def strip_origin(url: str) -> str:
    """Return the path and the query of an address, without the server and the world's prefix."""
    parts = urlsplit(url)
    path = parts.path
    if path.startswith("/~"):
        path = "/" + path[2:].partition("/")[2]
    return f"{path}?{parts.query}" if parts.query else path


def _make_example(entry: JournalEntry, text: str) -> dict[str, str]:
    url = shorten(redact.address(entry.url), _MAX_ADDRESS)
    return {"id": entry.id, "world": entry.world, "method": entry.method, "url": url, "text": text}


def _sort(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: (-row["requests"], row["code"], row["operation"] or ""))
