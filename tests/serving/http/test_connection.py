"""One client's connection, with a transport and a loop that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Self

import pytest

from mock_platform.core.connection import Pause, Peer, Request
from mock_platform.serving.http import Bound
from mock_platform.serving.http.backend import Backend
from mock_platform.serving.http.connection import ClientConnection
from mock_platform.settings import ConnectionSettings
from tests.serving.http.wire import Start

PIECE = 16 * 1024


class Transport(asyncio.Transport):
    """A transport that keeps what is written, and knows whether the client is read."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.reads = True

    def write(self, data: Any) -> None:
        """Keep it."""
        self.written += data

    def pause_reading(self) -> None:
        """Read no more."""
        self.reads = False

    def resume_reading(self) -> None:
        """Read again."""
        self.reads = True

    def is_closing(self) -> bool:
        """It stays open."""
        return False

    def get_write_buffer_size(self) -> int:
        """All is sent at once."""
        return 0


class Loop:
    """A loop whose rounds and timers the test runs."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], object]] = []
        self.later: list[Callable[[], object]] = []

    def call_soon(self, act: Callable[[], object]) -> None:
        """Keep it for the next round."""
        self.soon.append(act)

    def call_later(self, _seconds: float, act: Callable[[], object]) -> Self:
        """Keep it until the test lets the time pass."""
        self.later.append(act)
        return self

    def cancel(self) -> None:
        """Timers are never cancelled here."""

    def go_round(self) -> bool:
        """Run what is due; returns whether there was anything."""
        due, self.soon = self.soon, []
        for act in due:
            act()
        return bool(due)

    def wake(self) -> None:
        """Let the time of all timers pass."""
        due, self.later = self.later, []
        for act in due:
            act()


class Bench:
    """A connection whose application answers on the loop; `/wait` only when time has passed."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []
        self.loop = Loop()
        self.transport = Transport()
        bound = Bound("127.0.0.1", 80, "http://127.0.0.1")
        self.backend = Backend(self, bound, "http", 1, ConnectionSettings(), None)  # type: ignore[arg-type]
        self.backend.attach(self.loop)  # type: ignore[arg-type]
        self.connection = ClientConnection(self.backend)
        self.connection.connection_made(self.transport)

    def at_once(self, _request: Request) -> Any:
        """Every request is answered on the loop."""
        return self.answer

    def answer(self, request: Request, _peer: Peer, start: Start) -> Iterable[bytes | Pause]:
        """Note the target and the bytes of the body."""
        self.seen.append((request.target, len(request.body)))
        if request.target == "/wait":
            yield Pause(1)
        start("200 OK", [("Content-Length", "0")])

    def go_on(self) -> None:
        """Run all rounds that are left."""
        while self.loop.go_round():
            pass


@pytest.fixture
def bench() -> Bench:
    """A new connection."""
    return Bench()


def test_a_client_that_sends_much_takes_turns_with_others(bench: Bench) -> None:
    """Of ten large requests that came at once one or two are answered before others get a turn."""
    asked = [
        b"GET /%d HTTP/1.1\r\nHost: x\r\nX: %b\r\n\r\n" % (number, b"x" * 20_000)
        for number in range(10)
    ]
    bench.connection.data_received(b"".join(asked))
    assert 1 <= len(bench.seen) <= 2
    assert not bench.transport.reads

    bench.go_on()

    assert [(f"/{number}", 0) for number in range(10)] == bench.seen
    assert bench.transport.reads


def test_what_a_client_sent_before_it_left_is_read(bench: Bench) -> None:
    """A client that ends its side is answered, although a part of its request waits for a turn."""
    head = b"POST /last HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    bench.connection.data_received(head + b"1\r\nx\r\n" * 30_000 + b"0\r\n\r\n")
    assert bench.seen == []

    bench.connection.eof_received()
    assert bench.seen == [("/last", 30_000)]


def test_the_next_body_is_not_read_far_ahead(bench: Bench) -> None:
    """While a request is answered, most of the next one's body stays with the client."""
    size = 100 * PIECE
    bench.connection.data_received(
        b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"
        b"POST /next HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size
    )
    sent = 0
    while sent < size:
        bench.go_on()
        if not bench.transport.reads:
            break
        bench.connection.data_received(bytes(PIECE))
        sent += PIECE
    assert sent <= 10 * PIECE

    bench.loop.wake()
    bench.go_on()
    while sent < size:
        assert bench.transport.reads
        bench.connection.data_received(bytes(PIECE))
        bench.go_on()
        sent += PIECE

    assert [("/wait", 0), ("/next", size)] == bench.seen
    assert 2 == bench.transport.written.count(b"200 OK")
