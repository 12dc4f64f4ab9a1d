"""The forms that a scenario document may have, each a value that checks and describes itself.

The loader's complaints and the published JSON Schema come from the same declarations, so that they
cannot disagree. Wherever a value is allowed, so is `$name`, a parameter of the scenario; `$$` at
the beginning of a text means one dollar sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Protocol

from msgspec import Struct, field

from mock_platform.core.errors import did_you_mean
from mock_platform.core.jsonio import dumps

Path = tuple[str | int, ...]
Report = Callable[[Path, str], None]
JsonSchema = dict[str, Any]

ANY_NUMBER = 1e18
"""From here on, a bound of a number says only that it is one."""
NAME = r"[a-z][a-z0-9_]*"
_REFERENCE = re.compile(rf"\$({NAME})", re.ASCII)
_MAX_QUOTED_CHARACTERS = 80
_MAX_LISTED = 24
_MAX_NEAREST = 8


def parse_reference(value: Any) -> str | None:
    """Return the parameter that a value names, or `None` for any other value."""
    if not isinstance(value, str) or not value.startswith("$"):
        return None
    found = _REFERENCE.fullmatch(value)
    return None if found is None else found[1]


def quote(value: Any) -> str:
    """Write a value as messages quote it: JSON, shortened if long."""
    try:
        text = dumps(value).decode()
    except TypeError:  # callers in Python can pass values that JSON does not have
        text = repr(value)
    return text if len(text) <= _MAX_QUOTED_CHARACTERS else text[:_MAX_QUOTED_CHARACTERS] + "…"


def describe_allowed(allowed: Sequence[Any], value: Any) -> str:
    """Describe what is allowed instead of a value: the nearest, then the list."""
    names = [str(each) for each in allowed]
    # A number is not near another one because it has the same digits.
    hint = "" if names[0].isdecimal() else did_you_mean(str(value), names)
    return f"{hint} Allowed: {list_nearest(names, str(value))}."


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

    def check(self, value: Any, at: Path, report: Report) -> None:
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


def check(shape: Form, value: Any, at: Path, report: Report) -> None:
    """Report every fault of a value; a parameter's name passes where it is allowed."""
    # What a parameter stands for is not known yet when the document is loaded; it is checked again
    # with its value when the scenario is activated. The structure of the document must not depend
    # on parameters.
    if parse_reference(value) is None or isinstance(shape, StructureForm):
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

    def check(self, value: Any, at: Path, report: Report) -> None:
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

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value that is not such a text."""
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                report(at, f"{quote(value)} is not allowed.{describe_allowed(self.choices, value)}")
        elif not isinstance(value, str):
            report(at, f"expected text, got {quote(value)}")
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

    def check(self, value: Any, at: Path, report: Report) -> None:
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

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value that is not such an integer."""
        if self.choices:
            if not _is_whole(value) or value not in self.choices:
                allowed = describe_allowed(self.choices, value)
                report(at, f"{quote(value)} is not allowed.{allowed} {self.note}".rstrip())
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

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value that is not such a number."""
        if not is_number(value) or not self.low <= value <= self.high:
            report(at, f"expected a number from {self.low:g} to {self.high:g}, got {quote(value)}")


class FlagForm(Struct, frozen=True):
    """A boolean: true or false."""

    def schema(self) -> JsonSchema:
        """Return the schema of a boolean."""
        return {"type": "boolean"}

    def check(self, value: Any, at: Path, report: Report) -> None:
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

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value that is not such a list, and the violations of its items."""
        if not isinstance(value, list):
            alone = "; begin each entry with `- `" if isinstance(value, dict) else ""
            report(at, f"expected a list, got {quote(value)}{alone}")
            return
        if not self.least <= len(value) <= self.most:
            report(at, f"expected {self.least} to {self.most} entries, got {len(value)}")
        for index, item in enumerate(value):
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

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value that is not such an object, and the violations of its values."""
        if not isinstance(value, dict):
            report(at, f"expected an object, got {quote(value)}")
            return
        if not self.least <= len(value) <= self.most:
            report(at, f"expected {self.least} to {self.most} entries, got {len(value)}")
        for key, item in value.items():
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
        found["additionalProperties"] = False
        if self.required:
            found["required"] = list(self.required)
        if self.least:
            found["minProperties"] = self.least
        if self.excluding:
            found["not"] = {"required": list(self.excluding)}
        return found

    def check(self, value: Any, at: Path, report: Report) -> None:
        """Report a value that is not such an object, and the violations of its values."""
        if not isinstance(value, dict):
            known = ", ".join(self.fields)
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
            shape = self.fields.get(name)
            if shape is None:
                report(
                    (*at, name),
                    f"{quote(name)} is unknown here.{describe_allowed([*self.fields], name)}",
                )
            else:
                check(shape, item, (*at, name), report)


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


# The parameters in a scenario's document: found, and replaced by values.

_ANY: Any = object()


def find_references(value: Any, at: Path) -> list[tuple[Path, str]]:
    """Return every parameter that a value names, after its place."""
    name = parse_reference(value)
    if name is not None:
        return [(at, name)]
    found: list[tuple[Path, str]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            tail = parse_reference(key.partition("/")[2])
            if tail is not None:
                found.append(((*at, key), tail))
            found += find_references(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += find_references(item, (*at, index))
    return found


def find_reference_at(raw: Any, at: Path) -> str:
    """Return the parameter at a place of the unbound rule, or around it; empty without one."""
    for step in at:
        named = parse_reference(raw)
        if named is not None:
            return named
        try:
            raw = raw[step]
        except (KeyError, IndexError, TypeError):
            break
    return parse_reference(raw) or ""


def substitute(values: Mapping[str, Any], value: Any) -> Any:
    """Return a value with its parameters replaced; those that are any (null) are left out.

    A parameter without a value stays as it is written.
    """
    found = _bind(value, values)
    return {} if found is _ANY else found


def _bind(value: Any, values: Mapping[str, Any]) -> Any:
    name = parse_reference(value)
    if name is not None:
        given = values.get(name, value)
        return _ANY if given is None else given
    if isinstance(value, str):
        return value[1:] if value.startswith("$$") else value
    if isinstance(value, dict):
        found = {}
        for key, item in value.items():
            bound = _bind(item, values)
            if bound is not _ANY:
                found[_bind_key(key, values)] = bound
        # A condition or an object that is empty now restricts nothing.
        return _ANY if value and not found else found
    if isinstance(value, list):
        return [bound for item in value if (bound := _bind(item, values)) is not _ANY]
    return value


def _bind_key(key: str, values: Mapping[str, Any]) -> str:
    """Return a key such as `TABLE/$name` with its parameter replaced."""
    table, slash, tail = key.partition("/")
    name = parse_reference(tail)
    if name is None:
        return key
    given = values.get(name, tail)
    return f"{table}{slash}{'' if given is None else given}"
