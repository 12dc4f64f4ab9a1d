"""Rate windows on a world's clock: fixed windows that start with their first request."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import quote

from msgspec import Struct

from mock_platform.store.interface import Beside, Record
from mock_platform.world.clock import Clock

TABLE = "@windows"
"""The table in which a durable world keeps its windows."""

Key = tuple[str, ...]
_Window = tuple[datetime, datetime, int]
"""Start, end, and number of counted requests."""


class WindowState(Struct, frozen=True):
    """The state of a window after a request was counted."""

    limit: int
    remaining: int
    reset: int
    """Seconds since 1970 at which the window ends, rounded up."""
    exceeded: bool


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
        start, end, used = self._open.get(key, (now, now, 0))
        if not start <= now < end:
            start, end, used = now, now + timedelta(seconds=seconds), 0
        if len(self._open) >= self._SWEEP_AT:
            for over in [k for k, v in self._open.items() if not v[0] <= now < v[1]]:
                self._put(over, None)
        self._put(key, (start, end, min(used + 1, limit + 1)))
        reset = math.ceil(end.timestamp())
        return WindowState(limit, max(0, limit - used - 1), reset, used >= limit)

    def clear(self) -> None:
        """Delete all windows of the world."""
        self._open = {}

    def mark(self) -> Mapping[Key, _Window]:
        """Returns the windows, for `put_back` after a `clear`."""
        return self._open

    def put_back(self, windows: Mapping[Key, _Window]) -> None:
        """Restore the windows from `mark`."""
        self._open = dict(windows)

    # -- recording -----------------------------------------------------------------------------

    def read_records(self) -> Beside:
        """Returns all windows as records."""
        return {(TABLE, _name(key)): _record(key, window) for key, window in self._open.items()}

    def pending(self) -> Beside:
        """Returns those that changed since they were last recorded."""
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
            tuple(record["key"]): (
                datetime.fromisoformat(record["start"]),
                datetime.fromisoformat(record["end"]),
                record["used"],
            )
            for record in tables.get(TABLE, {}).values()
        }

    def _put(self, key: Key, window: _Window | None) -> None:
        if self.outlives:
            self._before.setdefault(key, self._open.get(key))
        if window is None:
            del self._open[key]
        else:
            self._open[key] = window


def _name(key: Key) -> str:
    return "/".join([quote(part, safe="") for part in key])


def _record(key: Key, window: _Window) -> Record:
    start, end, used = window
    return {
        "id": _name(key),
        "key": list(key),
        "start": start.isoformat(),
        "end": end.isoformat(),
        "used": used,
    }
