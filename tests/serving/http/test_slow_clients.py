"""Clients that are slow, silent or never read: they cost little, and no one waits for them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from mock_platform.core.connection import Pause
from mock_platform.serving.http import ServerThread
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings
from tests.serving.http.wire import Environ, Seen, Start, Wire, hello, reply, show
from tests.waits import PATIENCE

pytestmark = pytest.mark.live

HALF_HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
NO_BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n"
LARGE = bytes(4_000_000)


def large(environ: Environ, start_response: Start) -> list[bytes]:
    """Answers 4 MB on `/large`, else hello."""
    if environ["PATH_INFO"] == "/large":
        return reply(start_response, LARGE)
    return hello(environ, start_response)


def connect(server: ServerThread, said: bytes) -> socket.socket:
    """A client that says so much."""
    client = socket.create_connection((server.host, server.port), PATIENCE)
    client.sendall(said)
    return client


def slow_clients(server: ServerThread, ca: Path | None, clients: ExitStack) -> None:
    """Half heads, bodies that never come, half handshakes, silence, and answers never read."""
    count = 100 if ca is None else 20  # whose handshakes take their time
    for said in (HALF_HEAD, NO_BODY, b""):
        for _ in range(count):
            clients.enter_context(Wire(server, ca)).send(said)
    for _ in range(100):
        clients.enter_context(connect(server, b"G" if ca is None else b"\x16\x03\x01"))
    for _ in range(10):
        clients.enter_context(Wire(server, ca)).get("/large")


def test_others_are_answered_beside_slow_clients(tls: TlsMaterial | None, ca: Path | None) -> None:
    """Slow clients of every kind delay no others, even with one worker."""
    with ServerThread(large, tls=tls, threads=1) as server, ExitStack() as clients:
        slow_clients(server, ca, clients)
        with Wire(server, ca) as wire:
            answers = [wire.get("/").answer().status for _ in range(20)]

    assert [200] * 20 == answers
    assert [] == server.errors


def test_slow_clients_are_gone_after_their_deadlines(
    tls: TlsMaterial | None, ca: Path | None
) -> None:
    """None of them stays, of whatever kind, and nothing went wrong within the server."""
    limits = ConnectionSettings(
        head_seconds=0.5, body_seconds=0.5, idle_seconds=0.5, write_seconds=0.5, linger_seconds=0.2
    )
    with ServerThread(large, tls=tls, limits=limits) as server, ExitStack() as clients:
        slow_clients(server, ca, clients)
        while True:
            with Wire(server, ca) as wire:
                assert 200 == wire.get().answer().status
                if server.connections == 1:  # the one that asks
                    break

    assert [] == server.errors


@pytest.mark.parametrize("said", [HALF_HEAD, b"G", NO_BODY, NO_BODY + b"x" * 99])
def test_a_request_that_does_not_come_is_given_up(said: bytes) -> None:
    """After its time the client gets 408, and the application never saw the request."""
    seen = Seen()
    limits = ConnectionSettings(head_seconds=0.1, body_seconds=0.1)
    with ServerThread(seen, limits=limits) as server, Wire(server) as wire:
        assert 408 == wire.send(said).answer().status
        assert b"" == wire.rest()
    assert [] == seen.paths
    assert [] == server.errors


@pytest.mark.parametrize("said", [HALF_HEAD, NO_BODY, NO_BODY + b"x" * 99])
def test_a_request_that_ends_early_acts_on_nothing(said: bytes) -> None:
    """A client that leaves within a request has asked for nothing."""
    seen = Seen()
    with ServerThread(seen) as server:
        with Wire(server) as wire:
            wire.send(said).socket.shutdown(socket.SHUT_WR)
            assert b"" == wire.rest()
        with Wire(server) as wire:
            assert 200 == wire.get("/after").answer().status
    assert ["/after"] == seen.paths


def test_a_slow_body_is_taken_while_it_comes() -> None:
    """A body is refused when it comes too slowly, not when it is long."""
    limits = ConnectionSettings(head_seconds=0.05, body_bytes_per_second=1)
    with ServerThread(show, limits=limits) as server, Wire(server) as wire:
        wire.send(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\n" + b"x" * 30)
        waited = threading.Event()
        waited.wait(0.7)  # the server has looked once: 30 bytes suffice for half a minute

        assert 60 == wire.send(b"x" * 30).answer().json()["length"]


def test_a_client_that_never_reads_is_let_go() -> None:
    """An answer that is not read is kept for a while, then the connection ends."""
    limits = ConnectionSettings(write_seconds=0.1)
    with ServerThread(large, limits=limits) as server, Wire(server) as wire:
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.get("/large")
        with Wire(server) as other:
            while other.get().answer().status == 200 and server.connections > 1:
                pass

            assert 1 == server.connections


def test_a_half_handshake_is_given_up(certificate: TlsMaterial) -> None:
    """A client that begins TLS and goes no further is ended."""
    limits = ConnectionSettings(head_seconds=0.1)
    with (
        ServerThread(hello, tls=certificate, limits=limits) as server,
        connect(server, b"\x16\x03\x01") as client,
    ):
        assert b"" == client.recv(100)


@pytest.mark.parametrize("which", ["connections", "connections_per_address"])
def test_connections_have_limits(which: str) -> None:
    """One more gets 503 with `Retry-After`; once one has left, the next is answered."""
    limits = {
        "connections": ConnectionSettings(connections=2),
        "connections_per_address": ConnectionSettings(connections_per_address=2),
    }[which]
    with ServerThread(hello, limits=limits) as server:
        with Wire(server) as one, Wire(server) as two:
            assert [200, 200] == [wire.get().answer().status for wire in (one, two)]
            with Wire(server) as three:
                refused = three.answer()
                assert b"" == three.rest()
            assert (503, "1") == (refused.status, refused.headers["retry-after"])
            assert b"--max-connections" in refused.body
            assert 200 == one.get().answer().status
        while True:
            with Wire(server) as wire:
                if wire.get().answer().status == 200:
                    break


@pytest.mark.parametrize("which", ["connections", "connections_per_address"])
@pytest.mark.parametrize("speaks", ["http/2 or 1.1", "tls", "tls and http/2"])
def test_silent_connections_have_limits(certificate: TlsMaterial, which: str, speaks: str) -> None:
    """One more than allowed is let go soon, although it is not known yet how to refuse it."""
    limits = ConnectionSettings(
        linger_seconds=0.1, idle_seconds=PATIENCE * 2, http2="2" in speaks, **{which: 2}
    )
    tls = certificate if "tls" in speaks else None
    with (
        ServerThread(hello, tls=tls, limits=limits) as server,
        connect(server, b""),
        connect(server, b""),
        connect(server, b"") as three,
    ):
        assert b"" == three.recv(100)


def test_unfinished_bodies_have_a_limit_together() -> None:
    """Bodies on their way share a limit; the one that exceeds it gets 503."""
    limits = ConnectionSettings(waiting_bytes=150)
    with ServerThread(show, limits=limits) as server, Wire(server) as one, Wire(server) as two:
        one.send(NO_BODY + b"x" * 90)
        with Wire(server) as other:
            other.get().answer()  # the first body's beginning was read by now
        refused = two.send(NO_BODY + b"x" * 90).answer()

        assert (503, "1") == (refused.status, refused.headers["retry-after"])
        assert 100 == one.send(b"x" * 10).answer().json()["length"]


@pytest.mark.claim("no thread is held during a pause")
def test_a_pause_in_a_body_holds_no_thread() -> None:
    """While many answers pause between their pieces, one worker serves everybody."""

    def dripping(environ: Environ, start_response: Start) -> Iterator[bytes | Pause]:
        start_response("200 OK", [("Content-Length", "2")])
        if environ["PATH_INFO"] == "/drip":
            yield b"1"
            yield Pause(PATIENCE)
        else:
            yield b"1"
        yield b"2"

    with ServerThread(dripping, threads=1) as server, ExitStack() as clients:  # type: ignore[arg-type]
        waiting = [clients.enter_context(Wire(server)).get("/drip") for _ in range(50)]
        with Wire(server) as wire:
            assert [b"12"] * 10 == [wire.get("/").answer().body for _ in range(10)]
        server.stop()  # nobody waits any longer: the rest is sent

        assert [b"12"] * 50 == [wire.answer().body for wire in waiting]


def test_a_client_that_asks_much_in_advance_is_answered_in_turn(
    tls: TlsMaterial | None, ca: Path | None
) -> None:
    """A thousand requests in one packet are answered in order, and others meanwhile."""
    asked = b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(1000))
    with (
        ServerThread(show, tls=tls) as server,
        Wire(server, ca) as greedy,
        Wire(server, ca) as other,
    ):
        greedy.send(asked)
        assert 200 == other.get().answer().status
        seen = [greedy.answer().json()["REQUEST_URI"] for _ in range(1000)]

    assert [f"/{number}" for number in range(1000)] == seen


def test_a_stop_with_many_connections_is_quick_and_leaves_none() -> None:
    """Hundreds of open connections end with the server, each in good order."""
    with ServerThread(hello) as server, ExitStack() as clients:
        wires = [clients.enter_context(Wire(server)) for _ in range(300)]
        assert {200} == {wire.get().answer().status for wire in wires}
        server.stop()

        assert {b""} == {wire.rest() for wire in wires}


def test_requests_that_library_clients_send_are_taken() -> None:
    """The library requests sends bodies of each kind: none, bytes, a form, parts and chunks."""
    with ServerThread(show) as server, requests.Session() as session:
        session.trust_env = False
        lengths = [
            session.get(server.url).json()["length"],
            session.post(server.url, data=b"12345").json()["length"],
            session.post(server.url, data=iter([b"123", b"45"])).json()["length"],
        ]

    assert [0, 5, 5] == lengths
