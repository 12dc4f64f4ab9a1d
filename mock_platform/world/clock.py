"""The only module that reads real time: a world's clock, instants, durations."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

_INSTANT = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
    r"(?:([Zz])|([+-])(\d{2}):?(\d{2}))?)?",
    re.ASCII,
)

_RELATIVE = re.compile(r"now(?:([+-])(\d{1,5})([smhd]))?", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

Instant = datetime | str
"""A moment as an argument: a datetime with its offset from UTC, or ISO 8601 text."""

UPTIME = time.monotonic
"""Seconds that only grow, to measure durations."""


_SLEEPING: int | None = getattr(
    time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC if sys.platform == "darwin" else None
)
"""The clock that counts sleep; `None` where `time.monotonic` does, as on Windows."""


def count_seconds() -> float:
    """Return seconds that only grow, also while the machine sleeps, which `UPTIME` may leave out.

    What another machine counts as well is measured with it: the end of a lease.
    """
    return time.monotonic() if _SLEEPING is None else time.clock_gettime(_SLEEPING)


def machine_now() -> datetime:
    """Return the machine's own time in UTC: for checks outside any world (signatures)."""
    return datetime.fromtimestamp(machine_seconds(), UTC)


def machine_seconds() -> float:
    """Return the machine's own time in seconds since 1970."""
    return time.time()  # noqa: TID251 - this is the door


def parse_instant(text: str, *, full: bool = False) -> datetime:
    """Return an ISO 8601 instant in UTC: a date, minutes, seconds or fractions.

    Some parsers also accept week dates, the basic form, and a space between date and time; these
    are refused. With `full`, so is a text without a time or without an offset from UTC.

    Raises:
        ValueError: The text has another form, or is not a real moment.
    """
    found = _INSTANT.fullmatch(text)
    if found is None:
        raise ValueError("not an ISO 8601 date-time such as 2026-11-20T10:00:00Z")
    year, month, day, hour, minute, second, fraction, zulu, sign, off_h, off_m = found.groups()
    if full and not zulu and not sign:
        raise ValueError("it needs a time and an offset from UTC, as in 2026-11-20T10:00:00Z")
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
        except OverflowError as error:
            raise ValueError("date out of range") from error
    return moment


def moment(value: Instant) -> datetime:
    """Return a moment from a datetime or ISO 8601 text (without offset: UTC).

    Raises:
        ValueError: It is not a moment, or a datetime without offset from UTC.
        TypeError: It is neither a datetime nor text.
    """
    if isinstance(value, str):
        try:
            return parse_instant(value)
        except ValueError as fault:
            why = str(fault) if str(fault).startswith("not ") else f"no moment: {fault}"
            raise ValueError(f"{value!r} is {why}") from fault
    if not isinstance(value, datetime):
        raise TypeError(f"an instant is a datetime or ISO 8601 text, not {value!r}")
    if value.tzinfo is None:
        raise ValueError(f"{value!r} does not say its offset from UTC: give it tzinfo=UTC")
    return value


def parse_relative(text: str) -> timedelta | None:
    """Return `now`, `now-2h`, `now+30m` as a distance from now (units s, m, h, d); else `None`."""
    found = _RELATIVE.fullmatch(text)
    if found is None:
        return None
    sign, number, unit = found.groups()
    distance = timedelta(seconds=int(number or 0) * _UNITS[unit or "s"])
    return -distance if sign == "-" else distance


def wire_seconds(moment: datetime) -> str:
    """Return a moment in the advertising interface's form: `2026-11-20T10:00:00Z`."""
    return moment.isoformat(timespec="seconds")[:19] + "Z"  # strftime drops zeros from years


def epoch_millis(moment: datetime) -> str:
    """Return milliseconds since 1970 as text, as in some events: `1795255200000`."""
    return str(round(moment.timestamp() * 1000))


