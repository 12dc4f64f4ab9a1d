"""Reads requests from bytes, without IO: llhttp parses, this refuses what is left to refuse.

Bytes go in as they come, whole requests and refusals come out in their order. What RFC 9112 leaves
ambiguous is refused, never guessed: two lengths, folded headers, blanks before a colon, odd chunk
sizes, lines that end in a bare LF. A refusal ends the connection, so nothing is read after it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import httptools

from mock_platform.settings import ConnectionSettings

Headers = list[tuple[bytes, bytes]]

_BAD_VERSION = "Invalid HTTP version"  # what llhttp says of HTTP/3.1
_WATCHED = {
    b"host": "host",
    b"content-length": "length",
    b"transfer-encoding": "coding",
    b"expect": "expect",
}
"""Headers that decide how a request is read, by what they say."""
_REQUEST_LINE_EXTRA = len("  HTTP/1.1\r\n")
_HEADER_EXTRA = len(": \r\n")


@dataclass(slots=True)
class Request:
    """A request that came in whole."""

    method: bytes
    target: bytes
    version: str
    headers: Headers
    body: bytes
    keep_alive: bool


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not read further; the connection ends after it."""

    status: int
    text: str
    headers: tuple[tuple[str, str], ...] = field(default=())


class RequestReader:
    """The requests of one connection."""

    def __init__(self, limits: ConnectionSettings) -> None:
        self._limits = limits
        self.ready: list[Request | Refusal] = []
        """What came in whole, oldest first; whoever takes it removes it."""
        self.ended = False
        """Whether nothing more is read: after a refusal, or a request that said it is the last."""
        self.wants_continue = False
        """Whether the client waits for `100 Continue` before it sends the body."""
        self._begun = self._in_body = False
        self._target = b""
        self._headers: Headers = []
        self._parts: list[bytes] = []
        self._body_bytes = self._expected = self._head_fed = 0
        self._parser = httptools.HttpRequestParser(self)

    @property
    def begun(self) -> bool:
        """Whether a part of a request has come in."""
        return self._begun

    @property
    def in_body(self) -> bool:
        """Whether the headers of the present request are complete and its body is not."""
        return self._in_body

    @property
    def body_bytes(self) -> int:
        """How much of the present request's body has come in."""
        return self._body_bytes

    def feed(self, data: bytes) -> None:
        """Take in what the client sent; see `ready` for what it completes."""
        while data and not self.ended:
            if not self._in_body:
                self._head_fed += len(data)
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                # The request is complete. No other protocol is offered: it goes on as HTTP/1.1.
                data = data[int(upgrade.args[0]) :]
                self._parser = httptools.HttpRequestParser(self)
                continue
            except httptools.HttpParserError as fault:
                if not self.ended:  # data behind the last request is of no interest
                    self._refuse(505 if str(fault) == _BAD_VERSION else 400, f"{fault}.")
                return
            if self._begun and not self._in_body and self._head_fed > self._limits.head_bytes:
                self._refuse_head()
            return

    def refuse(self, refusal: Refusal) -> None:
        """End the reading with this; the present request is given up."""
        if not self.ended:
            self.ended = True
            self.ready.append(refusal)
        self._parts.clear()

    # -- what the parser calls -------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins; empty lines before it are passed over (RFC 9112, 2.2)."""
        self._begun = True

    def on_url(self, url: bytes) -> None:
        """Take a part of the request target."""
        self._target += url
        if len(self._target) > self._limits.head_bytes:
            self._refuse_head()

    def on_header(self, name: bytes, value: bytes | None) -> None:
        """Take one header; those behind a chunked body say nothing that is needed."""
        if self._in_body:
            return
        self._headers.append((name, value or b""))

    def on_headers_complete(self) -> None:
        """Check what the parser does not."""
        parser = self._parser
        version = parser.get_http_version()
        size = len(parser.get_method()) + len(self._target) + _REQUEST_LINE_EXTRA + 2
        hosts, chunked = 0, False
        for name, value in self._headers:
            size += len(name) + len(value) + _HEADER_EXTRA
            kind = _WATCHED.get(name.lower())
            if kind == "host":
                hosts += 1
            elif kind == "length":
                self._expected = int(value)
            elif kind == "coding":
                chunked = True
                if value.strip().lower() != b"chunked":
                    self._refuse(501, "Transfer-Encoding may only be chunked.")
            elif kind == "expect":
                self.wants_continue = value.lower() == b"100-continue" and version == "1.1"
        self._in_body = True
        if size > self._limits.head_bytes:
            self._refuse_head()
        elif self._expected > self._limits.body_bytes:
            self._refuse_body()
        elif version != "1.1":
            self._check_version(version, chunked=chunked)
        elif hosts != 1:
            said = "no header Host" if hosts == 0 else "more than one header Host"
            self._refuse(400, f"The request has {said}.")
        if not (chunked or self._expected):
            self.wants_continue = False

    def on_body(self, part: bytes) -> None:
        """Take a part of the body."""
        if self.ended:
            return
        self.wants_continue = False
        self._body_bytes += len(part)
        if self._body_bytes > self._limits.body_bytes:
            self._refuse_body()
            return
        self._parts.append(part)

    def on_message_complete(self) -> None:
        """Put the request among those that are ready."""
        if self.ended:
            return
        parser = self._parser
        keep_alive = parser.should_keep_alive()
        parts = self._parts
        self.ready.append(
            Request(
                parser.get_method(),
                bytes(self._target),
                parser.get_http_version(),
                self._headers,
                parts[0] if len(parts) == 1 else b"".join(parts),
                keep_alive,
            )
        )
        self.ended = not keep_alive
        self._begin()

    # -- within ----------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Forget the request that is complete."""
        self._begun = self._in_body = self.wants_continue = False
        self._target, self._headers, self._parts = b"", [], []
        self._body_bytes = self._expected = self._head_fed = 0

    def _check_version(self, version: str, *, chunked: bool) -> None:
        if version != "1.0":
            self._refuse(505, f"HTTP/{version} is not spoken here, only HTTP/1.1 and HTTP/1.0.")
        elif chunked:
            self._refuse(400, "HTTP/1.0 knows no Transfer-Encoding.")

    def _refuse(self, status: int, text: str) -> None:
        self.refuse(Refusal(status, text))

    def _refuse_head(self) -> None:
        limit = self._limits.head_bytes
        if len(self._target) > limit // 2 or not self._target:
            self._refuse(414, f"Request line and headers may have {limit} bytes together.")
        else:
            self._refuse(431, f"Request line and headers may have {limit} bytes together.")

    def _refuse_body(self) -> None:
        self._refuse(413, f"A body may have {self._limits.body_bytes} bytes.")
