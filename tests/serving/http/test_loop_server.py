"""Connections that wait are all accepted at once, also after descriptors ran out."""

from __future__ import annotations

import asyncio
import errno
import gc
import socket
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
import uvloop

from mock_platform.serving.http import ServerThread, loop_server
from mock_platform.serving.http.backend import Backend
from mock_platform.serving.http.binding import bind
from mock_platform.serving.http.connection import ClientConnection
from mock_platform.serving.http.loop_server import Acceptor, open_connection
from tests.loops import awaited
from tests.serving.http.wire import Wire, hello
from tests.waits import PATIENCE

MANY = 60
LOOPS = [asyncio.SelectorEventLoop, uvloop.new_event_loop]

pytestmark = pytest.mark.live


class Short(socket.socket):
    """A listening socket whose system has no descriptors for the first connection."""

    refused = 0

    def accept(self) -> tuple[socket.socket, Any]:
        """Fail once, then accept."""
        if not self.refused:
            self.refused += 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


class Greeter(asyncio.Protocol):
    """Greets each client that is connected."""

    def connection_made(self, transport: Any) -> None:
        """Send a greeting, then close."""
        transport.write(b"welcome")
        transport.close()


@pytest.fixture(params=LOOPS, ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Callable[[Any], None]:
    """Run a coroutine to its end, on one of the loops."""
    return partial(awaited, loop=request.param)


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    """What closes the clients of a test."""
    with ExitStack() as stack:
        yield stack


def connect(listener: socket.socket, stack: ExitStack, count: int) -> list[socket.socket]:
    """Clients that wait to be accepted."""
    address = listener.getsockname()
    return [stack.enter_context(socket.create_connection(address, PATIENCE)) for _ in range(count)]


def listening(kind: type[socket.socket] = socket.socket) -> socket.socket:
    """A socket that listens on a free port."""
    made = kind()
    made.bind(("127.0.0.1", 0))
    made.listen()
    return made


def test_all_that_wait_are_accepted_in_one_round(
    run: Callable[[Any], None], clients: ExitStack
) -> None:
    """Sixty clients are accepted together, not one in each round of the loop."""
    listener = listening()
    connect(listener, clients, MANY)
    begun: list[socket.socket] = []

    async def scenario() -> None:
        first = asyncio.Event()

        async def begin(client: socket.socket) -> None:
            begun.append(client)
            first.set()

        accepting = Acceptor(listener, begin)
        await first.wait()
        assert len(begun) == MANY
        accepting.close()

    run(scenario())
    for client in begun:
        client.close()


def test_a_client_is_served_by_the_protocol(run: Callable[[Any], None], clients: ExitStack) -> None:
    """What the protocol writes arrives at each of the clients."""
    listener = listening()
    waiting = connect(listener, clients, 3)

    async def scenario() -> None:
        accepting = Acceptor(listener, partial(open_connection, Greeter))
        loop = asyncio.get_running_loop()
        for client in waiting:
            greeting = await loop.run_in_executor(None, client.recv, 100)
            assert greeting == b"welcome"
        accepting.close()

    run(scenario())


def test_it_goes_on_after_descriptors_ran_out(
    run: Callable[[Any], None],
    clients: ExitStack,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A connection that cannot be accepted is logged and accepted later."""
    monkeypatch.setattr(loop_server, "_RETRY_SECONDS", 0.001)
    listener = listening(Short)
    waiting = connect(listener, clients, 1)

    async def scenario() -> None:
        accepting = Acceptor(listener, partial(open_connection, Greeter))
        loop = asyncio.get_running_loop()
        assert await loop.run_in_executor(None, waiting[0].recv, 100) == b"welcome"
        accepting.close()

    run(scenario())
    assert "A connection could not be accepted: [Errno 24] Too many open files" in caplog.text


def test_closing_drops_clients_that_are_not_ready(
    run: Callable[[Any], None], clients: ExitStack
) -> None:
    """Closing, even twice, ends what is being made ready, and refuses who comes later."""
    listener = listening()
    address = listener.getsockname()
    waiting = connect(listener, clients, 2)

    async def scenario() -> None:
        begun: list[socket.socket] = []
        both = asyncio.Event()

        async def begin(client: socket.socket) -> None:
            begun.append(client)
            if len(begun) == len(waiting):
                both.set()
            await asyncio.Event().wait()

        accepting = Acceptor(listener, begin)
        await both.wait()
        accepting.close()
        accepting.close()
        loop = asyncio.get_running_loop()
        for client in waiting:
            assert await loop.run_in_executor(None, client.recv, 100) == b""

    run(scenario())
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, PATIENCE)


@pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])
def test_an_ended_connection_is_freed_without_the_collector(
    monkeypatch: pytest.MonkeyPatch, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    """Nothing refers to a connection in a circle, so no scan is needed to free it."""
    monkeypatch.setattr(loop_server, "_new_loop", loop)
    freed = threading.Event()

    def open_one(backend: Backend) -> ClientConnection:
        made = ClientConnection(backend)
        weakref.finalize(made, freed.set)
        return made

    listener, bound = bind("127.0.0.1", 0)
    server = ServerThread(hello, threads=1, listener=(listener, bound), entrance=open_one)
    gc.disable()
    try:
        server.start()
        with Wire(bound) as wire:
            assert wire.get("/").answer().status == 200
        assert freed.wait(PATIENCE)
    finally:
        server.stop()
        gc.enable()
