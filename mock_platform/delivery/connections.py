"""What outgoing requests take of urllib3: connections on sockets of our own, and its faults.

A module of its own because it takes urllib3 to load, which most servers never need.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable
from typing import Literal

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, LocationParseError
from urllib3.exceptions import SSLError as Urllib3SSLError
from urllib3.exceptions import TimeoutError as Urllib3Timeout
from urllib3.response import BaseHTTPResponse
from urllib3.util.url import Url, parse_url

FAULTS = (OSError, HTTPError, http.client.HTTPException, ValueError)
"""Everything that a request can end in without an answer."""
FaultKind = Literal["address", "name", "timeout", "connection", "tls", "stopped"]
Opener = Callable[[str, int], socket.socket]


class _Plain(HTTPConnection):
    """A connection whose socket `opener` makes; the library's own would look the name up anew."""

    def __init__(self, host: str, port: int, opener: Opener) -> None:
        super().__init__(host, port)
        self._opener = opener

    def _new_conn(self) -> socket.socket:
        return self._opener(self._dns_host, self.port)


class _Secure(HTTPSConnection):
    """The same over TLS."""

    def __init__(self, host: str, port: int, opener: Opener, context: ssl.SSLContext) -> None:
        super().__init__(host, port, ssl_context=context)
        self._opener = opener

    def _new_conn(self) -> socket.socket:
        return self._opener(self._dns_host, self.port)


def connection(target: Url, opener: Opener, tls: Callable[[], ssl.SSLContext]) -> HTTPConnection:
    """A connection to an address, not connected yet."""
    host = (target.host or "").strip("[]")
    if target.scheme == "http":
        return _Plain(host, target.port or 80, opener)
    return _Secure(host, target.port or 443, opener, tls())


def target_of(url: str) -> Url:
    """The parts of an address.

    Raises:
        ValueError: It is none of http or https.
    """
    try:
        target = parse_url(url)
    except LocationParseError as fault:
        raise ValueError(f"{url!r} is no address") from fault
    if target.scheme not in {"http", "https"} or not target.host:
        raise ValueError(f"{url!r} is no http or https address")
    return target


def beginning(response: BaseHTTPResponse, most: int) -> bytes:
    """The body as far as it is read; one that ends before its declared length is a fault."""
    body = b""
    while len(body) < most:
        chunk = response.read(most - len(body), decode_content=False)
        if not chunk:
            break
        body += chunk
    return body


def explained(fault: Exception, where: str, timeout: float) -> tuple[FaultKind, str]:
    """What a fault of `FAULTS` says, in a word and in a sentence."""
    if isinstance(fault, TimeoutError | Urllib3Timeout):
        return "timeout", f"{where} gave no whole answer within {timeout:g} seconds"
    if isinstance(fault, ssl.SSLError | Urllib3SSLError):
        return "tls", f"no trusted TLS connection to {where}: {fault}"
    if isinstance(fault, ConnectionRefusedError):
        return "connection", f"nothing listens at {where}"
    if isinstance(fault, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
        return "connection", f"{where} closed the connection without an answer"
    return "connection", f"{where} gave no usable answer: {fault}"
