"""Sends a reply: unchanged, late, slowly, broken or as a stream, as a scenario requires.

This happens where the answer leaves the process, long after the world's lock was released. A wait
ends when the server stops or the platform is closed. How an answer ended is known only here, so
this completes its entry in the journal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Self

from mock_platform.core.call import FaultKind, LiveBody, Reply, Sending
from mock_platform.core.connection import Connection, Pause
from mock_platform.core.failures.codes import phrase
from mock_platform.core.pairs import Headers
from mock_platform.world.clock import UPTIME
from mock_platform.world.endings import COMPLETE, AnswerEnding, How
from mock_platform.world.journal import JournalEntry

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse


# How an answer ends, for its entry in the journal.

_HOW: Mapping[FaultKind, How] = {
    "reset": "reset",
    "empty": "empty",
    "truncate": "truncated",
    "garbage": "garbage",
    "timeout": "stalled",
}


_AS_RESET = frozenset({"empty", "garbage"})
"""What a client of HTTP/2 meets as a reset of its stream."""


class AnswerEnd:
    """Notes in the journal how an answer ended that is not sent whole at once.

    It is noted before the client can see it: a test that met a broken connection may ask at once.
    """

    def __init__(
        self, entry: JournalEntry | None, connection: Connection | None, *, is_late: bool = False
    ) -> None:
        """`is_late` says that a scenario holds the answer back."""
        self._entry = entry
        self._connection = connection
        self._is_late = is_late
        self._begun = UPTIME()
        self.sent = 0
        """Bytes of the body so far."""
        self.length: int | None = None
        """Bytes of the whole body, if that is known."""
        self.expected: How = "complete"
        """How it ends with its last byte."""

    def note(self, how: How) -> None:
        """Note how the answer ended, unless it had ended already."""
        entry = self._entry
        if entry is None or entry.ending is not None:
            return
        skipped = 0.0 if self._connection is None else self._connection.skipped
        after = (UPTIME() - self._begun + skipped) * 1000
        entry.ending = AnswerEnding(how, self.sent, after, self._is_late)


class Counted:
    """The pieces of a body; notes how they end."""

    def __init__(self, pieces: Iterator[Any], end: AnswerEnd) -> None:
        self._pieces = pieces
        self._end = end

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        """Return the next piece, or a pause."""
        end = self._end
        try:
            piece = next(self._pieces)
        except StopIteration:
            is_short = end.length is not None and end.sent < end.length
            end.note("truncated" if is_short else end.expected)
            raise
        except BaseException:
            end.note("truncated")
            raise
        if not isinstance(piece, Pause):
            end.sent += len(piece)
            if end.sent == end.length:  # whoever knows the length may read no further
                end.note(end.expected)
        return piece

    def close(self) -> None:
        """End the body: the client has left, unless all was sent."""
        close = getattr(self._pieces, "close", None)
        if close is not None:
            close()
        self._end.note("disconnected")


# Network faults on the connection of an answer.

GARBAGE = bytes(range(128, 256)) + b"\r\nnot HTTP\r\n\r\n" + bytes(range(128))


class NoConnection(ConnectionError):
    """A scenario breaks the connection, and the caller of the application has none."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            f"A scenario answers with the network fault {fault!r}, but this request came without a "
            "connection to break. Call over a socket (MockPlatform.base_url), or through "
            "platform.session() or WsgiAdapter."
        )


def break_connection(
    connection: Connection | None, fault: FaultKind, end: AnswerEnd, how: How | None = None
) -> None:
    """Perform a network fault in place of what is left of an answer.

    Raises:
        NoConnection: There is no connection.
    """
    if fault == "timeout" and connection is not None:
        connection.hold()
    if connection is not None and connection.is_stream and fault in _AS_RESET:
        how = how or "reset"
    if fault == "empty" and end.sent:  # a stream that had begun
        how = how or "truncated"
    end.note(how or _HOW[fault])
    if connection is None:
        raise NoConnection(fault)
    if fault == "timeout":
        return
    if fault == "reset":
        connection.reset()
    elif fault == "garbage":
        connection.send_raw(GARBAGE)
    else:
        connection.close()


