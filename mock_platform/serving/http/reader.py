"""Reads requests from bytes, without IO: llhttp parses, this module finds what to refuse.

It takes bytes as they arrive and returns whole requests and refusals in their order. What RFC 9112
leaves ambiguous is refused, never guessed: two lengths, folded headers, spaces before a colon, odd
chunk sizes, lines that end in LF alone. A refusal ends the connection, so later bytes are not read.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import httptools
from msgspec import Struct, field

from mock_platform.core.connection import Request
from mock_platform.settings import ConnectionSettings

# A refusal: why a request is not read further, and the answer for its client.

_REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    413: "Content Too Large",
    414: "URI Too Long",
    431: "Request Header Fields Too Large",
    501: "Not Implemented",
    503: "Service Unavailable",
    505: "HTTP Version Not Supported",
}


class Refusal(Struct, frozen=True):
    """Why a request is not read further; the connection ends after it."""

    status: int
    text: str
    headers: tuple[tuple[str, str], ...] = field(default=())

    def wire(self, date_line: str) -> bytes:
        """Return the answer in bytes."""
        body = f"{self.text}\n".encode()
        head = [
            f"HTTP/1.1 {self.status} {_REASONS[self.status]}\r\n",
            "Content-Type: text/plain; charset=utf-8\r\n",
            f"Content-Length: {len(body)}\r\n",
            *(f"{name}: {value}\r\n" for name, value in self.headers),
            date_line,
            "Connection: close\r\n\r\n",
        ]
        return "".join(head).encode("latin-1") + body


def refuse_overload(text: str) -> Refusal:
    """Return a refusal for lack of space; the client may try again later."""
    return Refusal(503, text, (("Retry-After", "1"),))


# Where the chunks of a body are, without IO: finds its end, and what is too large in time.
# llhttp reads chunks strictly, but does not tell their sizes: of a chunk that is announced with
# more bytes than a body may have, only a reader that knows its size can say so before the bytes
# come. What is malformed is left to llhttp, which reads the same bytes.

_SIZE = re.compile(rb"[0-9a-fA-F]+")
_MOST_DIGITS = 16
_END_OF_LINE = b"\r\n"


class Chunks:
    """The chunks of one body, and the headers behind them."""

    def __init__(self, limits: ConnectionSettings) -> None:
        self.refusal: Refusal | None = None
        """Why the body is not read further, once `find_end` has found that out."""
        self._limits = limits
        self._line = b""
        self._content = 0
        self._announced = 0
        self._trailers: int | None = None

    def find_end(self, data: bytes, start: int) -> int:
        """Return where the body ends in these bytes, from `start` on; their length if it goes on.

        If more is announced or sent than is allowed, there is a `refusal` afterwards, and the place
        is where that was found out: what is malformed until there is refused for that.
        """
        # A small machine with three states: inside a chunk (`_content` bytes are still to come,
        # with the end of line behind them), in a line that announces the next chunk, and in the
        # headers after the last chunk (`_trailers`). It counts and never copies; only a line that
        # is split between two packets is put together in `_line`. Its length is checked on each
        # part, or a client could send one line for ever.
        place, size = start, len(data)
        while place < size:
            if self._content:
                passed = min(self._content, size - place)
                self._content -= passed
                place += passed
                continue
            newline = data.find(b"\n", place)
            end = size if newline < 0 else newline + 1
            self._line += data[place:end]
            place = end
            if self._is_too_long():
                return place
            if newline < 0:
                break
            line, self._line = self._line, b""
            if self._trailers is not None:
                self._trailers += len(line)
                if line == _END_OF_LINE:
                    return place
            elif not self._begin_chunk(line):
                return size if self.refusal is None else place
        return size

    def _begin_chunk(self, line: bytes) -> bool:
        """Read the line before a chunk; return whether the chunk is wanted, and well-formed."""
        # Only what follows the number is ignored here, as extensions of a chunk are. A number that
        # is none, or so long that it cannot be meant, is left to llhttp: it reads the same line
        # next and refuses it in its own words, so that there is one answer for one mistake.
        found = _SIZE.match(line)
        if found is None or len(found[0].lstrip(b"0")) > _MOST_DIGITS:  # llhttp refuses it
            return False
        size = int(found[0], 16)
        if size == 0:
            self._trailers = 0
            return True
        self._announced += size
        if self._announced > self._limits.body_bytes:
            text = f"A body may have {self._limits.body_bytes} bytes, and its chunks announce more."
            self.refusal = Refusal(413, text)
            return False
        self._content = size + len(_END_OF_LINE)
        return True

    def _is_too_long(self) -> bool:
        limit, size = self._limits.head_bytes, len(self._line)
        if self._trailers is not None and self._trailers + size > limit:
            text = f"The headers behind a body may have {limit} bytes together."
            self.refusal = Refusal(431, text)
        elif size > limit:
            text = f"The size of a chunk may have {limit} bytes together with its extensions."
            self.refusal = Refusal(400, text)
        return self.refusal is not None


_BAD_VERSION = "Invalid HTTP version"  # what llhttp says of HTTP/3.1
_WATCHED = {
    b"host": "host",
    b"content-length": "length",
    b"transfer-encoding": "coding",
    b"expect": "expect",
}
"""Headers that decide how a request is read."""
_END_OF_HEAD = b"\r\n\r\n"
_OVERLAP = len(_END_OF_HEAD) - 1
_CHUNKED = b"chunked"
_REQUEST_LINE_EXTRA = len("  HTTP/1.1\r\n")
_HEADER_EXTRA = len(": \r\n")


class RequestReader:
    """The requests of one connection."""

    def __init__(self, limits: ConnectionSettings) -> None:
        self._limits = limits
        self.ready: list[Request | Refusal] = []
        """Complete requests, oldest first; the caller removes them."""
        self.ended = False
        """Whether nothing more is read: after a refusal, or a request that said it is the last."""
        self.wants_continue = False
        """Whether the client waits for `100 Continue` before it sends the body."""
        self._begun = self._in_body = self._has_body = False
        self._skipped_by: httptools.HttpRequestParser | None = None
        self._restores = False
        self._target = b""
        self._origin_form = self._authority = self._called_by = self._version = ""
        self._headers: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []
        self._chunks: Chunks | None = None
        self._collected = bytearray()
        self._before = b""
        self._body_bytes = self._expected = self._head_fed = self._feeding = 0
        self._parser = httptools.HttpRequestParser(self)

    @property
    def has_begun(self) -> bool:
        """Whether a part of a request has arrived."""
        return self._begun

    @property
    def in_body(self) -> bool:
        """Whether the headers of the current request are complete and its body is not."""
        return self._in_body

    @property
    def body_bytes(self) -> int:
        """Number of bytes of the current request's body that have arrived."""
        return self._body_bytes

    def is_mere_body(self, size: int) -> bool:
        """Whether so many bytes are a part of a body whose length is known: those cost little."""
        return self._in_body and self._chunks is None and size <= self._expected - self._body_bytes

    def feed(self, data: bytes) -> None:
        """Read what the client sent; `ready` contains the completed requests."""
        # The parser does not say where in its bytes a head ends or a chunk begins, so bytes that
        # could hold such a place are cut there before they are fed. Nearly all requests come in one
        # piece, without chunks, and are fed as they are.
        if self._is_in_one_part(data):  # so it is with nearly every request
            self._parse(data)
            if self._begun and not self._in_body:
                self._before = (self._before + data)[-_OVERLAP:]
            return
        start = 0
        while start < len(data) and not self.ended:
            end, refusal = self._find_part(data, start)
            self._parse(data[start:end])
            if refusal is not None:
                self.refuse(refusal)
            start = end

    def _is_in_one_part(self, data: bytes) -> bool:
        """Whether these bytes certainly have no chunks."""
        # In two cases no chunk can begin in these bytes: they are a part of a body whose length is
        # known, or the beginning of a request in which the word "chunked" does not occur. A false
        # alarm, because the word is in a body or another header, only costs the slow way. A head
        # that came in several packets always takes it, as the word may be split between them.
        if self._in_body:
            return self.is_mere_body(len(data))
        return not self._begun and _CHUNKED not in data.lower()

    def _find_part(self, data: bytes, start: int) -> tuple[int, Refusal | None]:
        """Return where the head or the body ends that these bytes belong to, from `start` on.

        The refusal is for a body that is too large.

        Head and body are parsed one after the other, so that it is known where chunks begin.
        """
        if self._chunks is not None:
            return self._chunks.find_end(data, start), self._chunks.refusal
        if self._in_body:
            return min(len(data), start + self._expected - self._body_bytes), None
        # The end of a head is four bytes, which may be split between two packets. So the last three
        # bytes of the packet before are kept, and looked at together with the first three of this
        # one. A negative place means that the end began in the packet before.
        before, self._before = self._before, b""
        place = (before + data[start : start + _OVERLAP]).find(_END_OF_HEAD) - len(before)
        if place >= -len(before):
            return start + place + len(_END_OF_HEAD), None
        place = data.find(_END_OF_HEAD, start)
        if place >= 0:
            return place + len(_END_OF_HEAD), None
        self._before = (before + data[start:])[-_OVERLAP:]
        return len(data), None

    def _parse(self, data: bytes) -> None:
        while data and not self.ended:
            self._feeding = len(data)
            if not self._in_body:
                # Counted before the parser sees the bytes: a head without end never completes, so
                # the limit is checked after each packet, not when the head is complete.
                self._head_fed += len(data)
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                # The request is complete. The sandbox offers no other protocol: it continues as
                # HTTP/1.1.
                data = data[int(upgrade.args[0]) :]
                self._parser = httptools.HttpRequestParser(self)
                if self._skipped_by is not None:
                    self._restore_body()
                continue
            except httptools.HttpParserError as fault:
                if not self.ended:  # data behind the last request is of no interest
                    self._refuse(505 if str(fault) == _BAD_VERSION else 400, f"{fault}.")
                return
            if self._begun and not self._in_body and self._head_fed > self._limits.head_bytes:
                self._refuse_head()
            return

    def refuse(self, refusal: Refusal) -> None:
        """Stop reading with this refusal; the current request is dropped."""
        if not self.ended:
            self.ended = True
            self.ready.append(refusal)
        self._parts.clear()
        self._collected.clear()

    def leave(self) -> None:
        """Read nothing more, because the connection has ended."""
        self.ended = True
        del self._parser  # it refers to this reader; so both are freed without the collector

    # -- called by the parser --------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request starts; empty lines before it are ignored (RFC 9112, 2.2)."""
        self._begun = True

    def on_url(self, url: bytes) -> None:
        """Add a part of the request target."""
        if self._restores:
            return
        self._target += url
        if len(self._target) > self._limits.head_bytes:
            self._refuse_head()

    def on_header(self, name: bytes, value: bytes | None) -> None:
        """Add one header; headers after a chunked body are not needed."""
        if self._in_body:
            return
        self._headers.append((name, value or b""))

    def on_headers_complete(self) -> None:
        """Check what the parser does not check."""
        if self._restores:
            return
        self._version = version = self._parser.get_http_version()
        hosts, chunked = self._watch_headers()
        self._in_body = True
        if self._head_is_too_large():
            self._refuse_head()
        elif self._expected > self._limits.body_bytes:
            self._refuse_body()
        elif version != "1.1":
            self._check_version(version, chunked=chunked)
        elif hosts != 1:
            found = "no header Host" if hosts == 0 else "more than one header Host"
            self._refuse(400, f"The request has {found}.")
        try:
            target = _origin_form(self._target.decode("latin-1"))
            self._origin_form, self._authority, self._called_by = target
        except ValueError as fault:
            self._refuse(400, f"Malformed request target: {fault}.")
        self._has_body = chunked or self._expected > 0
        if chunked:
            self._chunks = Chunks(self._limits)
        if not self._has_body:
            self.wants_continue = False

    def on_body(self, part: bytes) -> None:
        """Add a part of the body."""
        if self.ended:
            return
        self.wants_continue = False
        self._body_bytes += len(part)
        if self._body_bytes > self._limits.body_bytes:
            self._refuse_body()
            return
        if self._chunks is None:
            self._parts.append(part)
        else:  # there may be millions of parts
            self._collected += part

    def on_message_complete(self) -> None:
        """Add the complete request to `ready`."""
        if self.ended:
            return
        parser, parts = self._parser, self._parts
        # The parser believes that after such a request another protocol begins, so it says that the
        # message is complete although its body has not been read. The request is not ready yet:
        # `_parse` makes a new parser, which reads the body as HTTP/1.1.
        if self._has_body and parser.should_upgrade():
            self._skipped_by = parser
            return
        parser = self._skipped_by or parser
        keep_alive = parser.should_keep_alive()
        self.ready.append(
            Request(
                parser.get_method().decode("latin-1"),
                self._origin_form,
                self._authority,
                self._version,
                self._headers,
                b"".join(parts) if parts else bytes(self._collected),
                keep_alive,
                self._called_by,
            )
        )
        self.ended = not keep_alive
        self._begin()

    # -- details ---------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Delete the data of the completed request."""
        self._begun = self._in_body = self._has_body = self.wants_continue = False
        self._skipped_by = None
        self._target, self._headers = b"", []
        if self._parts:
            self._parts = []
        if self._chunks is not None:
            self._chunks, self._collected = None, bytearray()
        self._body_bytes = self._expected = self._head_fed = 0

    def _restore_body(self) -> None:
        """Let the new parser read the body of a request that asked for another protocol.

        httptools passes over such a body. Java's client asks for HTTP/2 in each of its requests.
        """
        # The new parser has to be brought into the state "in a body of this length". There is no
        # call for that, so it is fed a small head that announces the same body. `_restores` keeps
        # the callbacks from taking this head for a request.
        framing = b"Content-Length: %d" % self._expected
        if not self._expected:
            framing = b"Transfer-Encoding: chunked"
        self._restores = True
        self._parser.feed_data(b"POST / HTTP/1.1\r\nHost: x\r\n%b\r\n\r\n" % framing)
        self._restores = False

    def _watch_headers(self) -> tuple[int, bool]:
        """Check how the body must be read, how often `Host` was sent, and if chunks are used."""
        hosts, chunked = 0, False
        for name, value in self._headers:
            kind = _WATCHED.get(name.lower())
            if kind is None:
                continue
            if kind == "host":
                hosts += 1
            elif kind == "length":
                self._expected = int(value.lstrip(b"0") or b"0")  # Python reads 4,300 digits
            elif kind == "coding":
                chunked = True
                if value.strip().lower() != b"chunked":
                    self._refuse(501, "Transfer-Encoding may only be chunked.")
            else:
                self.wants_continue = value.lower() == b"100-continue" and self._version == "1.1"
        return hosts, chunked

    def _head_is_too_large(self) -> bool:
        limit = self._limits.head_bytes
        # The bytes that were fed may contain a part of the body, so this number is too high at
        # worst. Only if even that is beyond the limit is the head itself measured.
        if self._head_fed + self._feeding <= limit:  # so it is with nearly every request
            return False
        size = len(self._parser.get_method()) + len(self._target) + _REQUEST_LINE_EXTRA + 2
        size += sum(len(name) + len(value) + _HEADER_EXTRA for name, value in self._headers)
        return size > limit

    def _check_version(self, version: str, *, chunked: bool) -> None:
        if version != "1.0":
            self._refuse(505, f"HTTP/{version} is not supported, only HTTP/1.1 and HTTP/1.0.")
        elif chunked:
            self._refuse(400, "HTTP/1.0 has no Transfer-Encoding.")

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


def _origin_form(target: str) -> tuple[str, str, str]:
    """Return a request target as path and query, and authority and scheme of an absolute address.

    `//12/accounts` is a path. An absolute address comes from a client that uses the sandbox as its
    HTTP proxy (RFC 9112, 3.2).

    Raises:
        ValueError: It is neither.
    """
    if target.startswith("/"):
        if "#" in target:
            raise ValueError("a request target must not have a fragment")
        if target.startswith("//"):
            urlsplit(target)  # refuses brackets that are no address
        return target, "", ""
    if target == "*":
        return "/", "", ""
    parts = urlsplit(target)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.fragment:
        raise ValueError(f"{target!r} is neither a path nor an http address")
    path = parts.path or "/"
    return f"{path}?{parts.query}" if parts.query else path, parts.netloc, parts.scheme
