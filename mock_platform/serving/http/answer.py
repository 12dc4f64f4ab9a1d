"""The answer to one request: runs the application and returns what to send, without IO.

The server decides where an application runs, on the event loop or in a worker; it never waits for a
client. Its result is read piece by piece: bytes to send, or a `Pause` after which the next piece is
read. During a pause no thread is occupied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

from mock_platform.core.connection import Direct, Pause, Peer, Request
from mock_platform.core.pairs import Headers
from mock_platform.version import __version__

ExcInfo = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]
Pair = tuple[str, str]

SOFTWARE = f"mock-platform/{__version__}"
_BODILESS = frozenset({"204", "304"})
_WATCHED = {
    "connection": "connection",
    "content-length": "length",
    "date": "date",
    "server": "server",
}
"""The headers that the server needs."""
_MAX_NAMES = 1000
"""Maximum number of names whose kind is cached; most programs send the same few."""
_SERVER_LINE = f"Server: {SOFTWARE}\r\n"


class _Kinds(dict[str, str | None]):
    """What the server needs of each header, by its name as it is spelled; filled by use."""

    def __missing__(self, name: str) -> str | None:
        kind = _WATCHED.get(name.lower())
        if len(self) < _MAX_NAMES:
            self[name] = kind
        return kind


_KINDS = _Kinds()


class Answer:
    """The answer to one request, as far as the application has made it.

    `step` reads the next piece; `head` is sent before the first one.
    """

    # How each answer begins is an attribute of the class: setting all takes a part of a request.
    status = ""
    complete = False
    """Whether the application has no more pieces."""
    chunked = False
    head_sent = False
    _pieces: Iterator[Any] | None = None
    _body: Iterable[Any] | None = None
    _started = False
    _length: int | None = None
    body_bytes = 0
    """Bytes of the body that were made so far."""
    _bodiless = False

    def __init__(
        self,
        request: Request,
        direct: Direct | None,
        began: float,
        report: Callable[[BaseException], None],
        date_line: Callable[[], str],
        *,
        keep_alive: bool,
    ) -> None:
        self.request = request
        self.began = began
        """When the application is called, on the clock `UPTIME`."""
        self.direct = direct
        """The answer that is made on the event loop; `None` if the WSGI application makes it in a
        worker.
        """
        self.keep_alive = keep_alive
        """Whether the connection stays open after the answer."""
        self.headers: Sequence[Pair] = ()
        self._report = report
        self._date_line = date_line
        self._version_1_0 = request.version == "1.0"
        self._is_head = request.method == "HEAD"
        self._written: list[bytes] = []

    def run(self, application: Direct, peer: Peer) -> list[bytes] | Pause:
        """Call the application; return the first pieces of the body, or a pause before them."""
        try:
            body = application(self.request, peer, self._start_response)
            # An answer that is complete at once, as nearly all are: head and body become one piece,
            # and one write. A type check and not `isinstance`, because a subclass may do work while
            # it is read.
            if type(body) is list:  # all there is; only its end could still fail
                self._written += body
                self.complete = True
                return self._pack(self._take_written())
            self._body = body
            self._pieces = iter(body)
        except BaseException as fault:  # noqa: BLE001 - not even SystemExit ends the server
            return self._fail(fault)
        return self.step()

    def step(self) -> list[bytes] | Pause:
        """Read more from the application; return pieces as they are sent, or a pause."""
        assert self._pieces is not None
        try:
            while True:
                # The head is not sent before there is a piece of the body, so that an application
                # that fails before it can still answer 500. A last piece that completes the
                # declared length waits for the end of the iterator, and goes out together with it:
                # the client reads everything in one packet.
                piece = next(self._pieces, None)
                if isinstance(piece, Pause):
                    return piece
                if piece is None:
                    self.close()
                    self.complete = True
                    return self._pack(self._take_written())
                if piece:
                    self._written.append(piece)
                if self._has_no_body():
                    self._written.clear()  # the head goes out once the application is done
                if not self._written:
                    continue
                pending = sum(map(len, self._written))
                if self._length is None or self.body_bytes + pending < self._length:
                    return self._pack(self._take_written())
        except BaseException as fault:  # noqa: BLE001 - as in `run`
            return self._fail(fault)

    def close(self) -> None:
        """Close the body because it is no longer read. Idempotent."""
        body, self._body, self._pieces = self._body, None, None
        close = getattr(body, "close", None)
        if close is None:
            return
        try:
            close()
        except BaseException as fault:  # noqa: BLE001 - as in `run`
            self._report(fault)

    @property
    def given_up(self) -> bool:
        """Whether the application ended without an answer: the connection is closed without one."""
        return self.complete and not self._started

    @property
    def short(self) -> bool:
        """Whether the body ended before its `Content-Length`."""
        return self._length is not None and self.body_bytes < self._length and not self._bodiless

    def _start_response(
        self, status: str, headers: list[Pair], exc_info: ExcInfo | None = None, /
    ) -> Callable[[bytes], object]:
        """Start the answer; with `exc_info`, start it again if nothing was sent yet."""
        # The rule of WSGI: an application that has found a fault may start again as long as nothing
        # was sent; after that its own exception comes back to it, which ends the answer.
        if exc_info is not None:
            if self.head_sent and exc_info[1] is not None:
                raise exc_info[1]
        elif self._started:
            raise RuntimeError("WSGI: start_response was called twice without exc_info")
        self._started = True
        self.status, self.headers = status, headers
        return self._written.append

    def _take_written(self) -> list[bytes]:
        pieces, self._written = self._written, []
        return pieces

    def _pack(self, pieces: list[bytes]) -> list[bytes]:
        """Return pieces of the body as bytes to send, with the head before the first ones.

        Raises:
            RuntimeError: The body started before `start_response` was called.
        """
        if not self._started:
            if any(pieces):
                return self._fail(RuntimeError("WSGI: the body began before start_response"))
            return []
        wire: list[bytes] = []
        if not self.head_sent:
            wire.append(self._head())
            self.head_sent = True
        if self._bodiless:
            return wire
        for piece in pieces:
            part = piece
            # More than was declared would be read as the beginning of the next answer. It is cut,
            # and the connection ends, since the two sides no longer agree where answers end.
            if self._length is not None and self.body_bytes + len(part) > self._length:
                part = part[: self._length - self.body_bytes]
                self._report(ValueError("WSGI: the body is longer than its Content-Length"))
                self.keep_alive, self.complete = False, True
            self.body_bytes += len(part)
            if not part:
                continue
            wire.append(b"%x\r\n%b\r\n" % (len(part), part) if self.chunked else part)
        if self.complete:
            if self.chunked:
                wire.append(b"0\r\n\r\n")
            if self.short:
                self.keep_alive = False
        return wire

    def _has_no_body(self) -> bool:
        """Whether an answer to this request, with this status, never has a body."""
        return self._is_head or (self._started and self.status[:3] in _BODILESS)

    def _head(self) -> bytes:
        self._bodiless = self._has_no_body()
        lines = [f"HTTP/1.1 {self.status}\r\n"]
        own = self.headers
        headers = _write_shared(own, lines) if type(own) is Headers else own
        dated = named = False
        for name, value in headers:
            kind = _KINDS[name]
            if kind is not None:
                if kind == "connection":
                    self.keep_alive = self.keep_alive and value.lower() != "close"
                    continue
                if kind == "length":
                    self._length = int(value)
                elif kind == "date":
                    dated = True
                else:
                    named = True
            lines.append(f"{name}: {value}\r\n")
        # Without a length the end has to be recognisable in another way: by chunks in HTTP/1.1, and
        # by the end of the connection in HTTP/1.0, which has no chunks.
        if self._length is None and not self._bodiless:
            self.chunked = not self._version_1_0
            self.keep_alive = self.keep_alive and self.chunked
        if self.chunked:
            lines.append("Transfer-Encoding: chunked\r\n")
        if not dated:
            lines.append(self._date_line())
        if not named:
            lines.append(_SERVER_LINE)
        if not self.keep_alive:
            lines.append("Connection: close\r\n")
        elif self._version_1_0:
            lines.append("Connection: keep-alive\r\n")
        lines.append("\r\n")
        return "".join(lines).encode("latin-1")

    def _fail(self, fault: BaseException) -> list[bytes]:
        """Report an exception of the application; answers 500 if nothing was sent yet."""
        self._report(fault)
        self.close()
        self._written.clear()
        if self.head_sent:
            # The client has read that all is well, so the only honest signal left is an end that
            # cannot be taken for a complete answer: no last chunk, and a connection that closes.
            self.keep_alive, self.complete = False, True
            self.chunked = False  # the end of the body must be missing
            return []
        text = f"The application raised {type(fault).__name__}; see the server's log.\n"
        self._started, self.complete = True, True
        self.status = "500 Internal Server Error"
        self.headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(text.encode()))),
        ]
        return self._pack([text.encode()])


def _write_shared(headers: Headers, lines: list[str]) -> Sequence[Pair]:
    """Append the lines of the headers that many answers share; return the other headers.

    On the recorded wire these are most headers, and their lines are ready. They are written only if
    the list still begins with these headers, since a list can be changed.
    """
    count = len(headers.shared.pairs)
    if headers[:count] != headers.shared.pairs:
        return headers
    lines.append(headers.shared.lines)
    return headers[count:]
