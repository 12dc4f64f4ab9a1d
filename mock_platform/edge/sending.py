"""Sends a reply: unchanged, or late, slowly or broken, as a scenario requires.

This happens where the answer leaves the process, long after the world's lock was released. A wait
ends when the server stops or the platform is closed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mock_platform.core.call import Reply, Sending
from mock_platform.core.failures.statuses import phrase
from mock_platform.edge.connection import Connection, Pause

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

GARBAGE = bytes(range(128, 256)) + b"\r\nnot HTTP\r\n\r\n" + bytes(range(128))
_PIECES = 20
_BODILESS = frozenset({204, 304})


class NoConnection(ConnectionError):
    """A scenario breaks the connection, and the caller of the application has none."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            f"A scenario answers with the network fault {fault!r}, but this request came without a "
            "connection to break. Call over a socket (MockPlatform.base_url), or through "
            "platform.session() or WsgiAdapter."
        )


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
    status = f"{reply.status} {reply.reason or phrase(reply.status) or 'Status'}"
    if reply.parts is not None:
        start_response(status, reply.headers)
        return reply.parts if method != "HEAD" else _close(reply.parts)
    if reply.status not in _BODILESS and reply.header("content-length") is None:
        reply.headers.append(("Content-Length", str(len(reply.body))))
    sending = reply.sending
    if sending is None:
        start_response(status, reply.headers)
        return [reply.body]
    if connection is None and sending.fault is not None:
        closing.wait(sending.delay)
        raise NoConnection(sending.fault)
    pieces = _pieces(reply, sending, status, method, connection, start_response)
    if connection is not None and connection.pauses:
        return pieces
    return _wait_in_place(pieces, connection, closing)


def _close(parts: Iterator[bytes]) -> Iterable[bytes]:
    """The body of a request without one."""
    close = getattr(parts, "close", None)
    if close is not None:
        close()
    return []


def _pieces(
    reply: Reply,
    sending: Sending,
    status: str,
    method: str,
    connection: Connection | None,
    start_response: StartResponse,
) -> Iterator[bytes | Pause]:
    """Yields the pieces of the reply, with a `Pause` wherever time must pass."""
    if sending.delay:
        yield Pause(sending.delay)
    if sending.fault == "truncate" and method != "HEAD":
        _truncate(reply)
    elif sending.fault is not None:
        assert connection is not None
        _break(connection, "empty" if sending.fault == "truncate" else sending.fault)
        return
    start_response(status, reply.headers)
    if sending.slow_body and reply.body:
        yield from _send_slowly(reply.body, sending.slow_body)
    else:
        yield reply.body


def _wait_in_place(
    pieces: Iterator[bytes | Pause], connection: Connection | None, closing: threading.Event
) -> Iterator[bytes]:
    """Yields the pieces for a server without `Pause`: the time passes here."""
    for piece in pieces:
        if not isinstance(piece, Pause):
            yield piece
        elif connection is None:
            closing.wait(piece.seconds)
        else:
            connection.wait(piece.seconds, closing)


def _break(connection: Connection, fault: str) -> None:
    if fault == "reset":
        connection.reset()
    elif fault == "timeout":
        connection.hold()
    elif fault == "garbage":
        connection.send_raw(GARBAGE)
    else:
        connection.close()


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
