"""A stream of HTTP/2 as the transport of a connection that speaks HTTP/1.1.

What the connection writes is parsed and becomes frames; so everything that the server does on a
connection (limits, delays, faults, endless answers) has one implementation for both protocols.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import httptools
from h2.exceptions import ProtocolError
from h2.utilities import HeaderValidationFlags, validate_headers

from mock_platform.serving.http.reader import Refusal

if TYPE_CHECKING:
    from mock_platform.serving.http.connection import ClientConnection


# The heads of requests: what must not be in them, and their form in HTTP/1.1.

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
    """Return the head of a request; `ended` if no body follows.

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
    """Return what is wrong with a body that has another length than its head said."""
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


_HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"transfer-encoding", b"upgrade"}
)
"""Headers of one connection of HTTP/1.1, which HTTP/2 does not have (RFC 9113, 8.2.2)."""
_BODILESS = frozenset({204, 304})
_HIGH, _LOW = 64 * 1024, 16 * 1024
"""Bytes of unsent body at which the connection stops writing, and goes on."""


class Frames(Protocol):
    """The methods of the HTTP/2 connection that a stream calls."""

    def send_head(self, stream: StreamTransport, headers: list[Header], *, ended: bool) -> None:
        """Send a head; `ended` if no body follows."""

    def send_body(self, stream: StreamTransport) -> None:
        """Send as much of the unsent body as the client takes."""

    def finish(self, stream: StreamTransport) -> None:
        """Drop a stream whose answer is complete."""

    def break_off(self, stream: StreamTransport) -> None:
        """Reset a stream whose answer stays incomplete."""

    def take_more(self, stream: StreamTransport, size: int) -> None:
        """Let the client send as many bytes again."""

    def find_info(self, name: str) -> Any:
        """Return what the real transport says of the connection."""


