"""Days of an ad account: they begin at midnight in its own time zone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mock_platform.store.interface import Record


def read_timezone(account: Record) -> tzinfo:
    """Return the time zone of an account; UTC if its name is unknown."""
    try:
        return ZoneInfo(account["timezone"])
    except (ValueError, ZoneInfoNotFoundError):
        return UTC


def list_days(begin: int, timezone: tzinfo) -> Iterator[tuple[int, int]]:
    """Yield start and end of each day in seconds, from the one that contains a moment."""
    day = datetime.fromtimestamp(begin, timezone).date()
    start = _find_midnight(day.year, day.month, day.day, timezone)
    while True:
        day += timedelta(days=1)
        end = _find_midnight(day.year, day.month, day.day, timezone)
        yield start, end
        start = end


def _find_midnight(year: int, month: int, day: int, timezone: tzinfo) -> int:
    return int(datetime(year, month, day, tzinfo=timezone).timestamp())
