"""The heads of requests in HTTP/2: what must not be in them, and their form in HTTP/1.1."""

from __future__ import annotations

import re
from typing import NamedTuple

from h2.exceptions import ProtocolError
from h2.utilities import HeaderValidationFlags, validate_headers

Header = tuple[bytes, bytes]

_REQUEST = HeaderValidationFlags(
    is_client=False, is_trailer=False, is_response_header=False, is_push_promise=False
)
_TRAILER = _REQUEST._replace(is_trailer=True)
_METHOD = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PATH = re.compile(rb"/[^\x00-\x20\x7f#]*")
_AUTHORITY = re.compile(rb"[^\x00-\x20\x7f@/?#\\]*")


class Head(NamedTuple):
    """The head of a request."""

    wire: bytes
    """Its form in HTTP/1.1."""
    is_head: bool
    """Whether the method is HEAD."""
    expected: int | None
    """Bytes of the body, if they were declared."""
    chunked: bool
    """Whether a body of unknown length follows."""


def write_head(headers: list[Header], *, ended: bool) -> Head:
    """Returns the head of a request; `ended` if no body follows.

    Raises:
        ValueError: It is not a request that HTTP/2 allows (RFC 9113, 8.2 and 8.3).
    """
    # A request is written again as HTTP/1.1 for the one reader that the server has. So everything
    # that could mean something else there (line ends, a second host, a length that contradicts)
    # must be refused first: this is where requests are smuggled.
    _check(headers, _REQUEST)
    pseudo = {name: value for name, value in headers if name.startswith(b":")}
    plain = [pair for pair in headers if not pair[0].startswith(b":")]
    method, host = pseudo[b":method"], pseudo.get(b":authority")
    path = _find_path(method, pseudo.get(b":path"))
    if host is not None and not _AUTHORITY.fullmatch(host):
        raise ValueError(f":authority is {_show(host)}. It must be a host, with a port or without.")
    declared = [int(value) for name, value in plain if name == b"content-length"]
    expected = declared[0] if declared else None
    if ended and expected:
        raise ValueError(tell_length(expected, 0))
    chunked = not ended and expected is None
    lines = [b"%b %b HTTP/1.1" % (method, path)]
    if host is not None:
        lines.append(b"host: " + host)
    lines += [b"%b: %b" % pair for pair in plain if not (pair[0] == b"host" and host is not None)]
    if chunked:
        lines.append(b"transfer-encoding: chunked")
    return Head(b"\r\n".join([*lines, b"", b""]), method == b"HEAD", expected, chunked)


def check_trailers(headers: list[Header]) -> None:
    """Check headers that follow a body; they are not used.

    Raises:
        ValueError: HTTP/2 does not allow them.
    """
    _check(headers, _TRAILER)


def tell_length(expected: int, arrived: int) -> str:
    """Returns what is wrong with a body that has another length than its head said."""
    return (
        f"content-length says {expected} bytes, but the body has {arrived}. "
        "Send as many as declared, or leave the header out."
    )


def _check(headers: list[Header], rules: HeaderValidationFlags) -> None:
    try:
        for _ in validate_headers(headers, rules):
            pass
    except ProtocolError as fault:
        raise ValueError(f"{str(fault).rstrip('.')}.") from fault


def _find_path(method: bytes, path: bytes | None) -> bytes:
    if method == b"CONNECT":
        raise ValueError("CONNECT asks for a tunnel, which this server does not open.")
    if not _METHOD.fullmatch(method):
        raise ValueError(f":method is {_show(method)}. It must be one word, such as GET.")
    if path is None or not (_PATH.fullmatch(path) or (path, method) == (b"*", b"OPTIONS")):
        raise ValueError(
            f":path is {_show(path or b'')}. It must begin with '/' (or be '*' for OPTIONS), and "
            "have no fragment, spaces or control characters. The host belongs into :authority."
        )
    return path


def _show(value: bytes) -> str:
    return repr(value[:200].decode("latin-1"))
