"""What a campaign, line item or ad was like at each moment of its life, from the account's history.

Figures of the past must not change when somebody changes a record today. So they are computed from
the record as it was then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from mock_platform.core.assumptions import expectation
from mock_platform.world.clock import parse_instant
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

STATS_PAST = expectation(
    "stats.past",
    "Figures of the past follow from the record as it was then, as the account's history says. A "
    "record whose status the history does not mention always had its present one; a deleted one "
    "without an entry was deleted when it was updated last.",
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Version(NamedTuple):
    """A record as it was from `since` (seconds since 1970) until its next version."""

    since: int
    record: Record


def list_versions(world: World, entity: str, record: Record) -> list[Version]:
    """Return the versions of a record, oldest first; the first one begins with its creation."""
    match = {
        # The history says what fields were before each change. So the walk begins with the record
        # as it is now and goes back in time, putting the older values in place; what comes out is
        # turned round at the end.
        "_account_id": record["_account_id"],
        "entity": entity,
        "entity_id": record["id"],
    }
    entries = [entry.record for entry in world.store.page("account_history", match)]
    found: list[Version] = []
    present = record
    if record["deleted"] and not any(_find_old_values(e).get("deleted") is False for e in entries):
        found.append(Version(read_seconds(record["updated_at"]), present))
        present = present | {"deleted": False}
    # Sorted forwards and walked backwards: sorting backwards keeps the order of equal times, and
    # the first of the changes of one second would be undone first.
    entries.sort(key=lambda e: e["change_time"])
    for entry in reversed(entries):
        old = _find_old_values(entry)
        if old:
            found.append(Version(read_seconds(entry["change_time"]), present))
            present = present | old
    found.append(Version(read_seconds(record["created_at"]), present))
    found.reverse()
    return found


def find_version(versions: Sequence[Version], at: int) -> Record | None:
    """Return the record as it was at a moment; `None` before its creation."""
    found = None
    for version in versions:
        if version.since > at:
            break
        found = version.record
    return found


def read_seconds(text: str) -> int:
    """Return a moment of a record in seconds since 1970."""
    return to_seconds(parse_instant(text))


def to_seconds(moment: datetime) -> int:
    """Return a moment in whole seconds since 1970."""
    return int((moment - _EPOCH).total_seconds())


def _find_old_values(entry: Record) -> dict[str, Any]:
    """Return what the fields that an entry of the history names were before it."""
    return {
        name: change["before"]
        for name, change in entry["changes"].items()
        if isinstance(change, dict) and "before" in change
    }


# Days of an account in its own time zone.


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
