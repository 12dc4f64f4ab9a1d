"""An HTTP client that is safe to point at addresses which users wrote down.

It connects to this machine alone unless more was allowed. The address that is checked is the very
one that is connected to, so a name that resolves differently the second time gains nothing. It
follows no redirects, uses no proxy, repeats nothing, reads only so much of an answer, and gives up
when its time is over, however slowly the answer drips.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mock_platform.world.clock import UPTIME

if TYPE_CHECKING:
    from mock_platform.delivery.connections import FaultKind

LARGEST_ANSWER = 64 * 1024
"""Bytes of an answer's body that are read; the rest is left."""


class OutboundFault(Exception):
    """No answer came; `kind` says why in one word, the text in a sentence."""

    def __init__(self, kind: FaultKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered: the status and the beginning of the body."""

    status: int
    body: bytes


class _Deadlined:
    """A socket all of whose reads and writes share one deadline, however many there are."""

    deadline: float | None = None

    def settimeout(self, value: float | None) -> None:
        """Allow what is left until the deadline, if there is one; `value` otherwise."""
        if self.deadline is not None:
            value = self.deadline - UPTIME()
            if value <= 0:
                raise TimeoutError("timed out")
        super().settimeout(value)  # type: ignore[misc]

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        """Read what comes before the deadline."""
        self.settimeout(None)
        return super().recv_into(*args, **kwargs)  # type: ignore[misc,no-any-return]

    def send(self, *args: Any, **kwargs: Any) -> int:
        """Write before the deadline."""
        self.settimeout(None)
        return super().send(*args, **kwargs)  # type: ignore[misc,no-any-return]

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        """Write everything before the deadline."""
        self.settimeout(None)
        super().sendall(*args, **kwargs)  # type: ignore[misc]


class _PlainSocket(_Deadlined, socket.socket):
    pass


class _TLSSocket(_Deadlined, ssl.SSLSocket):
    pass


class Outbound:
    """Sends single requests. Safe for concurrent use.

    `timeout` is in seconds and covers one request as a whole. `allow_hosts` are names or addresses
    beyond loopback; `*` allows any.
    """

    def __init__(self, *, timeout: float = 10.0, allow_hosts: tuple[str, ...] = ()) -> None:
        self._timeout = timeout
        self._allowed = frozenset(_bare(host) for host in allow_hosts)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def send(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        """Send one request and give the answer, whatever its status.

        Raises:
            OutboundFault: There is none.
        """
        # urllib3 takes 12 ms that servers without deliveries do not pay.
        from mock_platform.delivery import connections

        try:
            target = connections.target_of(url)
        except ValueError as fault:
            raise OutboundFault("address", str(fault)) from fault
        held: list[socket.socket] = []
        deadline = UPTIME() + self._timeout

        def opener(host: str, port: int) -> socket.socket:
            return self._connect(host, port, deadline, held)

        connection = connections.connection(target, opener, lambda: self._tls)
        try:
            with self._told(target.netloc or ""):
                connection.connect()
                self._secured(connection.sock, deadline, held)
                connection.request(
                    method,
                    target.request_uri,
                    body=body or None,
                    headers=headers,
                    preload_content=False,
                )
                response = connection.getresponse()
                return Answer(response.status, connections.beginning(response, LARGEST_ANSWER))
        finally:
            with self._lock:
                self._open.difference_update(held)
            connection.close()

    def stop(self) -> None:
        """Break off what is under way, and refuse what comes."""
        with self._lock:
            self._stopped = True
            for sock in self._open:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:  # not connected yet, or no longer
                    continue

    # -- within ----------------------------------------------------------------------------------

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Verifies against the system's authorities; SSL_CERT_FILE names others."""
        context = ssl.create_default_context()
        context.sslsocket_class = _TLSSocket
        return context

    def _connect(
        self, host: str, port: int, deadline: float, held: list[socket.socket]
    ) -> socket.socket:
        """A socket connected to one of the host's addresses, each checked before it is used."""
        refused: list[str] = []
        last: OSError | None = None
        for family, kind, protocol, _, address in _addresses(host, port):
            if not self._may_reach(host, str(address[0])):
                refused.append(str(address[0]))
                continue
            sock = _PlainSocket(family, kind, protocol)
            sock.deadline = deadline
            self._hold(sock, held)
            try:
                sock.settimeout(None)
                sock.connect(address)
            except OSError as fault:
                sock.close()
                last = fault
            else:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return sock
        if last is not None:
            raise last
        raise OutboundFault(
            "address",
            f"{host} is at {', '.join(dict.fromkeys(refused))}, which is not this machine; "
            "webhooks are delivered to loopback alone unless the host is allowed with "
            "--delivery-allow-host (DeliverySettings.allow_hosts)",
        )

    def _may_reach(self, host: str, address: str) -> bool:
        """Whether this address may be connected to, for a URL that says `host`."""
        if not self._allowed.isdisjoint({"*", _bare(host), _bare(address)}):
            return True
        parsed = ipaddress.ip_address(address.partition("%")[0])
        if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
            return parsed.ipv4_mapped.is_loopback
        return parsed.is_loopback

    def _secured(
        self, sock: socket.socket | None, deadline: float, held: list[socket.socket]
    ) -> None:
        """Give the deadline to the socket that TLS put in the place of ours."""
        if isinstance(sock, _TLSSocket):
            sock.deadline = deadline
            self._hold(sock, held)

    def _hold(self, sock: socket.socket, held: list[socket.socket]) -> None:
        with self._lock:
            if self._stopped:
                sock.close()
                raise OutboundFault("stopped", "the server stops")
            self._open.add(sock)
            held.append(sock)

    @contextmanager
    def _told(self, where: str) -> Iterator[None]:
        """Every way in which a request can fail, as a fault that says what happened."""
        from mock_platform.delivery import connections

        try:
            yield
        except OutboundFault:
            raise
        except connections.FAULTS as fault:
            if self._stopped:
                raise OutboundFault("stopped", "the server stops") from fault
            raise OutboundFault(*connections.explained(fault, where, self._timeout)) from fault


def _addresses(host: str, port: int) -> list[Any]:
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as fault:
        raise OutboundFault("name", f"{host} has no address: {fault}") from fault


def _bare(host: str) -> str:
    """A host as it is compared: no brackets, no trailing dot, one case."""
    return host.strip("[]").rstrip(".").lower()
