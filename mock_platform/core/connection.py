"""A request as a server read it, and what an application can do to its connection.

If the server can perform network faults, the WSGI environ contains the connection under
`CONNECTION`; otherwise (another server, tests without a socket) the key is absent. After any of
these methods the connection is *taken*: the server writes nothing more on it and ignores what the
application returns, so a view may return anything.

One fault needs no method: an answer whose `Content-Length` is larger than its body is sent as it is
and the connection is closed; the client sees a truncated body.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from mock_platform.world.journal import JournalEntry

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

CONNECTION = "mock_platform.connection"
"""Key of the WSGI environ: the `Connection`."""


class Pause(Struct, frozen=True):
    """A piece of a body without bytes: the next piece comes after these real seconds.

    Only for connections with `pauses`. No thread waits meanwhile.
    """

    seconds: float
    endless: bool = False
    """Whether the body goes on as long as its client is there; so one that ends its side has left.
    `Connection.resume` ends such a pause early.
    """


class Connection(Protocol):
    """The client's connection, for network faults; to be used until the application returns."""

    entry: JournalEntry | None
    """The entry in the journal of the request that is answered, once there is one."""
    skipped: float
    """Seconds of waits that did not really pass, because the caller stops to wait anyway."""

    @property
    def pauses(self) -> bool:
        """Whether the body of an answer may contain a `Pause`."""

    @property
    def is_stream(self) -> bool:
        """Whether it is one stream of HTTP/2, which ends with a reset if it has no answer."""

    @property
    def is_taken(self) -> bool:
        """Whether a fault was performed, so that no answer will be written."""

    @property
    def is_stopping(self) -> bool:
        """Whether the server stops, so that endless bodies are to end."""

    @property
    def is_slow(self) -> bool:
        """Whether the client did not read for so long that its connection was ended."""

    def is_gone(self) -> bool:
        """Whether the client has left, also if the server did not notice it yet."""

    def resume(self, *, urgent: bool) -> None:
        """Read the body again, from any thread; `urgent`: although the client does not read."""

    def wait_for(self, ready: threading.Event, seconds: float) -> None:
        """Wait for an event, at most this many real seconds.

        Only where bodies contain no `Pause`. It raises if the caller stops to wait earlier.
        """

    def wait(self, seconds: float, closing: threading.Event) -> None:
        """Wait for this many real seconds before more is sent.

        The wait ends early when the server stops or `closing` is set. It raises if the caller is
        known to stop earlier.
        """

    def reset(self) -> None:
        """Break the connection at once: the client's system reports `ECONNRESET`."""

    def close(self) -> None:
        """Close the connection regularly without another byte: an empty reply."""

    def hold(self) -> None:
        """Never answer: the connection stays open until the client closes it or the server stops.

        No thread waits meanwhile.
        """

    def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be HTTP. The connection is closed when the application returns.

        May be called several times, and followed by `reset`, `close` or `hold`.
        """


# A request as a server read it, and objects that answer it without an environ.


class Request(Struct):
    """A request that arrived completely."""

    method: str
    target: str
    """Path and query as the client wrote them, starting with `/`."""
    authority: str
    """Host and port in the target if the client sent an absolute address, else empty."""
    version: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    keep_alive: bool
    scheme: str = ""
    """The scheme of an absolute address, else empty: that of the connection counts."""


class Peer(Struct, frozen=True):
    """The two ends of a connection: the client and the server."""

    connection: Connection
    address: str
    port: str
    scheme: str
    server: str
    """Host and port on which the server listens."""


Direct = Callable[[Request, Peer, "StartResponse"], Iterable[bytes | Pause]]
"""Answers a request like a WSGI application, but without an environ. It never blocks."""
