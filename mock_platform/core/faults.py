"""Faults of values in the interface's grammar, and functions that make the common ones.

A refused value becomes a `Fault`: a message with a code for its kind, so that each dialect can
render it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Self

from marshmallow import ValidationError

from mock_platform.core.jsonio import dumps

INVALID = "INVALID_PARAMETER"
MISSING = "MISSING_PARAMETER"
EXCLUSIVE = "EXCLUSIVE_PARAMETERS"
INCLUSIVE = "INCLUSIVE_PARAMETERS"
MAX_FAULTS = 100
"""Maximum number of faults that one answer reports."""
MOST_COMPARED = 200
"""Characters of a value that is compared with known names; a longer one resembles none."""
_MOST_REPEATED = 25_000
"""Characters of a value that a refusal repeats: the longest post."""


class Fault(str):
    """A fault of a value, with a code for its kind. `{name}` is replaced by the parameter.

    `details` has one or two words on why a value could not be read, and `value` is that value;
    other faults have neither. `hint` is an addition to the interface's own words.
    """

    __slots__ = ("code", "details", "hint", "value")

    code: str
    details: str | None
    value: Any
    hint: str

    def __new__(
        cls,
        text: str,
        code: str = INVALID,
        *,
        details: str | None = None,
        value: Any = None,
        hint: str = "",
    ) -> Self:
        """Return a fault of the given kind."""
        fault = super().__new__(cls, text)
        fault.code = code
        fault.details = details
        fault.value = value
        fault.hint = hint
        return fault

    def naming(self, parameter: str) -> Self:
        """Return the same fault with the parameter's name in its text."""
        return type(self)(
            self.replace("{name}", parameter),
            self.code,
            details=self.details,
            value=self.value,
            hint=self.hint,
        )

    @property
    def explanation(self) -> str:
        """The text, with the hint."""
        return f"{self}. {self.hint}" if self.hint else str(self)


def expected(what: str, value: Any) -> str:
    """Return `Expected <what>, got <value> for <parameter>`, in the words of the live service."""
    shown = cut(dumps(value).decode()) if _showable(value) else type(value).__name__
    return f"Expected {what}, got {shown} for {{name}}"


def cut(text: str) -> str:
    """Return what is shown of a client's value."""
    return text if len(text) <= _MOST_REPEATED else f"{text[:_MOST_REPEATED]}…"


def invalid(what: str, value: Any, details: str) -> ValidationError:
    """A value that cannot be read as its type."""
    return ValidationError([Fault(expected(what, value), details=details, value=value)])


def unlisted(allowed: Iterable[object], value: Any, code: str = INVALID) -> Fault:
    """A value that is not one of the allowed ones; the hint names a similar one."""
    names = [str(each) for each in allowed]
    is_near = isinstance(value, str) and len(value) <= MOST_COMPARED
    near = get_close_matches(value, names, 1) if is_near else []
    return Fault(
        expected(f"a value in {', '.join(names)}", value),
        code,
        hint=f"Did you mean {near[0]}?" if near else "",
    )


def missing(name: str, condition: str = "") -> Fault:
    """A required parameter is missing; `condition` is for instance `when goal is X`."""
    return Fault(f'"{name}" is a required parameter{condition and f" {condition}"}', MISSING)


def exclusive(one: str, other: str) -> Fault:
    """Two parameters were sent, but only one of them is allowed."""
    return Fault(f"{one} and {other} are exclusive parameters", EXCLUSIVE)


def not_allowed(name: str, hint: str = "") -> Fault:
    """A parameter that the caller may not set."""
    return Fault(f"setting {name} is not allowed", INVALID, hint=hint)


def refuse(text: str, code: str = INVALID) -> ValidationError:
    """A value that breaks a rule; `{name}` in the text is replaced by the parameter."""
    return ValidationError([Fault(text, code)])


def _showable(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list | dict)


def flatten(messages: Any, path: str = "") -> Iterable[tuple[str, Fault]]:
    """Return marshmallow's nested messages as pairs of parameter and named fault."""
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            if isinstance(key, int):
                yield from flatten(inner, f"{path}[{key}]")
            elif key == "_schema":
                yield from flatten(inner, path)
            else:
                yield from flatten(inner, f"{path}.{key}" if path else str(key))
    else:
        for message in messages if isinstance(messages, list) else [messages]:
            found = message if isinstance(message, Fault) else Fault(str(message))
            yield path, found.naming(path or "the body")
