"""What arrives in one round is answered together, in order, and nothing is lost or reordered."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from mock_platform.core.connection import CONNECTION
from mock_platform.serving.http import ServerThread
from mock_platform.serving.http import scheduling as rounds
from mock_platform.serving.http.scheduling import Rounds
from tests.serving.http.wire import Environ, Start, Wire, reply

LIMIT = rounds._MAX_BYTES
CLIENTS = 12


class Connection:
    """A connection that notes each piece and answers with it, or does something else with it."""

    def __init__(
        self,
        name: str,
        events: list[Any],
        within: Rounds,
        act: Callable[[Connection, bytes], object] | None = None,
    ) -> None:
        self.name = name
        self._events = events
        self._rounds = within
        self._act = act

    def read(self, data: bytes) -> None:
        """Note the piece, and answer."""
        if self._act is not None:
            self._act(self, data)
            return
        self._events.append(("read", self.name, data[:5]))
        if data == b"fault":
            raise ZeroDivisionError
        self._events.append(("kept", self._rounds.keep(self, data)))

    def write_kept(self, data: bytes) -> None:
        """Note what is sent."""
        self._events.append(("sent", self.name, data[:5]))

    def fail(self, fault: Exception) -> None:
        """Note the end."""
        self._events.append(("failed", self.name, type(fault)))


class Bench:
    """Rounds whose loop is the test."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], object]] = []
        self.events: list[Any] = []
        self.rounds = Rounds(self.soon.append)

    def arrive(self, *pieces: tuple[str, bytes]) -> list[bool]:
        """What is gathered of pieces of clients."""
        return [
            self.rounds.gather(Connection(name, self.events, self.rounds), data)
            for name, data in pieces
        ]

    def go_round(self) -> list[Any]:
        """What happens at the end of the round."""
        due, self.soon[:] = self.soon[:], []
        for act in due:
            act()
        return self.take()

    def take(self) -> list[Any]:
        """What happened."""
        found, self.events[:] = self.events[:], []
        return found


@pytest.fixture
def bench() -> Bench:
    """Rounds that have begun to gather."""
    return Bench()


def some(number: int) -> list[tuple[str, bytes]]:
    """A piece of each of so many clients."""
    return [(str(index), b"hello") for index in range(number)]


def test_all_are_read_before_any_answer_is_sent(bench: Bench) -> None:
    """Reading comes first, in the order of arrival; then the answers go out in this order."""
    assert bench.arrive(*some(3)) == [True] * 3
    assert bench.take() == []
    events = bench.go_round()

    assert [each[:2] for each in events] == [
        ("read", "0"), ("kept", True), ("read", "1"), ("kept", True), ("read", "2"), ("kept", True),
        ("sent", "0"), ("sent", "1"), ("sent", "2"),
    ]  # fmt: skip
    assert bench.go_round() == []


@pytest.mark.parametrize(("first", "left_out"), [(2, 255), (3, 0)])
def test_a_few_requests_are_then_answered_as_they_arrive(
    bench: Bench, first: int, left_out: int
) -> None:
    """After a round of two, 255 pieces are not gathered, the next one is; three are enough."""
    bench.arrive(*some(first))
    bench.go_round()

    assert bench.arrive(*some(left_out)) == [False] * left_out
    assert bench.arrive(*some(1)) == [True]


def test_a_full_round_is_answered_at_once(bench: Bench) -> None:
    """The 64th piece ends the round, so that the first does not wait for a thousand."""
    bench.arrive(*some(63))
    assert bench.take() == []
    bench.arrive(("last", b"hello"))
    events = bench.take()

    assert [each[1] for each in events if each[0] == "sent"] == [str(n) for n in range(63)] + [
        "last"
    ]
    assert bench.go_round() == []


@pytest.mark.parametrize(("size", "gathered"), [(LIMIT, True), (LIMIT + 1, False)])
def test_large_pieces_are_not_gathered(bench: Bench, size: int, *, gathered: bool) -> None:
    """They are read at once, after what came before them."""
    assert bench.arrive(("first", b"hello"), ("large", b"x" * size)) == [True, gathered]
    assert bool(bench.take()) is not gathered


@pytest.mark.parametrize(("size", "kept"), [(LIMIT, True), (LIMIT + 1, False)])
def test_large_answers_are_not_kept(bench: Bench, size: int, *, kept: bool) -> None:
    """Memory for answers that wait is bounded."""
    found: list[bool] = []

    def answer(member: Connection, _: bytes) -> None:
        found.append(bench.rounds.keep(member, b"x" * size))

    bench.rounds.gather(Connection("one", bench.events, bench.rounds, answer), b"hello")
    bench.go_round()

    assert found == [kept]


