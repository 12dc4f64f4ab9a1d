"""Rate windows on a world's clock: fixed windows that begin with their first request."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from mock_platform.world.clock import Clock


@dataclass(frozen=True, slots=True)
class WindowState:
    """Where a window stands after a request was counted."""

    limit: int
    remaining: int
    reset: int
    """Epoch seconds at which the window ends, rounded up."""
    exceeded: bool


class Windows:
    """Counts requests by key. Called under the world's lock."""

    _SWEEP_AT = 10_000

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[tuple[str, ...], tuple[datetime, datetime, int]] = {}

    def count(self, key: tuple[str, ...], limit: int, seconds: float) -> WindowState:
        """Count one request; the first one beyond the limit, and all after it, are exceeded.

        A clock that was sent back before the window's start opens a new window.
        """
        now = self._clock.now()
        start, end, used = self._open.get(key, (now, now, 0))
        if not start <= now < end:
            start, end, used = now, now + timedelta(seconds=seconds), 0
        if len(self._open) >= self._SWEEP_AT:
            self._open = {k: v for k, v in self._open.items() if v[0] <= now < v[1]}
        self._open[key] = (start, end, min(used + 1, limit + 1))
        reset = math.ceil(end.timestamp())
        return WindowState(limit, max(0, limit - used - 1), reset, used >= limit)

    def clear(self) -> None:
        """Forget all windows."""
        self._open.clear()
