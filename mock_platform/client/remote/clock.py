"""The clock of a world on a server elsewhere."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from mock_platform.client.moments import count_seconds, format_moment
from mock_platform.client.remote.control import Control
from mock_platform.world.clock import Instant, parse_instant


class RemoteClock:
    """The clock of a world in this process."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def now(self) -> datetime:
        """Returns the current moment of the world, in UTC."""
        return parse_instant(self._control.ask("GET", "/clock")["now"])

    @property
    def frozen(self) -> bool:
        """Whether the clock is stopped."""
        frozen: bool = self._control.ask("GET", "/clock")["frozen"]
        return frozen

    def freeze(self, to: Instant | None = None) -> datetime:
        """Stop the clock, now or at a moment; returns the moment."""
        return self._put(action="freeze", **({} if to is None else {"to": format_moment(to)}))

    def travel(self, to: Instant) -> datetime:
        """Set the clock to a moment and return it; a running clock continues from there."""
        return self._put(action="travel", to=format_moment(to))

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Move the clock by a duration (negative: back); returns the new moment."""
        step = count_seconds(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._put(action="advance", seconds=step)

    def resume(self) -> datetime:
        """Start the clock again at its current moment; returns the moment."""
        return self._put(action="resume")

    def _put(self, **body: Any) -> datetime:
        return parse_instant(self._control.ask("PUT", "/clock", body)["now"])
