"""A forward proxy that answers for the platform's own hosts, and for no other host.

A client asks a proxy for a tunnel to a host (`CONNECT`), and speaks TLS through it. For a host of
the platform the tunnel ends here: the handshake is made with a certificate of our own authority,
and the requests are answered by the sandbox as if it were that host. A tunnel to another host is
refused, unless it was allowed; then its bytes are passed on unread. A client that knows of no
proxy, and was led here as if this were the host, begins with TLS: it is answered as in a tunnel.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, cast

from mock_platform.core.platform_hosts import DEFAULT_PORTS
from mock_platform.serving.http.backend import Backend
from mock_platform.serving.http.connection import ClientConnection
from mock_platform.serving.http.loop_server import ServerThread
from mock_platform.serving.http.protocol_detection import greet
from mock_platform.serving.http.tls import TlsMaterial
from mock_platform.settings import ConnectionSettings
from mock_platform.world.clock import UPTIME

MAX_TUNNELS = 512
"""Tunnels of a proxy at a time: each is a connection to a host outside."""
MAX_TUNNELS_PER_CLIENT = 128
"""Tunnels of the clients at one address at a time; a browser has some dozens."""


class Tunnels:
    """The open tunnels of one proxy. Used on its loop alone."""

    def __init__(self, allowed: Collection[tuple[str, int]]) -> None:
        """`allowed` are the hosts and ports to which tunnels may lead."""
        self._allowed = frozenset(allowed)
        self._open: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many are open, or being opened."""
        return self._open.total()

    def allows(self, host: str, port: int) -> bool:
        """Whether a tunnel may lead there."""
        return (host, port) in self._allowed

    def begin(self, client: str) -> str | None:
        """Count a tunnel of a client; return why it is refused instead, if it is."""
        if self.count >= MAX_TUNNELS or self._open[client] >= MAX_TUNNELS_PER_CLIENT:
            return (
                f"This proxy allows {MAX_TUNNELS_PER_CLIENT} tunnels of one client at a time, and "
                f"{MAX_TUNNELS} in all. Close some, then try again."
            )
        self._open[client] += 1
        return None

    def end(self, client: str) -> None:
        """Stop counting a tunnel."""
        self._open[client] -= 1
        if self._open[client] <= 0:
            del self._open[client]


if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

log = logging.getLogger(__name__)

_END = b"\r\n\r\n"
_CONNECT = b"CONNECT "
_TLS_HANDSHAKE = b"\x16"
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
THREADS = 8


class ProxyServer(ServerThread):
    """A proxy for one WSGI application, in a thread of this process; it runs when constructed.

    `hosts` are answered by the application, `allowed` hosts and ports are passed on to.
    """

    def __init__(
        self,
        wsgi: WSGIApplication,
        tls: TlsMaterial,
        hosts: Collection[str],
        allowed: Collection[tuple[str, int]],
        limits: ConnectionSettings,
    ) -> None:
        context = tls.server_context(http2=limits.http2)
        tunnels = Tunnels(allowed)

        def enter(backend: Backend) -> asyncio.Protocol:
            return ProxyConnection(backend, context, frozenset(hosts), tunnels)

        super().__init__(wsgi, threads=THREADS, limits=limits, entrance=enter)
        self.tls: TlsMaterial = tls  # of the tunnels; the proxy itself is spoken to without TLS
        self.start()


