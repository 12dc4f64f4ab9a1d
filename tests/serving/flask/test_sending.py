"""How an answer ended and how late it was, by a clock that the test moves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from mock_platform.core.call import LiveBody, Reply, Sending
from mock_platform.core.connection import Connection, Pause
from mock_platform.serving.flask.sending import send
from mock_platform.world.endings import COMPLETE
from mock_platform.world.journal import JournalEntry

BODY = b"x" * 40
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Wire:
    """A client's connection: a pause moves the clock, and every fault is noted."""

    def __init__(self, *, is_stream: bool = False) -> None:
        self.is_stream = is_stream
        self.pauses = True
        self.is_stopping = self.is_slow = False
        self.skipped = 0.0
        self.entry: JournalEntry | None = None
        self.done: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self.done.append(name)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The clock of the edge, which the test moves."""
    found = SimpleNamespace(now=100.0)
    monkeypatch.setattr("mock_platform.serving.flask.sending.UPTIME", lambda: found.now)
    return found


def make_reply(sending: Sending | None = None, **more: Any) -> Reply:
    """A reply that took 2 milliseconds, with its entry."""
    reply = Reply(200, BODY, sending=sending, **more)
    ending = COMPLETE if sending is None and not reply.is_open_ended else None
    reply.entry = JournalEntry(
        "r1", NOON, "default", "GET", "http://h/", 200, 2.0, response_body=BODY, ending=ending
    )
    return reply


def read(clock: SimpleNamespace, reply: Reply, wire: Wire | None, pieces: int = 1000) -> Any:
    """Sends at most so many pieces of a reply, closes it, and returns how it ended."""
    connection: Connection | None = wire
    body = send(reply, "GET", connection, threading.Event(), lambda *_: lambda _: None)
    for number, piece in enumerate(iter(body)):
        if isinstance(piece, Pause):
            clock.now += piece.seconds
        if number + 1 == pieces:
            break
    close = getattr(body, "close", None)
    if close is not None:
        close()
    assert reply.entry is not None
    return reply.entry.ended


@pytest.mark.parametrize(
    ("sending", "how", "size", "late"),
    [
        (None, "complete", 40, 0),
        (Sending(delay=1.5), "complete", 40, 1500.0),
        (Sending(delay=0.25, slow_body=2), "complete", 40, 2250.0),
        (Sending(fault="reset"), "reset", 0, 0),
        (Sending(fault="reset", is_committed=True), "reset", 0, 0),
        (Sending(fault="empty"), "empty", 0, 0),
        (Sending(fault="empty", is_committed=True), "lost", 0, 0),
        (Sending(fault="garbage"), "garbage", 0, 0),
        (Sending(fault="timeout"), "stalled", 0, 0),
        (Sending(fault="truncate"), "truncated", 20, 0),
        (Sending(delay=1, fault="reset"), "reset", 0, 1000.0),
    ],
)
def test_what_the_client_met(
    clock: SimpleNamespace, sending: Sending | None, how: str, size: int, late: float
) -> None:
    """Delays count in full, by the clock; a fault ends the answer, and says how much was sent."""
    reply = make_reply(sending)
    ended = {"how": how, "bytes": size} | ({"late_milliseconds": late} if late else {})

    assert ended == read(clock, reply, Wire())

    assert reply.entry is not None
    assert 2 + late == round(reply.entry.milliseconds, 6)
    assert 2.0 == reply.entry.handler_milliseconds


@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize(
    ("fault", "how"), [(None, "complete"), ("truncate", "empty"), ("reset", "reset")]
)
def test_an_answer_that_has_no_body(
    clock: SimpleNamespace, status: int, fault: Any, how: str
) -> None:
    """Nothing is left of one that is cut, as its head would be all of it."""
    reply = make_reply(Sending(fault=fault))
    reply.status, reply.body = status, b""
    wire = Wire()

    assert {"how": how, "bytes": 0} == read(clock, reply, wire)
    assert (how == "empty") == ("close" in wire.done)


@pytest.mark.parametrize(
    ("fault", "how"), [("empty", "reset"), ("garbage", "reset"), ("timeout", "stalled")]
)
def test_a_stream_of_http2_is_reset(clock: SimpleNamespace, fault: Any, how: str) -> None:
    """What has no form in HTTP/2 is what its client meets."""
    found = read(clock, make_reply(Sending(fault=fault)), Wire(is_stream=True))

    assert {"how": how, "bytes": 0} == found


def test_a_client_that_gives_up(clock: SimpleNamespace) -> None:
    """Closed before its last piece, an answer was cut by the client, after the time until then."""
    late, slow = make_reply(Sending(delay=3)), make_reply(Sending(slow_body=2))

    assert {"how": "disconnected", "bytes": 0, "late_milliseconds": 3000.0} == read(
        clock, late, Wire(), pieces=1
    )
    assert {"how": "disconnected", "bytes": 4, "late_milliseconds": 200.0} == read(
        clock, slow, Wire(), pieces=4
    )


def test_an_answer_on_its_way_has_not_ended(clock: SimpleNamespace) -> None:
    """While a scenario holds it back, nothing is said of its end."""
    reply = make_reply(Sending(delay=3))
    connection: Connection = Wire()
    body = send(reply, "GET", connection, threading.Event(), lambda *_: lambda _: None)

    next(iter(body))

    assert reply.entry is not None
    assert reply.entry.ended is None


def parts(*, fails: bool = False) -> Iterator[bytes]:
    """The body of a user's route."""
    yield b"12345"
    if fails:
        raise ZeroDivisionError
    yield b"67"


@pytest.mark.parametrize(
    ("length", "how"), [(None, "complete"), ("7", "complete"), ("9", "truncated")]
)
def test_bodies_of_routes(clock: SimpleNamespace, length: str | None, how: str) -> None:
    """A body in parts is counted; one below its length was truncated."""
    headers = [] if length is None else [("Content-Length", length)]

    found = read(clock, make_reply(parts=parts(), headers=headers), Wire())

    assert {"how": how, "bytes": 7} == found


def test_a_body_that_fails_on_its_way(clock: SimpleNamespace) -> None:
    """The client has its beginning."""
    reply = make_reply(parts=parts(fails=True))

    with pytest.raises(ZeroDivisionError):
        read(clock, reply, Wire())

    assert reply.entry is not None
    assert {"how": "truncated", "bytes": 5} == reply.entry.ended


class Lines:
    """A stream that has one line, then is silent, ends, or breaks."""

    def __init__(self, *, fault: str | None = None, is_silent: bool = False) -> None:
        self.fault = fault
        self.is_silent = is_silent
        self._left: list[bytes | None] = [b"line\r\n", b"" if is_silent else None]

    def read(self) -> bytes | None:
        """The next line."""
        return self._left.pop(0) if self._left else b""

    def wait_seconds(self) -> float:
        """Two seconds until the next look."""
        return 2.0

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


@pytest.mark.parametrize(
    ("stream", "pieces", "how"),
    [
        (Lines(), 9, "complete"),
        (Lines(fault="reset"), 9, "reset"),
        (Lines(), 1, "disconnected"),
        (Lines(is_silent=True), 2, "stalled"),
    ],
)
def test_streams(clock: SimpleNamespace, stream: Any, pieces: int, how: str) -> None:
    """A stream says how it ended, and how much its client got."""
    body: LiveBody = stream

    found = read(clock, make_reply(stream=body), Wire(), pieces=pieces)

    assert {"how": how, "bytes": 6} == found
