"""A request of another process: its client reads now and then, or the owner stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mock_platform.core.connection import Direct, Request
from mock_platform.serving.cluster import Place
from mock_platform.serving.cluster.answering import PeerConnection, TakenRequest
from mock_platform.serving.cluster.channel import LOCAL
from mock_platform.serving.cluster.frames import FrameReader, Kind, pack, pack_request
from mock_platform.serving.cluster.link import FrameProtocol, Link, listen
from tests.loops import awaited
from tests.waits import PATIENCE

PARTS = [b"1", b"2", b"3"]
REQUEST = Request("PUT", "/", "h", "1.1", [], b"", keep_alive=True)
PEER = ["127.0.0.1", "1", "http", "h:80", ""]


class Front:
    """The connection to the front, and the loop and the workers of the owner."""

    def __init__(self) -> None:
        self.said: list[tuple[int, bytes]] = []
        self.soon: list[Callable[[], object]] = []
        self.working: list[Callable[[], object]] = []
        self.report = self.date_line = self.finish_answer = self.forget = self.hold = lambda *_: ""

    def write(self, frame: bytes) -> None:
        """Note what is said to the front."""
        self.said += [(kind, payload) for kind, _, payload in FrameReader().feed(frame)]

    def run(self, answer: Any, peer: object, request: TakenRequest) -> None:
        """Run the application in a worker."""
        self.working.append(lambda: request.send_pieces(answer, answer.run(make, peer)))

    def step(self, answer: Any, request: TakenRequest) -> None:
        """Make the next piece in a worker."""
        self.working.append(lambda: request.send_pieces(answer, answer.step()))

    def is_running(self, answer: object) -> bool:
        """Whether a worker makes a piece."""
        return bool(self.working)

    def call_soon(self, act: Callable[[], object]) -> None:
        """Do this in the next round."""
        self.soon.append(act)

    def end_work(self) -> None:
        """Let the worker end that makes a piece."""
        self.working.pop()()

    def go_round(self) -> None:
        """Do what is due in the next round."""
        due, self.soon = self.soon, []
        for act in due:
            act()


def make(_request: object, _peer: object, start: Any) -> Iterator[bytes]:
    """Answer with the parts, whose length is not known before."""
    start("200 OK", [])
    return iter(PARTS)


def test_one_piece_at_a_time_is_made() -> None:
    """However often the front says that its client reads again."""
    front = Front()
    taken = TakenRequest(front, 1, front, PEER)  # type: ignore[arg-type]
    direct: Direct | None = None
    taken.begin(Request("GET", "/", "h", "1.1", [], b"", keep_alive=True), direct)

    def say(*kinds: Kind) -> None:
        for kind in kinds:
            taken.hear(kind, b"")

    say(Kind.CLOGGED, Kind.READING)
    assert 1 == len(front.working)  # not another one beside it
    front.end_work()
    say(Kind.CLOGGED, Kind.READING, Kind.READING)
    front.go_round()
    assert 1 == len(front.working)
    say(Kind.CLOGGED)
    front.end_work()
    assert [] == front.soon
    say(Kind.READING)
    while front.soon:
        front.go_round()
        front.end_work()
    assert [Kind.START, Kind.DATA, Kind.DATA, Kind.END] == [kind for kind, _ in front.said]


class EndedTransport(asyncio.Transport):
    """A transport whose connection has ended; that of `uvloop` raises if it is used."""

    def is_closing(self) -> bool:
        """It has ended."""
        return True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """What `uvloop` does."""
        raise RuntimeError("the handler is closed")


def test_an_answer_after_the_end_of_its_connection() -> None:
    """It is dropped: the other process is gone, and that is no fault of this one."""

    async def answer() -> None:
        protocol = FrameProtocol()
        protocol.connection_made(EndedTransport())
        protocol.trust()
        protocol.write(pack(Kind.END, 1))
        protocol._flush()

    awaited(answer())


class Leaving:
    """An owner that stops, and the front that asks it over a real connection."""

    def __init__(self, path: Path) -> None:
        self.secret = b"s"
        self.channel = LOCAL
        self.here = Place("1", f"unix:{path}")
        self.is_leaving = False
        self.backend: Any = Front()
        self.connections: set[PeerConnection] = set()
        self.began, self.said_goodbye = asyncio.Event(), asyncio.Event()
        self.heard: asyncio.Queue[object] = asyncio.Queue()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Link]:
        """Listen; returns the front's connection, on which a request is sent."""
        loop, address = asyncio.get_running_loop(), self.here.address
        server = await listen(loop, address, lambda: PeerConnection(self, self.connections))
        link = Link(self.here, self.secret, lambda _: self.said_goodbye.set())
        self.ask(link)
        async with server, asyncio.timeout(PATIENCE):
            yield link
        link.close()

    def ask(self, link: Link) -> None:
        """Send a request to the owner."""
        link.write(pack_request(link.add(self), "w", REQUEST, PEER))

    def lives_here(self, world: str) -> bool:
        """Whether this process has a world."""
        return not self.is_leaving

    def answer_here(self, request: Request) -> None:
        """Return nothing: a worker answers."""
        self.began.set()

    def answer_question(self, payload: bytes, reply: object) -> None:
        """Do nothing: the test asks no questions."""

    def take_frame(self, kind: int, payload: bytes) -> None:
        """Note a part of the answer."""
        self.heard.put_nowait(kind)

    def lose(self, *, sent: bool) -> None:
        """Note that the request is lost."""
        self.heard.put_nowait(f"lost, {sent=}")


def test_an_owner_that_leaves_lets_in_no_other_front(tmp_path: Path) -> None:
    """So the front knows that its request was not executed, and can ask another process."""

    async def leave_at_once() -> object:
        owner = Leaving(tmp_path / "s")
        owner.is_leaving = True
        async with owner.open():
            return await owner.heard.get()

    assert "lost, sent=False" == awaited(leave_at_once())


def test_an_owner_that_leaves_sends_what_it_has_answered(tmp_path: Path) -> None:
    """The connection is closed after the answer, although the front says before that it knows."""

    async def leave_before_the_answer() -> list[object]:
        owner = Leaving(tmp_path / "s")
        async with owner.open() as link:
            await owner.began.wait()
            owner.is_leaving = True
            (connection,) = owner.connections
            connection.leave()
            await owner.said_goodbye.wait()
            owner.ask(link)  # arrives after what the front says
            heard = [await owner.heard.get()]
            while owner.backend.working:
                owner.backend.end_work()
                owner.backend.go_round()
            return heard + [await owner.heard.get() for _ in range(5)]

    answer = [Kind.START, Kind.DATA, Kind.DATA, Kind.END]
    assert [Kind.MOVED, *answer, "lost, sent=True"] == awaited(leave_before_the_answer())
