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
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self

from mock_platform.serving.http.backend import Backend, RequestLog
from mock_platform.serving.http.binding import Bound, bind
from mock_platform.serving.http.connection import ClientConnection
from mock_platform.serving.http.protocol_detection import Entrance, require_http2
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication


log = logging.getLogger(__name__)

_THREADS = 32
"""Maximum number of requests answered at the same time beside the loop. Threads start on demand."""
_CUT_SECONDS = 2.0
"""Seconds that a stop waits for ended connections."""
_WORKER_SECONDS = 0.2
"""Seconds that a stop waits for each worker; blocked ones are left behind."""
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


class Stop(Protocol):
    """Waits until the server must stop."""

    def wait(self) -> object:
        """Return when the server must stop."""


class ServerThread:
    """A server in threads of this process. Its socket is bound when the constructor returns.

    `host`, `port` and `url` are its address; port 0 chooses a free one. `start` starts to answer;
    as a context manager it starts and stops. `errors` collects errors in the server and those of
    the WSGI application, which answered 500.

    Raises:
        CannotBind: The server cannot listen on the address.
        MissingExtra: HTTP/2 is wanted, and its library is not installed.
    """

    def __init__(
        self,
        wsgi: WSGIApplication,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: TlsMaterial | None = None,
        threads: int = _THREADS,
        limits: ConnectionSettings | None = None,
        log: RequestLog | None = None,
        listener: tuple[socket.socket, Bound] | None = None,
        entrance: Callable[[Backend], asyncio.Protocol] | None = None,
        companion: LoopCompanion | None = None,
    ) -> None:
        """`listener` is a bound socket to use; then `host` and `port` have no effect.

        `entrance` makes what reads a new connection first, if it is not read as HTTP. `companion`
        runs on the same loop, from before the first request until after the last.
        """
        self._limits = limits = limits or ConnectionSettings()
        if limits.http2:
            require_http2()
        self.tls = tls  # whose files go with it
        self._context = None if tls is None else tls.server_context(http2=limits.http2)
        scheme = "http" if tls is None else "https"
        self._listener, self.bound = listener or bind(host, port, scheme)
        self._companion = companion
        self._entrance = entrance or (Entrance if limits.http2 else _open_connection)
        self._backend = Backend(wsgi, self.bound, scheme, threads, limits, log)
        self._ended: asyncio.Event | None = None
        self._acceptor: Acceptor | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mock-platform-server", daemon=True)

    @property
    def host(self) -> str:
        """The requested name or address."""
        return self.bound.host

    @property
    def port(self) -> int:
        """The port that is used, also if port 0 chose it."""
        return self.bound.port

    @property
    def url(self) -> str:
        """The address for clients on this machine, without a slash at its end."""
        return self.bound.url

    @property
    def errors(self) -> list[BaseException]:
        """Errors in the server, oldest first; grows while the server runs."""
        return self._backend.errors

    @property
    def connections(self) -> int:
        """Return the number of open connections."""
        return len(self._backend.connections)

    def start(self) -> Self:
        """Start to answer, in a separate thread; return when the loop runs.

        Raises:
            RuntimeError: It was started before.
        """
        self._thread.start()
        self._ready.wait()
        return self

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

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

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
        self._acceptor = Acceptor(self._listener, plain if self._context is None else self._greet)
        sweep = loop.create_task(backend.sweep())
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
        loop, limits, backend = asyncio.get_running_loop(), self._limits, self._backend
        try:
            address = str(client.getpeername()[0])
        except OSError:  # it has left already
            client.close()
            return
        # A client beyond the limits can be told so only behind the handshake, and gets no longer
        # for it than others to read why they are refused. Or silent ones would have no limit.
        idle, seconds = limits.idle_seconds, limits.head_seconds
        if not backend.arrive(address):
            idle = seconds = limits.linger_seconds
        try:
            async with asyncio.timeout(idle):
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
                ssl=self._context,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=limits.linger_seconds,
            )
        except ssl.SSLError as fault:
            log.warning(
                "A TLS handshake failed (does the client trust ca.pem?): %s", fault.reason or fault
            )
            client.close()
        except OSError:  # also that the time is over
            client.close()
        finally:
            backend.end_arrival(address)

    async def _say_https_only(self, loop: asyncio.AbstractEventLoop, client: socket.socket) -> None:
        await loop.sock_sendall(client, _PLAIN_ON_TLS)
        client.shutdown(socket.SHUT_WR)
        async with asyncio.timeout(self._limits.linger_seconds):
            while await loop.sock_recv(client, 65_536):
                pass

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


