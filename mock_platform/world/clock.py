"""The only door to real time, and a world's clock: it runs, stands still, travels, advances."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

_INSTANT = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
    r"(?:([Zz])|([+-])(\d{2}):?(\d{2}))?)?",
    re.ASCII,
)

_RELATIVE = re.compile(r"now(?:([+-])(\d{1,5})([smhd]))?", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

Instant = datetime | str
"""A moment as people write it: a datetime that knows its offset from UTC, or ISO 8601 text."""

UPTIME = time.monotonic
"""Seconds that only ever grow, for measuring how long something took."""


def machine_now() -> datetime:
    """The machine's own time, UTC: for what happens outside any world (clients' signatures)."""
    return datetime.fromtimestamp(machine_seconds(), UTC)


def machine_seconds() -> float:
    """The machine's own time in seconds since 1970."""
    return time.time()  # noqa: TID251 - this is the door


def parse_instant(text: str) -> datetime:
    """An ISO 8601 instant as UTC: a date, minutes, seconds or fractions; no offset means UTC.

    Week dates, the basic form and a space between date and time, which some parsers take, are
    refused.

    Raises:
        ValueError: The text has another form, or names no real moment.
    """
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise ValueError("not an ISO 8601 date-time such as 2026-11-20T10:00:00Z")
    year, month, day, hour, minute, second, fraction, _zulu, sign, off_h, off_m = found.groups()
    moment = datetime(
        int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0),
        int((fraction or "0").ljust(6, "0")[:6]), tzinfo=UTC,
    )  # fmt: skip
    if sign is not None:
        if int(off_h) > 23 or int(off_m) > 59:
            raise ValueError("offset from UTC out of range")
        offset = timedelta(hours=int(off_h), minutes=int(off_m))
        try:
            moment = moment - offset if sign == "+" else moment + offset
        except OverflowError as fault:
            raise ValueError("date out of range") from fault
    return moment


def moment(value: Instant) -> datetime:
    """A moment from a datetime or ISO 8601 text (without offset: UTC).

    Raises:
        ValueError: It is none, or a datetime without offset from UTC.
        TypeError: It is neither a datetime nor text.
    """
    if isinstance(value, str):
        return parse_instant(value)
    if not isinstance(value, datetime):
        raise TypeError(f"an instant is a datetime or ISO 8601 text, not {value!r}")
    if value.tzinfo is None:
        raise ValueError(f"{value!r} does not say its offset from UTC: give it tzinfo=UTC")
    return value


def parse_relative(text: str) -> timedelta | None:
    """`now`, `now-2h`, `now+30m` as a distance from now (units s, m, h, d); `None` otherwise."""
    found = _RELATIVE.fullmatch(text)
    if found is None:
        return None
    sign, number, unit = found.groups()
    distance = timedelta(seconds=int(number or 0) * _UNITS[unit or "s"])
    return -distance if sign == "-" else distance


def wire_seconds(moment: datetime) -> str:
    """The advertising interface's form: `2026-11-20T10:00:00Z`."""
    return moment.isoformat(timespec="seconds")[:19] + "Z"  # strftime drops zeros from years


def epoch_millis(moment: datetime) -> str:
    """Milliseconds since 1970 as text, as events write some of their moments: `1795255200000`."""
    return str(round(moment.timestamp() * 1000))


def wire_millis(moment: datetime) -> str:
    """The v2 interface's form, with milliseconds: `2026-11-20T10:00:00.000Z`."""
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""A clock stays from the one until before the other: a day before and years after are dates too."""


ClockState = tuple[timedelta, datetime | None]
"""How far a clock is from the machine's time, and where it stands if it does."""


