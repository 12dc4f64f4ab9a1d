"""One connection and its requests: cheroot's parsing, with the ends that a sandbox needs.

What differs from cheroot's own classes: the connection can be broken on purpose (`faults`), the
TLS handshake is made by a worker, closing lets a client that is still sending read its answer, and
a chunked body is either read to its end or ends the connection.
"""

from __future__ import annotations

import logging
import os
import socket
import ssl
import struct
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from cheroot.server import HTTPConnection, HTTPRequest

from mock_platform.server.streams import Reader, Writer
from mock_platform.world.clock import UPTIME

if TYPE_CHECKING:
    from mock_platform.server.cheroot_server import CherootServer

log = logging.getLogger(__name__)

READ_SECONDS = 20.0
"""How long a client may pause within a request, or within taking its answer."""
_LINGER_SECONDS = 1.0
_LINGER_STEP = 0.1
_ABORT = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
"""SO_LINGER with no time: closing discards what is unsent and sends a reset."""
_TLS_HANDSHAKE = b"\x16"
_HTTPS_ONLY = b"This port speaks HTTPS only: call it with https://\n"
_PLAIN_ON_TLS = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_HTTPS_ONLY), _HTTPS_ONLY)
)


class Exchange(HTTPRequest):
    """One request and its answer."""

    def __init__(self, server: CherootServer, connection: ClientConnection) -> None:
        super().__init__(server, connection, proxy_mode=True)
        self.scheme = server.scheme.encode()
        self.refused = False
        connection.exchange = self

    def read_request_line(self) -> bool:
        """Read it; a target that is no address is refused."""
        try:
            return bool(super().read_request_line())  # type: ignore[no-untyped-call]
        except ValueError:
            self.simple_response("400 Bad Request", "Malformed Request-URI")
            return False

    def read_request_headers(self) -> bool:
        """Read them; a length that is not plain digits is refused, where int() takes `-1`."""
        if not super().read_request_headers():  # type: ignore[no-untyped-call]
            return False
        length: bytes | None = self.inheaders.get(b"Content-Length")
        if length is not None and not length.isdigit():
            self.simple_response("400 Bad Request", "Malformed Content-Length Header.")
            return False
        return True

    def simple_response(self, status: str, msg: str = "") -> None:
        """Refuse a request that the application never sees; not one that the server cut short."""
        self.refused = True
        if self.conn.hushed:
            self.close_connection = True
            return
        super().simple_response(status, msg)

    def respond(self) -> None:
        """Have the application answer, and leave the connection where the next request begins."""
        super().respond()
        if self.chunked_read and self.rfile.closed and not self.close_connection:
            try:
                for _ in self.rfile.read_trailer_lines():
                    pass
            except ValueError:
                self.close_connection = True

    def send_headers(self) -> None:
        """Send them.

        The connection ends where the application says so, and behind a chunked body that was not
        read to its end.
        """
        ends = any(k.lower() == b"connection" and v == b"close" for k, v in self.outheaders)
        if ends or (self.chunked_read and not self.rfile.closed):
            self.close_connection = True
        super().send_headers()

    @property
    def unread(self) -> bool:
        """Whether the client may still be sending."""
        if not self.ready:
            return self.refused
        if self.chunked_read:
            return not getattr(self.rfile, "closed", True)
        return getattr(self.rfile, "remaining", 0) > 0


