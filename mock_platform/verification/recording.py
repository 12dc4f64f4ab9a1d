"""A WSGI application that sends each request on, passes the answer back, and records both."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from urllib3.connection import HTTPConnection
from urllib3.response import BaseHTTPResponse
from urllib3.util.request import SKIP_HEADER

from mock_platform.delivery.connections import FAULTS, explain_fault, name_remedy
from mock_platform.delivery.upstream import (
    OF_CONSOLE,
    READ_SECONDS,
    BadUpstream,
    Upstream,
    leave_out_own,
)
from mock_platform.verification.har.writer import RecordedExchange
from mock_platform.world.clock import UPTIME, machine_now

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

MAX_BODY_BYTES = 16 * 1024 * 1024
"""Bytes of a body that are recorded; the whole body is passed on."""
_PIECE_BYTES = 64 * 1024
_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection",
    "te", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip
"""Headers that are between two neighbours, and are not passed on (RFC 9110, 7.6.1)."""
_UNDERSTOOD = {"gzip": 31, "x-gzip": 31, "deflate": 15}

_OF_BODY = ("Content-Type", "Content-Length")

Pairs = list[tuple[str, str]]


class Forwarder:
    """Sends requests to an upstream; `record` gets each exchange when its answer has ended.

    With `keep_host`, the upstream sees the host that the client addressed, which OAuth 1.0a signs.
    """

    def __init__(
        self,
        upstream: Upstream,
        record: Callable[[RecordedExchange], object],
        *,
        keep_host: bool = False,
    ) -> None:
        self._upstream = upstream
        self._record = record
        self._keep_host = keep_host or upstream.base_url is None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Send a request on, and pass its answer back piece by piece."""
        host, target = environ.get("HTTP_HOST", ""), environ["REQUEST_URI"]
        sent = _Sent(environ, host)
        try:
            url = self._upstream.find_address(host, target)
        except BadUpstream as fault:
            return self._refuse(
                sent, f"{environ['wsgi.url_scheme']}://{host}{target}", str(fault), start_response
            )
        # The library adds only what is not there; it must not speak of itself for the client.
        headers = {"User-Agent": SKIP_HEADER, "Accept-Encoding": SKIP_HEADER}
        if self._keep_host:
            headers["Host"] = host
        headers |= {name: value for name, value in sent.headers if name.lower() not in _HOP}
        headers = _narrow(headers)
        connection = None
        try:
            connection = self._upstream.connect(url)
            connection.request(
                environ["REQUEST_METHOD"], _find_target(url), sent.body or None, headers,
                preload_content=False, decode_content=False, enforce_content_length=True,
            )  # fmt: skip
            response = connection.getresponse()
        except FAULTS as fault:
            if connection is not None:
                connection.close()
            where = "/".join(url.split("/", 3)[:3])
            text = explain_fault(fault, where, READ_SECONDS)[1] + name_remedy(fault)
            return self._refuse(sent, url, text, start_response)
        shown = [pair for pair in response.headers.items() if pair[0].lower() not in _HOP]
        start_response(f"{response.status} {response.reason or ''}".strip(), shown)
        return _Passing(sent, url, shown, connection, response, self._record)

    def _refuse(
        self, sent: _Sent, url: str, text: str, start_response: StartResponse
    ) -> Iterator[bytes]:
        """Answer 502 to a request that got no answer, and record why."""
        self._record(sent.finish(url, 0, "", [], b"", None, {"_error": text}))
        body = f"mock-platform record: {text}.\n".encode()
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
        ]
        start_response("502 Bad Gateway", headers)
        return iter([body])


