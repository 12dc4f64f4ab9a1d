"""Converts moments and durations from Python's types."""

from __future__ import annotations

from datetime import UTC, timedelta

from mock_platform.world.clock import Instant, moment


def format_moment(value: Instant) -> str:
    """Returns a moment in the form that the control plane accepts, to the microsecond.

    Raises:
        ValueError: It is not a moment, or a datetime without offset from UTC.
        TypeError: It is neither a datetime nor text.
    """
    return moment(value).astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def count_seconds(*, days: float, hours: float, minutes: float, seconds: float) -> float:
    """Returns a duration in seconds.

    Raises:
        OverflowError: The duration is infinite or too large.
        ValueError: A part is not a number (`nan`).
        TypeError: A part has another type.
    """
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds).total_seconds()
