"""The server: everything between a socket and a WSGI callable.

`ServerThread` serves inside a test or another program, `serve_forever` serves for the command line.
Both run one event loop in a thread of this process (`loop_server`). With several processes,
`serving.cluster` hands requests over to the process of their world.

It is our own because scenarios need faults on the wire, which an application behind WSGI cannot
make; because framing and deadlines have to be strict, and streams and delays must not hold threads;
and because a test suite starts and stops many servers. llhttp and h2 do the parsing.

The WSGI environ contains what PEP 3333 requires, and:

`REQUEST_URI`
    Path and query as the client wrote them, starting with `/`: an OAuth 1.0a signature covers them.
`PATH_INFO`
    The decoded path, with encoded slashes, one character for each byte.
`wsgi.input`
    The whole body: an application is called after everything arrived.
`core.connection.CONNECTION`
    The client's connection, for network faults and pauses.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, Self

from mock_platform.serving.http.backend import RequestLog
from mock_platform.serving.http.binding import Bound, CannotBind, bind
from mock_platform.serving.http.loop_server import LoopCompanion, LoopServer
from mock_platform.serving.http.protocol_detection import require_http2
from mock_platform.serving.http.tls import TlsMaterial
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
"""Maximum number of requests answered at the same time beside the loop. Threads start on demand."""


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
        companion: LoopCompanion | None = None,
    ) -> None:
        """`listener` is a bound socket to use; then `host` and `port` have no effect."""
        limits = limits or ConnectionSettings()
        if limits.http2:
            require_http2()
        context = None if tls is None else tls.server_context(http2=limits.http2)
        self.tls = tls  # whose files go with it
        found, self.bound = listener or bind(host, port, "http" if tls is None else "https")
        self._server = LoopServer(
            wsgi, found, self.bound, context, threads, limits, log, companion=companion
        )

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
        return self._server.errors

    @property
    def connections(self) -> int:
        """Returns the number of open connections."""
        return self._server.connections

    def start(self) -> Self:
        """Start to answer requests.

        Raises:
            RuntimeError: It was started before.
        """
        self._server.start()
        return self

    def stop(self, grace: float = 5.0) -> None:
        """Close the socket and every connection, and wait for running requests.

        Requests that take longer than `grace` seconds are ended. Idempotent.
        """
        self._server.stop(grace)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
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
    with ServerThread(
        wsgi, host, port, tls, limits=limits, log=log, listener=listener, companion=companion
    ) as server:
        on_ready(server.bound)
        stop.wait()