def wire_millis(moment: datetime) -> str:
    """Return a moment in the v2 interface's form, as `2026-11-20T10:00:00.000Z`."""
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def format_date(moment: datetime) -> str:
    """Return a moment as `2026-03-01`, with the time as in `wire_seconds` unless it is midnight."""
    return wire_seconds(moment).removesuffix("T00:00:00Z")


EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
"""The bounds of a clock: one day before and many years after them are still valid dates."""


ClockState = tuple[timedelta, datetime | None]
"""The offset of a clock from the machine's time, and its moment if it is stopped."""


class Happening(NamedTuple):
    """Something that happened because the clock came to its moment."""

    at: datetime
    kind: str
    """`transition`, `scheduled_post`, `expiry`, `window`, `challenge` (of a webhook) or `feed`."""
    table: str | None
    """The table of its record; `None` for a window."""
    id: str
    """The key of its record, or the name of the window."""


class Clock:
    """A world's time. It follows real time unless it was stopped or set.

    No code below the edge reads real time; everything that depends on time reads a clock. Each jump
    is first recorded by the owner of the clock, under the given lock: if that raises, the clock
    does not change. Listeners are called after it, so that waiting code checks again.

    Example:
        >>> clock = Clock(parse_instant("2026-11-20T10:00:00Z"))
        >>> clock.advance(90)
        >>> wire_seconds(clock.now()), clock.frozen
        ('2026-11-20T10:01:30Z', True)
    """

    def __init__(
        self,
        frozen_at: datetime | None = None,
        *,
        lock: AbstractContextManager[object] | None = None,
        record: Callable[[], None] | None = None,
    ) -> None:
        # One value that is replaced as a whole: a reader during a jump sees the old or the new one.
        self._state: ClockState = (timedelta(), None if frozen_at is None else _utc(frozen_at))
        self._held: datetime | None = None
        self._latest: tuple[int, datetime] = (-1, EARLIEST)
        self.jumps = 0
        """How often it was frozen, set, moved or started."""
        self._lock = lock or threading.Lock()
        self._record = record
        self._listeners: list[Callable[[], None]] = []

    def now(self) -> datetime:
        """Return the current moment of the world, in UTC."""
        held = self._held
        if held is not None:
            return held
        offset, frozen = self._state
        return machine_now() + offset if frozen is None else frozen

    def hold(self, moment: datetime, jumps: int) -> datetime:
        """Be at a moment until `let_go`, and return it: a request happens at that at which it came.

        It is the current moment if the clock has jumped since it had that number of `jumps`. Called
        under the world's lock. A jump ends it.
        """
        # One that waited for the lock comes after those that were answered meanwhile: else its
        # records would be older than theirs, and who asks for what is new would never see them.
        self._held = None
        held = moment if jumps == self.jumps else self.now()
        jumped, latest = self._latest
        if jumped == self.jumps and latest > held:
            held = latest
        self._latest = self.jumps, held
        self._held = held
        return held

    def let_go(self) -> None:
        """Follow the time again."""
        self._held = None

    @property
    def frozen(self) -> bool:
        """Whether the clock is stopped."""
        return self._state[1] is not None

    def freeze(self, to: datetime | None = None) -> None:
        """Stop the clock, now or at the given instant.

        Raises:
            ValueError: The instant has no offset from UTC, or is out of bounds.
        """
        with self._lock:
            self._jump((self._state[0], self.now() if to is None else _utc(to)))
        self.call_listeners()

    def travel(self, to: datetime) -> None:
        """Set the clock to an instant; a running clock continues from there.

        Raises:
            ValueError: The instant has no offset from UTC, or is out of bounds.
        """
        to = _utc(to)
        with self._lock:
            offset, frozen = self._state
            self._jump((to - machine_now(), None) if frozen is None else (offset, to))
        self.call_listeners()

    def advance(self, seconds: float) -> None:
        """Move the clock by a number of seconds (fractions and negative numbers are allowed).

        Raises:
            OverflowError: The result is not a possible date.
            ValueError: The result is out of bounds, or `seconds` is not a number.
        """
        step = timedelta(seconds=seconds)
        with self._lock:
            offset, frozen = self._state
            moved = _require_in_bounds(self.now() + step)
            self._jump((offset + step, None) if frozen is None else (offset, moved))
        self.call_listeners()

    def resume(self) -> None:
        """Start the clock again at its current moment."""
        with self._lock:
            frozen = self._state[1]
            if frozen is not None:
                self._jump((frozen - machine_now(), None))
        self.call_listeners()

    def real_seconds_until(self, moment: datetime) -> float | None:
        """Return the real seconds until a moment; `None` if the clock is stopped before it."""
        offset, frozen = self._state
        now = machine_now() + offset if frozen is None else frozen
        remaining = (moment - now).total_seconds()
        return None if remaining > 0 and frozen is not None else max(0.0, remaining)

    def on_jump(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each freeze, travel, advance and resume."""
        self._listeners.append(listener)

    def release(self) -> None:
        """Forget the listeners and who records jumps: their world has ended."""
        self._record = None
        self._listeners.clear()

    def state(self) -> dict[str, Any]:
        """Return the clock as data, for snapshots and durable stores."""
        offset, frozen = self._state
        return {
            "offset_seconds": offset.total_seconds(),
            "frozen_at": None if frozen is None else frozen.isoformat(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Set the clock to the data that `state` returned.

        Raises:
            TypeError, ValueError, OverflowError: The data do not come from `state`; the clock does
                not change.
        """
        read = read_state(state)
        with self._lock:
            self._jump(read)
        self.call_listeners()

    def mark(self) -> ClockState:
        """Return the data of the clock, for `put`."""
        return self._state

    def put(self, state: ClockState) -> None:
        """Set the clock to `mark` or `read_state`, without recording or calling listeners."""
        if state is not self._state:
            self._state = state
            self.jumps += 1

    def call_listeners(self) -> None:
        """Call the listeners after the clock jumped."""
        for listener in self._listeners:
            listener()

    def _jump(self, state: ClockState) -> None:
        # The jump is visible to the function that records it, since that writes the new state of
        # the clock. If it cannot be written, the clock returns to where it was.
        before, self._state, self._held = self._state, state, None
        self.jumps += 1
        try:
            if self._record is not None:
                self._record()
        except BaseException:
            self._state = before
            raise


def read_state(state: Mapping[str, Any]) -> ClockState:
    """Return the clock's data from `Clock.state`.

    Raises:
        TypeError, ValueError, OverflowError: The data do not come from `Clock.state`.
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


# Durations as people write them: `500ms`, `90s`, `15m`, `1h`, `1d`, `1h30m`.

_DURATIONS_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = r"(?:[0-9]{1,12}(?:\.[0-9]{1,6})?)(?:ms|s|m|h|d)"
DURATION_PATTERN = rf"(?:{_PART}){{1,5}}"
"""The form of a duration with units, for Python and JSON Schema."""
DURATION_EXAMPLES = "500ms, 90s, 15m, 1h, 1d"
_WHOLE = re.compile(DURATION_PATTERN, re.ASCII)
_SINGLE = re.compile(r"([0-9.]+)(ms|s|m|h|d)", re.ASCII)


def parse_duration(text: str) -> float:
    """Return the seconds of a duration that is written with units.

    Raises:
        ValueError: The text has another form.
    """
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f"not a duration such as {DURATION_EXAMPLES}")
    parts = _SINGLE.findall(text)
    return round(sum(float(number) * _DURATIONS_UNITS[unit] for number, unit in parts), 6)


def parse_step(text: str) -> float:
    """Return the seconds of a step of a clock: a duration, with `-` before it to go back.

    Raises:
        ValueError: The text has another form.
    """
    return -parse_duration(text[1:]) if text.startswith("-") else parse_duration(text)


def read_seconds(value: float | str) -> float:
    """Return the seconds of a number of them, or of a duration that is written with units.

    Raises:
        ValueError: A text has another form.
    """
    return parse_duration(value) if isinstance(value, str) else value
