from __future__ import annotations

import re

import pytest

from mock_platform.world.clock import DURATION_PATTERN, parse_duration, read_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("500ms", 0.5),
        ("2s", 2),
        ("1.5s", 1.5),
        ("15m", 900),
        ("1h", 3600),
        ("1d", 86400),
        ("1h30m", 5400),
        ("0s", 0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    """A number with a unit is so many seconds; several add up."""
    assert seconds == parse_duration(text) == read_seconds(text)


@pytest.mark.parametrize("text", ["", "5", "s", "2 s", "-2s", "2w", "1,5s", "2s ", "٢s", "1h30"])
def test_no_durations(text: str) -> None:
    """Anything else is refused, by the pattern as well."""
    assert re.fullmatch(DURATION_PATTERN, text, re.ASCII) is None
    with pytest.raises(ValueError, match="not a duration such as 500ms"):
        parse_duration(text)


def test_a_number_is_seconds() -> None:
    """Plain numbers stay seconds."""
    assert 2.5 == read_seconds(2.5)
