"""The part of outgoing requests that uses urllib3: connections on our own sockets, and faults.

A separate module because it imports urllib3, which most servers never need.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable
from typing import Literal

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import DecodeError, HTTPError, LocationParseError, ProtocolError
from urllib3.exceptions import SSLError as Urllib3SSLError
from urllib3.exceptions import TimeoutError as Urllib3Timeout
from urllib3.response import BaseHTTPResponse
from urllib3.util.url import Url, parse_url

FAULTS = (OSError, HTTPError, http.client.HTTPException, ValueError)
"""Every exception with which a request can end without an answer."""
OutboundFaultKind = Literal["address", "name", "timeout", "connection", "tls", "stopped"]
Opener = Callable[[str, int], socket.socket]


class _PlainConnection(HTTPConnection):
    """A connection whose socket `opener` makes; the library would resolve the name again."""

    def __init__(self, host: str, port: int, opener: Opener) -> None:
        super().__init__(host, port)
        self._opener = opener

    def _new_conn(self) -> socket.socket:
        return self._opener(self._dns_host, self.port)


class _TLSConnection(HTTPSConnection):
    """A connection over TLS whose socket `opener` makes."""

    def __init__(self, host: str, port: int, opener: Opener, context: ssl.SSLContext) -> None:
        super().__init__(host, port, ssl_context=context)
        self._opener = opener

    def _new_conn(self) -> socket.socket:
        return self._opener(self._dns_host, self.port)


def make_connection(
    target: Url, opener: Opener, tls: Callable[[], ssl.SSLContext]
) -> HTTPConnection:
    """Return a connection to an address, not connected yet."""
    host = (target.host or "").strip("[]")
    if target.scheme == "http":
        return _PlainConnection(host, target.port or 80, opener)
    return _TLSConnection(host, target.port or 443, opener, tls())


def parse_target(url: str) -> Url:
    """Return the parts of an address.

    Raises:
        ValueError: It is not an http or https address.
    """
    try:
        target = parse_url(url)
    except LocationParseError as error:
        raise ValueError(f"{url!r} is no address") from error
    if target.scheme not in {"http", "https"} or not target.host:
        raise ValueError(f"{url!r} is no http or https address")
    return target


def read_beginning(response: BaseHTTPResponse, most: int) -> bytes:
    """Read at most `most` bytes of the body; raise if it ends before its declared length."""
    body = b""
    while len(body) < most:
        chunk = response.read(most - len(body), decode_content=False)
        if not chunk:
            break
        body += chunk
    return body


def explain_fault(fault: Exception, where: str, timeout: float) -> tuple[OutboundFaultKind, str]:
    """Describe a fault of `FAULTS` in a word and in a sentence."""
    said = {"where": where, "timeout": f"{timeout:g}", "fault": fault}
    if isinstance(fault, ProtocolError) and isinstance(fault.args[-1], http.client.IncompleteRead):
        return "connection", f"the answer from {where} broke off"
    untrusted = find_certificate_fault(fault)
    if untrusted is not None:
        return "tls", f"the certificate of {where} is not trusted: {_say_why(untrusted)}"
    if isinstance(fault, socket.gaierror):
        return "name", f"{where} has no address: {fault.strerror}"
    for kinds, word, text in _TEXTS:
        if isinstance(fault, kinds):
            return word, text.format(**said)
    return "connection", f"{where} sent no usable answer: {fault}"


def find_certificate_fault(fault: BaseException) -> ssl.SSLCertVerificationError | None:
    """Return why the certificate of a server was refused; `None` if a fault is another one."""
    seen: list[BaseException] = [fault]
    for each in seen:
        if isinstance(each, ssl.SSLCertVerificationError):
            return each
        within = (each.__cause__, each.__context__, *each.args)
        seen += [x for x in within if isinstance(x, BaseException) and x not in seen]
    return None


def name_remedy(fault: BaseException) -> str:
    """Return what helps against an untrusted certificate where `--ca FILE` exists; else nothing."""
    untrusted = find_certificate_fault(fault)
    if untrusted is None:
        return ""
    if untrusted.verify_code in _OTHER_NAMES:
        return "; use the name that the certificate is for in the address"
    if untrusted.verify_code in _OUTSIDE_ITS_TIME:
        return "; the server needs a certificate that is valid today"
    return "; name the file of the authority that signed it with --ca FILE"


def _say_why(untrusted: ssl.SSLCertVerificationError) -> str:
    if untrusted.verify_code in _OWN_AUTHORITIES:
        return "it is self-signed, or signed by an authority of its own"
    if untrusted.verify_code in _UNKNOWN_AUTHORITIES:
        return "the authority that signed it is unknown on this machine"
    if untrusted.verify_code in _OTHER_NAMES:
        return "it is for another name"
    if untrusted.verify_code in _OUTSIDE_ITS_TIME:
        return "it is not valid at this moment"
    return (untrusted.verify_message or str(untrusted)).rstrip(".")


# The codes of OpenSSL, X509_V_ERR_….
_OWN_AUTHORITIES = frozenset({18, 19})
_UNKNOWN_AUTHORITIES = frozenset({2, 20, 21})
_OTHER_NAMES = frozenset({62, 64})
_OUTSIDE_ITS_TIME = frozenset({9, 10})
_TEXTS: tuple[tuple[tuple[type[Exception], ...], OutboundFaultKind, str], ...] = (
    (
        (TimeoutError, Urllib3Timeout),
        "timeout",
        "{where} sent no complete answer within {timeout} seconds",
    ),
    ((ssl.SSLError, Urllib3SSLError), "tls", "no trusted TLS connection to {where}: {fault}"),
    ((ConnectionRefusedError,), "connection", "nothing listens at {where}"),
    (
        (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError),
        "connection",
        "{where} closed the connection without an answer",
    ),
    (
        (DecodeError,),
        "connection",
        "the body from {where} is not what its Content-Encoding says",
    ),
)
"""Faults with their word and text; the first that fits counts."""
