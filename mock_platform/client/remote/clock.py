"""The clock of a world elsewhere."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from mock_platform.client.moments import seconds_in, wire
from mock_platform.client.remote.control import Control
from mock_platform.world.clock import Instant, parse_instant


class RemoteClock:
    """The clock of a world."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def now(self) -> datetime:
        """The present moment of the world, UTC."""
        return parse_instant(self._control.ask("GET", "/clock")["now"])

    @property
    def frozen(self) -> bool:
        """Whether time stands still."""
        frozen: bool = self._control.ask("GET", "/clock")["frozen"]
        return frozen

    def freeze(self, to: Instant | None = None) -> datetime:
        """Stand still, now or at a moment; returns the moment."""
        return self._put(action="freeze", **({} if to is None else {"to": wire(to)}))

    def travel(self, to: Instant) -> datetime:
        """Jump to a moment and return it; a running clock runs on from there."""
        return self._put(action="travel", to=wire(to))

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> datetime:
        """Move by so much (negative: back); returns the new moment."""
        step = seconds_in(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return self._put(action="advance", seconds=step)

    def resume(self) -> datetime:
        """Run on from the present moment, and return it."""
        return self._put(action="resume")

    def _put(self, **body: Any) -> datetime:
        return parse_instant(self._control.ask("PUT", "/clock", body)["now"])
