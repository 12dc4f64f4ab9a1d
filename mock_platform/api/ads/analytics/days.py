"""Days of an ad account in its own time zone, and how activity spreads over a day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mock_platform.world.store.interface import Record


def read_timezone(account: Record) -> tzinfo:
    """Return the time zone of an account; UTC if its name is unknown."""
    try:
        return ZoneInfo(account["timezone"])
    except (ValueError, ZoneInfoNotFoundError):
        return UTC


def list_days(begin: int, timezone: tzinfo) -> Iterator[tuple[int, int]]:
    """Yield start and end of each day in seconds, from the one that contains a moment."""
    # Midnight is looked up for each date, because a day has 23 or 25 hours when the clocks change.
    day = datetime.fromtimestamp(begin, timezone).date()
    start = _find_midnight(day.year, day.month, day.day, timezone)
    while True:
        day += timedelta(days=1)
        end = _find_midnight(day.year, day.month, day.day, timezone)
        yield start, end
        start = end


def _find_midnight(year: int, month: int, day: int, timezone: tzinfo) -> int:
    return int(datetime(year, month, day, tzinfo=timezone).timestamp())


# How activity spreads over a day: keyword insights and figures of ads follow the same hours.

BY_HOUR = (
    34, 26, 20, 17, 15, 16, 21, 31, 42, 50, 55, 58,
    61, 62, 61, 60, 61, 64, 69, 75, 80, 78, 66, 48,
)  # fmt: skip
"""Relative volumes of the hours of a day, UTC."""
HOUR_SECONDS = 3_600
DAY_SECONDS = 24 * HOUR_SECONDS