# The body of a stream's answer: reads the stream, and waits where it has nothing to send. On
# our server a wait is a `Pause`, which holds no thread. Elsewhere the caller waits.


class StreamBody:
    """An iterator over the pieces of a stream."""

    def __init__(
        self, stream: LiveBody, connection: Connection | None, entry: JournalEntry | None
    ) -> None:
        self._stream = stream
        self._end = AnswerEnd(entry, connection)
        self._connection = connection
        self._ready = threading.Event()
        if connection is not None and connection.pauses:
            # On our own server a stream that has nothing to send returns a pause to the loop and is
            # woken by `resume`. On any other server a thread has to wait; it waits for an event
            # that the stream sets.
            stream.attach(connection.resume, connection.is_gone)
        else:
            stream.attach(lambda **_: self._ready.set(), lambda: False)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes | Pause:
        """Return the next piece."""
        connection = self._connection
        while True:
            if connection is not None and connection.is_stopping:
                self._stream.end_for_stop()
            self._ready.clear()
            piece = self._stream.read()
            if piece is None:
                fault = self._stream.fault
                if fault is not None:
                    break_connection(connection, fault, self._end)
                self._end.note("complete")
                raise StopIteration
            if piece:
                self._end.sent += len(piece)
                return piece
            seconds = self._stream.wait_seconds()
            if connection is None:
                self._ready.wait(seconds)
            elif connection.pauses:
                return Pause(seconds, endless=True)
            else:
                connection.wait_for(self._ready, seconds)

    def close(self) -> None:
        """End the stream: the client has left."""
        connection = self._connection
        self._end.note("stalled" if self._stream.is_silent else "disconnected")
        self._stream.close(slow=connection is not None and connection.is_slow)


_PIECES = 20
_BODILESS = frozenset({204, 304})
_MAX_STATUSES = 100
"""Maximum number of status lines that are cached; scenarios may have their own."""


def send(
    reply: Reply,
    method: str,
    connection: Connection | None,
    closing: threading.Event,
    start_response: StartResponse,
) -> Iterable[bytes | Pause]:
    """Start to answer with a reply, and return its body.

    It contains a `Pause` only if the connection accepts it.

    Raises:
        NoConnection: The connection must be broken, and the server has no access to it.
    """
    status = _status_line(reply.status, reply.reason)
    if connection is not None:
        connection.entry = reply.entry
    if reply.parts is not None:
        start_response(status, reply.headers)
        return _send_parts(reply, reply.parts, method, connection)
    if reply.stream is not None:
        return _stream(reply, reply.stream, status, method, connection, closing, start_response)
    is_framed = type(reply.headers) is Headers or reply.status in _BODILESS
    if not is_framed and reply.header("content-length") is None:
        reply.headers.append(("Content-Length", str(len(reply.body))))
    sending = reply.sending
    if sending is None:
        start_response(status, reply.headers)
        return [reply.body]
    end = AnswerEnd(reply.entry, connection, is_late=bool(sending.delay or sending.slow_body))
    if connection is None and sending.fault is not None:
        closing.wait(sending.delay)
        break_connection(None, sending.fault, end)
    pieces = Counted(_pieces(reply, sending, status, method, connection, start_response, end), end)
    if connection is not None and connection.pauses:
        return pieces
    return _wait_in_place(pieces, connection, closing)


