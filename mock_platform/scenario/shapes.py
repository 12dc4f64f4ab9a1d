"""The forms that a scenario document may have, each a value that checks and describes itself.

The loader's complaints and the published JSON Schema come from the same declarations, so that they
cannot disagree. Wherever a value is allowed, so is `$name`, a parameter of the scenario; `$$` at
the beginning of a text stands for one dollar sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Protocol

from mock_platform.core.jsonio import dumps

Path = tuple[str | int, ...]
Report = Callable[[Path, str], None]
JsonSchema = dict[str, Any]

NAME = r"[a-z][a-z0-9_]*"
_REFERENCE = re.compile(rf"\$({NAME})", re.ASCII)
_SHOWN = 80
_LISTED = 24


def reference(value: Any) -> str | None:
    """The parameter that a value names, or `None` if it is a value of its own."""
    if not isinstance(value, str) or not value.startswith("$"):
        return None
    found = _REFERENCE.fullmatch(value)
    return None if found is None else found[1]


def shown(value: Any) -> str:
    """A value as a message quotes it."""
    try:
        text = dumps(value).decode()
    except TypeError:  # from Python comes what JSON cannot say
        text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def one_of(allowed: Sequence[Any], value: Any) -> str:
    """What is allowed instead of a value, the nearest first if there are many."""
    near = get_close_matches(str(value), [str(each) for each in allowed], 1, 0.6)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(str(each) for each in allowed[:_LISTED])
    more = f", … ({len(allowed)} in all)" if len(allowed) > _LISTED else ""
    return f"{hint} Allowed: {listed}{more}."


class Shape(Protocol):
    """A form that values may have."""

    def schema(self) -> JsonSchema:
        """The form as JSON Schema, references aside."""

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report everything that is wrong with a value that is no reference."""


def schema_of(shape: Shape) -> JsonSchema:
    """The form as JSON Schema, a parameter's name in its place included."""
    schema = shape.schema()
    free = isinstance(shape, Word) and not shape.choices and shape.pattern is None
    if free or isinstance(shape, Own | Fixed | Anything):
        return schema  # takes such a text anyway, or takes none
    return {"anyOf": [schema, {"type": "string", "pattern": f"^\\${NAME}$"}]}


def check(shape: Shape, value: Any, at: Path, report: Report) -> None:
    """Report what is wrong with a value; a parameter's name is fine for now."""
    if reference(value) is None or isinstance(shape, Own | Fixed):
        shape.check(value, at, report)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value."""

    def schema(self) -> JsonSchema:
        """No restriction."""
        return {}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Nothing is wrong."""


@dataclass(frozen=True, slots=True)
class Word:
    """A text: one of some, or of a pattern that `meaning` puts into words."""

    choices: tuple[str, ...] = ()
    pattern: str | None = None
    meaning: str = ""
    least: int = 0
    most: int = 10_000

    def schema(self) -> JsonSchema:
        """Enumeration, or pattern and length."""
        if self.choices:
            return {"enum": list(self.choices)}
        found: JsonSchema = {"type": "string", "maxLength": self.most}
        if self.least:
            found["minLength"] = self.least
        if self.pattern is not None:
            found["pattern"] = f"^(?:{self.pattern})$"
        return found

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must be such a text."""
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                report(at, f"{shown(value)} is not allowed.{one_of(self.choices, value)}")
        elif not isinstance(value, str):
            report(at, f"expected text, got {shown(value)}")
        elif not self.least <= len(value) <= self.most:
            report(at, f"expected {self.least} to {self.most:,} characters, got {len(value):,}")
        elif self.pattern is not None and re.fullmatch(self.pattern, value, re.ASCII) is None:
            report(at, f"expected {self.meaning}, got {shown(value)}")


@dataclass(frozen=True, slots=True)
class Fixed:
    """One word exactly, which no parameter may stand for."""

    choices: tuple[str, ...]

    def schema(self) -> JsonSchema:
        """Enumeration."""
        return {"enum": list(self.choices)}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must be one of them."""
        Word(self.choices).check(value, at, report)


@dataclass(frozen=True, slots=True)
class Own:
    """A part of the document's own build, which no parameter may stand for."""

    shape: Shape

    def schema(self) -> JsonSchema:
        """Its form."""
        return self.shape.schema()

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must have that form."""
        self.shape.check(value, at, report)


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer within bounds."""

    low: int
    high: int = 10**9
    choices: tuple[int, ...] = ()
    note: str = ""
    """What to do instead, where the choices do not say it."""

    def schema(self) -> JsonSchema:
        """Type and bounds, or an enumeration."""
        if self.choices:
            return {"type": "integer", "enum": list(self.choices)}
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must be such an integer."""
        if self.choices:
            if not _is_whole(value) or value not in self.choices:
                text = f"{shown(value)} is not allowed.{one_of(self.choices, value)} {self.note}"
                report(at, text.rstrip())
        elif not _is_whole(value) or not self.low <= value <= self.high:
            report(at, f"expected a whole number from {self.low:,} to {self.high:,}, got "
                   f"{shown(value)}")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds."""

    low: float
    high: float

    def schema(self) -> JsonSchema:
        """Type and bounds."""
        return {"type": "number", "minimum": self.low, "maximum": self.high}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must be such a number."""
        if not _is_number(value) or not self.low <= value <= self.high:
            report(at, f"expected a number from {self.low:g} to {self.high:g}, got {shown(value)}")


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def schema(self) -> JsonSchema:
        """The type."""
        return {"type": "boolean"}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must be one of the two."""
        if not isinstance(value, bool):
            report(at, f"expected true or false, got {shown(value)}")


