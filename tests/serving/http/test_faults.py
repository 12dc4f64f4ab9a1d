from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from mock_platform.core.connection import CONNECTION
from mock_platform.serving.http import ServerThread
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings
from tests.serving.http.wire import Connect, Environ, Start, Wire, doing, hello
from tests.waits import PATIENCE

pytestmark = pytest.mark.live


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A fault performed on purpose logs nothing."""
    yield
    assert caplog.text == ""


def test_a_reset_is_a_reset(tls: TlsMaterial | None, connect: Connect) -> None:
    """The client's system reports ECONNRESET, and the server goes on with the next client."""
    with ServerThread(doing(lambda c: c.reset()), tls=tls, threads=1) as server:
        for _ in range(3):
            with connect(server) as wire:
                assert 200 == wire.get("/").answer().status
                wire.get("/act")
                with pytest.raises(ConnectionResetError):
                    wire.drain()
        with connect(server) as wire:
            assert b"hello" == wire.get("/").answer().body
    assert server.errors == []


def test_requests_meets_the_reset(tls: TlsMaterial | None) -> None:
    """A client library sees a broken connection, not an answer."""
    verify: Any = True if tls is None else str(tls.ca)
    with (
        ServerThread(doing(lambda c: c.reset()), tls=tls) as server,
        pytest.raises(requests.ConnectionError, match="Connection aborted"),
    ):
        requests.get(f"{server.url}/act", verify=verify, timeout=PATIENCE)


def send_garbage(connection: Any) -> None:
    """Send what is no HTTP, in two goes."""
    connection.send_raw(b"\x00\xffHTTP? ")
    connection.send_raw(b"no.")


@pytest.mark.parametrize(
    ("act", "sent"), [(lambda c: c.close(), b""), (send_garbage, b"\x00\xffHTTP? no.")]
)
def test_what_is_sent_is_all_and_ends_clean(
    tls: TlsMaterial | None, connect: Connect, act: Any, sent: bytes
) -> None:
    """Nothing, or garbage as it is; then the connection ends, under TLS with its farewell."""
    with ServerThread(doing(act), tls=tls) as server, connect(server) as wire:
        assert wire.get("/act").rest() == sent
    assert server.errors == []


def test_an_empty_reply_to_a_body_is_no_reset() -> None:
    """The end is clean also where the client still sends a body that is not read."""
    with ServerThread(doing(lambda c: c.close())) as server, Wire(server) as wire:
        wire.send(b"POST /act HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
        wire.send(bytes(3_000_000))

        assert wire.rest() == b""


def test_a_truncated_body(tls: TlsMaterial | None) -> None:
    """A body shorter than its length is sent, then the end: clients notice what is missing."""

    def truncated(_environ: Environ, start_response: Start) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "1000")])
        return [b"x" * 400]

    verify: Any = True if tls is None else str(tls.ca)
    with (
        ServerThread(truncated, tls=tls) as server,
        pytest.raises(requests.exceptions.ChunkedEncodingError, match="400 bytes read, 600 more"),
    ):
        requests.get(server.url, verify=verify, timeout=PATIENCE)
    assert server.errors == []


