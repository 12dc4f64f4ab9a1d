"""What values of fields must be, besides their type, with faults in words of the interface."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import ValidationError, validate

from mock_platform.core.faults import Said, invalid, refuse, say, unlisted

EMPTY = "The `{name}` query parameter can not be empty"


class Length(validate.Length):
    """Characters of a text, or items of a list, from `min` to `max`."""

    def __call__(self, value: Any) -> Any:
        """Check a value and return it as it is used."""
        is_text, count = isinstance(value, str), len(value)
        unit = "characters" if is_text else "items"
        if self.max is not None and count > self.max:
            most = f"may only be {self.max} characters long"
            raise refuse(
                f"A maximum of {self.max} {unit} may be provided for {{name}}",
                said=self._say(count, most if is_text else tell_bound("maximum", self.max)),
            )
        if self.min is not None and count < self.min:
            least = f"must be at least {self.min} characters long"
            raise refuse(
                f"A minimum of {self.min} {unit} must be provided for {{name}}",
                said=self._say(count, least if is_text else tell_bound("minimum", self.min)),
            )
        return value

    def _say(self, count: int, of_key: str) -> Said:
        if count == 0:
            return Said(EMPTY, f"$.{{name}}: {of_key}")
        low, high = self.min or 1, self.max
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        return Said(f"size [{count}] is not {bounds}", f"$.{{name}}: {of_key}")


def tell_bound(bound: str, number: int) -> str:
    """Return the words for a `minimum` or `maximum` of items of a list."""
    return f"there must be a {bound} of {number} item{'' if number == 1 else 's'} in the array"


class Pattern(validate.Regexp):
    """The whole text must match the pattern; `text` describes it in words."""

    def __init__(self, pattern: str, text: str | None = None) -> None:
        self.text = text
        super().__init__(pattern, flags=re.ASCII)

    def __call__(self, value: Any) -> Any:
        """Check a value and return it as it is used."""
        if self.regex.fullmatch(value) is None:
            wanted = self.text or f"a value that matches {self.regex.pattern!s}"
            shape = f"^{self.regex.pattern!s}$"
            key = f"does not match the regex pattern {shape}"
            said = say(value, f"does not match {shape}", key)
            raise invalid(wanted, value, "invalid format", said)
        return value


class Between(validate.Range):
    """A number from `min` to `max`, ends included."""

    def __call__(self, value: Any) -> Any:
        """Check a value and return it as it is used."""
        low, high = self.min, self.max
        if (low is not None and value < low) or (high is not None and value > high):
            if low is None:
                bounds = f"at most {high}"
            elif high is None:
                bounds = f"at least {low}"
            else:
                bounds = f"between {low} and {high}"
            is_low = low is not None and value < low
            key = f"a minimum value of {low}" if is_low else f"a maximum value of {high}"
            said = say(value, f"is not {bounds}", f"must have {key}")
            raise refuse(f"{{name}} must be {bounds}, got {value}", said=said)
        return value


class OneOf(validate.OneOf):
    """One of the named values."""

    def __call__(self, value: Any) -> Any:
        """Check a value and return it as it is used."""
        if value not in self.choices:
            raise ValidationError([unlisted(self.choices, value)])
        return value
