"""The server: everything between a socket and a WSGI callable.

`ServerThread` serves inside a test or another program, `serve_forever` is the command line's. Both
run one event loop in a thread of this process (`loop_server`); there is never a second process.

The WSGI environ holds what PEP 3333 names, and:

`REQUEST_URI`
    Path and query as the client wrote them, beginning with `/`: what an OAuth 1.0a signature
    covers.
`PATH_INFO`
    The path decoded, encoded slashes included, one character for each byte.
`wsgi.input`
    The body as a whole: an application is called once everything came in.
`faults.CONNECTION`
    The client's connection, for network faults and pauses.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from mock_platform.server.backend import RequestLog
from mock_platform.server.binding import Bound, CannotBind, bind
from mock_platform.server.loop_server import LoopServer
from mock_platform.server.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

__all__ = [
    "Bound",
    "CannotBind",
    "RequestLog",
    "ServerThread",
    "Stop",
    "serve_forever",
]

_THREADS = 32
"""Requests worked on at once beside the loop. Threads are started when needed."""


class Stop(Protocol):
    """What `serve_forever` waits for."""

    def wait(self) -> object:
        """Return when the server is to stop."""


class ServerThread:
    """A server in threads of this process. Its socket is bound when the constructor returns.

    `host`, `port` and `url` say where it listens; port 0 takes a free one. `start` begins to
    answer; as a context manager it starts and stops. `errors` collects what went wrong within the
    server or was raised by the WSGI application, which answered 500.

    Raises:
        CannotBind: The address cannot be listened on.
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
    ) -> None:
        context = None if tls is None else tls.server_context()
        self.tls = tls  # whose files go with it
        listener, self.bound = bind(host, port, "http" if tls is None else "https")
        limits = limits or ConnectionSettings()
        self._server = LoopServer(wsgi, listener, self.bound, context, threads, limits, log)

    @property
    def host(self) -> str:
        """The name or address that was asked for."""
        return self.bound.host

    @property
    def port(self) -> int:
        """The port, the free one that was taken included."""
        return self.bound.port

    @property
    def url(self) -> str:
        """The address that clients on this machine call, without a slash at its end."""
        return self.bound.url

    @property
    def errors(self) -> list[BaseException]:
        """What should not have happened, oldest first; grows while the server runs."""
        return self._server.errors

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return self._server.connections

    def start(self) -> Self:
        """Begin to answer.

        Raises:
            RuntimeError: It was started before.
        """
        self._server.start()
        return self

    def stop(self, grace: float = 5.0) -> None:
        """Close the socket and every connection, and wait for requests in flight.

        Those that take longer than `grace` seconds are cut off. Again is harmless.
        """
        self._server.stop(grace)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


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
) -> None:
    """Serve until `stop.wait()` returns, then finish the requests in flight.

    The socket is bound before `on_ready` is called with its address: whoever connects from then on
    is answered. Signals are left to the caller. Where a handler is to end the wait, `stop` must not
    be a mere `threading.Event`: a main thread that waits on a lock may sleep through a signal that
    the system hands to another thread.

    Raises:
        CannotBind: The address cannot be listened on.
    """
    with ServerThread(wsgi, host, port, tls, limits=limits, log=log) as server:
        on_ready(server.bound)
        stop.wait()
