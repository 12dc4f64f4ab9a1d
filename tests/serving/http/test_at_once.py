"""Requests that an application answers on the loop itself, without a WSGI environ."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from mock_platform.core.connection import Direct, Pause, Peer, Request
from mock_platform.core.pairs import Headers, SharedHeaders
from mock_platform.serving.http import ServerThread
from tests.serving.http.wire import Environ, Start, Wire, reply

pytestmark = pytest.mark.live

LOOP = "mock-platform-server"


class Application:
    """Answers `/wsgi` as a WSGI application and everything else at once, with who answered."""

    def __init__(self) -> None:
        self.seen: list[tuple[Request, Peer]] = []

    def __call__(self, environ: Environ, start_response: Start) -> list[bytes]:
        """Answer as a WSGI application."""
        return reply(start_response, threading.current_thread().name.encode())

    def at_once(self, request: Request) -> Direct | None:
        """What the server asks."""
        if request.target == "/wsgi":
            return None
        return self._lines if request.target == "/lines" else self._answer

    def _answer(self, request: Request, peer: Peer, start_response: Start) -> list[bytes]:
        self.seen.append((request, peer))
        if request.target == "/fail":
            raise ZeroDivisionError
        if request.target == "/reset":
            peer.connection.reset()
        return reply(start_response, threading.current_thread().name.encode())

    def _lines(
        self, request: Request, peer: Peer, start_response: Start
    ) -> Iterable[bytes | Pause]:
        start_response("200 OK", [])
        return self._each_line()

    def _each_line(self) -> Iterator[bytes | Pause]:
        for number in range(3):
            yield b"%d %b\n" % (number, threading.current_thread().name.encode())
            yield Pause(0.01)


@pytest.fixture
def application() -> Application:
    """What is served."""
    return Application()


@pytest.fixture
def server(application: Application) -> Iterator[ServerThread]:
    """A server of it."""
    with ServerThread(application) as running:
        yield running


def test_the_loop_answers_what_can_be_answered_at_once(server: ServerThread) -> None:
    """Other requests go to the WSGI application in a worker, on the same connection."""
    with Wire(server) as wire:
        names = [wire.get(target).answer().body.decode() for target in ("/", "/wsgi", "/")]

    assert LOOP == names[0] == names[2]
    assert names[1].startswith("mock-platform-worker")


def test_the_loop_calls_an_application_that_never_blocks() -> None:
    """It does not wait for a worker, though the only one is occupied; an environ is made."""
    busy, free = threading.Event(), threading.Event()

    class Some:
        """Blocks unless it is asked for `/quick`."""

        def __call__(self, environ: Environ, start_response: Start) -> list[bytes]:
            if environ["PATH_INFO"] != "/quick":
                busy.set()
                free.wait(60)
            text = f"{threading.current_thread().name} {environ['REQUEST_URI']}"
            return reply(start_response, text.encode())

        def never_blocks(self, request: Request) -> bool:
            return request.target == "/quick"

    with ServerThread(Some(), threads=1) as server, Wire(server) as slow, Wire(server) as quick:
        slow.get("/slow")
        busy.wait(60)
        body = quick.get("/quick").answer().body.decode()
        free.set()

    assert f"{LOOP} /quick" == body


def test_a_body_without_pauses_leaves_time_for_others() -> None:
    """After its first pause a body never pauses again; others are answered, and it goes on."""
    answered = threading.Event()

    class Endless:
        """Answers `/lines` with lines until the other request was answered."""

        def __call__(self, environ: Environ, start_response: Start) -> Iterable[Any]:
            if environ["PATH_INFO"] != "/lines":
                return reply(start_response, b"other")
            start_response("200 OK", [])
            return self._each_line()

        def _each_line(self) -> Iterator[bytes | Pause]:
            yield b"first\n"
            yield Pause(0.001)
            while not answered.is_set():
                yield b"more\n"
            yield b"last\n"

        def never_blocks(self, request: Request) -> bool:
            return True

    with ServerThread(Endless()) as server, Wire(server) as lines, Wire(server) as other:
        lines.get("/lines", "Connection: close")
        lines.socket.recv(1)
        assert other.get("/").answer().body == b"other"
        answered.set()
        assert lines.rest().endswith(b"last\n\r\n0\r\n\r\n")


def test_the_request_comes_as_it_was_read(server: ServerThread, application: Application) -> None:
    """Target and headers as the client wrote them, the body whole, and who sent it."""
    with Wire(server) as wire:
        wire.send(
            b"POST /a%20b?c=d HTTP/1.1\r\nHost: x\r\nX-One: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        ).answer()
        port = wire.socket.getsockname()[1]
    with Wire(server) as wire:
        wire.send(b"GET https://sandbox.test:81/e HTTP/1.1\r\nHost: x\r\n\r\n").answer()

    ((posted, peer), (proxied, _)) = application.seen
    assert ("POST", "/a%20b?c=d", b"abcde") == (posted.method, posted.target, posted.body)
    assert (b"X-One", b"1") in posted.headers
    assert ("127.0.0.1", str(port), "http") == (peer.address, peer.port, peer.scheme)
    assert f"127.0.0.1:{server.port}" == peer.server
    called = (proxied.scheme, proxied.authority, proxied.target)
    assert ("https", "sandbox.test:81", "/e") == called


@pytest.mark.parametrize("first", ["1", "other"])
def test_shared_headers_are_sent_once(first: str) -> None:
    """Headers that many answers share arrive like others, also after somebody has changed one."""
    shared = SharedHeaders([("x-one", "1"), ("x-two", "2")])

    def answer(request: Request, peer: Peer, start_response: Start) -> list[bytes]:
        headers = Headers([("x-one", first), ("x-two", "2"), ("content-length", "2")])
        headers.shared = shared
        start_response("200 OK", headers)
        return [b"ok"]

    class Sharing(Application):
        def at_once(self, request: Request) -> Direct | None:
            return answer

    with ServerThread(Sharing()) as server, Wire(server) as wire:
        head = wire.get("/", "Connection: close").rest().lower()

    names = [line.partition(b":")[0] for line in head.splitlines()]
    assert [1, 1, 1] == [names.count(name) for name in (b"x-one", b"x-two", b"content-length")]
    assert f"x-one: {first}\r\n".encode() in head


def test_an_answer_that_lasts_holds_nobody_up(server: ServerThread) -> None:
    """Between its pieces the loop answers others."""
    with Wire(server) as listening, Wire(server) as other:
        listening.get("/lines")
        assert LOOP == other.get("/").answer().body.decode()
        lines = listening.answer().body.decode().splitlines()

    assert [f"{number} {LOOP}" for number in range(3)] == lines


def test_what_it_raises_is_answered_with_500(server: ServerThread) -> None:
    """The connection goes on, and the fault is kept."""
    with Wire(server) as wire:
        statuses = [wire.get(target).answer().status for target in ("/fail", "/")]

    assert [500, 200] == statuses
    assert [ZeroDivisionError] == [type(fault) for fault in server.errors]


def test_it_may_break_the_connection(server: ServerThread) -> None:
    """Network faults are performed from the loop's thread as well."""
    with Wire(server) as wire, pytest.raises(ConnectionResetError):
        wire.get("/reset").answer()
    with Wire(server) as wire:
        assert 200 == wire.get("/").answer().status
