"""The forms that documents of users may have, each a value that checks and describes itself.

Complaints and the published JSON Schema come from the same declarations, so that they cannot
disagree. In a scenario `$name`, one of its parameters, is allowed wherever a value is; `$$` at the
beginning of a text means one dollar sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path as FilePath
from typing import Any, Protocol

from msgspec import Struct, field

from mock_platform.core.documents.source import (
    DocumentKind,
    Malformed,
    Path,
    Source,
    quote,
    read_file,
)
from mock_platform.core.errors import MAX_FAULTS, BadDocument, Complaint, did_you_mean
from mock_platform.world.clock import DURATION_PATTERN, parse_duration, parse_instant

JsonSchema = dict[str, Any]

ANY_NUMBER = 1e18
"""From here on, a bound of a number says only that it is one."""
NAME = r"[a-z][a-z0-9_]*"
_REFERENCE = re.compile(rf"\$({NAME})", re.ASCII)
_MAX_LISTED = 24
_MAX_NEAREST = 8


class FaultReport:
    """What is wrong with a value, fault by fault, each with its place.

    `is_placeholder` says of a value whether another one, which is not known yet, will replace it.
    """

    def __init__(self, is_placeholder: Callable[[Any], bool] = lambda _: False) -> None:
        self.is_placeholder = is_placeholder
        self.faults: list[tuple[Path, str]] = []

    def __call__(self, at: Path, text: str) -> None:
        """Add a fault to the others, of which there are not too many yet."""
        if not self.is_full:
            self.faults.append((at, text))

    @property
    def is_full(self) -> bool:
        """Whether so many were found that no more are looked for."""
        return len(self.faults) >= MAX_FAULTS

    def list_complaints(self, source: Source) -> list[Complaint]:
        """Return the faults as complaints about a document, in the order of their places."""
        found = [source.complain(at, text) for at, text in self.faults]
        return sorted(found, key=lambda complaint: (complaint.line, complaint.column))


def load_document(
    file: FilePath, kind: DocumentKind, shape: Form, fault: type[BadDocument]
) -> Source:
    """Return the document in a file, which has the form.

    Raises:
        BadDocument: It cannot be read, or has another form; of the class `fault`.
    """
    try:
        source = read_file(file, kind)
    except Malformed as error:
        raise fault([error.complain(file)]) from error
    report = FaultReport()
    shape.check(source.data, (), report)
    if report.faults:
        raise fault(report.list_complaints(source))
    return source


def parse_reference(value: Any) -> str | None:
    """Return the parameter that a value names, or `None` for any other value."""
    if not isinstance(value, str) or not value.startswith("$"):
        return None
    found = _REFERENCE.fullmatch(value)
    return None if found is None else found[1]


def describe_allowed(allowed: Sequence[Any], value: Any) -> str:
    """Describe what is allowed instead of a value: the nearest, then the list."""
    names = [str(each) for each in allowed] or ["none"]
    # A number is not near another one because it has the same digits.
    hint = "" if names[0].isdecimal() else did_you_mean(str(value), names)
    return f"{hint} Allowed: {list_nearest(names, str(value))}."


def describe_choice(value: Any, allowed: Sequence[Any]) -> str:
    """Describe a value that is not allowed: the nearest, then the list."""
    return f"{quote(value)} is not allowed.{describe_allowed(allowed, value)}"


def describe_unknown(name: str, known: Sequence[str]) -> str:
    """Describe a key that an object does not have: the nearest, then the list."""
    return f"{quote(name)} is unknown here.{describe_allowed(known, name)}"


def list_nearest(names: Sequence[str], value: str) -> str:
    """Return names as a list; of many, those that are like a value, or else the first ones."""
    if len(names) <= _MAX_LISTED:
        return ", ".join(names)
    if names[0].isdecimal():
        shown = list(names[:_MAX_LISTED])
    else:
        shown = get_close_matches(value, names, _MAX_NEAREST, 0.5) or sorted(names)[:_MAX_LISTED]
    return f"{', '.join(shown)}, … ({len(names)} in all)"


class Form(Protocol):
    """A form that values of a document may have."""

    def schema(self) -> JsonSchema:
        """Return the form as JSON Schema, without `$name` references."""

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report every fault of a value that is not a reference; `at` is its place."""


