"""Signals for which the main thread waits, in whichever thread they arrive.

Python runs signal handlers in the main thread, between two of its instructions. But the system may
deliver a signal to any thread, and a main thread that waits for a lock or a child executes no
instruction, so its handler would not run. Therefore it waits for a descriptor to which the
interpreter writes the number of each signal.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Any, Self

STOPPING = (signal.SIGINT, signal.SIGTERM)
"""The signals that stop a server."""
_MAX_SIGNALS = 4096
"""Maximum number of signal numbers that one read returns."""
_CHUNK_BYTES = 65_536


class Signals:
    """Catches some signals inside a `with` block; only in the main thread.

    Subclasses define in `on_signal` what happens at once; `wait` returns when a signal came. At the
    end the earlier handlers are restored. A process that ends then is to say `restore=False`: after
    a first signal, further ones are ignored until its end, so that they do not change its status.
    """

    def __init__(self, numbers: Iterable[int], *, restore: bool = True) -> None:
        self._numbers = tuple(numbers)
        self._restore = restore
        self._came = False
        self._before: Mapping[int, Any] = {}
        self._alarm, self._bell = socket.socketpair()
        self._bell.settimeout(0)
        self._bell_before = -1

    def on_signal(self, number: int) -> None:
        """Called in the main thread for each signal."""

    def wait(self) -> frozenset[int]:
        """Wait until a signal came, now or since the last call; return the numbers.

        The numbers include signals that have other handlers.
        """
        return frozenset(self._alarm.recv(_MAX_SIGNALS))

    def fileno(self) -> int:
        """Return a descriptor that can be read when a signal came."""
        return self._alarm.fileno()

    def __enter__(self) -> Self:
        # If the buffer is full, it has enough bytes to wake up the reader.
        self._bell_before = signal.set_wakeup_fd(self._bell.fileno(), warn_on_full_buffer=False)
        self._before = {number: signal.signal(number, self._handle) for number in self._numbers}
        return self

    def __exit__(self, *_: object) -> None:
        ignored = self._came and not self._restore
        for number, handler in self._before.items():
            # The interpreter puts all handlers back when it ends, except where it is to ignore.
            signal.signal(number, signal.SIG_IGN if ignored else handler)
        signal.set_wakeup_fd(self._bell_before)
        self._alarm.close()
        self._bell.close()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        self._came = True
        self.on_signal(number)


class StopSignals(Signals):
    """SIGINT and SIGTERM, for which a server waits.

    Supervisors often send two: further ones have no effect until the process has ended.
    """

    def __init__(self) -> None:
        super().__init__(STOPPING, restore=False)
        self._stopped = False

    def on_signal(self, number: int) -> None:
        """Remember the signal, in case it comes before the wait."""
        self._stopped = True

    def follow(self, descriptor: int) -> None:
        """Treat the end of a stream like a signal; what is read from it has no effect.

        A pipe ends with the last process that can write to it, however that process ended. So a
        server that follows one never outlives its parent.
        """

        def read_to_the_end() -> None:
            # Not sys.stdin: a thread that waits in it would break the end of the interpreter.
            try:
                while os.read(descriptor, _CHUNK_BYTES):
                    pass
            except OSError:  # the other side is gone
                pass
            signal.raise_signal(signal.SIGTERM)

        threading.Thread(target=read_to_the_end, name="mock-platform-stdin", daemon=True).start()

    def wait(self) -> frozenset[int]:
        """Wait until one of the two signals came; return at once if one came before."""
        found: frozenset[int] = frozenset()
        while not self._stopped and not found & {*self._numbers}:
            found = super().wait()
        return found
