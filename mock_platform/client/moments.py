"""Moments and lengths of time, as people write them in Python."""

from __future__ import annotations

from datetime import UTC, timedelta

from mock_platform.world.clock import Instant, moment


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
