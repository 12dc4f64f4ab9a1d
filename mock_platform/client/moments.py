"""Moments and lengths of time, as people write them in Python."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mock_platform.world.clock import parse_instant

Instant = datetime | str
"""A moment: a datetime that knows its offset from UTC, or ISO 8601 text."""


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


def wire(value: Instant) -> str:
    """A moment as the control plane takes it, to the microsecond.

    Raises:
        ValueError: It is none, or a datetime without offset from UTC.
        TypeError: It is neither a datetime nor text.
    """
    return moment(value).astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def seconds_in(*, days: float, hours: float, minutes: float, seconds: float) -> float:
    """A length of time in seconds.

    Raises:
        OverflowError: It is longer than any time.
        ValueError: A part is no number (`nan`).
        TypeError: A part is something else.
    """
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds()
