"""Days of an ad account."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest

from mock_platform.api.ads.analytics.versions import list_days, read_timezone


@pytest.mark.parametrize(("name", "begin", "hours"), [
    ("America/Los_Angeles", datetime(2026, 10, 31, 12, tzinfo=UTC), [24, 25, 24]),
    ("America/Los_Angeles", datetime(2026, 3, 7, 12, tzinfo=UTC), [24, 23, 24]),
    ("Asia/Kolkata", datetime(2026, 3, 7, 12, tzinfo=UTC), [24, 24, 24]),
])  # fmt: skip
def test_days_are_as_long_as_they_are_there(name: str, begin: datetime, hours: list[int]) -> None:
    """A day has 23 or 25 hours where the clocks change, and each begins where one ended."""
    found = list(islice(list_days(int(begin.timestamp()), read_timezone({"timezone": name})), 3))

    assert [(end - start) // 3600 for start, end in found] == hours
    assert found[0][0] <= begin.timestamp() < found[0][1] == found[1][0]


@pytest.mark.parametrize("name", ["Nowhere/Land", "../etc", ""])
def test_an_unknown_time_zone(name: str) -> None:
    """Days are those of UTC."""
    assert read_timezone({"timezone": name}) is UTC
