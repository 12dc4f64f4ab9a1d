"""A request of another process, while its client reads now and then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mock_platform.edge.request import Direct, Request
from mock_platform.server.hop.frames import FrameReader, Kind
from mock_platform.server.hop.taking import TakenRequest

PARTS = [b"1", b"2", b"3"]


class Front:
    """The connection to the front, and the loop and the workers of the owner."""

    def __init__(self) -> None:
        self.said: list[tuple[int, bytes]] = []
        self.soon: list[Callable[[], object]] = []
        self.working: list[Callable[[], object]] = []
        self.report = self.date_line = self.finish_answer = self.forget = lambda *_: ""

    def write(self, frame: bytes) -> None:
        """Note what is said to the front."""
        self.said += [(kind, payload) for kind, _, payload in FrameReader().feed(frame)]

    def run(self, answer: Any, peer: object, request: TakenRequest) -> None:
        """Run the application in a worker."""
        self.working.append(lambda: request.send_pieces(answer, answer.run(make)))

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


def make(start: Any) -> Iterator[bytes]:
    """Answer with the parts, whose length is not known before."""
    start("200 OK", [])
    return iter(PARTS)


def test_one_piece_at_a_time_is_made() -> None:
    """However often the front says that its client reads again."""
    front = Front()
    taken = TakenRequest(front, 1, front, ["127.0.0.1", "1", "http", "h:80"])  # type: ignore[arg-type]
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
