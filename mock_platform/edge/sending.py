"""Sends an answer late, slowly or brokenly, as a scenario wants it.

It happens where the answer leaves the process, long after the world's lock was released. Waiting
ends when the server stops or the platform is closed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mock_platform.core.call import Reply, Sending
from mock_platform.faults import CONNECTION, Connection

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

GARBAGE = bytes(range(128, 256)) + b"\r\nnot HTTP\r\n\r\n" + bytes(range(128))
_PIECES = 20


class NoConnection(ConnectionError):
    """A scenario breaks the connection, and whoever calls the application has none."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            f"A scenario answers with the network fault {fault!r}, but this request came without a "
            "connection to break. Call over a socket (MockPlatform.base_url), or through "
            "platform.session() or WsgiAdapter."
        )


def send(
    reply: Reply,
    sending: Sending,
    status: str,
    environ: WSGIEnvironment,
    start_response: StartResponse,
    closing: threading.Event,
) -> Iterable[bytes]:
    """Do what `sending` says with a reply.

    Raises:
        NoConnection: It is to be broken, and there is nothing to break.
    """
    connection: Connection | None = environ.get(CONNECTION)

    def wait(seconds: float) -> None:
        if connection is None:
            closing.wait(seconds)
        else:
            connection.wait(seconds, closing)

    if sending.delay:
        wait(sending.delay)
    if sending.fault is not None:
        if connection is None:
            raise NoConnection(sending.fault)
        if sending.fault != "truncate" or environ["REQUEST_METHOD"] == "HEAD":
            _break(connection, sending.fault)
            return []
        _truncate(reply)
    start_response(status, reply.headers)
    if sending.slow_body and reply.body:
        return _slowly(reply.body, sending.slow_body, wait)
    return [reply.body]


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
    """Declare the whole body, and keep half of it."""
    declared = max(len(reply.body), 2)
    kept: list[Any] = [pair for pair in reply.headers if pair[0].lower() != "content-length"]
    reply.headers = [*kept, ("Content-Length", str(declared))]
    reply.body = reply.body[: len(reply.body) // 2]


def _slowly(body: bytes, seconds: float, wait: Callable[[float], None]) -> Iterator[bytes]:
    size = max(1, -(-len(body) // _PIECES))
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    for piece in pieces:
        wait(seconds / len(pieces))
        yield piece
