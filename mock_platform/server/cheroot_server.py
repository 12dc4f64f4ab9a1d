"""The default server: cheroot's HTTP on our own threads."""

from __future__ import annotations

import logging
import socket
import ssl
import sys
import threading
from typing import TYPE_CHECKING

from cheroot.server import HTTPServer

from mock_platform.server.binding import Bound
from mock_platform.server.exchange import ClientConnection
from mock_platform.server.gateway import Gateway
from mock_platform.server.loop import Lobby, Workers, Working
from mock_platform.version import __version__

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

log = logging.getLogger(__name__)

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a request body beyond which the server itself answers 413."""
MAX_HEADERS = 64 * 1024
"""Bytes of request line and headers beyond which the server itself answers 414 or 413."""
IDLE_SECONDS = 75.0
"""How long a connection may wait for its next request."""
_KEPT = 500
"""Idle connections beyond which answered ones are closed."""


class CherootServer(HTTPServer):
    """Serves one WSGI application on a listening socket that it takes over."""

    def __init__(
        self,
        wsgi: WSGIApplication,
        listener: socket.socket,
        bound: Bound,
        tls: ssl.SSLContext | None,
        threads: int,
    ) -> None:
        super().__init__((bound.host, bound.port), Gateway)
        self.wsgi_app = wsgi
        self.bound = bound
        self.tls = tls
        self.scheme = "http" if tls is None else "https"
        self.server_name = self.software = f"mock-platform/{__version__}"
        self.max_request_body_size = MAX_BODY
        self.max_request_header_size = MAX_HEADERS
        self.stopping = threading.Event()
        self.errors: list[BaseException] = []
        self.requests = Workers(threads, self.put_conn, self.report)
        self._lobby = Lobby(listener, self._greet, self.requests.put, IDLE_SECONDS)
        self._thread = threading.Thread(target=self._run, name="mock-platform-server", daemon=True)

    def clear_stats(self) -> None:
        """Keep no statistics: cheroot's stay in the logging module and hold every server alive."""
        self.stats = {"Enabled": False}

    @property
    def can_add_keepalive_connection(self) -> bool:
        """Whether a connection may stay open after its answer."""
        return not self.stopping.is_set() and len(self._lobby) < _KEPT

    def put_conn(self, conn: Working) -> None:
        """Let a connection wait for its next request."""
        self._lobby.put(conn)

    def start(self) -> None:
        """Begin to answer, in threads of its own."""
        self._thread.start()

    def stop(self, grace: float = 5.0) -> None:
        """Accept no more, finish the requests in flight within `grace` seconds, close everything.

        Requests that take longer are cut. Again is harmless.
        """
        self.stopping.set()
        self._lobby.stop()
        if self._thread.ident is None:
            self._lobby.run()  # never started: it closes its sockets and returns
        else:
            self._thread.join()
        if not self.requests.stop(grace):
            log.warning("Requests still in work after %g seconds were cut", grace)

    def report(self, fault: BaseException) -> None:
        """Keep and log what should not have happened."""
        self.errors.append(fault)
        log.error("%s while answering a request", type(fault).__name__, exc_info=fault)

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:  # noqa: FBT001, FBT002 - cheroot's signature
        """Take what cheroot has to say: with a traceback it is a fault, else a remark."""
        fault = sys.exc_info()[1] if traceback else None
        if fault is not None:
            self.report(fault)
        else:
            log.debug("%s", msg)

    def _greet(self, client: socket.socket, host: str, port: int) -> ClientConnection:
        return ClientConnection(self, client, host, port)

    def _run(self) -> None:
        try:
            self._lobby.run()
        except Exception as fault:  # noqa: BLE001 - told to whoever asks for errors
            self.report(fault)