@dataclass(frozen=True, slots=True)
class Many:
    """A list of values of one form."""

    item: Shape
    least: int = 1
    most: int = 1000

    def schema(self) -> JsonSchema:
        """Array with bounds."""
        return {
            "type": "array",
            "items": schema_of(self.item),
            "minItems": self.least,
            "maxItems": self.most,
        }

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must be such a list."""
        if not isinstance(value, list):
            report(at, f"expected a list, got {shown(value)}")
            return
        if not self.least <= len(value) <= self.most:
            report(at, f"expected {self.least} to {self.most} entries, got {len(value)}")
        for index, item in enumerate(value):
            check(self.item, item, (*at, index), report)


@dataclass(frozen=True, slots=True)
class Entries:
    """An object whose keys are the author's own, of a pattern that `meaning` puts into words."""

    value: Shape
    pattern: str = r"[^\n]{1,200}"
    meaning: str = "a name of 1 to 200 characters"
    least: int = 1
    most: int = 100

    def schema(self) -> JsonSchema:
        """Object with a pattern for its keys."""
        return {
            "type": "object",
            "propertyNames": {"pattern": f"^(?:{self.pattern})$"},
            "additionalProperties": schema_of(self.value),
            "minProperties": self.least,
            "maxProperties": self.most,
        }

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must be such an object."""
        if not isinstance(value, dict):
            report(at, f"expected an object, got {shown(value)}")
            return
        if not self.least <= len(value) <= self.most:
            report(at, f"expected {self.least} to {self.most} entries, got {len(value)}")
        for key, item in value.items():
            if re.fullmatch(self.pattern, key, re.ASCII) is None:
                report((*at, key), f"expected {self.meaning}, got {shown(key)}")
            check(self.value, item, (*at, key), report)


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of known fields."""

    fields: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    least: int = 0
    excluding: tuple[str, ...] = ()
    """Fields of which at most one may stand."""
    description: str = ""

    def schema(self) -> JsonSchema:
        """Object with properties."""
        found: JsonSchema = {"type": "object"}
        if self.description:
            found["description"] = self.description
        found["properties"] = {name: schema_of(shape) for name, shape in self.fields.items()}
        found["additionalProperties"] = False
        if self.required:
            found["required"] = list(self.required)
        if self.least:
            found["minProperties"] = self.least
        if self.excluding:
            found["not"] = {"required": list(self.excluding)}
        return found

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must be such an object."""
        if not isinstance(value, dict):
            known = ", ".join(self.fields)
            report(at, f"expected an object with {known}; got {shown(value)}")
            return
        if len(value) < self.least:
            report(at, f"expected at least one of {', '.join(self.fields)}")
        for name in self.required:
            if name not in value:
                report(at, f"{name} is missing")
        if self.excluding and all(name in value for name in self.excluding):
            report(at, f"{' and '.join(self.excluding)} exclude each other")
        for name, item in value.items():
            shape = self.fields.get(name)
            if shape is None:
                report((*at, name), f"{shown(name)} is unknown here.{one_of([*self.fields], name)}")
            else:
                check(shape, item, (*at, name), report)


@dataclass(frozen=True, slots=True)
class Choose:
    """Objects told apart by the first of some keys that they have, and by its value where needed.

    `forms` gives the form for each key, `by_value` one for each value of a key.
    """

    forms: Mapping[str, Fields]
    by_value: Mapping[str, Mapping[str, Fields]] = field(default_factory=dict)
    what: str = ""

    def schema(self) -> JsonSchema:
        """One alternative for each key, or each of its values."""
        forms = [form.schema() for form in self.forms.values()]
        forms += [form.schema() for group in self.by_value.values() for form in group.values()]
        return {"oneOf": forms}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must have exactly one of the keys, and be as that one says."""
        keys = [*self.by_value, *self.forms]
        if not isinstance(value, dict):
            report(at, f"expected {self.what}: an object with one of {', '.join(keys)}; got "
                   f"{shown(value)}")  # fmt: skip
            return
        found = [key for key in keys if key in value]
        if not found:
            self._without(value, keys, at, report)
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
            report((*at, key), f"{shown(named)} is not allowed.{one_of([*forms], named)}")
            return
        forms[named].check(value, at, report)

    def _without(self, value: dict[str, Any], keys: list[str], at: Path, report: Report) -> None:
        for name in value:
            report((*at, name), f"{shown(name)} is unknown here.{one_of(keys, name)}")
        if not value:
            report(at, f"expected {self.what}, one of {', '.join(keys)}; got nothing")


@dataclass(frozen=True, slots=True)
class Either:
    """Values of several forms, told apart by their type."""

    text: Shape | None = None
    number: Shape | None = None
    flag: Shape | None = None
    items: Shape | None = None
    object: Shape | None = None
    null: bool = False
    what: str = ""

    def schema(self) -> JsonSchema:
        """One alternative for each type."""
        given = (self.text, self.number, self.flag, self.items, self.object)
        forms = [shape.schema() for shape in given if shape is not None]
        return {"anyOf": [*forms, {"type": "null"}] if self.null else forms}

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Must have one of the forms."""
        if value is None and self.null:
            return
        shape: Shape | None = None
        if isinstance(value, str):
            shape = self.text
        elif isinstance(value, bool):
            shape = self.flag
        elif isinstance(value, int | float):
            shape = self.number
        elif isinstance(value, list):
            shape = self.items
        elif isinstance(value, dict):
            shape = self.object
        if shape is None:
            report(at, f"expected {self.what}, got {shown(value)}")
        else:
            shape.check(value, at, report)
