from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mock_platform.api.v2.webhooks.event_log import check_window, parse_minute, spell_minute
from mock_platform.core.call import Call
from mock_platform.settings import Settings
from mock_platform.world.blueprint import Blueprint, WorldSettings
from mock_platform.world.store.memory import Base
from mock_platform.world.world import World

NOW = datetime(2026, 11, 20, 10, 31, 30, tzinfo=UTC)


def faults(
    from_date: str | None, to_date: str | None, *, minimum_age: bool = False
) -> list[tuple[str, str]]:
    """What the window's rules say half a minute past 10:31."""
    world = World("default", Blueprint(Base(), settings=WorldSettings(freeze=NOW)))
    sent = {"from_date": from_date, "to_date": to_date}
    given = {name: value for name, value in sent.items() if value is not None}
    call = Call("POST", "http://localhost/", "/", "http://localhost", [])
    settings = Settings(replay_minimum_age=minimum_age)
    return list(check_window(given, call, world, settings))


def minutes_ago(minutes: int) -> str:
    """A minute so many minutes before the present one."""
    return spell_minute(NOW - timedelta(minutes=minutes))


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


NOW_TEXT = "202611201031"


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (24 * 60, 0, []),
        (24 * 60 + 1, 0, [
            ("from_date", "from_date may lie at most 24 hours back: it is before 202611191031, got "
             "202611191030")]),
        (0, 0, []),
        (-1, -1, [
            ("from_date", f"from_date must not be in the future: it is after {NOW_TEXT}, got "
             "202611201032"),
            ("to_date", f"to_date must not be in the future: it is after {NOW_TEXT}, got "
             "202611201032")]),
        (60, 60, []),
        (59, 60, [
            ("from_date", "from_date must not be after to_date, got 202611200932 and "
             "202611200931")]),
        (30, 9, []),
        (None, 5, []),
    ],
)  # fmt: skip
def test_windows(start: int | None, end: int, expected: list[tuple[str, str]]) -> None:
    """A window reaches 24 hours back by the minute, ends now, and stands in order."""
    assert expected == faults(None if start is None else minutes_ago(start), minutes_ago(end))


def test_the_minimum_ages_apply_only_when_asked_for() -> None:
    """31 and 10 minutes: accepted exactly, refused a minute later, ignored by default."""
    assert [] == faults(minutes_ago(31), minutes_ago(10), minimum_age=True)
    assert [
        ("from_date", "from_date must be at least 31 minutes ago: it is after 202611201000, got "
         "202611201001"),
        ("to_date", "to_date must be at least 10 minutes ago: it is after 202611201021, got "
         "202611201022"),
    ] == faults(minutes_ago(30), minutes_ago(9), minimum_age=True)  # fmt: skip


def test_a_date_that_is_not_valid_by_itself_is_left_out() -> None:
    """Rules are checked on the dates that there are; the others have their own complaint."""
    assert ["from_date"] == [name for name, _ in faults(minutes_ago(2000), None)]


def test_everything_wrong_with_a_window_is_told_at_once() -> None:
    """A window that begins in the future and after its end has both faults."""
    texts = [text for _, text in faults(minutes_ago(-5), minutes_ago(2000))]
    assert 2 == len(texts)
    assert texts[0].startswith("from_date must not be in the future")
    assert texts[1].startswith("from_date must not be after to_date")