class Clock:
    """A world's time. It runs with real time unless it was frozen or sent elsewhere.

    Nothing below the edge reads real time; everything that depends on time reads a clock.
    Each jump is recorded first, by whoever keeps the clock, under the given lock: if that raises,
    the clock stays as it was. Listeners are told after it, so that whoever waits for a moment looks
    again.
    """

    def __init__(
        self,
        frozen_at: datetime | None = None,
        *,
        lock: AbstractContextManager[object] | None = None,
        record: Callable[[], None] | None = None,
    ) -> None:
        # One value, replaced as a whole: whoever reads during a jump sees before or after it.
        self._state: ClockState = (timedelta(), None if frozen_at is None else _utc(frozen_at))
        self._lock = lock or threading.Lock()
        self._record = record
        self._listeners: list[Callable[[], None]] = []

    def now(self) -> datetime:
        """The present moment of the world, UTC."""
        offset, frozen = self._state
        return machine_now() + offset if frozen is None else frozen

    @property
    def frozen(self) -> bool:
        """Whether time stands still."""
        return self._state[1] is not None

    def freeze(self, to: datetime | None = None) -> None:
        """Stand still, now or at the given instant.

        Raises:
            ValueError: The instant has no offset from UTC, or lies out of the bounds.
        """
        with self._lock:
            self._jump((self._state[0], self.now() if to is None else _utc(to)))
        self.call_listeners()

    def travel(self, to: datetime) -> None:
        """Jump to an instant; a running clock runs on from there, a frozen one stands there.

        Raises:
            ValueError: The instant has no offset from UTC, or lies out of the bounds.
        """
        to = _utc(to)
        with self._lock:
            offset, frozen = self._state
            self._jump((to - machine_now(), None) if frozen is None else (offset, to))
        self.call_listeners()

    def advance(self, seconds: float) -> None:
        """Move by so many seconds (fractions and negative numbers allowed).

        Raises:
            OverflowError: The result is no date.
            ValueError: It lies out of the bounds, or `seconds` is no number.
        """
        step = timedelta(seconds=seconds)
        with self._lock:
            offset, frozen = self._state
            moved = _require_in_bounds(self.now() + step)
            self._jump((offset + step, None) if frozen is None else (offset, moved))
        self.call_listeners()

    def resume(self) -> None:
        """Run on from the present moment."""
        with self._lock:
            frozen = self._state[1]
            if frozen is not None:
                self._jump((frozen - machine_now(), None))
        self.call_listeners()

    def real_seconds_until(self, moment: datetime) -> float | None:
        """Real seconds until the clock reaches a moment; `None` while it stands before it."""
        offset, frozen = self._state
        now = machine_now() + offset if frozen is None else frozen
        remaining = (moment - now).total_seconds()
        return None if remaining > 0 and frozen is not None else max(0.0, remaining)

    def on_jump(self, listener: Callable[[], None]) -> None:
        """Ask to be told after each freeze, travel, advance and resume."""
        self._listeners.append(listener)

    def state(self) -> dict[str, Any]:
        """The clock as data, for snapshots and durable stores."""
        offset, frozen = self._state
        return {
            "offset_seconds": offset.total_seconds(),
            "frozen_at": None if frozen is None else frozen.isoformat(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Return to what `state` gave.

        Raises:
            TypeError, ValueError, OverflowError: It never gave this; nothing is changed.
        """
        read = read_state(state)
        with self._lock:
            self._jump(read)
        self.call_listeners()

    def mark(self) -> ClockState:
        """How the clock stands, for `put`."""
        return self._state

    def put(self, state: ClockState) -> None:
        """Stand as `mark` or `read_state` said, which nobody records and nobody is told."""
        self._state = state

    def call_listeners(self) -> None:
        """Let the listeners know that the clock jumped."""
        for listener in self._listeners:
            listener()

    def _jump(self, state: ClockState) -> None:
        before, self._state = self._state, state
        try:
            if self._record is not None:
                self._record()
        except BaseException:
            self._state = before
            raise


def read_state(state: Mapping[str, Any]) -> ClockState:
    """What `Clock.state` gave, as a clock takes it.

    Raises:
        TypeError, ValueError, OverflowError: It never gave this.
    """
    offset = timedelta(seconds=float(state.get("offset_seconds", 0)))
    _require_in_bounds(machine_now() + offset)
    given = state.get("frozen_at")
    return offset, None if given is None else _utc(datetime.fromisoformat(given))


def _utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no offset from UTC: add tzinfo=UTC")
    return _require_in_bounds(moment.astimezone(UTC))


def _require_in_bounds(moment: datetime) -> datetime:
    if not EARLIEST <= moment < LATEST:
        years = f"{EARLIEST.year} to {LATEST.year - 1}"
        raise ValueError(f"{moment.isoformat()} is outside the years {years}")
    return moment