class _Passing:
    """An answer on its way to the client, which is recorded when it has ended."""

    def __init__(
        self, sent: _Sent, url: str, headers: Pairs, connection: HTTPConnection,
        response: BaseHTTPResponse, record: Callable[[RecordedExchange], object],
    ) -> None:  # fmt: skip
        self._sent = sent
        self._url = url
        self._headers = headers
        self._connection = connection
        self._response = response
        self._record: Callable[[RecordedExchange], object] | None = record
        self._kept = bytearray()
        self._size = 0
        self._own: dict[str, str] = {}

    def __iter__(self) -> Iterator[bytes]:
        """Yield the body piece by piece, as it comes."""
        try:
            while piece := self._response.read1(_PIECE_BYTES, decode_content=False):
                self._size += len(piece)
                self._kept += piece[: MAX_BODY_BYTES - len(self._kept)]
                yield piece
        except FAULTS as fault:
            self._own["_error"] = f"the answer broke off after {self._size:,} bytes: {fault}"
            raise

    def close(self) -> None:
        """End the connection, and record the exchange. Idempotent."""
        record, self._record = self._record, None
        if record is None:
            return
        self._response.close()
        self._connection.close()
        body, note = _unpack(bytes(self._kept), self._headers)
        if note:
            self._own["_note"] = note
        status, reason = self._response.status, self._response.reason
        size = self._size if self._size > len(self._kept) else None
        record(self._sent.finish(self._url, status, reason, self._headers, body, size, self._own))


class _Sent:
    """A request, and when it came."""

    def __init__(self, environ: WSGIEnvironment, host: str) -> None:
        self._at = UPTIME()
        self._started = machine_now()
        self._method = environ["REQUEST_METHOD"]
        self._http = environ["SERVER_PROTOCOL"]
        self._host = host
        self.headers = leave_out_own(_read_headers(environ), OF_CONSOLE)
        self.body = environ["wsgi.input"].read()

    def finish(
        self, url: str, status: int, reason: str | None, headers: Pairs, body: bytes,
        size: int | None, own: dict[str, str],
    ) -> RecordedExchange:  # fmt: skip
        """Return the exchange with its answer."""
        return RecordedExchange(
            started=self._started,
            milliseconds=(UPTIME() - self._at) * 1000,
            method=self._method,
            url=url,
            request_headers=[("Host", self._host), *self.headers],
            request_body=self.body,
            status=status,
            reason=reason,
            response_headers=headers,
            response_body=body,
            http=self._http,
            response_size=size,
            own=own,
        )


def _read_headers(environ: WSGIEnvironment) -> Pairs:
    """Return the headers of a request but for its host, in the spelling of most clients."""
    found = [
        (key[5:].replace("_", "-").title(), value)
        for key, value in environ.items()
        if key.startswith("HTTP_") and key != "HTTP_HOST"
    ]
    body = [(name, environ.get(name.upper().replace("-", "_"))) for name in _OF_BODY]
    return found + [(name, value) for name, value in body if value]


def _narrow(headers: dict[str, str]) -> dict[str, str]:
    """Return headers that ask for no encoding which a recording could not decode."""
    asked = headers["Accept-Encoding"]
    if asked == SKIP_HEADER:
        return headers
    understood = [each for each in ("gzip", "deflate") if each in asked.lower()]
    return headers | {"Accept-Encoding": ", ".join(understood) or "identity"}


def _find_target(url: str) -> str:
    """Return the path and query of an address as they are written."""
    _, _, rest = url.partition("://")
    path = rest.find("/")
    return rest[path:] if path >= 0 else "/"


def _unpack(data: bytes, headers: Pairs) -> tuple[bytes, str | None]:
    """Return a body without its Content-Encoding, and what prevented that."""
    encoding = next((v.strip().lower() for n, v in headers if n.lower() == "content-encoding"), "")
    if encoding in {"", "identity"} or not data:
        return data, None
    if encoding not in _UNDERSTOOD:
        return data, f"the body is encoded as {json.dumps(encoding)}"
    unpacker = zlib.decompressobj(_UNDERSTOOD[encoding])
    try:
        return unpacker.decompress(data, MAX_BODY_BYTES), None
    except zlib.error as fault:
        return data, f"the body is not {encoding}, as its header says: {fault}"