def make_schema(shape: Form) -> JsonSchema:
    """Return the form as JSON Schema; a parameter's name is allowed in its place."""
    schema = shape.schema()
    # In the published schema, a value is either a parameter's name or of the form. That is written
    # as "if it looks like a name, anything goes, else the form", because an alternative of two
    # would make editors report the violations of both.
    free = isinstance(shape, WordForm) and not shape.choices and shape.pattern is None
    if free or isinstance(shape, StructureForm | AnyForm):
        return schema  # it accepts a parameter's name anyway, or must not
    return {"if": {"type": "string", "pattern": f"^\\${NAME}$"}, "else": schema}


def is_reference(value: Any) -> bool:
    """Return whether a value names a parameter."""
    return parse_reference(value) is not None


def check(shape: Form, value: Any, at: Path, report: FaultReport) -> None:
    """Report every fault of a value; a parameter's name passes where it is allowed."""
    # What a parameter stands for is not known yet when the document is loaded; it is checked again
    # with its value when the scenario is activated. The structure of the document must not depend
    # on parameters.
    if not report.is_placeholder(value) or isinstance(shape, StructureForm):
        shape.check(value, at, report)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether a value is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


class AnyForm(Struct, frozen=True):
    """Accepts any JSON value."""

    def schema(self) -> JsonSchema:
        """Return a schema without restrictions."""
        return {}

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report nothing: every value is accepted."""


class WordForm(Struct, frozen=True):
    """A text: one of `choices`, or one of a pattern, which `meaning` describes in words."""

    choices: tuple[str, ...] = ()
    pattern: str | None = None
    meaning: str = ""
    least: int = 0
    most: int = 10_000

    def schema(self) -> JsonSchema:
        """Return an enumeration, or pattern and length."""
        if self.choices:
            return {"enum": list(self.choices)}
        found: JsonSchema = {"type": "string", "maxLength": self.most}
        if self.least:
            found["minLength"] = self.least
        if self.pattern is not None:
            found["pattern"] = f"^(?:{self.pattern})$"
        return found

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that is not such a text."""
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                report(at, describe_choice(value, self.choices))
        elif not isinstance(value, str):
            hint = f'; write "{value}"' if is_number(value) else ""
            report(at, f"expected text, got {quote(value)}{hint}")
        elif not self.least <= len(value) <= self.most:
            report(at, f"expected {self.least} to {self.most:,} characters, got {len(value):,}")
        elif self.pattern is not None and re.fullmatch(self.pattern, value, re.ASCII) is None:
            report(at, f"expected {self.meaning}, got {quote(value)}")


class StructureForm(Struct, frozen=True):
    """A part of the document's structure, which a parameter may not replace."""

    shape: Form

    def schema(self) -> JsonSchema:
        """Return the schema of the inner form."""
        return self.shape.schema()

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report violations against the inner form."""
        self.shape.check(value, at, report)


class WholeForm(Struct, frozen=True):
    """An integer within bounds, or one of `choices`."""

    low: int
    high: int = 10**9
    choices: tuple[int, ...] = ()
    note: str = ""
    """What to do instead, where the choices do not say it."""

    def schema(self) -> JsonSchema:
        """Return type and bounds, or an enumeration."""
        if self.choices:
            return {"type": "integer", "enum": list(self.choices)}
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that is not such an integer."""
        if self.choices:
            if not _is_whole(value) or value not in self.choices:
                report(at, f"{describe_choice(value, self.choices)} {self.note}".rstrip())
        elif not _is_whole(value) or not self.low <= value <= self.high:
            report(at, f"expected a whole number from {self.low:,} to {self.high:,}, got "
                   f"{quote(value)}")  # fmt: skip


class NumberForm(Struct, frozen=True):
    """A number within bounds."""

    low: float
    high: float

    def schema(self) -> JsonSchema:
        """Return the type and the bounds."""
        return {"type": "number", "minimum": self.low, "maximum": self.high}

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that is not such a number."""
        if not is_number(value) or not self.low <= value <= self.high:
            report(at, f"expected a number from {self.low:g} to {self.high:g}, got {quote(value)}")


class FlagForm(Struct, frozen=True):
    """A boolean: true or false."""

    def schema(self) -> JsonSchema:
        """Return the schema of a boolean."""
        return {"type": "boolean"}

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that is not a boolean."""
        if not isinstance(value, bool):
            report(at, f"expected true or false, got {quote(value)}")


