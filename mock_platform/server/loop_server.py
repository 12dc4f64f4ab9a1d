"""The server: one event loop reads, writes and waits; applications run on it or in workers.

The loop's thread accepts connections, makes TLS handshakes, reads whole requests and writes
answers. An application that says of a request that it `runs_at_once` is called on the loop itself,
which saves two changes of thread; every other request is answered in a worker.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import sys
import threading
from collections import Counter
from collections.abc import Callable
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from mock_platform.edge.connection import Pause
from mock_platform.server.answer import Answer
from mock_platform.server.binding import Bound
from mock_platform.server.connection import ClientConnection
from mock_platform.server.environ import EnvironMaker
from mock_platform.server.reader import Refusal
from mock_platform.server.workers import Workers
from mock_platform.settings import ConnectionSettings
from mock_platform.world.clock import UPTIME

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)

_BACKLOG = 2048
_CUT_SECONDS = 2.0
"""How long a stop waits for connections to be cut."""
_WORKER_SECONDS = 0.2
"""How long a stop waits for each worker; those that are stuck are left to themselves."""
_SWEEP_SECONDS = 0.5
"""Between looks for connections whose time is over."""
_LAST_ROUNDS = 3
"""Rounds of the loop in which connections that were closed write what they hold."""
_TLS_HANDSHAKE = b"\x16"
_HTTPS_ONLY = b"This port speaks HTTPS only: call it with https://\n"
_PLAIN_ON_TLS = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_HTTPS_ONLY), _HTTPS_ONLY)
)


class LoopServer:
    """Serves one WSGI application on a listening socket that it takes over."""

    def __init__(
        self,
        wsgi: WSGIApplication,
        listener: socket.socket,
        bound: Bound,
        tls: ssl.SSLContext | None,
        threads: int,
        limits: ConnectionSettings,
    ) -> None:
        self.limits = limits
        self.scheme = "http" if tls is None else "https"
        self.environs = EnvironMaker(bound, self.scheme)
        self.stopping = threading.Event()
        self.errors: list[BaseException] = []
        self._wsgi = wsgi
        self._runs_at_once: Callable[[WSGIEnvironment], bool] | None
        self._runs_at_once = getattr(wsgi, "runs_at_once", None)
        self._listener = listener
        self._tls = tls
        self._workers = Workers(threads)
        self._connections: set[ClientConnection] = set()
        self._addresses: Counter[str] = Counter()
        self._handshakes: set[asyncio.Task[None]] = set()
        self._in_work: set[ClientConnection] = set()
        self._running: set[Answer] = set()
        self._waiting_bytes = 0
        self._date = (0, "")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._stop_accepting: Callable[[], object] = listener.close
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mock-platform-server", daemon=True)

    # -- from outside -----------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to answer, in a thread of its own; returns once the loop runs.

        Raises:
            RuntimeError: It was started before.
        """
        self._thread.start()
        self._ready.wait()

    def stop(self, grace: float = 5.0) -> None:
        """Accept no more, finish the requests in flight within `grace` seconds, close everything.

        Requests that take longer are cut. Idempotent.
        """
        if self._thread.ident is None:
            self.stopping.set()
            self._listener.close()
            return
        if not self._thread.is_alive():
            return
        self.on_loop(self._begin_stop)
        self._thread.join(grace)
        if self._thread.is_alive():
            log.warning("Requests still in work after %g seconds were cut", grace)
            self.on_loop(self._cut)
            self._thread.join(_CUT_SECONDS)  # not for ever: an application may hold the loop
        self._workers.dismiss(_WORKER_SECONDS)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    def report(self, fault: BaseException) -> None:
        """Keep and log what should not have happened."""
        self.errors.append(fault)
        log.error("%s while answering a request", type(fault).__name__, exc_info=fault)

    def on_loop(self, act: Callable[..., object], *arguments: Any) -> None:
        """Have the loop do something, from any thread; on its own, at once."""
        if threading.current_thread() is self._thread:
            act(*arguments)
            return
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        try:
            loop.call_soon_threadsafe(act, *arguments)
        except RuntimeError:  # it closed just now; nothing is open any more
            log.debug("The server had stopped already")

    # -- for connections, on the loop's thread ----------------------------------------------------

    def admit(self, connection: ClientConnection, address: str) -> Refusal | None:
        """Count a new connection; why it is turned away, if it is."""
        self._connections.add(connection)
        self._addresses[address] += 1
        limits = self.limits
        over: str | None = None
        if len(self._connections) > limits.connections:
            over = f"This server takes {limits.connections} connections (--max-connections)."
        elif self._addresses[address] > limits.connections_per_address:
            over = (
                f"This server takes {limits.connections_per_address} connections from one address "
                "(--max-connections-per-address)."
            )
        return None if over is None else Refusal(503, over, (("Retry-After", "1"),))

    def forget(self, connection: ClientConnection, address: str) -> None:
        """Count a connection no longer."""
        self._connections.discard(connection)
        self._addresses[address] -= 1
        if self._addresses[address] <= 0:
            del self._addresses[address]

    def count_body(self, more: int) -> bool:
        """Account for bytes of unfinished bodies; whether there is room for them."""
        self._waiting_bytes += more
        return self._waiting_bytes <= self.limits.waiting_bytes

    def begun(self, connection: ClientConnection) -> None:
        """A request of this connection is being answered."""
        self._in_work.add(connection)

    def finished(self, connection: ClientConnection) -> None:
        """Its answer is made, or nobody waits for it any longer."""
        self._in_work.discard(connection)
        if self.stopping.is_set():
            self._end_if_idle()

    def run(self, answer: Answer, environ: WSGIEnvironment, connection: ClientConnection) -> None:
        """Have the application answer, here or in a worker."""
        if self._runs_at_once is not None and self._runs_at_once(environ):
            answer.on_loop = True
            connection.answered(answer, answer.run(self._wsgi))
        else:
            self._work(answer, connection, lambda: answer.run(self._wsgi))

    def step(self, answer: Answer, connection: ClientConnection) -> None:
        """Have the application make the next piece, where it began."""
        if answer.on_loop:
            connection.answered(answer, answer.step())
        else:
            self._work(answer, connection, answer.step)

    def close_answer(self, answer: Answer) -> None:
        """Tell an answer that it is no longer read, where its application runs."""
        if answer.on_loop:
            answer.close()
        else:
            self._workers.put(answer.close)

    def is_running(self, answer: Answer) -> bool:
        """Whether a worker makes a piece of the answer right now, and will hand it in."""
        return answer in self._running

    def call_soon(self, act: Callable[[], object]) -> None:
        """Do something in the loop's next round."""
        assert self._loop is not None
        self._loop.call_soon(act)

    def call_later(self, seconds: float, act: Callable[[], object]) -> asyncio.TimerHandle:
        """Do something after real seconds; at once if the server stops."""
        return self.call_later_in_any_case(0 if self.stopping.is_set() else seconds, act)

    def call_later_in_any_case(
        self, seconds: float, act: Callable[[], object]
    ) -> asyncio.TimerHandle:
        """Do something after real seconds, also while the server stops."""
        assert self._loop is not None
        return self._loop.call_later(seconds, act)

    def date_line(self) -> str:
        """The header `Date`, made once a second."""
        second = int(UPTIME())
        if self._date[0] != second:
            self._date = (second, f"Date: {formatdate(usegmt=True)}\r\n")
        return self._date[1]

    def log_refusal(self, refusal: Refusal, address: str) -> None:
        """Log that a request was refused before any application saw it."""
        log.info("%d to %s: %s", refusal.status, address, refusal.text)

    # -- within -----------------------------------------------------------------------------------

    def _work(
        self,
        answer: Answer,
        connection: ClientConnection,
        make: Callable[[], list[bytes] | Pause],
    ) -> None:
        self._running.add(answer)

        def job() -> None:
            self.on_loop(self._hand_in, answer, connection, make())

        self._workers.put(job)

    def _hand_in(
        self, answer: Answer, connection: ClientConnection, pieces: list[bytes] | Pause
    ) -> None:
        self._running.discard(answer)
        connection.answered(answer, pieces)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_new_loop) as runner:
                runner.run(self._serve())
        except Exception as fault:  # noqa: BLE001 - kept for whoever asks for errors
            self.report(fault)
        finally:
            self._listener.close()
            self._loop = None
            self._ready.set()

    async def _serve(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._on_loop_fault)
        self._ended = asyncio.Event()
        if self._tls is None:
            server = await loop.create_server(
                lambda: ClientConnection(self), sock=self._listener, backlog=_BACKLOG
            )
            self._stop_accepting = server.close
        else:
            self._listener.listen(_BACKLOG)
            self._stop_accepting = loop.create_task(self._accept_tls(self._tls)).cancel
        sweep = loop.create_task(self._sweep())
        self._ready.set()
        await self._ended.wait()
        sweep.cancel()
        for _ in range(_LAST_ROUNDS):  # what was closed in good order still says so
            await asyncio.sleep(0)
        for connection in list(self._connections):
            connection.cut()
        await asyncio.sleep(0)  # lets the transports close their sockets

    async def _accept_tls(self, context: ssl.SSLContext) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, _ = await loop.sock_accept(self._listener)
            except OSError as fault:
                log.warning("A connection could not be accepted: %s", fault)
                await asyncio.sleep(_SWEEP_SECONDS)
                continue
            handshake = loop.create_task(self._greet(client, context))
            self._handshakes.add(handshake)
            handshake.add_done_callback(self._handshakes.discard)

    async def _greet(self, client: socket.socket, context: ssl.SSLContext) -> None:
        """See from the first byte which protocol a client speaks; make the TLS handshake."""
        loop = asyncio.get_running_loop()
        client.settimeout(0)
        seconds = self.limits.head_seconds
        try:
            async with asyncio.timeout(self.limits.idle_seconds):
                first = await _peek(loop, client)
            if first != _TLS_HANDSHAKE:
                if first:
                    log.warning("A client spoke plain HTTP to a TLS port: call it with https://")
                    await self._say_https_only(loop, client)
                client.close()
                return
            await loop.connect_accepted_socket(
                lambda: ClientConnection(self),
                client,
                ssl=context,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=self.limits.linger_seconds,
            )
        except ssl.SSLError as fault:
            log.warning(
                "A TLS handshake failed (does the client trust ca.pem?): %s", fault.reason or fault
            )
            client.close()
        except (OSError, TimeoutError, asyncio.CancelledError):
            client.close()

    async def _say_https_only(self, loop: asyncio.AbstractEventLoop, client: socket.socket) -> None:
        await loop.sock_sendall(client, _PLAIN_ON_TLS)
        client.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(self.limits.linger_seconds):
            while await loop.sock_recv(client, 65_536):
                pass

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = UPTIME()
            for connection in list(self._connections):
                connection.expire(now)

    def _begin_stop(self) -> None:
        self.stopping.set()
        self._stop_accepting()
        for handshake in self._handshakes:
            handshake.cancel()
        for connection in list(self._connections):
            connection.stop()
        self._end_if_idle()

    def _end_if_idle(self) -> None:
        if not self._in_work and self._ended is not None:
            self._ended.set()

    def _cut(self) -> None:
        if self._ended is not None:
            self._ended.set()

    def _on_loop_fault(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        fault = context.get("exception")
        if isinstance(fault, OSError):
            log.debug("%s: %s", context.get("message"), fault)
        elif isinstance(fault, Exception):
            self.report(fault)
        else:
            log.warning("%s", context.get("message"))


async def _peek(loop: asyncio.AbstractEventLoop, client: socket.socket) -> bytes:
    """The first byte that a client sends; it stays to be read."""
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
    """An event loop: uvloop's where it is installed, which halves what a request costs."""
    if sys.platform != "win32":
        try:
            import uvloop
        except ImportError:
            pass
        else:
            loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
            return loop
    return asyncio.new_event_loop()