class StreamTransport(asyncio.Transport):
    """The transport of one stream; its protocol is a connection of HTTP/1.1."""

    def __init__(self, frames: Frames, number: int, protocol: ClientConnection) -> None:
        super().__init__()
        self.number = number
        self.protocol = protocol
        self.is_head = self.chunked = self.received = False
        """Whether its request is HEAD; whether the body came without a length; whether all came."""
        self.expected: int | None = None
        """Bytes of the request's body, if its head declared them."""
        self.arrived = 0
        """Bytes of the body that came."""
        self.unsent = bytearray()
        """The bytes of the body that the client did not take yet."""
        self.deadline = 0.0
        """When the client must have taken more of them, on the clock `UPTIME`."""
        self.complete = False
        """Whether the answer has no more bytes than `unsent`."""
        self.ended = False
        """Whether the client was told so, with the head or the last bytes."""
        self.over = False
        """Whether nothing is sent any more."""
        self._frames = frames
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[Header] = []
        self._head_sent = self._closing = self._paused = self._reading_paused = False
        self._until_close = False
        self._owed = 0

    # -- called by the HTTP/2 connection -----------------------------------------------------------

    def begin(self, headers: list[Header], *, ended: bool) -> None:
        """Pass on the head of the request, or answer what is wrong with it.

        `ended` says that no body follows.
        """
        self.received = ended
        self.protocol.connection_made(self)
        try:
            head = write_head(headers, ended=ended)
        except ValueError as fault:
            self._refuse(str(fault))
            return
        self.is_head, self.chunked, self.expected = head.is_head, head.chunked, head.expected
        if not self.is_closing():
            self.protocol.read(head.wire)

    def fits(self, size: int, *, ended: bool) -> bool:
        """Whether the body has its declared length with `size` bytes more; `ended`: they end it."""
        if self.expected is None:
            return True
        arrived = self.arrived + size
        return arrived == self.expected if ended else arrived <= self.expected

    def receive(self, data: bytes, size: int) -> None:
        """Pass on a part of the request's body, which took `size` bytes of the client's window."""
        # The window is opened again as soon as the connection has taken the bytes, and not while it
        # does not read: then the client may send no more than its window, and memory stays bounded.
        self.arrived += len(data)
        if self._reading_paused:
            self._owed += size
        else:
            self._frames.take_more(self, size)
        if data and not self._closing:
            framed = b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data
            self.protocol.read(framed)

    def receive_trailers(self, headers: list[Header]) -> None:
        """Check headers that follow the body; they are not used."""
        try:
            check_trailers(headers)
        except ValueError as fault:
            self.received = True
            self._refuse(str(fault))

    def receive_end(self) -> None:
        """The request is complete, unless its body is shorter than declared."""
        self.received = True
        if not self.fits(0, ended=True):
            self.refuse_body(self.arrived)
        elif self.chunked and not self._closing:
            self.protocol.read(b"0\r\n\r\n")

    def refuse_body(self, arrived: int) -> None:
        """Answer that the body has another length than declared."""
        if self.expected is not None:
            self._refuse(tell_length(self.expected, arrived))

    def note_sent(self) -> None:
        """Let the connection go on if the client took enough, or end the stream."""
        if self.over:
            return
        # Two marks, a high and a low one, so that writing does not stop and go on with every frame.
        if not self.unsent and (self.complete or self._closing):
            self._end()
        elif self._paused and len(self.unsent) <= _LOW:
            self._paused = False
            self.protocol.resume_writing()
        elif not self._paused and len(self.unsent) > _HIGH:
            self._paused = True
            self.protocol.pause_writing()

    def lose(self, fault: Exception | None) -> None:
        """End the connection of a stream that was dropped; called once."""
        self.over = True
        protocol = self.protocol
        # They refer to this stream: without them it is freed at once, not by the garbage collector.
        del self.protocol, self._parser
        protocol.connection_lost(fault)  # which looks at what is unsent
        self.unsent.clear()

    # -- called by the parser of the answer --------------------------------------------------------

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add one header of the answer."""
        name = name.lower()
        if name not in _HOP_BY_HOP:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Send the head of the answer."""
        status = self._parser.get_status_code()
        headers, self._headers = self._headers, []
        names = {name for name, _ in headers}
        final = status >= 200
        ended = final and (self.is_head or status in _BODILESS)
        self._frames.send_head(self, [(b":status", b"%d" % status), *headers], ended=ended)
        self._head_sent = final
        self._until_close = b"content-length" not in names
        self.complete = ended

    def on_body(self, data: bytes) -> None:
        """Keep a part of the body to be sent."""
        if not self.complete:
            self.unsent += data

    def on_message_complete(self) -> None:
        """Note that the answer is complete, unless it was `100 Continue`."""
        self.complete = self._head_sent

    # -- asyncio.Transport -------------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes of an answer; other bytes reset the stream."""
        if self.over or self._closing:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self.abort()
            return
        self._frames.send_body(self)
        self.note_sent()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        """Send several pieces of an answer."""
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        """A stream can end its side."""
        return True

    def write_eof(self) -> None:
        """Send nothing more on the stream."""
        self.close()

    def close(self) -> None:
        """End the stream after what was written; an answer that is not complete is reset."""
        if not self._closing:
            self._closing = True
            self.note_sent()

    def abort(self) -> None:
        """Reset the stream now."""
        self._closing = True
        if not self.over:
            self.over = True
            self._frames.break_off(self)

    def is_closing(self) -> bool:
        """Whether nothing is written any more."""
        return self._closing or self.over

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that the client did not take yet."""
        return len(self.unsent)

    def pause_reading(self) -> None:
        """Let the client's window run out."""
        self._reading_paused = True

    def resume_reading(self) -> None:
        """Open the client's window again."""
        self._reading_paused = False
        owed, self._owed = self._owed, 0
        if owed:
            self._frames.take_more(self, owed)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return what the real transport says; the socket is shared with other streams."""
        if name == "stream":
            return True
        found = self._frames.find_info(name)
        if name == "socket" and found is not None:
            return SharedSocket(found.fileno())
        return default if found is None else found

    # -- details -----------------------------------------------------------------------------------

    def _refuse(self, text: str) -> None:
        """Answer what is wrong with the request; the connection goes on."""
        if not self.is_closing():
            self.protocol.refuse(Refusal(400, f"Malformed request: {text}"))

    def _end(self) -> None:
        self.over = True
        if self.complete or (self._head_sent and self._until_close):
            self._frames.finish(self)
        else:
            self._frames.break_off(self)


class SharedSocket:
    """The socket under a stream, which cannot be given options of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """Return the descriptor of the whole connection."""
        return self._descriptor

    def setsockopt(self, *_: object) -> None:
        """Change nothing: the option would hold for the other streams too."""