def test_nothing_is_kept_outside_a_round(bench: Bench) -> None:
    """An answer of a worker is sent at once."""
    assert not bench.rounds.keep(Connection("one", [], bench.rounds), b"hello")


def test_a_fault_ends_only_its_own_connection(bench: Bench) -> None:
    """The others are answered, those before and those after."""
    bench.arrive(("a", b"hello"), ("b", b"fault"), ("c", b"hello"))
    events = bench.go_round()

    assert ("failed", "b", ZeroDivisionError) in events
    assert [each[1] for each in events if each[0] == "sent"] == ["a", "c"]


def test_a_round_within_a_round_does_nothing(bench: Bench) -> None:
    """What arrives while a round is answered belongs to the next one."""
    later = Connection("later", bench.events, bench.rounds)

    def answer(_: Connection, data: bytes) -> None:
        bench.rounds.gather(later, data)
        bench.rounds.run()
        bench.events.append("end")

    member = Connection("one", bench.events, bench.rounds, answer)
    for _ in range(3):
        bench.rounds.gather(member, b"hello")
    bench.rounds.run()

    assert bench.take() == ["end"] * 3
    assert [each[0] for each in bench.go_round() if each[0] == "read"] == ["read"] * 3


# -- on a server ---------------------------------------------------------------------------------


class Sized:
    """An application that answers on the loop, with as many bytes as the path says."""

    def __call__(self, environ: Environ, start_response: Start) -> list[bytes]:
        """Answer; break the connection on `/reset`."""
        word = environ["PATH_INFO"].strip("/")
        if word == "reset":
            environ[CONNECTION].reset()
            return []
        return reply(start_response, b"x" * int(word))

    def never_blocks(self, request: object) -> bool:
        """Call it on the loop."""
        return True


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerThread]:
    """A server that gathers, however little there is."""
    monkeypatch.setattr(rounds, "_FEW", 0)
    with ServerThread(Sized()) as made:
        yield made


@pytest.mark.live
def test_answers_of_one_connection_keep_their_order(server: ServerThread) -> None:
    """Small answers that are kept come before large ones that are written at once."""
    sizes = [1, LIMIT * 2, 2, 3, LIMIT * 3, 4]
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(server)) for _ in range(CLIENTS)]
        for wire in wires:
            wire.send(b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % size for size in sizes))
        for wire in wires:
            assert [len(wire.answer().body) for _ in sizes] == sizes


@pytest.mark.live
def test_a_client_that_ends_its_side_gets_its_answer(server: ServerThread) -> None:
    """The end of the client's side arrives in the same round as its request."""
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(server)) for _ in range(CLIENTS)]
        for wire in wires:
            wire.get("/5").socket.shutdown(socket.SHUT_WR)
        for wire in wires:
            assert wire.answer().body == b"xxxxx"
            assert wire.socket.recv(1) == b""


@pytest.mark.live
@pytest.mark.parametrize(
    ("last", "status"),
    [
        (b"GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 200),
        (b"GET /2 HTTP/1.1\r\nHost : x\r\n\r\n", 400),
    ],
    ids=["close", "malformed"],
)
def test_what_ends_a_connection_comes_after_its_kept_answers(
    server: ServerThread, last: bytes, status: int
) -> None:
    """An answer that closes, or a refusal, does not overtake the answer before it."""
    with Wire(server) as wire:
        wire.send(b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n" + last)
        assert wire.answer().body == b"x"
        assert wire.answer().status == status
        assert wire.socket.recv(1) == b""


@pytest.mark.live
def test_an_answer_before_a_broken_connection_is_sent(server: ServerThread) -> None:
    """The client may lose it, as with any reset, but the others get theirs."""
    with Wire(server) as other, Wire(server) as wire:
        wire.send(b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /reset HTTP/1.1\r\nHost: x\r\n\r\n")
        other.get("/3")
        assert other.answer().body == b"xxx"
        with pytest.raises(ConnectionResetError):
            wire.rest()


@pytest.mark.live
def test_a_body_that_waits_for_continue_is_asked_for_after_the_answers(
    server: ServerThread,
) -> None:
    """`100 Continue` of the second request comes after the answer to the first."""
    with Wire(server) as wire:
        wire.send(
            b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
            b"POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"
        )
        assert wire.answer().body == b"x"
        assert wire.answer().status == 100
        wire.send(b"y")
        assert wire.answer().body == b"xx"
