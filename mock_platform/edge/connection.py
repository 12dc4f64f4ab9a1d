"""What a WSGI application may do to the connection it answers on, beyond answering.

Whoever renders an answer finds the connection under `CONNECTION` in the WSGI environ, where the
server can perform network faults; the key is absent where it cannot (another server, tests without
a socket). After any of the methods the connection is *taken*: the server writes nothing more on it,
and what the application returns is thrown away, so a view may return anything.

One fault needs no method: an answer whose `Content-Length` is larger than its body is sent as it
is and the connection closed, which the client meets as a truncated body.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

CONNECTION = "mock_platform.connection"
"""The key of the WSGI environ under which a `Connection` stands."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A piece of a body that is no bytes: ask for the next one after so many real seconds.

    Only for connections that say `pauses`. No thread waits meanwhile.
    """

    seconds: float


class Connection(Protocol):
    """The client's connection, for network faults; to be used until the application returns."""

    @property
    def pauses(self) -> bool:
        """Whether the body of an answer may have a `Pause` among its pieces."""

    @property
    def taken(self) -> bool:
        """Whether a fault was performed, so that no answer will be written."""

    def wait(self, seconds: float, closing: threading.Event) -> None:
        """Let so many real seconds pass before more is sent.

        It ends early when the server stops or `closing` is set, and where the caller is known to
        give up before, which then raises.
        """

    def reset(self) -> None:
        """Break the connection off at once: the client's system reports `ECONNRESET`."""

    def close(self) -> None:
        """End the connection in good order without another byte: an empty reply."""

    def hold(self) -> None:
        """Never answer: the connection stays open until the client leaves or the server stops.

        No thread waits meanwhile.
        """

    def send_raw(self, data: bytes) -> None:
        """Send bytes that need not be HTTP. The connection is closed when the application returns.

        May be called repeatedly, and followed by `reset`, `close` or `hold`.
        """