class ProxyConnection(asyncio.Protocol):
    """A client's connection until it is known where it leads."""

    def __init__(
        self,
        backend: Backend,
        context: ssl.SSLContext,
        hosts: frozenset[str],
        tunnels: Tunnels,
    ) -> None:
        self._backend = backend
        self._context = context
        self._hosts = hosts
        self._tunnels = tunnels
        self._address = ""
        self._is_counted = False
        self._head = b""
        self._early = b""
        """What the client sent behind its request: the first bytes of the tunnel."""
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._deadline = UPTIME() + backend.limits.head_seconds

    # -- called by the loop -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request, or refuse the client if there are too many."""
        self._transport = cast("asyncio.Transport", transport)
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        self._is_counted = True
        refusal = self._backend.admit(self, self._address)
        if refusal is not None:
            self._refuse("503 Service Unavailable", refusal.text)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has left."""
        self._leave()
        if self._task is not None:
            self._task.cancel()

    def data_received(self, data: bytes) -> None:
        """Read the head of the first request, and decide where the connection leads."""
        assert self._transport is not None
        if self._transport.is_closing():
            return
        if self._task is not None:  # it was read before reading paused
            self._early += data
            return
        self._head += data
        # The first bytes decide. A request for a tunnel begins with `CONNECT`; anything else is a
        # plain request that the sandbox answers itself, and the connection is handed over with what
        # was read.
        if self._head.startswith(_TLS_HANDSHAKE):
            self._early = self._head
            self._begin_answering("a client that does not use the proxy")
        elif not _CONNECT.startswith(self._head[: len(_CONNECT)]):
            self._hand_over(ClientConnection(self._backend))
        elif len(self._head) > self._backend.limits.head_bytes:
            self._refuse("431 Request Header Fields Too Large", "The request is too large.")
        elif _END in self._head:
            head, _, self._early = self._head.partition(_END)
            self._connect(head[len(_CONNECT) :].split(b" ", 1)[0].decode("latin-1"))

    # -- called by the server (`backend.AnyConnection`) --------------------------------------------

    def expire(self, now: float) -> None:
        """End a connection whose request does not come."""
        if now > self._deadline and self._task is None:
            self.cut()

    def stop(self) -> None:
        """Close the connection: the server stops, and nothing is being answered."""
        self.cut()

    def cut(self) -> None:
        """Close the connection now."""
        if self._task is not None:
            self._task.cancel()
        if self._transport is not None:
            self._transport.abort()

    # -- details ---------------------------------------------------------------------------------

    def _connect(self, target: str) -> None:
        assert self._transport is not None
        host, _, port = target.rpartition(":")
        host = host.strip("[]").lower()
        number = int(port) if port.isascii() and port.isdecimal() and len(port) < 6 else None
        if host in self._hosts:
            self._transport.write(_ESTABLISHED)
            self._begin_answering(host)
        elif number is None or not self._tunnels.allows(host, number):
            self._refuse(*refuse_host(host or target, number))
        elif (full := self._tunnels.begin(self._address)) is not None:
            self._refuse("503 Service Unavailable", full)
        else:
            self._transport.pause_reading()
            self._task = asyncio.get_running_loop().create_task(self._pass_on(host, number))

    def _begin_answering(self, host: str) -> None:
        assert self._transport is not None
        self._transport.pause_reading()
        self._task = asyncio.get_running_loop().create_task(self._answer_as(host))

    def _hand_over(self, connection: ClientConnection) -> None:
        """Let the client's plain requests be answered."""
        assert self._transport is not None
        self._leave()
        self._transport.set_protocol(connection)
        connection.connection_made(self._transport)
        connection.data_received(self._head)

    async def _answer_as(self, host: str) -> None:
        """Make the handshake as this host; its requests are answered like all others."""
        loop = asyncio.get_running_loop()
        # The client is told first that the tunnel is there; then it begins its handshake, for the
        # host that it named. The certificate is from our own authority, so clients that trust it
        # notice nothing, and those that do not fail here with a message that says what to look at.
        inner = _Upgraded(self._backend)
        limits = self._backend.limits
        try:
            transport = await loop.start_tls(
                await self._begin_tls(),
                inner,
                self._context,
                server_side=True,
                ssl_handshake_timeout=limits.head_seconds,
                ssl_shutdown_timeout=limits.linger_seconds,
            )
        except (ssl.SSLError, OSError) as fault:
            log.warning(
                "A TLS handshake for %s failed (does the client trust the authority?): %s",
                host,
                getattr(fault, "reason", None) or fault,
            )
            self.cut()
            return
        finally:
            self._leave()
        if transport is not None:
            inner.begin(transport)

    async def _begin_tls(self) -> asyncio.Transport:
        """Return the transport of a handshake of which the first bytes may have been read.

        A handshake cannot be given bytes that were read already. So a client that did not wait for
        the answer to its request gets a pair of sockets in between.
        """
        assert self._transport is not None
        if not self._early:
            return self._transport
        loop = asyncio.get_running_loop()
        near, far = socket.socketpair()
        for each in (near, far):
            each.settimeout(0)
        relay = _Relay(self._transport, self._transport.close)
        outward, _ = await loop.connect_accepted_socket(lambda: relay, near)
        inner, _ = await loop.connect_accepted_socket(asyncio.Protocol, far)
        inner.pause_reading()
        self._join(outward, outward.close)
        return inner

    async def _pass_on(self, host: str, port: int) -> None:
        """Pass the bytes of a tunnel on to a host that was allowed."""
        assert self._transport is not None
        loop = asyncio.get_running_loop()
        relay = _Relay(self._transport, self._transport.close)
        outward: asyncio.Transport | None = None
        try:
            async with asyncio.timeout(self._backend.limits.head_seconds):
                outward, _ = await loop.create_connection(lambda: relay, host, port)
        except (OSError, TimeoutError) as fault:
            why = str(fault) or "it does not answer"
            self._refuse("502 Bad Gateway", f"{host}:{port} cannot be reached: {why}.")
            return
        finally:
            if outward is None:
                self._tunnels.end(self._address)
        there = outward

        def end() -> None:
            self._tunnels.end(self._address)
            self._leave()
            there.close()

        self._transport.write(_ESTABLISHED)
        self._join(outward, end)

    def _join(self, outward: asyncio.Transport, end: Callable[[], object]) -> None:
        """Pass on what the client sent, and will send; `end` is called when it has left."""
        assert self._transport is not None
        # Two relays, one for each direction, share the two transports. Each stops reading its side
        # while the other does not take what it writes, so a tunnel needs little memory however fast
        # one side is.
        back = _Relay(outward, end)
        back.connection_made(self._transport)
        self._transport.set_protocol(back)
        if self._early:
            outward.write(self._early)
        self._early = b""
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def _leave(self) -> None:
        """Stop counting this connection."""
        if self._is_counted:
            self._is_counted = False
            self._backend.forget(self, self._address)

    def _refuse(self, status: str, text: str) -> None:
        assert self._transport is not None
        log.warning("%s", text)
        body = f"{text}\n".encode()
        self._transport.write(
            f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        self._transport.close()


def refuse_host(host: str, port: int | None) -> tuple[str, str]:
    """Return the status and the text that refuse another host; clients show the status."""
    shown = host
    if port is not None and port not in DEFAULT_PORTS:
        shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    remedy = f"--allow-host {shown}"
    return (
        f"403 mock-platform sends nothing to {shown} without {remedy}",
        f"{host} is no host of the platform, so nothing was sent to it. Allow it with {remedy}"
        f"{'' if shown == host else '; without the port, only 80 and 443 are allowed'}.",
    )


def refuse_plain_http(address: str, allowed: Collection[tuple[str, int]]) -> str:
    """Return the text that refuses a plain request to another host, of which port may be a part.

    Bytes are passed on unread, which is only possible in a tunnel: a plain request has to be read.
    """
    name, _, port = address.rpartition(":")
    host = (name if port.isdecimal() and name else address).lower()
    if all(host != known for known, _ in allowed):
        return f"{refuse_host(host, None)[1]} Then https to it is passed on, plain http is not."
    return (
        f"{address} was allowed with --allow-host, but only for https, and this request came over "
        f"plain http, so nothing was sent. Call it with https://, or without the proxy: add {host} "
        "to NO_PROXY."
    )


class _Upgraded(asyncio.Protocol):
    """Keeps what comes with the end of a handshake until its connection has begun."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._early = b""
        self._is_lost = False

    def begin(self, transport: asyncio.Transport) -> None:
        """Let the connection read."""
        if self._is_lost:
            return
        connection = greet(self._backend, transport, "https")
        if self._early:
            connection.data_received(self._early)

    def data_received(self, data: bytes) -> None:
        """Keep what the client sent until the connection begins."""
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has left already."""
        self._is_lost = True


class _Relay(asyncio.Protocol):
    """Writes what one side sends to the other side; waits where that does not read."""

    def __init__(self, to: asyncio.Transport, end: Callable[[], object]) -> None:
        self._to = to
        self._end = end
        self._from: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the side whose bytes are passed on."""
        self._from = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Pass bytes on to the other side."""
        self._to.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """One side has left, so the other is closed."""
        self._end()

    def pause_writing(self) -> None:
        """This side does not read: the other must wait."""
        if not self._to.is_closing():
            self._to.pause_reading()

    def resume_writing(self) -> None:
        """This side reads again."""
        if not self._to.is_closing():
            self._to.resume_reading()
