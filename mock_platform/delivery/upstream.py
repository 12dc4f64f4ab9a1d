"""Connections to the real service: to the address that the user named, and to no other.

The address that is checked is the one that is connected to. No redirect is followed, no proxy and
no credentials are taken from the environment.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import ipaddress
import socket
import ssl
from collections.abc import Collection, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from urllib3.connection import HTTPConnection

from mock_platform.delivery.connections import make_connection, parse_target
from mock_platform.delivery.deadline import PlainDeadlineSocket, TLSDeadlineSocket
from mock_platform.settings import Settings

# The base address of another server that a user names: only what signed requests may go to.


class BadBaseUrl(ValueError):
    """An address to which signed requests should not be sent."""


def check_base_url(base_url: str) -> str:
    """Return a base address without a slash at its end.

    Raises:
        BadBaseUrl: It is not an address, has more than scheme, host and path, or would send
            credentials unencrypted beyond this machine.
    """
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise BadBaseUrl(f"{base_url!r} is no address: {error}") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise BadBaseUrl(
            f"{base_url!r} is no base address: give one such as https://api.example.com"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise BadBaseUrl("A base address has no user, query or fragment, only scheme, host, path.")
    if parts.scheme == "http" and not Settings().is_local(host):
        raise BadBaseUrl(f"{host} is another machine, so credentials go there over https only.")
    return base_url.rstrip("/")


CONNECT_SECONDS = 10.0
"""Seconds to connect to an address."""
READ_SECONDS = 120.0
"""Seconds without a byte after which an answer counts as lost."""


class BadUpstream(ValueError):
    """A request for a host to which requests may not be sent."""


class Upstream:
    """Where requests are sent: to one address, or to the hosts that they name.

    `base_url` is the address for all requests. Without it, each goes to its own host over https, if
    that is one of `hosts`. `ca` is a file with further authorities to trust.

    Raises:
        BadBaseUrl: It is not an address, or would send credentials unencrypted to another machine.
        OSError: `ca` cannot be read.
    """

    def __init__(
        self, base_url: str | None = None, hosts: Collection[str] = (), ca: Path | None = None
    ) -> None:
        self.base_url = None if base_url is None else check_base_url(base_url)
        self._hosts = frozenset(hosts)
        self._tls: ssl.SSLContext | None = None
        if self.base_url is None or self.base_url.startswith("https:"):
            self._tls = ssl.create_default_context()
            self._tls.sslsocket_class = TLSDeadlineSocket
            if ca is not None:
                self._tls.load_verify_locations(ca)

    def find_address(self, host: str, target: str) -> str:
        """Return the address to which a request for a path and query of a host is sent.

        Raises:
            BadUpstream: The host is not one to which requests may be sent.
        """
        if self.base_url is not None:
            return self.base_url + target
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        if name.lower() not in self._hosts:
            raise BadUpstream(f"{host or 'a request without a host'} is no host of the platform")
        return f"https://{host}{target}"

    def connect(self, url: str) -> HTTPConnection:
        """Return a connection to an address, which is made with the first request.

        Raises:
            ValueError: It is no address.
        """
        connection = make_connection(parse_target(url), self.open_socket, self._get_tls)
        connection.timeout = READ_SECONDS
        return connection

    def open_socket(self, host: str, port: int) -> socket.socket:
        """Return a socket that is connected to one of the host's addresses.

        Raises:
            OSError: None of them can be reached, or may be.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        last: OSError = OSError(f"{host} has no address")
        for family, kind, protocol, _, address in found:
            if (fault := self._find_fault(host, str(address[0]))) is not None:
                last = OSError(fault)
                continue
            sock = PlainDeadlineSocket(family, kind, protocol)
            try:
                sock.settimeout(CONNECT_SECONDS)
                sock.connect(address)
                sock.settimeout(READ_SECONDS)
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError as fault_:
                sock.close()
                last = fault_
            else:
                return sock
        raise last

    def _get_tls(self) -> ssl.SSLContext:
        assert self._tls is not None, "no address is https"
        return self._tls

    def _find_fault(self, host: str, address: str) -> str | None:
        """Return why an address must not be connected to, or `None`."""
        parsed = ipaddress.ip_address(address.partition("%")[0])
        if self.base_url is None:
            if parsed.is_global:
                return None
            return (
                f"{host} is at {address}, which is no public address (a line in the hosts file?); "
                "the real service is elsewhere. Name another server with --upstream"
            )
        if parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified:
            return f"{host} is at {address}, where no server is"
        if self.base_url.startswith("http:") and not parsed.is_loopback:
            return f"{host} is at {address}, another machine, so requests go there over https only"
        return None


# What of a client's request is passed on to the real service: nothing that is this server's.
# Browsers send the cookies of a host to all its ports, and offer a password that they know for any
# path. So a request for an operation, or to `record`, can carry what opens the console.

CONTROL_TOKEN = "x-mock-control-token"
OF_SERVER = "mock_platform_"
"""The beginning of the names of all cookies that a sandbox sets."""
OF_CONSOLE = ("mock_platform_console", "mock_platform_said")
"""The beginnings of the names of the console's cookies."""


def leave_out_own(
    headers: Iterable[tuple[str, str]],
    cookies: str | tuple[str, ...],
    control_token: str | None = None,
) -> list[tuple[str, str]]:
    """Return the headers without the control token, and without cookies whose names begin so."""
    kept = []
    for name, value in headers:
        folded = name.lower()
        if folded == CONTROL_TOKEN:
            continue
        if folded == "authorization" and _has_token(value, control_token):
            continue
        shown = _leave_out_cookies(value, cookies) if folded == "cookie" else value
        if shown or not value:
            kept.append((name, shown))
    return kept


def _leave_out_cookies(value: str, names: str | tuple[str, ...]) -> str:
    if "mock_platform" not in value:
        return value
    parts = [part.strip() for part in value.split(";")]
    return "; ".join(part for part in parts if part and not part.startswith(names))


def _has_token(value: str, token: str | None) -> bool:
    """Whether the credentials of a request are the control token, as the guard would read it."""
    if token is None:
        return False
    scheme, _, rest = value.partition(" ")
    given = rest.strip().encode("latin-1", "replace")
    if scheme.lower() == "basic":
        try:
            given = base64.b64decode(given, validate=True).partition(b":")[2]
        except binascii.Error:
            return False
    return hmac.compare_digest(given, token.encode())
