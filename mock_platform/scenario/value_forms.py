"""Forms of values in scenarios: choices between kinds, durations, instants."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from mock_platform.scenario.forms import (
    FieldsForm,
    Form,
    JsonSchema,
    NumberForm,
    Path,
    Report,
    WholeForm,
    describe_allowed,
    quote,
)
from mock_platform.world.clock import (
    DURATION_EXAMPLES,
    DURATION_PATTERN,
    parse_duration,
    parse_instant,
)


class KeyedForm(Struct, frozen=True):
    """Objects of several forms: the key that they have, or its value, says which form applies.

    `forms` holds the form for each key, `by_value` one for each value of a key.
    """

    forms: Mapping[str, FieldsForm]
    by_value: Mapping[str, Mapping[str, FieldsForm]] = field(default_factory=dict)
    what: str = ""

    def schema(self) -> JsonSchema:
        """Return a chain of conditions: the first key that is there says which form applies."""
        found: JsonSchema = {
            "properties": {
                **{name: {} for name in self.by_value},
                **{name: {"description": form.description} for name, form in self.forms.items()},
            },
            "additionalProperties": False,
        }
        for name, form in reversed([*self.forms.items()]):
            found = {"if": {"required": [name]}, "then": _add_title(name, form), "else": found}
        for name, forms in reversed([*self.by_value.items()]):
            found = {"if": {"required": [name]}, "then": _choose(name, forms), "else": found}
        return {"type": "object", "minProperties": 1, **found}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value without exactly one of the keys, and violations of its form."""
        keys = [*self.by_value, *self.forms]
        if not isinstance(value, dict):
            report(at, f"expected {self.what}: an object with one of {', '.join(keys)}; got "
                   f"{quote(value)}")  # fmt: skip
            return
        found = [key for key in keys if key in value]
        if not found:
            self._report_no_key(value, keys, at, report)
            return
        if len(found) > 1:
            text = f"{self.what} is one of {' and '.join(found)}; give a list for several"
            report((*at, found[1]), text)
            return
        key = found[0]
        if key in self.forms:
            self.forms[key].check(value, at, report)
            return
        forms = self.by_value[key]
        named = value[key]
        if not isinstance(named, str) or named not in forms:
            report((*at, key), f"{quote(named)} is not allowed.{describe_allowed([*forms], named)}")
            return
        forms[named].check(value, at, report)

    def find(self, value: Any) -> FieldsForm | None:
        """Return the form of an object with exactly one of the keys; `None` for other values."""
        given = value if isinstance(value, dict) else {}
        keys = [key for key in (*self.by_value, *self.forms) if key in given]
        if len(keys) != 1:
            return None
        key = keys[0]
        named = given[key]
        if key in self.forms:
            return self.forms[key]
        return self.by_value[key].get(named) if isinstance(named, str) else None

    def _report_no_key(
        self, value: dict[str, Any], keys: list[str], at: Path, report: Report
    ) -> None:
        for name in value:
            report((*at, name), f"{quote(name)} is unknown here.{describe_allowed(keys, name)}")
        if not value:
            report(at, f"expected {self.what}, one of {', '.join(keys)}; got nothing")


def _add_title(title: str, form: FieldsForm) -> JsonSchema:
    return {"title": title, **form.schema()}


def _choose(name: str, forms: Mapping[str, FieldsForm]) -> JsonSchema:
    """Return one key's values, each with the form of objects that have it."""
    cases = [
        {
            "if": {"properties": {name: {"const": value}}},
            "then": _add_title(f"{name}: {value}", form),
        }
        for value, form in forms.items()
    ]
    return {"properties": {name: {"enum": [*forms]}}, "allOf": cases}


class TypedForm(Struct, frozen=True):
    """Values of several forms: their JSON type says which form applies."""

    text: Form | None = None
    number: Form | None = None
    flag: Form | None = None
    items: Form | None = None
    object: Form | None = None
    null: bool = False
    what: str = ""

    @property
    def options(self) -> dict[str, Form]:
        """The forms by JSON type."""
        given = {
            "string": self.text,
            "number": self.number,
            "boolean": self.flag,
            "array": self.items,
            "object": self.object,
        }
        return {kind: form for kind, form in given.items() if form is not None}

    def schema(self) -> JsonSchema:
        """Return the types, each with its form as a condition."""
        forms = self.options
        cases = [{"if": {"type": kind}, "then": form.schema()} for kind, form in forms.items()]
        return {"type": [*forms, *(["null"] if self.null else [])], "allOf": cases}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value of none of the types, or its violations against the form of its type."""
        if value is None and self.null:
            return
        shape = self.find(value)
        if shape is None:
            report(at, f"expected {self.what}, got {quote(value)}")
        else:
            shape.check(value, at, report)

    def find(self, value: Any) -> Form | None:
        """Return the form for the JSON type of a value; `None` if that type is not allowed."""
        if isinstance(value, str):
            return self.text
        if isinstance(value, bool):
            return self.flag
        if isinstance(value, int | float):
            return self.number
        if isinstance(value, list):
            return self.items
        return self.object if isinstance(value, dict) else None


# The forms of durations and instants in scenarios.

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
        except ValueError as error:
            report(at, f"expected seconds or a duration with units, got {quote(value)}, {error}")
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
        except ValueError as error:
            report(at, f"expected a moment on the world's clock, got {quote(value)}: {error}")


def read_instant(value: str | None) -> datetime | None:
    """Return the moment of a checked text."""
    return None if value is None else parse_instant(value)