class ListForm(Struct, frozen=True):
    """A list of values of one form."""

    item: Form
    least: int = 1
    most: int = 1000

    def schema(self) -> JsonSchema:
        """Return an array with bounds of its length."""
        return {
            "type": "array",
            "items": make_schema(self.item),
            "minItems": self.least,
            "maxItems": self.most,
        }

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that is not such a list, and the violations of its items."""
        if not isinstance(value, list):
            alone = "; begin each entry with `- `" if isinstance(value, dict) else ""
            report(at, f"expected a list, got {quote(value)}{alone}")
            return
        if not self.least <= len(value) <= self.most:
            report(at, f"expected {self.least} to {self.most} entries, got {len(value)}")
        for index, item in enumerate(value):
            if report.is_full:
                return
            check(self.item, item, (*at, index), report)


class EntriesForm(Struct, frozen=True):
    """An object with free keys, of a pattern that `meaning` describes in words."""

    value: Form
    pattern: str = r"[^\n]{1,200}"
    meaning: str = "a name of 1 to 200 characters"
    least: int = 1
    most: int = 100
    names: tuple[str, ...] = ()
    """What a key begins with, up to a slash, for a suggestion."""

    def schema(self) -> JsonSchema:
        """Return an object with a pattern for its keys."""
        return {
            "type": "object",
            "propertyNames": {"pattern": f"^(?:{self.pattern})$"},
            "additionalProperties": make_schema(self.value),
            "minProperties": self.least,
            "maxProperties": self.most,
        }

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that is not such an object, and the violations of its values."""
        if not isinstance(value, dict):
            report(at, f"expected an object, got {quote(value)}")
            return
        if not self.least <= len(value) <= self.most:
            report(at, f"expected {self.least} to {self.most} entries, got {len(value)}")
        for key, item in value.items():
            if report.is_full:
                return
            if re.fullmatch(self.pattern, key, re.ASCII) is None:
                first = key.partition("/")[0]
                hint = describe_allowed(self.names, first) if self.names else ""
                hint = "" if first in self.names else f".{hint}"
                report((*at, key), f"expected {self.meaning}, got {quote(key)}{hint}")
            check(self.value, item, (*at, key), report)