def _stream(
    reply: Reply,
    stream: LiveBody,
    status: str,
    method: str,
    connection: Connection | None,
    closing: threading.Event,
    start_response: StartResponse,
) -> Iterable[bytes | Pause]:
    """Return a stream's body; a fault of the whole answer ends the stream at once."""
    sending = reply.sending or Sending()
    if method == "HEAD" or sending.fault is not None:
        stream.close()
        reply.stream = None
        if reply.entry is not None and reply.sending is None:
            reply.entry.ending = COMPLETE
        return send(reply, method, connection, closing, start_response)
    body = StreamBody(stream, connection, reply.entry)
    if sending.delay and connection is not None and connection.pauses:
        return _Late(sending.delay, body, partial(start_response, status, reply.headers))
    if sending.delay:
        closing.wait(sending.delay)
    start_response(status, reply.headers)
    return body


class _Late:
    """A stream's body whose answer begins after a delay."""

    def __init__(self, seconds: float, body: StreamBody, start: Callable[[], object]) -> None:
        self._pause: Pause | None = Pause(seconds)
        self._start: Callable[[], object] | None = start
        self._body = body
        self.close = body.close

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes | Pause:
        if self._pause is not None:
            pause, self._pause = self._pause, None
            return pause
        if self._start is not None:
            self._start()
            self._start = None
        return next(self._body)


def _send_parts(
    reply: Reply, parts: Iterator[bytes], method: str, connection: Connection | None
) -> Iterable[bytes]:
    """Return the body of a user's route; none for HEAD."""
    end = AnswerEnd(reply.entry, connection)
    declared = reply.header("content-length") or ""
    end.length = int(declared) if declared.isdecimal() else None
    body = Counted(parts, end)
    if method != "HEAD":
        return body
    end.note("complete")
    body.close()
    return []


@lru_cache(_MAX_STATUSES)
def _status_line(status: int, reason: str | None) -> str:
    return f"{status} {reason or phrase(status) or 'Status'}"


def _pieces(
    reply: Reply,
    sending: Sending,
    status: str,
    method: str,
    connection: Connection | None,
    start_response: StartResponse,
    end: AnswerEnd,
) -> Iterator[bytes | Pause]:
    """Yield the pieces of the reply, with a `Pause` wherever time must pass."""
    if sending.delay:
        yield Pause(sending.delay)
    # A truncated answer promises its whole length and ends early. All other faults take the place
    # of the answer, so nothing of it is sent before them. An answer that never has a body would be
    # whole with its head, so there is nothing of it to send.
    has_body = method != "HEAD" and reply.status not in _BODILESS
    if sending.fault == "truncate" and has_body:
        _truncate(reply)
        end.expected = "truncated"
    elif sending.fault is not None:
        fault: FaultKind = "empty" if sending.fault == "truncate" else sending.fault
        is_lost = fault == "empty" and sending.is_committed
        break_connection(connection, fault, end, "lost" if is_lost else None)
        return
    end.length = len(reply.body)
    start_response(status, reply.headers)
    if sending.slow_body and reply.body:
        yield from _send_slowly(reply.body, sending.slow_body)
    else:
        yield reply.body


def _wait_in_place(
    pieces: Counted, connection: Connection | None, closing: threading.Event
) -> Iterator[bytes]:
    """Yield the pieces for a server without `Pause`: the time passes here."""
    try:
        for piece in pieces:
            if not isinstance(piece, Pause):
                yield piece
            elif connection is None:
                closing.wait(piece.seconds)
            else:
                connection.wait(piece.seconds, closing)
    finally:
        pieces.close()


def _truncate(reply: Reply) -> None:
    """Declare the whole body, but send half of it."""
    declared = max(len(reply.body), 2)
    kept: list[Any] = [pair for pair in reply.headers if pair[0].lower() != "content-length"]
    reply.headers = [*kept, ("Content-Length", str(declared))]
    reply.body = reply.body[: len(reply.body) // 2]


def _send_slowly(body: bytes, seconds: float) -> Iterator[bytes | Pause]:
    size = max(1, -(-len(body) // _PIECES))
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    for piece in pieces:
        yield Pause(seconds / len(pieces))
        yield piece