def test_a_body_announced_and_not_begun() -> None:
    """Also an empty body below its length is truncated rather than left open."""

    def nothing(_environ: Environ, start_response: Start) -> list[bytes]:
        start_response("200 OK", [("Content-Length", "10")])
        return []

    with ServerThread(nothing) as server, Wire(server) as wire:
        came = wire.get().rest()

    assert came.startswith(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n")
    assert came.endswith(b"\r\n\r\n")


def test_raw_bytes_and_then_a_reset() -> None:
    """A beginning may be followed by a reset."""

    def broken(connection: Any) -> None:
        connection.send_raw(b"HTTP/1.1 200 OK\r\n")
        connection.reset()

    with ServerThread(doing(broken)) as server, Wire(server) as wire:
        wire.get("/act")
        with pytest.raises(ConnectionResetError):
            wire.drain()


def test_no_answer_at_all_occupies_no_thread(tls: TlsMaterial | None, connect: Connect) -> None:
    """A connection without an answer stays open and silent while the only worker serves others."""
    with (
        ServerThread(doing(lambda c: c.hold()), tls=tls, threads=1) as server,
        connect(server) as held,
        connect(server) as other,
    ):
        held.get("/act")
        for _ in range(3):
            assert b"hello" == other.get("/").answer().body
        held.socket.settimeout(0.05)
        with pytest.raises(TimeoutError):
            held.socket.recv(1)
        held.socket.settimeout(PATIENCE)
        server.stop()

        assert held.rest() == b""
    assert server.errors == []


def test_a_held_connection_outlives_the_idle_time() -> None:
    """An answer that never comes is not ended by the clock of idle connections."""
    limits = ConnectionSettings(idle_seconds=0.02, head_seconds=0.02, write_seconds=0.02)
    with ServerThread(doing(lambda c: c.hold()), limits=limits) as server, Wire(server) as wire:
        wire.get("/act").socket.settimeout(1.2)  # the server looks twice a second
        with pytest.raises(TimeoutError):
            wire.socket.recv(1)


def test_a_client_that_leaves_a_held_connection_is_let_go() -> None:
    """The server closes its side once the client stopped; asking again does not help."""
    with ServerThread(doing(lambda c: c.hold()), threads=1) as server:
        for _ in range(3):
            with Wire(server) as wire:
                wire.get("/act").get("/").socket.settimeout(0.05)
                with pytest.raises(TimeoutError):
                    wire.get("/").socket.recv(1)
                wire.socket.shutdown(socket.SHUT_WR)
                wire.socket.settimeout(PATIENCE)
                assert wire.rest() == b""
        with Wire(server) as wire:
            assert b"hello" == wire.get("/").answer().body


def test_after_a_fault_nothing_more_is_written() -> None:
    """The rest of a streamed answer is thrown away, and its body closed."""
    closed: list[bool] = []

    def streaming(environ: Environ, start_response: Start) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Length", "10")])
        try:
            yield b"12345"
            environ[CONNECTION].reset()
            yield b"67890"
        finally:
            closed.append(True)

    with ServerThread(streaming) as server, Wire(server) as wire:
        wire.get()
        with pytest.raises(ConnectionResetError):
            wire.drain()
    assert [True] == closed
    assert server.errors == []


def test_faults_may_be_repeated() -> None:
    """A second fault on a connection that is broken already changes nothing."""
    seen: list[bool] = []

    def twice(connection: Any) -> None:
        seen.append(connection.is_taken)
        connection.reset()
        connection.reset()
        connection.send_raw(b"late")
        connection.close()
        connection.hold()
        seen.append(connection.is_taken)

    with ServerThread(doing(twice)) as server, Wire(server) as wire:
        wire.get("/act")
        with pytest.raises(ConnectionResetError):
            wire.drain()
    assert [False, True] == seen
    assert server.errors == []


def test_every_request_finds_the_connection() -> None:
    """The environ holds it under the documented key."""
    found: list[Any] = []

    def looking(environ: Environ, start_response: Start) -> list[bytes]:
        found.append(environ["mock_platform.connection"])
        return hello(environ, start_response)

    with ServerThread(looking) as server, Wire(server) as wire:
        wire.get().answer()
        wire.get().answer()
    assert found[0] is found[1]
    assert "mock_platform.connection" == CONNECTION
    assert not found[0].held


def test_a_fault_that_comes_too_late_hurts_nobody_else() -> None:
    """A connection broken after its answer is gone; those that come after it are served."""
    kept: list[Any] = []

    def keeping(environ: Environ, start_response: Start) -> list[bytes]:
        kept.append(environ[CONNECTION])
        return hello(environ, start_response)

    # With one worker, the first connection waits once another one was answered.
    with ServerThread(keeping, threads=1) as server, Wire(server) as late, Wire(server) as other:
        late.get().answer()
        other.get().answer()
        with socket.socket() as new:  # made before, so that the server is given the number
            new.settimeout(PATIENCE)
            kept[0].reset()
            new.connect((server.host, server.port))
            new.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert new.recv(1_000).startswith(b"HTTP/1.1 200 OK")
        assert b"hello" == other.get().answer().body
        with pytest.raises(ConnectionResetError):
            late.drain()
    assert kept[0].gone
    assert server.errors == []
