"""Chooses between HTTP/1.1 and HTTP/2 for a new connection, if the server speaks both.

With TLS the handshake has settled it (ALPN). Without, a client that knows that the server speaks
HTTP/2 begins with fixed bytes, which no request of HTTP/1.1 begins with (RFC 9113, 3.4).
"""

from __future__ import annotations

import asyncio
from typing import cast

from mock_platform.core.installed import require_extra
from mock_platform.serving.http.backend import Backend
from mock_platform.serving.http.connection import ClientConnection
from mock_platform.world.clock import UPTIME

HTTP2 = "h2"
"""The name of HTTP/2 in a TLS handshake."""
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def require_http2() -> None:
    """Check that HTTP/2 can be spoken.

    Raises:
        MissingExtra: The package was installed without the extra `http2`.
    """
    require_extra("--http2", "http2", "h2")


def greet(
    backend: Backend, transport: asyncio.Transport, scheme: str | None = None
) -> asyncio.Protocol:
    """Give a new connection the protocol that its TLS handshake settled; return it."""
    tls = transport.get_extra_info("ssl_object")
    speaks_http2 = tls is not None and tls.selected_alpn_protocol() == HTTP2
    return _hand_over(backend, transport, scheme, speaks_http2=speaks_http2)


class Entrance(asyncio.Protocol):
    """A client's connection until it is known which protocol it speaks."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._transport: asyncio.Transport | None = None
        self._head = b""
        self._address = ""
        self._is_counted = False
        self._deadline = UPTIME() + backend.limits.idle_seconds

    # -- called by the loop -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand a connection with TLS over; wait for the first bytes of another."""
        self._transport = cast("asyncio.Transport", transport)
        if self._transport.get_extra_info("ssl_object") is not None:
            greet(self._backend, self._transport)
            return
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        self._is_counted = True
        if self._backend.admit(self, self._address) is not None:
            # The answer that refuses it depends on what it speaks, so it has a moment to say that.
            self._deadline = UPTIME() + self._backend.limits.linger_seconds

    def connection_lost(self, exc: Exception | None) -> None:
        """The client left before it was known what it speaks."""
        self._leave()

    def data_received(self, data: bytes) -> None:
        """Read until the first bytes tell the protocol."""
        assert self._transport is not None
        self._head += data
        # As long as what has come could still become the fixed text, it is kept; with the first
        # byte that differs it is HTTP/1.1. No byte is lost: all of them go to the connection that
        # takes over.
        speaks_http2 = self._head.startswith(_PREFACE)
        if not speaks_http2 and _PREFACE.startswith(self._head):
            return
        self._leave()
        connection = _hand_over(self._backend, self._transport, None, speaks_http2=speaks_http2)
        connection.data_received(self._head)

    def _leave(self) -> None:
        """Stop counting this connection."""
        if self._is_counted:
            self._is_counted = False
            self._backend.forget(self, self._address)

    # -- called by the server (`backend.AnyConnection`) --------------------------------------------

    def expire(self, now: float) -> None:
        """End a connection whose first bytes do not come."""
        if now > self._deadline:
            self.cut()

    def stop(self) -> None:
        """Close the connection: the server stops, and nothing is being answered."""
        self.cut()

    def cut(self) -> None:
        """Close the connection now."""
        if self._transport is not None:
            self._transport.abort()


def _hand_over(
    backend: Backend, transport: asyncio.Transport, scheme: str | None, *, speaks_http2: bool
) -> asyncio.Protocol:
    connection: asyncio.Protocol
    if speaks_http2:
        from mock_platform.serving.http.http2 import Http2Connection  # h2 is not always installed

        connection = Http2Connection(backend, scheme)
    else:
        connection = ClientConnection(backend, scheme)
    transport.set_protocol(connection)
    connection.connection_made(transport)
    return connection
