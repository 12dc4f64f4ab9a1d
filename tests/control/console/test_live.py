from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import pytest

from mock_platform.control.console.filters import EntryFilter
from mock_platform.control.console.request_list import MAX_ROWS, LiveRows
from mock_platform.core.connection import Connection, Pause
from mock_platform.world.journal import JournalEntry, Query
from tests.control.support import call
from tests.support import Sandbox, sandbox


@pytest.fixture
def box() -> Sandbox:
    """A sandbox whose first request is `r1`."""
    return sandbox()


@dataclass
class Listener:
    """A connection that knows pauses."""

    pauses: bool = True
    is_stopping: bool = False


def follow(box: Sandbox, listener: Listener | None, after: str = "") -> LiveRows:
    """The events of a world's journal, with the ids of its requests as rows."""

    def show(entries: Iterable[JournalEntry]) -> str:
        return " ".join(entry.id for entry in entries)

    everything = EntryFilter(Query())
    connection = cast("Connection | None", listener)
    return LiveRows(lambda: box.world.journal, everything, show, after, connection)


def read(piece: bytes | Pause) -> dict[str, Any]:
    """The data of an event."""
    assert isinstance(piece, bytes)
    found: dict[str, Any] = json.loads(piece.partition(b"data: ")[2])
    return found


def request(box: Sandbox, times: int = 1) -> None:
    """Requests of a client."""
    for _ in range(times):
        box.call("GET", "/oauth2/tokn", keys=None)


def test_only_what_is_new(box: Sandbox) -> None:
    """Each event has what came since the last one; without news there are pauses."""
    request(box)
    events = follow(box, Listener(), "0-1")

    begin = next(events)
    pauses = [next(events), next(events)]
    request(box, 2)
    two = read(next(events))
    pauses.append(next(events))
    request(box)
    one = read(next(events))

    assert b"retry: 2000\n\n" == begin
    assert all(isinstance(each, Pause) and each.endless for each in pauses)
    assert ("r3 r2", 2, "0-3") == (two["rows"], two["shown"], two["position"])
    assert ("r4", 0, False) == (one["rows"], one["left_out"], one["emptied"])


def test_a_busy_server(box: Sandbox) -> None:
    """An event has the newest rows, and how many it leaves out."""
    request(box, MAX_ROWS + 3)
    events = follow(box, Listener())
    next(events), next(events)

    busy = read(next(events))

    assert (MAX_ROWS, 3) == (busy["shown"], busy["left_out"])
    assert busy["rows"].startswith(f"r{MAX_ROWS + 3} ")


def test_an_emptied_journal(box: Sandbox) -> None:
    """Emptying is news, also if new requests came since."""
    request(box, 3)
    events = follow(box, Listener(), "0-3")
    next(events), next(events)
    box.world.journal.clear()
    request(box, 4)

    emptied = read(next(events))

    assert (True, 4) == (emptied["emptied"], emptied["shown"])


def test_a_silent_world(box: Sandbox) -> None:
    """Now and then a comment keeps the connection open."""
    events = follow(box, Listener())

    pieces = [next(events) for _ in range(40)]

    assert pieces.count(b": nothing new\n\n") == 2


def test_the_end(box: Sandbox) -> None:
    """A server that stops waits for no listener."""
    listener = Listener()
    events = follow(box, listener)
    next(events)
    listener.is_stopping = True

    assert [] == list(events)


def test_other_servers(box: Sandbox) -> None:
    """Where no pause is known, the events end at once, and the browser asks again."""
    request(box)

    answer = call(box, "GET", "/console/live")

    assert "text/event-stream" == answer.mimetype
    assert "id: 0-1\nevent: requests\n" in answer.text
    again = call(box, "GET", "/console/live", headers={"Last-Event-ID": "0-1"})
    assert "retry: 2000\n\n" == again.text


def test_a_faulty_filter(box: Sandbox) -> None:
    """A filter that the page refuses has no events."""
    assert 422 == call(box, "GET", "/console/live?status=teapot").status_code
