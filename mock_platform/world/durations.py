"""Durations as people write them: `500ms`, `90s`, `15m`, `1h`, `1d`, `1h30m`."""

from __future__ import annotations

import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = r"(?:[0-9]{1,12}(?:\.[0-9]{1,6})?)(?:ms|s|m|h|d)"
DURATION_PATTERN = rf"(?:{_PART}){{1,5}}"
"""The form of a duration with units, for Python and JSON Schema."""
DURATION_EXAMPLES = "500ms, 90s, 15m, 1h, 1d"
_WHOLE = re.compile(DURATION_PATTERN, re.ASCII)
_SINGLE = re.compile(r"([0-9.]+)(ms|s|m|h|d)", re.ASCII)


def parse_duration(text: str) -> float:
    """Returns the seconds of a duration that is written with units.

    Raises:
        ValueError: The text has another form.
    """
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f"not a duration such as {DURATION_EXAMPLES}")
    parts = _SINGLE.findall(text)
    return round(sum(float(number) * _UNITS[unit] for number, unit in parts), 6)


def read_seconds(value: float | str) -> float:
    """Returns the seconds of a number of them, or of a duration that is written with units.

    Raises:
        ValueError: A text has another form.
    """
    return parse_duration(value) if isinstance(value, str) else value
