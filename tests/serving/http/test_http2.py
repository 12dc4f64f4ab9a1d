"""HTTP/2: a stream is answered as a connection of HTTP/1.1 would be."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from typing import Any

import h2.errors
import h2.events
import httpx
import pytest

from mock_platform.core.connection import CONNECTION, Pause
from mock_platform.serving.http import ServerThread
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings
from mock_platform.world.clock import machine_now
from mock_platform.world.journal import JournalEntry
from tests.serving.http.frames import Frames, frame
from tests.serving.http.wire import Environ, Start, Wire, doing, hello, reply, show
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

HTTP2 = ConnectionSettings(http2=True, body_bytes=400_000)
LARGE = bytes(range(256)) * 1200
"""More than a client's windows, of one stream and of all."""


@pytest.fixture(scope="module")
def tls() -> TlsMaterial:
    """A certificate."""
    return TlsMaterial.generate()


@pytest.fixture(params=["http", "https"])
def visit(request: pytest.FixtureRequest, tls: TlsMaterial) -> Iterator[Callable[..., Any]]:
    """Makes a server for an application, and a client that speaks HTTP/2 only."""
    material = tls if request.param == "https" else None
    opened: list[Any] = []

    def begin(application: Any, limits: ConnectionSettings = HTTP2) -> tuple[ServerThread, Any]:
        server = ServerThread(application, tls=material, limits=limits).start()
        context = ssl.create_default_context(cafile=tls.ca) if material else False
        client = httpx.Client(
            http1=False, http2=True, verify=context, base_url=server.url, timeout=PATIENCE,
            trust_env=False,
        )  # fmt: skip
        opened.extend([client, server])
        return server, client

    yield begin
    for part in opened:
        part.close() if isinstance(part, httpx.Client) else part.stop()


def test_requests_arrive_whole(visit: Callable[..., Any]) -> None:
    """Method, path, host, headers and body are those of the client."""
    server, client = visit(show)

    answer = client.post("/a%2Fb?c=d", content=LARGE, headers=[("x-one", "1"), ("cookie", "a=b")])

    assert "HTTP/2" == answer.http_version
    shown = answer.json()
    assert ("POST", "/a/b", "c=d") == tuple(
        shown[name] for name in ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING")
    )
    assert (len(LARGE), "1", "a=b") == (
        shown["length"], shown["HTTP_X_ONE"], shown["HTTP_COOKIE"],
    )  # fmt: skip
    assert f"{server.host}:{server.port}" == shown["HTTP_HOST"]
    assert server.url.partition(":")[0] == shown["wsgi.url_scheme"]


def test_bodies_without_a_length_arrive(visit: Callable[..., Any]) -> None:
    """A body without a declared length is complete all the same."""
    _, client = visit(show)

    answer = client.post("/", content=iter([b"one", b"", b"two"]))

    assert 6 == answer.json()["length"]


def test_large_answers_follow_the_windows(visit: Callable[..., Any]) -> None:
    """An answer larger than the client's windows arrives whole."""

    def large(_environ: Environ, start: Start) -> list[bytes]:
        return reply(start, LARGE * 4)

    _, client = visit(large)

    assert LARGE * 4 == client.get("/").content


def test_head_and_empty_answers(visit: Callable[..., Any]) -> None:
    """HEAD keeps the length without a body, 204 has neither."""

    def nothing(environ: Environ, start: Start) -> list[bytes]:
        if environ["REQUEST_METHOD"] == "HEAD":
            return reply(start, b"hello")
        start("204 No Content", [])
        return []

    _, client = visit(nothing)

    head, empty = client.head("/"), client.delete("/")

    assert ("5", b"") == (head.headers["content-length"], head.content)
    assert (204, b"") == (empty.status_code, empty.content)


def test_requests_do_not_wait_for_each_other(visit: Callable[..., Any]) -> None:
    """While one answer pauses, another of the same connection is complete."""

    def endless(environ: Environ, start: Start) -> Iterator[Any]:
        start("200 OK", [])
        yield b"line\r\n"
        if environ["PATH_INFO"] == "/endless":
            while True:
                yield Pause(PATIENCE * 2, endless=True)

    _, client = visit(endless)

    with client.stream("GET", "/endless") as stream:
        assert b"line\r\n" == next(stream.iter_raw())
        assert b"line\r\n" == client.get("/").content


@pytest.mark.parametrize("fault", ["reset", "close", "garbage"])
def test_faults_end_their_stream(visit: Callable[..., Any], fault: str) -> None:
    """The client meets a broken stream, and its connection goes on."""
    acts: dict[str, Callable[[Any], object]] = {
        "reset": lambda c: c.reset(),
        "close": lambda c: c.close(),
        "garbage": lambda c: c.send_raw(b"\x00 no answer"),
    }
    server, client = visit(doing(acts[fault]))

    assert 200 == client.get("/").status_code
    with pytest.raises(httpx.RemoteProtocolError, match="StreamReset"):
        client.get("/act")
    assert 200 == client.get("/").status_code
    assert server.errors == []