def serve_forever(
    wsgi: WSGIApplication,
    host: str,
    port: int,
    *,
    tls: TlsMaterial | None = None,
    limits: ConnectionSettings | None = None,
    log: RequestLog | None = None,
    on_ready: Callable[[Bound], None],
    stop: Stop,
    listener: tuple[socket.socket, Bound] | None = None,
    companion: LoopCompanion | None = None,
) -> None:
    """Serve until `stop.wait()` returns, then finish the running requests.

    The socket is bound before `on_ready` is called with its address: from then on every client is
    answered. The caller handles signals. If a signal handler ends the wait, `stop` must not be a
    plain `threading.Event`: a main thread that waits for a lock may not notice a signal that the
    system delivers to another thread.

    Raises:
        CannotBind: The server cannot listen on the address.
    """
    _raise_descriptor_limit((limits or ConnectionSettings()).connections)
    with ServerThread(
        wsgi, host, port, tls, limits=limits, log=log, listener=listener, companion=companion
    ) as server:
        on_ready(server.bound)
        stop.wait()


def _open_connection(backend: Backend) -> ClientConnection:
    return ClientConnection(backend, trail=backend.begin_trail())


async def _peek(loop: asyncio.AbstractEventLoop, client: socket.socket) -> bytes:
    """Return the first byte that a client sends; it can still be read."""
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
    """Return an event loop: uvloop's if it is installed, which halves the cost of a request."""
    if sys.platform != "win32":
        try:
            import uvloop
        except ImportError:
            pass
        else:
            loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
            return loop
    return asyncio.SelectorEventLoop()  # the default loop of Windows has no add_reader


_BACKLOG = 2048
"""Number of connections that the system keeps waiting."""
_RETRY_SECONDS = 0.5
"""Seconds until it tries again when the system has no more descriptors."""


_OTHER_FILES = 256
"""Descriptors for what is not a connection: files, sockets of deliveries and of other processes."""
_MOST_OF_A_MAC = 10_240
"""The most that macOS allows, although it claims to have no limit."""


def _raise_descriptor_limit(connections: int) -> None:
    """Let the process have so many connections, as far as the system allows.

    Many shells allow 1024 open files, some 256; with more connections new clients would wait
    without an answer, and pages of the control plane could not be read.
    """
    try:
        import resource  # not on Windows, which has no such limit
    except ImportError:
        return
    number = resource.RLIMIT_NOFILE
    soft, hard = resource.getrlimit(number)
    for wanted in (connections + _OTHER_FILES, _MOST_OF_A_MAC):
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if soft == resource.RLIM_INFINITY or soft >= allowed:
            return
        with suppress(ValueError, OSError):
            resource.setrlimit(number, (allowed, hard))
            return


class Acceptor:
    """Accepts connections until it is closed, and begins to serve each in a task of its own.

    A server of uvloop accepts one connection in a round of the loop, and answers the requests of
    all others in the same round. Of 512 clients that came together, the last one waited for many
    seconds.
    """

    def __init__(
        self,
        listener: socket.socket,
        begin: Callable[[socket.socket], Coroutine[object, object, None]],
    ) -> None:
        """`begin` gets the socket of each client, which it owns unless it is cancelled.

        Called on the thread of the loop. The acceptor closes `listener`.
        """
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._begin = begin
        self._retry: asyncio.TimerHandle | None = None
        # The loop itself has only weak references to tasks.
        self._beginning: dict[asyncio.Task[None], socket.socket] = {}
        listener.listen(_BACKLOG)
        listener.settimeout(0)
        self._loop.add_reader(listener, self._accept)

    def close(self) -> None:
        """Accept no more, and drop the clients whose connection is not ready. Idempotent."""
        if self._listener.fileno() < 0:
            return
        self._loop.remove_reader(self._listener)
        self._listener.close()
        if self._retry is not None:
            self._retry.cancel()
        for task in self._beginning:
            task.cancel()

    # -- details ----------------------------------------------------------------------------------

    def _accept(self) -> None:
        # All that wait are accepted at once, up to as many as the system can hold, so that the loop
        # comes back to the others even under a flood.
        for _ in range(_BACKLOG):
            try:
                client, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as fault:
                # Mostly there are no file descriptors left. The listening socket stays readable, so
                # without a pause the loop would do nothing but try again.
                log.warning("A connection could not be accepted: %s", fault)
                self._loop.remove_reader(self._listener)
                self._retry = self._loop.call_later(_RETRY_SECONDS, self._resume)
                return
            client.settimeout(0)
            task = self._loop.create_task(self._begin(client))
            self._beginning[task] = client
            task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        client = self._beginning.pop(task)
        if task.cancelled():
            client.close()

    def _resume(self) -> None:
        self._loop.add_reader(self._listener, self._accept)
        self._accept()


async def open_connection(make: Callable[[], asyncio.Protocol], client: socket.socket) -> None:
    """Serve a client without TLS with the protocol that `make` returns."""
    loop = asyncio.get_running_loop()
    try:
        await loop.connect_accepted_socket(make, client)
    except OSError:
        client.close()
