"""The server: one event loop reads, writes and waits; applications run on it or in workers.

The loop's thread accepts connections, makes TLS handshakes, reads whole requests and writes
answers. An application may have a method `at_once(request)`. It returns an object that answers the
request without an environ and without blocking; that is called on the loop itself, which saves two
changes of thread. Every other request is answered in a worker, unless the application has a method
`never_blocks(request)` that allows to call it on the loop.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from mock_platform.serving.http.acceptor import Acceptor, open_connection
from mock_platform.serving.http.backend import Backend, RequestLog
from mock_platform.serving.http.binding import Bound
from mock_platform.serving.http.connection import ClientConnection
from mock_platform.serving.http.protocol_detection import Entrance
from mock_platform.settings import ConnectionSettings
from mock_platform.world.clock import UPTIME

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

log = logging.getLogger(__name__)

_CUT_SECONDS = 2.0
"""Seconds that a stop waits for ended connections."""
_WORKER_SECONDS = 0.2
"""Seconds that a stop waits for each worker; blocked ones are left behind."""
SWEEP_SECONDS = 0.5
"""Seconds between two checks of the deadlines of connections."""
_LAST_ROUNDS = 3
"""Rounds of the loop in which closed connections write their buffers."""
_TLS_HANDSHAKE = b"\x16"
_HTTPS_ONLY = b"This port speaks HTTPS only: call it with https://\n"
_PLAIN_ON_TLS = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_HTTPS_ONLY), _HTTPS_ONLY)
)


class LoopCompanion(Protocol):
    """What runs on the loop of a server beside it; all methods are called there."""

    async def open(self, backend: Backend) -> None:
        """Begin; no request is answered before this has returned."""

    def hurry(self) -> None:
        """The server starts to stop: it accepts no more connections."""

    def drain(self, release: Callable[[], object]) -> None:
        """The server has no more requests; it ends when `release` is called, from any thread."""

    def close(self) -> None:
        """The server ends now; called also if it ended in another way."""


class LoopServer:
    """Serves one WSGI application on a listening socket, which it owns from then on."""

    def __init__(
        self,
        wsgi: WSGIApplication,
        listener: socket.socket,
        bound: Bound,
        tls: ssl.SSLContext | None,
        threads: int,
        limits: ConnectionSettings,
        log: RequestLog | None,
        entrance: Callable[[Backend], asyncio.Protocol] | None = None,
        companion: LoopCompanion | None = None,
    ) -> None:
        """`entrance` makes what reads a new connection first, if it is not read as HTTP.

        `companion` runs on the same loop, from before the first request until after the last.
        """
        self._companion = companion
        self._entrance = entrance or (Entrance if limits.http2 else _open_connection)
        scheme = "http" if tls is None else "https"
        self._backend = Backend(wsgi, bound, scheme, threads, limits, log)
        self._limits = limits
        self._listener = listener
        self._tls = tls
        self._ended: asyncio.Event | None = None
        self._acceptor: Acceptor | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mock-platform-server", daemon=True)

    # -- called from outside ----------------------------------------------------------------------

    def start(self) -> None:
        """Start to answer, in a separate thread; returns when the loop runs.

        Raises:
            RuntimeError: It was started before.
        """
        self._thread.start()
        self._ready.wait()

    def stop(self, grace: float = 5.0) -> None:
        """Accept no more, finish running requests within `grace` seconds, close everything.

        Requests that take longer are ended. Idempotent.
        """
        if self._thread.ident is None:
            self._backend.stopping.set()
            self._listener.close()
            return
        if not self._thread.is_alive():
            return
        self._backend.on_loop(self._begin_stop)
        self._thread.join(grace)
        if self._thread.is_alive():
            log.warning("Requests still running after %g seconds were cut", grace)
            self._backend.on_loop(self._cut)
            self._thread.join(_CUT_SECONDS)  # not for ever: an application may hold the loop
        self._backend.workers.dismiss(_WORKER_SECONDS)

    @property
    def connections(self) -> int:
        """Returns the number of open connections."""
        return len(self._backend.connections)

    @property
    def errors(self) -> list[BaseException]:
        """Errors in the server, oldest first."""
        return self._backend.errors

    # -- details ----------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_new_loop) as runner:
                runner.run(self._serve())
        except Exception as fault:  # noqa: BLE001 - kept for whoever asks for errors
            self._backend.report(fault)
        finally:
            self._listener.close()
            self._backend.detach()
            self._ready.set()

    async def _serve(self) -> None:
        loop, backend = asyncio.get_running_loop(), self._backend
        loop.set_exception_handler(self._on_loop_fault)
        self._ended = asyncio.Event()
        backend.when_idle = self._ended.set if self._companion is None else self._drain
        backend.attach(loop)
        if self._companion is not None:
            await self._companion.open(backend)
        # For TLS the first byte is read before the handshake: a client may speak plain HTTP.
        plain = partial(open_connection, self._enter)
        self._acceptor = Acceptor(self._listener, plain if self._tls is None else self._greet)
        sweep = loop.create_task(self._sweep())
        self._ready.set()
        await self._ended.wait()
        sweep.cancel()
        if self._companion is not None:
            self._companion.close()
        for _ in range(_LAST_ROUNDS):  # what was closed in good order still says so
            await asyncio.sleep(0)
        for connection in list(self._backend.connections):
            connection.cut()
        await asyncio.sleep(0)  # lets the transports close their sockets

    def _enter(self) -> asyncio.Protocol:
        return self._entrance(self._backend)

    async def _greet(self, client: socket.socket) -> None:
        """Detect from the first byte which protocol a client uses; make the TLS handshake."""
        loop = asyncio.get_running_loop()
        seconds = self._limits.head_seconds
        try:
            async with asyncio.timeout(self._limits.idle_seconds):
                # The first byte tells TLS from plain HTTP. It is only looked at and stays in the
                # socket, for the handshake to read. A client that speaks HTTP gets an answer that
                # it can read, where a failed handshake would show as a broken connection.
                first = await _peek(loop, client)
            if first != _TLS_HANDSHAKE:
                if first:
                    log.warning("A client spoke plain HTTP to a TLS port: call it with https://")
                    await self._say_https_only(loop, client)
                client.close()
                return
            await loop.connect_accepted_socket(
                self._enter,
                client,
                ssl=self._tls,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=self._limits.linger_seconds,
            )
        except ssl.SSLError as fault:
            log.warning(
                "A TLS handshake failed (does the client trust ca.pem?): %s", fault.reason or fault
            )
            client.close()
        except OSError:  # also that the time is over
            client.close()

    async def _say_https_only(self, loop: asyncio.AbstractEventLoop, client: socket.socket) -> None:
        await loop.sock_sendall(client, _PLAIN_ON_TLS)
        client.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(self._limits.linger_seconds):
            while await loop.sock_recv(client, 65_536):
                pass

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = UPTIME()
            for connection in list(self._backend.connections):
                connection.expire(now)

    def _begin_stop(self) -> None:
        backend = self._backend
        # The order lets every client finish properly: what has been read is answered, connections
        # learn that this is the last answer, then nothing new is accepted. The loop ends when the
        # last answer is out.
        backend.rounds.run()  # what was read already is answered
        backend.stopping.set()
        for connection in list(backend.connections):
            connection.stop()
        if self._acceptor is not None:
            self._acceptor.close()
        if self._companion is not None:
            self._companion.hurry()
        backend.end_if_idle()

    def _drain(self) -> None:
        """Wait for the companion, which still answers requests of other processes."""
        backend, companion = self._backend, self._companion
        assert companion is not None
        backend.when_idle = None

        def release() -> None:
            backend.when_idle = self._cut
            backend.end_if_idle()

        companion.drain(lambda: backend.on_loop(release))

    def _cut(self) -> None:
        if self._ended is not None:
            self._ended.set()

    def _on_loop_fault(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        fault = context.get("exception")
        if isinstance(fault, OSError):
            log.debug("%s: %s", context.get("message"), fault)
        elif isinstance(fault, Exception):
            self._backend.report(fault)
        else:
            log.warning("%s", context.get("message"))


def _open_connection(backend: Backend) -> ClientConnection:
    return ClientConnection(backend, trail=backend.begin_trail())


async def _peek(loop: asyncio.AbstractEventLoop, client: socket.socket) -> bytes:
    """Returns the first byte that a client sends; it can still be read."""
    arrived: asyncio.Future[None] = loop.create_future()

    def arrive() -> None:
        if not arrived.done():
            arrived.set_result(None)

    loop.add_reader(client, arrive)
    try:
        await arrived
    finally:
        loop.remove_reader(client)
    return client.recv(1, socket.MSG_PEEK)


def _new_loop() -> asyncio.AbstractEventLoop:
    """Returns an event loop: uvloop's if it is installed, which halves the cost of a request."""
    if sys.platform != "win32":
        try:
            import uvloop
        except ImportError:
            pass
        else:
            loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
            return loop
    return asyncio.SelectorEventLoop()  # the default loop of Windows has no add_reader
