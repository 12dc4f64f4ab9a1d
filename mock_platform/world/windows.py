"""Rate windows and nonces of a world: what counts requests until a moment of its clock."""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Protocol
from urllib.parse import quote

from msgspec import Struct

from mock_platform.world.clock import Clock
from mock_platform.world.store.interface import Beside, Record

TABLE = "@windows"
"""The table in which a durable world keeps its windows."""

Key = tuple[str, ...]
_Window = tuple[datetime, datetime, int, int]
"""Start, end, number of counted requests, and the end in seconds since 1970, rounded up."""


class WindowState(Struct, frozen=True):
    """The state of a window after a request was counted."""

    limit: int
    remaining: int
    reset: int
    """Seconds since 1970 at which the window ends, rounded up."""
    exceeded: bool
    again: bool = False
    """Whether it was exceeded before."""


class Windows:
    """Counts requests by key. Called under the world's lock."""

    _SWEEP_AT = 10_000

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[Key, _Window] = {}
        self.outlives = False
        """Whether changes are recorded, and so collected."""
        self._before: dict[Key, _Window | None] = {}
        """The earlier state of the windows that changed since they were last recorded."""

    def count(self, key: tuple[str, ...], limit: int, seconds: float) -> WindowState:
        """Count one request; the first one beyond the limit, and all after it, exceed it.

        If the clock was set to a time before the window's start, a new window starts.
        """
        now = self._clock.now()
        start, end, used, reset = self._find(key, now, seconds)
        # The count stops one beyond the limit, so that a client that goes on for ever changes
        # nothing that has to be recorded. Windows that are over are only removed when there are
        # very many: looking for them at each request would cost more than they take.
        if len(self._open) >= self._SWEEP_AT:
            for over in [k for k, v in self._open.items() if not v[0] <= now < v[1]]:
                self._note(over)
                del self._open[over]
        exceeded = used >= limit
        if self.outlives:
            self._note(key)
        self._open[key] = start, end, limit + 1 if exceeded else used + 1, reset
        return WindowState(
            limit, 0 if exceeded else limit - used - 1, reset, exceeded, used > limit
        )

    def is_over(self, key: Key) -> bool:
        """Return whether a window was there and has ended."""
        found = self._open.get(key)
        return found is not None and self._clock.now() >= found[1]

    def look(self, key: Key, limit: int, seconds: float) -> WindowState:
        """Return the state of a window without counting; one that is not open is a full new one."""
        _, _, used, reset = self._find(key, self._clock.now(), seconds)
        return WindowState(limit, max(0, limit - used), reset, used > limit)

    def _find(self, key: Key, now: datetime, seconds: float) -> _Window:
        """Return the window that is open now, or a new one.

        A window is open as long as the clock is inside it. A clock that was set back is before its
        start: the window would then stay for as long as the clock was moved, so a new one begins.
        """
        found = self._open.get(key)
        if found is not None and found[0] <= now < found[1]:
            return found
        end = now + timedelta(seconds=seconds)
        return now, end, 0, _round_up(end)

    def list_ends(self) -> list[tuple[str, datetime]]:
        """Return the names of the open windows, each with its end."""
        now = self._clock.now()
        return [(_name(key), end) for key, (at, end, *_) in self._open.items() if at <= now < end]

    def forget(self, start: Key) -> None:
        """Delete the windows whose keys start so."""
        for key in [each for each in self._open if each[: len(start)] == start]:
            self._note(key)
            del self._open[key]

    def clear(self) -> None:
        """Delete all windows of the world."""
        self._open = {}

    def mark(self) -> Mapping[Key, _Window]:
        """Return the windows, for `put_back` after a `clear`."""
        return self._open

    def put_back(self, windows: Mapping[Key, _Window]) -> None:
        """Restore the windows from `mark`."""
        self._open = dict(windows)

    # -- recording -----------------------------------------------------------------------------

    def read_records(self) -> Beside:
        """Return all windows as records."""
        return {(TABLE, _name(key)): _record(key, window) for key, window in self._open.items()}

    def pending(self) -> Beside:
        """Return those that changed since they were last recorded."""
        found = {}
        for key, before in self._before.items():
            window = self._open.get(key)
            if window != before:
                found[TABLE, _name(key)] = None if window is None else _record(key, window)
        return found

    def mark_recorded(self) -> None:
        """Called when the pending changes were recorded."""
        self._before.clear()

    def undo(self) -> None:
        """The pending changes could not be recorded: those requests do not count."""
        for key, before in self._before.items():
            if before is None:
                self._open.pop(key, None)
            else:
                self._open[key] = before
        self._before.clear()

    def resume(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        """Continue with the windows that were recorded."""
        self._open = {
            tuple(record["key"]): _read(record) for record in tables.get(TABLE, {}).values()
        }

    def _note(self, key: Key) -> None:
        """Remember how a window is that is about to change, if changes are recorded."""
        # Only the first change since the last commit is noted: that is what to return to if the
        # next commit fails.
        if self.outlives:
            self._before.setdefault(key, self._open.get(key))


def _name(key: Key) -> str:
    return "/".join([quote(part, safe="") for part in key])


def _round_up(moment: datetime) -> int:
    return math.ceil(moment.timestamp())


def _read(record: Record) -> _Window:
    end = datetime.fromisoformat(record["end"])
    return datetime.fromisoformat(record["start"]), end, record["used"], _round_up(end)


def _record(key: Key, window: _Window) -> Record:
    start, end, used, _ = window
    return {
        "id": _name(key),
        "key": list(key),
        "start": start.isoformat(),
        "end": end.isoformat(),
        "used": used,
    }


# Remembers OAuth nonces, so that a signed request cannot be sent twice.


class KeptNonces(Protocol):
    """The nonces of a world that outlive this process."""

    def use(self, nonce: str, mark: float, *, now: int, until: int) -> bool:
        """Return whether a nonce is new; remembers it until then, epoch seconds.

        `mark`, from 0 up to 1, is of this use: a repetition of it finds the nonce new as well.
        """

    def give_back(self, nonce: str) -> bool:
        """Forget a nonce, as if it had not been used; return whether that was possible."""

    def clear(self) -> None:
        """Delete all nonces of the world."""


Nonce = tuple[str, str, str, int]
"""A nonce with its key, its token and its timestamp."""
_Use = tuple[int, float]
"""Until when a nonce is remembered, and the mark of its use."""
_MARKS = 1 << 20
"""So many marks fit into a floating-point number beside the seconds since 1970."""


class Nonces:
    """Nonces within the timestamp tolerance; older ones need not be remembered. Thread-safe."""

    def __init__(self) -> None:
        self._seen: dict[Nonce, _Use] = {}
        """Those that were used, with their first uses."""
        self._doubtful: dict[Nonce, _Use] = {}
        """Those that count as new, and may be kept all the same, with their first uses."""
        self._queue: deque[tuple[int, Nonce]] = deque()
        self._lock = threading.Lock()
        self.kept: KeptNonces | None = None
        """Those that earlier owners of the world saw as well; `None` if none are kept."""

    def first_use(
        self, consumer_key: str, token: str, nonce: str, timestamp: int, *, now: int, keep: int
    ) -> bool:
        """Return whether this combination is new; remembers it while its timestamp is valid.

        Args:
            consumer_key: The app's key.
            token: The token of the request, or an empty text.
            nonce: The client's nonce.
            timestamp: The client's timestamp, epoch seconds.
            now: The machine's time, epoch seconds.
            keep: The tolerance for timestamps in seconds.
        """
        entry = (consumer_key, token, nonce, timestamp)
        with self._lock:
            # The queue is in the order of arrival, and so nearly in the order in which nonces end;
            # looking at its front is enough to keep the memory bounded.
            while self._queue and self._queue[0][0] < now:
                _, old = self._queue.popleft()
                self._seen.pop(old, None)
                self._doubtful.pop(old, None)
            if entry in self._seen:
                return False
            # A timestamp may be up to `keep` in the future and is accepted for `keep` after that.
            until = now + 2 * keep + 1
            self._queue.append((until, entry))
            if self.kept is None:
                self._seen[entry] = until, 0.0
                return True
            # The nonce may have to be forgotten on an engine that cannot be reached at that moment.
            # Then the engine may still have it, and would refuse the client's repetition as a
            # second use. So each use has a mark; the repetition is sent with the same one, and with
            # the same end although it comes later, and the engine takes it for the same use.
            use = self._doubtful.get(entry)
            if use is None:
                use = self._doubtful[entry] = until, int.from_bytes(os.urandom(3)) % _MARKS / _MARKS
            fresh = self.kept.use(_write(entry), use[1], now=now, until=use[0])
            self._seen[entry] = self._doubtful.pop(entry)
            return fresh

    def give_back(self, consumer_key: str, token: str, nonce: str, timestamp: int) -> None:
        """Forget a combination whose request changed nothing, so that it can be sent again."""
        entry = (consumer_key, token, nonce, timestamp)
        with self._lock:
            use = self._seen.pop(entry, None)
            if use is None or self.kept is None or self.kept.give_back(_write(entry)):
                return
            self._doubtful[entry] = use

    def clear(self) -> None:
        """Delete all nonces of the world."""
        with self._lock:
            self._seen.clear()
            self._queue.clear()
            self._doubtful.clear()
            if self.kept is not None:
                self.kept.clear()


def _write(entry: Nonce) -> str:
    consumer_key, token, nonce, timestamp = entry
    return "\n".join((consumer_key, token, str(timestamp), nonce))
