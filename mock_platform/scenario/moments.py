"""The forms of durations and instants in scenarios."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from mock_platform.scenario.forms import (
    Form,
    JsonSchema,
    NumberForm,
    Path,
    Report,
    WholeForm,
    quote,
)
from mock_platform.world.clock import parse_instant
from mock_platform.world.durations import DURATION_EXAMPLES, DURATION_PATTERN, parse_duration

MAX_DELAY_SECONDS = 300.0
_INSTANT_PATTERN = (
    r"^\d{4}-\d{2}-\d{2}([Tt]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$"
)


class DurationForm(Struct, frozen=True):
    """Seconds as a number, or a text with units such as `500ms`; `whole` allows no fractions."""

    low: float
    high: float
    whole: bool = False

    def schema(self) -> JsonSchema:
        """Return the number or the text."""
        number = self._number().schema()
        kinds = [number["type"], "string"]
        return {**number, "type": kinds, "pattern": f"^{DURATION_PATTERN}$"}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value that is no duration, or one out of bounds."""
        if not isinstance(value, str):
            self._number().check(value, at, report)
            return
        try:
            seconds = parse_duration(value)
        except ValueError as fault:
            report(at, f"expected seconds or a duration with units, got {quote(value)}, {fault}")
            return
        if not self.low <= seconds <= self.high:
            report(at, f"expected {self.low:g} to {self.high:,.0f} seconds, got {quote(value)}, "
                   f"which is {seconds:,.10g}")  # fmt: skip
        elif self.whole and seconds != int(seconds):
            report(at, f"expected whole seconds, got {quote(value)}, which is {seconds:g}")

    def _number(self) -> Form:
        if self.whole:
            return WholeForm(int(self.low), int(self.high))
        return NumberForm(self.low, self.high)


def is_duration(text: str) -> bool:
    """Return whether a text is a duration with units."""
    try:
        parse_duration(text)
    except ValueError:
        return False
    return True


DELAY = DurationForm(0, MAX_DELAY_SECONDS)
DELAY_WORDS = f"seconds, a duration ({DURATION_EXAMPLES})"


class InstantForm(Struct, frozen=True):
    """A moment in ISO 8601; without an offset it is UTC."""

    def schema(self) -> JsonSchema:
        """Return a text in the form of a moment."""
        return {"type": "string", "pattern": _INSTANT_PATTERN}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value that is not a moment."""
        try:
            parse_instant(value if isinstance(value, str) else "")
        except ValueError as fault:
            report(at, f"expected a moment on the world's clock, got {quote(value)}: {fault}")


def read_instant(value: str | None) -> datetime | None:
    """Return the moment of a checked text."""
    return None if value is None else parse_instant(value)
