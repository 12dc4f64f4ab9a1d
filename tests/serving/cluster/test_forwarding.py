"""A request that another process answers, when that process hangs or ends meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from mock_platform.core.connection import Pause, Peer, Request
from mock_platform.serving.cluster import Place
from mock_platform.serving.cluster.forwarding import HandedRequest
from mock_platform.serving.cluster.frames import FrameReader, Kind, pack_start, read_request
from mock_platform.serving.http.answer import Pair

OWNER, NEXT = Place("h/1", "127.0.0.1:1"), Place("h/2", "127.0.0.1:2")
OK = "200 OK"
LENGTH = [("Content-Length", "4")]


class Process:
    """The link to an owner and the loop of the front, as far as one request uses them."""

    def __init__(self) -> None:
        self.sent: list[Place] = []
        self.told: list[int] = []
        self.worlds: list[str] = []
        """The worlds that requests name; empty: the owner answers in any case."""
        self.is_stopping = self.is_slow = self.is_stream = self.closed = False
        self.place = OWNER
        self.next = NEXT
        """Where the world is, as far as the engine knows."""

    def open_link(self, place: Place) -> Any:
        """Note where the request goes."""
        self.sent.append(place)
        return self

    def is_here(self, place: Place) -> bool:
        """Whether the front has the world itself: never."""
        return False

    def locate(self, world: str, not_at: Place | None, act: Callable[..., object]) -> None:
        """Another process has the world now, unless a test says otherwise."""
        act(self.next)

    def call_later(self, seconds: float, act: Callable[[], object]) -> None:
        """Do at once what is to be done later."""
        act()

    def add(self, taker: object) -> int:
        """The number of the request."""
        return 1

    def write(self, frame: bytes) -> None:
        """Note what the owner hears."""
        ((kind, _, payload),) = FrameReader().feed(frame)
        self.told.append(kind)
        if kind == Kind.REQUEST:
            self.worlds.append(read_request(payload, 5)[0])

    def forget(self, number: int) -> None:
        """Nothing: there is one request."""

    def resume(self, *, urgent: bool) -> None:
        """Nothing: the test reads when it wants to."""

    def close(self) -> None:
        """Note that the connection of the client ends."""
        self.closed = True


class Exchange:
    """A request that was handed over, and what its client has got so far."""

    def __init__(self, method: str = "GET") -> None:
        self.process = process = Process()
        self.handed = HandedRequest(process, "w", OWNER)
        self.status = ""
        self.headers: Sequence[Pair] = ()
        request = Request(method, "/", "h", "1.1", [], b"", keep_alive=True)
        peer = Peer(process, "127.0.0.1", "1", "http", "h:80")  # type: ignore[arg-type]
        self._body = iter(self.handed(request, peer, self._start))

    def take(self, kind: int, *payload: bytes) -> None:
        """Let a frame arrive: the head of an answer has what `LENGTH` says."""
        if kind in {Kind.START, Kind.ANSWER}:
            frame = pack_start(kind, 1, OK, LENGTH, *payload)
            payload = (frame[9:],)
        self.handed.take_frame(kind, *payload)

    def take_long(self, *parts: bytes) -> None:
        """Let the parts of an answer without a length arrive."""
        first, *others = parts
        self.handed.take_frame(Kind.START, pack_start(Kind.START, 1, OK, [], first)[9:])
        for part in others:
            self.handed.take_frame(Kind.DATA, part)

    def read(self) -> tuple[bytes, bool]:
        """All pieces that are there, and whether the answer is complete."""
        found = b""
        for piece in self._body:
            if isinstance(piece, Pause):
                return found, False
            found += piece
        return found, True

    def _start(self, status: str, headers: list[Pair], exc: Any = None, /) -> Any:
        self.status, self.headers = status, headers


def test_a_process_that_does_not_know_that_it_has_a_world() -> None:
    """It is asked to answer all the same, which opens the world there."""
    exchange = Exchange()
    exchange.process.next = OWNER
    for _ in range(2):
        exchange.take(Kind.MOVED, b"")

    assert ["w", "w", ""] == exchange.process.worlds
    exchange.take(Kind.ANSWER, b"1234")
    assert (b"1234", True) == exchange.read()


@pytest.mark.parametrize("parts", [[b"1234"], [b"12", b"34"]])
def test_an_answer_ends_with_its_last_byte(parts: list[bytes]) -> None:
    """A process that hangs before it says so does not keep the client's next request waiting."""
    exchange = Exchange()
    exchange.take(Kind.START, parts[0])
    for part in parts[1:]:
        exchange.take(Kind.DATA, part)
    assert (b"1234", True) == exchange.read()
    exchange.handed.lose(sent=True)
    assert not exchange.process.closed


def test_a_head_has_no_body_to_wait_for() -> None:
    """The length that an answer to HEAD names is that of another answer."""
    exchange = Exchange("HEAD")
    exchange.take(Kind.START, b"")
    assert (b"", False) == exchange.read()
    exchange.take(Kind.END, b"")
    assert (b"", True) == exchange.read()


def test_a_read_is_repeated_if_nothing_of_its_answer_was_sent() -> None:
    """Also when its first part had arrived already."""
    exchange = Exchange()
    exchange.take(Kind.START, b"12")
    exchange.handed.lose(sent=True)
    assert (b"", False) == exchange.read()
    assert [OWNER, NEXT] == exchange.process.sent
    exchange.take(Kind.ANSWER, b"5678")
    assert (b"5678", True) == exchange.read()
    assert OK == exchange.status


@pytest.mark.parametrize("arrived", [[], [b"12"]])
def test_a_write_is_not_repeated(arrived: list[bytes]) -> None:
    """Its client gets 503 with the time after which to ask, and that it may have been executed."""
    exchange = Exchange("POST")
    for part in arrived:
        exchange.take(Kind.START, part)
    exchange.handed.lose(sent=True)
    body, complete = exchange.read()
    assert complete
    assert b"not known" in body
    assert "503 Service Unavailable" == exchange.status
    assert ("Retry-After", "1") in exchange.headers
    assert not exchange.process.closed


def test_an_answer_that_is_there_is_sent() -> None:
    """Though its process ended before the client had it."""
    exchange = Exchange("POST")
    exchange.take(Kind.ANSWER, b"1234")
    exchange.handed.lose(sent=True)
    assert (b"1234", True) == exchange.read()
    assert [OWNER] == exchange.process.sent


def test_an_answer_that_was_begun_is_broken_off() -> None:
    """The connection ends: what is missing cannot be made up for."""
    exchange = Exchange()
    exchange.take(Kind.START, b"12")
    assert (b"12", False) == exchange.read()
    exchange.handed.lose(sent=True)
    assert (b"", True) == exchange.read()
    assert exchange.process.closed


@pytest.mark.parametrize("part", [100, 70_000])
def test_an_owner_that_was_slowed_down_goes_on(part: int) -> None:
    """As soon as the client has read all that waited for it, heads of answers included."""
    exchange = Exchange()
    body = [b"x" * part] * (140_000 // part)
    exchange.take_long(*body)
    assert [Kind.REQUEST, Kind.CLOGGED] == exchange.process.told
    assert (b"".join(body), False) == exchange.read()
    assert [Kind.REQUEST, Kind.CLOGGED, Kind.READING] == exchange.process.told
