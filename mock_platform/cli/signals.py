"""Signals that the main thread waits for, whichever thread the system hands them to.

Python runs handlers in the main thread, between two of its steps. The system may deliver a signal
to any thread, though, and a main thread that waits on a lock or for a child takes no step: it would
sleep on. So it waits on a descriptor to which the interpreter writes each signal's number.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterable, Mapping
from types import FrameType, TracebackType
from typing import Any, Self

_MOST = 4096
"""Numbers of signals that are taken at once."""


class Signals:
    """Catches some signals for as long as it is entered; only in the main thread.

    Subclasses say in `on_signal` what is done at once; `wait` returns when one came. With `restore`
    the handlers of before are back when it is left; without, its own stay, for a process that ends
    then.
    """

    def __init__(self, numbers: Iterable[int], *, restore: bool = True) -> None:
        self._numbers = tuple(numbers)
        self._restore = restore
        self._before: Mapping[int, Any] = {}
        self._alarm, self._bell = socket.socketpair()
        self._bell.settimeout(0)
        self._bell_before = -1

    def on_signal(self, number: int) -> None:
        """Called in the main thread for each signal."""

    def wait(self) -> frozenset[int]:
        """Sleep until a signal came, or came since the last call; returns their numbers.

        Signals that others handle are among them.
        """
        return frozenset(self._alarm.recv(_MOST))

    def __enter__(self) -> Self:
        # A full buffer means that there is enough to wake up for.
        self._bell_before = signal.set_wakeup_fd(self._bell.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, self._handle) for number in self._numbers}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._restore:
            for number, handler in self._before.items():
                signal.signal(number, handler)
        signal.set_wakeup_fd(self._bell_before)
        self._alarm.close()
        self._bell.close()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self.on_signal(number)


class StopSignals(Signals):
    """SIGINT and SIGTERM as what a server waits for.

    Supervisors often send two: further ones change nothing, until the process has ended.
    """

    def __init__(self) -> None:
        super().__init__((signal.SIGINT, signal.SIGTERM), restore=False)
        self._stopped = False

    def on_signal(self, number: int) -> None:
        """Remember it, in case it comes before anybody waits."""
        self._stopped = True

    def wait(self) -> frozenset[int]:
        """Sleep until one of the two came, now or before."""
        found: frozenset[int] = frozenset()
        while not self._stopped and not found & {*self._numbers}:
            found = super().wait()
        return found