class ClientConnection(HTTPConnection):
    """A client's connection; also what the application finds as `faults.CONNECTION`."""

    RequestHandlerClass = Exchange

    def __init__(self, server: CherootServer, sock: socket.socket, host: str, port: int) -> None:
        sock.settimeout(READ_SECONDS)
        super().__init__(server, sock, _files)
        self.remote_addr = host
        self.remote_port = port
        self.last_used = 0.0
        self.exchange: Exchange | None = None
        self.taken = False
        self.held = False
        self.answering = False
        self.hushed = False
        self._settled = False
        self._closed = False

    @property
    def stopping(self) -> threading.Event:
        """Set when the server begins to stop."""
        return self._server.stopping

    @property
    def _server(self) -> CherootServer:
        server: CherootServer = self.server
        return server

    def fileno(self) -> int:
        """The descriptor of the socket."""
        return int(self.socket.fileno())

    def has_data(self) -> bool:
        """Whether bytes of a next request were already taken from the socket."""
        return bool(self.rfile.has_data())

    def communicate(self) -> bool:
        """Answer one request; whether the connection stays open."""
        if self.held:
            return self._keep_holding()
        if not self._settled:
            if not self._settle():
                return False
            if self._server.tls is not None and not self.has_data():
                # A handshake alone asks for nothing yet: wait where no thread does.
                return True
        return bool(super().communicate())  # type: ignore[no-untyped-call]

    def wait(self, seconds: float, closing: threading.Event) -> None:
        """Let time pass. Whoever closes the platform stops the server first."""
        self.stopping.wait(seconds)

    def reset(self) -> None:
        """Break the connection off at once."""
        self.taken = True
        if not self._closed:
            self._closed = True
            with suppress(OSError):
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
            self.socket.close()

    def hold(self) -> None:
        """Never answer; the connection waits without a thread."""
        self.taken = True
        self.held = not self._closed

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are. A client that is gone is no fault."""
        self.taken = True
        with suppress(OSError):
            self.wfile.write(data)

    def close(self) -> None:
        """End the connection in good order: what was sent arrives. Again is harmless."""
        self.taken = True
        if self._closed:
            return
        self._closed = True
        with suppress(OSError, ValueError):
            self._part()
        self.socket.close()

    def hush(self) -> None:
        """Take nothing more from the client: what has come can still be read, then it ends."""
        self.hushed = True
        with suppress(OSError):
            socket.socket.shutdown(self.socket, socket.SHUT_RD)

    def abort(self) -> None:
        """Wake whoever reads or writes, from another thread."""
        with suppress(OSError):
            socket.socket.shutdown(self.socket, socket.SHUT_RDWR)

    def _keep_holding(self) -> bool:
        """Throw away what the client of an answer that never comes says, until it leaves."""
        try:
            return bool(socket.socket.recv(self.socket, 65_536))
        except OSError:
            return False

    def _settle(self) -> bool:
        """See from its first byte which protocol the client speaks; make the TLS handshake."""
        self._settled = True
        context = self._server.tls
        try:
            first = self.socket.recv(1, socket.MSG_PEEK)
            if not first:
                return False
            if context is None:
                if first == _TLS_HANDSHAKE:
                    log.warning("A client spoke TLS to a plain port: call it with http://")
                return bool(first != _TLS_HANDSHAKE)
            if first != _TLS_HANDSHAKE:
                log.warning("A client spoke plain HTTP to a TLS port: call it with https://")
                self.socket.sendall(_PLAIN_ON_TLS)
                self.linger = True
                return False
            self.socket = context.wrap_socket(self.socket, server_side=True)
        except ssl.SSLError as fault:
            log.warning(
                "A TLS handshake failed (does the client trust ca.pem?): %s", fault.reason or fault
            )
            return False
        except OSError:
            return False
        self.rfile, self.wfile = Reader(self.socket), Writer(self.socket)
        return True

    def _part(self) -> None:
        """Say goodbye, and let a client that still sends come to read what it was told.

        Closing with unread bytes would reset the connection and take the answer from the client.
        """
        if isinstance(self.socket, ssl.SSLSocket):
            self.socket.settimeout(0)
            with suppress(ssl.SSLError):
                self.socket.unwrap()
        socket.socket.shutdown(self.socket, socket.SHUT_WR)
        if not self.linger and (self.exchange is None or not self.exchange.unread):
            return
        self.socket.settimeout(_LINGER_STEP)
        deadline = UPTIME() + _LINGER_SECONDS
        while UPTIME() < deadline and not self.stopping.is_set():
            with suppress(TimeoutError):
                if not socket.socket.recv(self.socket, 65_536):
                    return


def _files(sock: socket.socket, mode: str, _size: int) -> Reader | Writer:
    return Reader(sock) if "r" in mode else Writer(sock)
