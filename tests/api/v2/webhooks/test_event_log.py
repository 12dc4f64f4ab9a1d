from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mock_platform.api.v2.webhooks.event_log import parse_minute, spell_minute


@pytest.mark.spec("A, Limits", "from_date, to_date", side="inside")
def test_a_minute_is_read_and_written() -> None:
    """`yyyymmddhhmm` is a moment of UTC and comes back as it was."""
    moment = parse_minute("202602281759")
    assert datetime(2026, 2, 28, 17, 59, tzinfo=UTC) == moment
    assert "202602281759" == spell_minute(moment + timedelta(seconds=59.9))


@pytest.mark.parametrize(
    "text", ["202602301200", "202613010000", "202600010000", "202601012400", "202601010060",
             "000001010000"],
)  # fmt: skip
def test_a_minute_that_the_calendar_lacks_is_refused(text: str) -> None:
    """Days, months, hours, minutes and years must exist."""
    with pytest.raises(ValueError, match=r"out of range|must be in|day"):
        parse_minute(text)


def test_the_leap_day_exists_in_leap_years_alone() -> None:
    """29 February is a day of 2028 and none of 2026."""
    assert 29 == parse_minute("202802290000").day
    with pytest.raises(ValueError, match="day"):
        parse_minute("202602290000")