def test_too_large_bodies_are_refused(visit: Callable[..., Any]) -> None:
    """413 arrives although the client still sends, with a declared length and without."""
    _, client = visit(hello)
    body = bytes(HTTP2.body_bytes + 1)

    for content in (body, iter([body[:300_000], body[300_000:]])):
        assert 413 == client.post("/", content=content).status_code


def test_http_1_1_is_spoken_too(tls: TlsMaterial) -> None:
    """Clients that ask for nothing else get HTTP/1.1, with TLS and without."""
    for material in (tls, None):
        with (
            ServerThread(hello, tls=material, limits=HTTP2) as server,
            Wire(server, None if material is None else material.ca) as wire,
        ):
            assert b"hello" == wire.get("/").answer().body


def test_it_is_not_spoken_unasked(tls: TlsMaterial) -> None:
    """Without the setting a handshake settles HTTP/1.1."""
    context = ssl.create_default_context(cafile=tls.ca)
    with (
        ServerThread(hello, tls=tls) as server,
        httpx.Client(http2=True, verify=context, trust_env=False) as client,
    ):
        assert "HTTP/1.1" == client.get(server.url, timeout=PATIENCE).http_version


def test_a_client_may_wait_for_100_continue() -> None:
    """A client that asks for it learns that it may send the body."""
    with ServerThread(show, limits=HTTP2) as server, Frames(server) as client:
        number = client.ask(("expect", "100-continue"), method="POST", ended=False)
        client.read_until(h2.events.InformationalResponseReceived)
        client.h2.send_data(number, b"body", end_stream=True)
        client.send()

        answer = client.read_until(h2.events.ResponseReceived)

        assert "200" == dict(answer.headers)[":status"]


def test_a_request_can_be_taken_back() -> None:
    """A client that resets its stream is answered on the next one."""

    def slow(_environ: Environ, start: Start) -> Iterator[Any]:
        start("200 OK", [])
        yield b"begun"
        yield Pause(PATIENCE * 2)

    with ServerThread(slow, limits=HTTP2) as server, Frames(server) as client:
        for _ in range(2):
            number = client.ask()
            client.read_until(h2.events.DataReceived)
            client.h2.reset_stream(number)
            client.send()
    assert server.errors == []


def test_a_client_that_says_goodbye_gets_its_answers() -> None:
    """What it asked before is answered, as node's `session.close()` expects; then all ends."""
    gate = threading.Event()

    def wait(_environ: Environ, start: Start) -> list[bytes]:
        assert gate.wait(PATIENCE)
        return reply(start, b"late")

    with ServerThread(wait, limits=HTTP2) as server, Frames(server) as client:
        client.ask()
        client.socket.sendall(frame(7, 0, 0, bytes(8)) + frame(6, 0, 0, bytes(8)))
        client.read_until(h2.events.PingAckReceived)
        gate.set()
        bodies = [
            event.data for event in client.events() if isinstance(event, h2.events.DataReceived)
        ]

    assert [b"late"] == bodies


def test_an_answer_that_was_not_taken_is_no_complete_one() -> None:
    """A client that takes its request back, and never opened its window, has disconnected."""
    entry = JournalEntry("r1", machine_now(), "default", "GET", "/", 200, 1.0)

    def note(environ: Environ, start: Start) -> list[bytes]:
        environ[CONNECTION].entry = entry
        return reply(start, b"never read")

    with ServerThread(note, limits=HTTP2) as server, Frames(server) as client:
        client.socket.sendall(frame(4, 0, 0, b"\x00\x04\x00\x00\x00\x00"))  # no window
        number = client.ask()
        client.read_until(h2.events.ResponseReceived)
        assert entry.ended == {"how": "complete", "bytes": 0}
        client.h2.reset_stream(number)
        client.h2.ping(bytes(8))
        client.send()
        client.read_until(h2.events.PingAckReceived)

        assert entry.ended == {"how": "disconnected"}


def test_a_stop_says_goodbye() -> None:
    """A client without requests learns that the server leaves, and no connection remains."""
    server = ServerThread(hello, limits=HTTP2).start()
    with Frames(server) as client:
        client.ask()
        client.read_until(h2.events.StreamEnded)
        server.stop()

        left = client.read_until(h2.events.ConnectionTerminated)

        assert h2.errors.ErrorCodes.NO_ERROR == left.error_code
    assert 0 == server.connections


def test_idle_connections_end() -> None:
    """A connection without requests, and one without a first byte, are closed in time."""
    limits = ConnectionSettings(http2=True, idle_seconds=0.05, head_seconds=0.05)
    with ServerThread(hello, limits=limits) as server:
        with Frames(server) as client:
            client.read_until(h2.events.ConnectionTerminated)
        with socket.create_connection((server.host, server.port), PATIENCE) as silent:
            assert b"" == silent.recv(1)