class FieldsForm(Struct, frozen=True):
    """An object of known fields."""

    fields: Mapping[str, Form]
    required: tuple[str, ...] = ()
    least: int = 0
    excluding: tuple[str, ...] = ()
    """Fields that may not all be used together."""
    description: str = ""
    about: Mapping[str, str] = field(default_factory=dict)
    """A sentence on each field."""
    defaults: Mapping[str, str] = field(default_factory=dict)
    """What applies where a field is left out, in words."""
    is_open: bool = False
    """Whether it may have other fields, which nothing reads."""

    def describe(self, name: str) -> str:
        """Return the sentence on a field, with its default."""
        text = self.about.get(name, self.description if self.required[:1] == (name,) else "")
        default = self.defaults.get(name)
        return f"{text} Default: {default}." if default else text

    def schema(self) -> JsonSchema:
        """Return an object with the schema of each field."""
        found: JsonSchema = {"type": "object"}
        own = self.required[:1]
        if self.description and (not own or own[0] in self.about):
            found["description"] = self.description
        found["properties"] = {
            name: _add_description(self.describe(name), make_schema(shape))
            for name, shape in self.fields.items()
        }
        found["additionalProperties"] = self.is_open
        if self.required:
            found["required"] = list(self.required)
        if self.least:
            found["minProperties"] = self.least
        if self.excluding:
            found["not"] = {"required": list(self.excluding)}
        return found

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that is not such an object, and the violations of its values."""
        if not isinstance(value, dict):
            known = list_nearest([*self.fields], "")
            whole = not at and isinstance(value, list) and "rules" in self.fields
            hint = ". Write `name: …`, then these entries below `rules:`" if whole else ""
            report(at, f"expected an object with {known}; got {quote(value)}{hint}")
            return
        if len(value) < self.least:
            report(at, f"expected at least one of {', '.join(self.fields)}")
        for name in self.required:
            if name not in value:
                report(at, f"{name} is missing")
        if self.excluding and all(name in value for name in self.excluding):
            report(at, f"{' and '.join(self.excluding)} exclude each other")
        for name, item in value.items():
            if report.is_full:
                return
            shape = self.fields.get(name)
            if shape is not None:
                check(shape, item, (*at, name), report)
            elif not self.is_open:
                report((*at, name), describe_unknown(name, [*self.fields]))


Row = tuple[Form, str] | tuple[Form, str, str]
"""The form of a field, a sentence on it, and what applies where it is left out, in words."""


def make_object(
    rows: Mapping[str, Row],
    *,
    required: tuple[str, ...] = (),
    least: int = 0,
    excluding: tuple[str, ...] = (),
    description: str = "",
) -> FieldsForm:
    """Return the form of an object whose fields are described row by row."""
    return FieldsForm(
        {name: row[0] for name, row in rows.items()},
        required,
        least,
        excluding,
        description,
        about={name: row[1] for name, row in rows.items() if row[1]},
        defaults={name: row[2] for name, row in rows.items() if len(row) == 3},
    )


def make_keyed(keyword: str, value: Form, description: str) -> FieldsForm:
    """Return the form of an object with one field, as effects are."""
    return FieldsForm({keyword: value}, required=(keyword,), description=description)


def _add_description(text: str, schema: JsonSchema) -> JsonSchema:
    """Return a schema with a description beside it, so that other fields can share it."""
    return {"description": text, "allOf": [schema]} if schema and text else schema


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

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
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
            report((*at, key), describe_choice(named, [*forms]))
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
        self, value: dict[str, Any], keys: list[str], at: Path, report: FaultReport
    ) -> None:
        for name in value:
            report((*at, name), describe_unknown(name, keys))
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


_MOST_DIGITS = 15


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

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value of none of the types, or its violations against the form of its type."""
        if value is None and self.null:
            return
        shape = self.find(value)
        if shape is None:
            report(at, f"expected {self.what}, got {quote(value)}")
        elif self._is_quoted_number(value):
            report(at, f"expected {self.what}, got the text {quote(value)}; write {value}")
        else:
            shape.check(value, at, report)

    def _is_quoted_number(self, value: Any) -> bool:
        """Return whether a text is not allowed, but would be as the number that it shows."""
        if not isinstance(value, str) or self.text is None or self.number is None:
            return False
        if not (value.isascii() and value.isdecimal()) or len(value) > _MOST_DIGITS:
            return False
        return _has_faults(self.text, value) and not _has_faults(self.number, int(value))

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


def _has_faults(form: Form, value: Any) -> bool:
    report = FaultReport(is_reference)
    form.check(value, (), report)
    return bool(report.faults)


# Durations, instants and days.

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

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
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


class InstantForm(Struct, frozen=True):
    """A moment in ISO 8601; without an offset it is UTC."""

    def schema(self) -> JsonSchema:
        """Return a text in the form of a moment."""
        return {"type": "string", "pattern": _INSTANT_PATTERN}

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that is not a moment."""
        try:
            parse_instant(value if isinstance(value, str) else "")
        except ValueError as error:
            report(at, f"expected a moment on the world's clock, got {quote(value)}: {error}")


def read_instant(value: str | None) -> datetime | None:
    """Return the moment of a checked text."""
    return None if value is None else parse_instant(value)


class ReadableForm(Struct, frozen=True):
    """A value that a function can read, such as a price or a day; `meaning` describes it."""

    read: Callable[[Any], object]
    meaning: str
    is_explained: bool = False
    """Whether the exceptions of the function say more than the meaning does."""

    def schema(self) -> JsonSchema:
        """Return a schema without restrictions: no schema can say what the function reads."""
        return {}

    def check(self, value: Any, at: Path, report: FaultReport) -> None:
        """Report a value that the function refuses."""
        try:
            self.read(value)
        except (TypeError, ValueError, OverflowError) as error:
            why = f": {error}" if self.is_explained else ""
            report(at, f"expected {self.meaning}, got {quote(value)}{why}")


DAY = ReadableForm(date.fromisoformat, "a day such as 2026-04-20")
