"""What an application may do to the connection that it answers on: network faults."""

from __future__ import annotations

import select
import threading
from collections.abc import Callable
from functools import partial

from mock_platform.serving.http.backend import Backend

_LEFT = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR
"""What the system reports of a connection whose other side has ended (elsewhere than on Linux: only
of one that is broken)."""


class Handle:
    """A `core.connection.Connection`: its methods may be called from any thread.

    The server acts on the loop's thread, by what it passes here.
    """

    pauses = True

    def __init__(
        self,
        backend: Backend,
        *,
        reset: Callable[[], object],
        end: Callable[[], object],
        write: Callable[[bytes], object],
        resume: Callable[..., object],
        descriptor: Callable[[], int],
    ) -> None:
        self._backend = backend
        self._reset = reset
        self._end = end
        self._write = write
        self._resume = resume
        self._descriptor = descriptor
        self.is_slow = False
        """Whether it was ended because its client does not read."""
        self.is_taken = False
        """Whether nothing more is answered on the connection."""
        self.held = False
        """Whether it stays open without an answer."""
        self.gone = False
        """Whether it has ended."""

    def leave(self) -> None:
        """The connection has ended: nothing more can be done to it."""
        self.gone = self.is_taken = True
        # They refer to the connection, which refers to this: without them both are freed at once,
        # not by the garbage collector, for whose scans all requests wait.
        self._reset = self._end = self._write = self._resume = self._descriptor = _do_nothing

    @property
    def stopping(self) -> threading.Event:
        """Set when the server starts to stop."""
        return self._backend.stopping

    @property
    def is_stopping(self) -> bool:
        """Whether the server stops."""
        return self._backend.stopping.is_set()

    def is_gone(self) -> bool:
        """Whether the client has ended its side, also if the loop did not read that yet."""
        if self.gone:
            return True
        # The loop learns that a client has left only when it reads, which it may not do while an
        # answer is being made. The system knows it at once, so it is asked.
        descriptor = self._descriptor()
        if descriptor < 0:
            return True
        poll = select.poll()
        poll.register(descriptor, _LEFT)
        return bool(poll.poll(0))

    def resume(self, *, urgent: bool) -> None:
        """Read an endless body again."""
        self._backend.on_loop_soon(partial(self._resume, urgent=urgent))

    def wait_for(self, ready: threading.Event, seconds: float) -> None:
        """Wait in a worker."""
        ready.wait(seconds)

    def wait(self, seconds: float, closing: threading.Event) -> None:
        """Wait in a worker. The server is stopped before the platform is closed."""
        self._backend.stopping.wait(seconds)

    def reset(self) -> None:
        """Break the connection at once."""
        if self._take():
            self._backend.on_loop(self._reset)

    def close(self) -> None:
        """Close the connection regularly: what was sent arrives. Idempotent."""
        if self._take():
            self._backend.on_loop(self._end)

    def hold(self) -> None:
        """Never answer; the connection stays open without a thread until the client closes it."""
        if self._take():
            self.held = True

    def send_raw(self, data: bytes) -> None:
        """Send bytes unchanged. A client that has left is not an error."""
        self.is_taken = True
        self._backend.on_loop(self._write, data)

    def _take(self) -> bool:
        """Answer nothing more on the connection; returns whether it is still there."""
        self.is_taken = True
        return not self.gone


def _do_nothing(*_: object, **__: object) -> int:
    return -1
