"""An HTTP client that is safe to use with addresses that users wrote.

It connects to this machine only, unless more hosts are allowed. The address that is checked is the
one that is connected to, so a name that resolves differently the second time is no way around the
check. It follows no redirects, uses no proxy, repeats nothing, reads a limited part of an answer,
and stops at its deadline, however slowly the answer arrives.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mock_platform.delivery.deadline import PlainDeadlineSocket, TLSDeadlineSocket
from mock_platform.world.clock import UPTIME

if TYPE_CHECKING:
    from mock_platform.delivery.connections import OutboundFaultKind

MAX_ANSWER_BYTES = 64 * 1024
"""Bytes of an answer's body that are read; the rest is ignored."""


class OutboundFault(Exception):
    """A request without an answer; `kind` says why in one word, the text in a sentence."""

    def __init__(self, kind: OutboundFaultKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class ReceiverAnswer(Struct, frozen=True):
    """What a receiver answered: the status, the beginning of the body, the headers."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Outbound:
    """Sends single requests. Safe for concurrent use.

    `timeout` is in seconds and covers one request as a whole. `allow_hosts` are names or addresses
    beyond loopback; `*` allows any.
    """

    def __init__(self, *, timeout: float = 10.0, allow_hosts: tuple[str, ...] = ()) -> None:
        self._timeout = timeout
        self._allowed = frozenset(_normalize_host(host) for host in allow_hosts)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        most: int = MAX_ANSWER_BYTES,
    ) -> ReceiverAnswer:
        """Send one request and return the answer, with any status and at most so many bytes.

        Raises:
            OutboundFault: No answer came, or the address is not allowed.
        """
        # Loaded here: urllib3 takes 12 ms, which servers without deliveries need not spend.
        from mock_platform.delivery import connections

        try:
            target = connections.parse_target(url)
        except ValueError as error:
            raise OutboundFault("address", str(error)) from error
        opened: list[socket.socket] = []
        deadline = UPTIME() + self._timeout

        def opener(host: str, port: int) -> socket.socket:
            return self._connect(host, port, deadline, opened)

        connection = connections.make_connection(target, opener, lambda: self._tls)
        try:
            with self._translate_faults(target.netloc or ""):
                connection.connect()
                self._adopt_tls_socket(connection.sock, deadline, opened)
                connection.request(
                    method,
                    target.request_uri,
                    body=body or None,
                    headers=headers,
                    preload_content=False,
                )
                response = connection.getresponse()
                start = connections.read_beginning(response, most)
                return ReceiverAnswer(response.status, start, tuple(response.headers.items()))
        finally:
            with self._lock:
                self._open.difference_update(opened)
            connection.close()

    def may_reach_name(self, host: str) -> bool:
        """Return whether a host is this machine by its name, or allowed; nothing is resolved."""
        name = _normalize_host(host)
        if name == "localhost" or not self._allowed.isdisjoint({"*", name}):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False

    def stop(self) -> None:
        """Interrupt running requests, and refuse new ones."""
        with self._lock:
            # Threads that wait for an answer cannot be interrupted, but their sockets can be shut
            # down: the wait then ends with an error, which is reported as "the server stops".
            self._stopped = True
            for sock in self._open:
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:  # not connected yet, or no longer
                    continue

    # -- within ----------------------------------------------------------------------------------

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """A context that trusts the system's authorities, or those of SSL_CERT_FILE."""
        context = ssl.create_default_context()
        context.sslsocket_class = TLSDeadlineSocket
        return context

    def _connect(
        self, host: str, port: int, deadline: float, opened: list[socket.socket]
    ) -> socket.socket:
        """Connect to one of the host's addresses, each checked before it is used."""
        refused: list[str] = []
        last: OSError | None = None
        # The name is resolved once, here, and the address that was checked is the one that is
        # connected to. A library that resolves again could be led to another address in between
        # (DNS rebinding).
        for family, kind, protocol, _, address in _resolve(host, port):
            if not self._may_reach(host, str(address[0])):
                refused.append(str(address[0]))
                continue
            sock = PlainDeadlineSocket(family, kind, protocol)
            sock.deadline = deadline
            self._register(sock, opened)
            try:
                sock.settimeout(None)
                sock.connect(address)
            except OSError as error:
                sock.close()
                last = error
            else:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return sock
        if last is not None:
            raise last
        raise OutboundFault(
            "address",
            f"{host} is at {', '.join(dict.fromkeys(refused))}, which is not this machine; "
            "webhooks and feeds reach loopback alone unless the host is allowed with "
            "--delivery-allow-host (DeliverySettings.allow_hosts)",
        )

    def _may_reach(self, host: str, address: str) -> bool:
        """Return whether this address may be connected to, for a URL that says `host`."""
        if not self._allowed.isdisjoint({"*", _normalize_host(host), _normalize_host(address)}):
            return True
        # An address of the older kind may be written in the newer one (`::ffff:127.0.0.1`). It is
        # judged by what it really is, or it would be a way around the check.
        parsed = ipaddress.ip_address(address.partition("%")[0])
        if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
            return parsed.ipv4_mapped.is_loopback
        return parsed.is_loopback

    def _adopt_tls_socket(
        self, sock: socket.socket | None, deadline: float, opened: list[socket.socket]
    ) -> None:
        """Set the deadline on the socket by which TLS replaced ours."""
        if isinstance(sock, TLSDeadlineSocket):
            sock.deadline = deadline
            self._register(sock, opened)

    def _register(self, sock: socket.socket, opened: list[socket.socket]) -> None:
        with self._lock:
            if self._stopped:
                sock.close()
                raise OutboundFault("stopped", "the server stops")
            self._open.add(sock)
            opened.append(sock)

    @contextmanager
    def _translate_faults(self, where: str) -> Iterator[None]:
        """Turn every exception of a request into an `OutboundFault` that says what happened."""
        from mock_platform.delivery import connections

        try:
            yield
        except OutboundFault:
            raise
        except connections.FAULTS as error:
            if self._stopped:
                raise OutboundFault("stopped", "the server stops") from error
            raise OutboundFault(*connections.explain_fault(error, where, self._timeout)) from error


def _resolve(host: str, port: int) -> list[Any]:
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OutboundFault("name", f"{host} has no address: {error}") from error


def _normalize_host(host: str) -> str:
    """Return a host in the form for comparison: no brackets, no trailing dot, lower case."""
    return host.strip("[]").rstrip(".").lower()
