"""A request that came over no socket, as a server would read it or as a WSGI environ."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from mock_platform.core.connection import Request

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from _typeshed.wsgi import WSGIEnvironment

Origin = tuple[str, str, int]
"""Scheme, host and port of the address that is called."""

_CHUNK = 64 * 1024
USUAL_PORTS = {"http": 80, "https": 443}
"""The default ports of the schemes."""


def read_request(
    origin: Origin, method: str, target: str, headers: Mapping[Any, Any], body: Any
) -> Request | None:
    """Return a request as a server reads it; `None` if only a WSGI environ can express it.

    Such a request has a body that is read in parts, the address for a proxy as its target, or
    headers that no server could read.
    """
    if isinstance(body, str):
        body = body.encode()
    if not (body is None or isinstance(body, bytes | bytearray)) or not target.startswith("/"):
        return None
    try:
        pairs = [(_encode(name), _encode(value)) for name, value in headers.items()]
    except UnicodeEncodeError:
        return None
    hosts = [pair for pair in pairs if pair[0].lower() == b"host"]
    others = [pair for pair in pairs if pair not in hosts] if hosts else pairs
    sent = [*(hosts or [(b"Host", _encode(_host(origin)))]), *others]  # clients begin with it
    return Request(method.upper(), target, "", "1.1", sent, bytes(body or b""), keep_alive=True)


def environ_of(
    origin: Origin, method: str, target: str, headers: Mapping[Any, Any], body: Any
) -> WSGIEnvironment:
    """Return the environment of a request, as a server would make it.

    `target` is the rest of the address behind its origin. A body
    is bytes, text, a file, parts or `None`; it is read as the application reads it.
    """
    scheme, host, port = origin
    if not target.startswith("/"):  # whole addresses are what a proxy is asked for
        parts = urlsplit(target)
        target = parts._replace(scheme="", netloc="", path=parts.path or "/").geturl()
    path, _, query = target.partition("?")
    environ: WSGIEnvironment = {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote(path, "latin-1"),
        "QUERY_STRING": query,
        "REQUEST_URI": target,
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": _host(origin),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scheme,
        "wsgi.input": _body(body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in headers.items():
        key = _text(name).upper().replace("-", "_")
        if key not in {"CONTENT_TYPE", "CONTENT_LENGTH"}:
            key = f"HTTP_{key}"
        environ[key] = _text(value)
    return environ


class _Sent(io.RawIOBase):
    """A body in parts, as the file that a WSGI application reads."""

    def __init__(self, parts: Iterator[str | bytes]) -> None:
        super().__init__()
        self._parts = parts
        self._rest = b""

    def readable(self) -> bool:
        """Always true: it can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read the next bytes into a buffer; return 0 at the end."""
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = part.encode() if isinstance(part, str) else part
        self._rest, size = fill(buffer, self._rest)
        return size


def _body(body: Any) -> io.BufferedIOBase:
    """Return a request's body as a file: bytes, text, a file or parts."""
    if body is None:
        return io.BytesIO()
    if isinstance(body, str | bytes | bytearray):
        return io.BytesIO(body.encode() if isinstance(body, str) else body)
    read = getattr(body, "read", None)
    parts = iter(body) if read is None else _parts(read)
    return io.BufferedReader(_Sent(parts), _CHUNK)


def _parts(read: Callable[[int], str | bytes]) -> Iterator[str | bytes]:
    while part := read(_CHUNK):
        yield part


def _host(origin: Origin) -> str:
    """Return the value of the header Host."""
    scheme, host, port = origin
    name = f"[{host}]" if ":" in host else host
    return name if port == USUAL_PORTS.get(scheme) else f"{name}:{port}"


def _encode(value: str | bytes) -> bytes:
    return value.encode("latin-1") if isinstance(value, str) else value


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def fill(buffer: Any, data: bytes) -> tuple[bytes, int]:
    """Copy as much as fits into the buffer; return the rest, and how much was copied."""
    size = min(len(buffer), len(data))
    buffer[:size] = data[:size]
    return data[size:], size
