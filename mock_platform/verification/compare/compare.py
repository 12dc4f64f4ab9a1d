"""Differences between a JSON value and what the sandbox declares: kinds, forms, how they are shown.

It supports what the sandbox's own descriptions use: references, alternatives, types, enumerations,
required and unknown properties, items and moments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from mock_platform.core.errors import shorten
from mock_platform.world.clock import parse_instant

# One difference between two answers, and how texts of another server are shown.

DifferenceKind = Literal[
    "status", "media type", "header", "rate", "type", "missing", "extra", "enum", "format",
    "empty", "order", "paging", "filter", "code", "wording", "value",
]  # fmt: skip
KINDS: tuple[DifferenceKind, ...] = get_args(DifferenceKind)
MAX_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which an answer differs. `where` is a place such as `data[].name`.

    `expected` is the side of the sandbox, `got` the other one; both describe a form where single
    values say nothing, and `example` is then a value that was seen.
    """

    kind: DifferenceKind
    where: str
    expected: str
    got: str
    example: str = field(default="", compare=False)
    original: Mapping[str, str] = field(default_factory=dict, compare=False)
    """`where`, `expected` and `got` with original names, where these are others."""

    def as_json(self) -> dict[str, Any]:
        """Return the difference as JSON data."""
        found = {
            "kind": self.kind,
            "where": self.where,
            "expected": self.expected,
            "got": self.got,
        }
        more = {"example": self.example} if self.example else {}
        return found | more | ({"original": dict(self.original)} if self.original else {})


def show(value: Any, most: int = MAX_SHOWN_CHARACTERS) -> str:
    """Return a value as a short text."""
    return shorten(str(value), most)


# The form of ids and moments: what values at one place have in common, without their content.
# Another server has other records, so their values say nothing; the form in which it writes
# them is part of the contract.

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d? \d\d:\d\d:\d\d .*"
    r"|[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} \d{4} .*",
    re.ASCII | re.DOTALL,
)
_ID_NAMES = ("_id", "_ids", "_key", "_id_str", "_uri")
_FEW_DIGITS = 12
"""An id with fewer digits may be one of base 36 that happens to have no letter."""
_MAX_SHAPE_CHARACTERS = 60

# Each form with the wider ones that hold its texts as well.
_WIDER: Mapping[str, tuple[str, ...]] = {
    "digits": ("lower-case letters and digits", "letters and digits", "URL-safe characters"),
    "lower-case letters and digits": ("letters and digits", "URL-safe characters"),
    "letters and digits": ("URL-safe characters",),
    "URL-safe characters": (),
    "UUID": (),
    "address": (),
    "text": (),
    "no text": (),
}
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("UUID", _UUID),
    ("digits", re.compile(r"[0-9]+", re.ASCII)),
    ("lower-case letters and digits", re.compile(r"[0-9a-z]+", re.ASCII)),
    ("letters and digits", re.compile(r"[0-9A-Za-z]+", re.ASCII)),
    ("URL-safe characters", re.compile(r"[0-9A-Za-z_.~-]+", re.ASCII)),
    ("address", re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.ASCII)),
)

Formats = dict[str, dict[str, str]]
"""By place, each form that was seen there with an example."""


def find_formats(value: Any) -> Formats:
    """Return the forms of all ids and moments in a JSON value, by their place."""
    found: Formats = {}
    for where, form, example in _walk(value, "", ""):
        found.setdefault(where, {}).setdefault(form, example)
    return found


def is_covered(form: str, known: Mapping[str, str]) -> bool:
    """Return whether a text of this form could be at a place where the `known` forms are."""
    if form in known:
        return True
    # A form that was seen covers narrower ones: where letters and digits may be, digits alone are
    # no news. The other way round it is a difference, except for short numbers.
    for each, example in known.items():
        if each in _WIDER.get(form, ()):
            return True
        # A short number may be an id of base 36 by chance.
        if each == "digits" and len(example) < _FEW_DIGITS and form.startswith("lower-case"):
            return True
    return False


def describe_id(text: str) -> str:
    """Return the form of an id in words."""
    if not text:
        return "no text"
    scheme, separator, rest = text.partition("://")
    if separator and scheme.isalpha() and not rest.startswith("/"):
        return f"{scheme.lower()}:// address"
    return next((name for name, pattern in _PATTERNS if pattern.fullmatch(text)), "text")


def describe_moment(text: str) -> str:
    """Return the form of a moment: 9 for a digit, a or A for a letter."""
    # Names of days and months become one form before letters do, since "Mon" and "Tue" are no
    # difference. T, the separator of ISO 8601, and Z, its sign for UTC, stay: they belong to the
    # form.
    shape = re.sub(r"\b[A-Z][a-z]{2}\b", "Aaa", text[:_MAX_SHAPE_CHARACTERS])  # Tue, Nov
    shape = re.sub(r"[0-9]", "9", shape)
    shape = re.sub(r"[a-z]", "a", shape)
    return re.sub(r"[A-SU-Y]", "A", shape)


def is_moment(text: str) -> bool:
    """Return whether a text looks like a moment in one of the usual forms."""
    return _MOMENT.fullmatch(text) is not None


def is_id_name(name: str) -> bool:
    """Return whether a field of this name holds an id."""
    return name == "id" or name.endswith(_ID_NAMES)


def _walk(value: Any, where: str, name: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(item, f"{where}.{key}" if where else key, key)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, f"{where}[]", name)
    elif isinstance(value, str) and is_moment(value):
        yield where, describe_moment(value), value
    elif isinstance(value, str) and is_id_name(name):
        yield where, describe_id(value), value


Schema = Mapping[str, Any]
_REFERENCE = "#/components/schemas/"
_MAX_QUOTED_CHARACTERS = 60


def find_differences(
    value: Any, schema: Schema, components: Mapping[str, Schema]
) -> list[Difference]:
    """Return all differences; elements of an array share one place, which is named once."""
    return list(dict.fromkeys(_compare(value, schema, components, "")))


def list_properties(schema: Schema, components: Mapping[str, Schema]) -> Mapping[str, Schema]:
    """Return the declared properties of an object, also those of parts and alternatives."""
    reference = schema.get("$ref")
    if reference is not None:
        return list_properties(components[reference.removeprefix(_REFERENCE)], components)
    found: dict[str, Schema] = dict(schema.get("properties", {}))
    for kind in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(kind, ()):
            found.update(list_properties(part, components))
    return found


def _compare(
    value: Any, schema: Schema, components: Mapping[str, Schema], where: str
) -> Iterator[Difference]:
    reference = schema.get("$ref")
    if reference is not None:
        yield from _compare(
            value, components[reference.removeprefix(_REFERENCE)], components, where
        )
        return
    # The schema does not say which alternative a value was meant to be. The one with the fewest
    # differences is the likely one; listing the differences of all would hide the real mistake.
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        branches = _choose_by_type(value, schema) or branches
        found = [list(_compare(value, branch, components, where)) for branch in branches]
        yield from min(found, key=len)
        return
    for part in schema.get("allOf", ()):
        yield from _compare(value, part, components, where)
    # A value of another type ends the comparison at this place: everything inside it would be a
    # consequence of that one difference.
    wanted = _list_types(schema)
    kind = find_kind(value)
    if wanted and kind not in wanted and not (kind == "integer" and "number" in wanted):
        yield Difference("type", where or "(body)", " or ".join(wanted), kind)
        return
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(str(item) for item in schema["enum"] if item is not None)
        yield Difference("enum", where, allowed, show(value, _MAX_QUOTED_CHARACTERS))
    if schema.get("format") == "date-time" and isinstance(value, str) and not _is_instant(value):
        example = show(value, _MAX_QUOTED_CHARACTERS)
        yield Difference("format", where, "date-time", describe_moment(value), example)
    if isinstance(value, dict):
        yield from _compare_object(value, schema, components, where)
    elif isinstance(value, list) and "items" in schema:
        for item in value:
            yield from _compare(item, schema["items"], components, f"{where}[]")


def _choose_by_type(value: Any, schema: Schema) -> list[Schema]:
    """Return the alternative that a value names, by the slug of its type; empty without one."""
    known = schema.get("discriminator", {})
    named = value.get(known.get("propertyName")) if isinstance(value, dict) else None
    if not isinstance(named, str):
        return []
    slug = named.rpartition("/")[2]
    mapping: Mapping[str, str] = known.get("mapping", {})
    return [{"$ref": ref} for key, ref in mapping.items() if key.rpartition("/")[2] == slug]


def _compare_object(
    value: Mapping[str, Any], schema: Schema, components: Mapping[str, Schema], where: str
) -> Iterator[Difference]:
    properties: Mapping[str, Schema] = schema.get("properties", {})
    more = schema.get("additionalProperties", True)
    for name, declared in properties.items():
        # A property with a default is always served, though a request may leave it out.
        if name not in value and (name in schema.get("required", ()) or "default" in declared):
            yield Difference("missing", _join(where, name), _describe(declared), "absent")
    for name, item in value.items():
        if name in properties:
            yield from _compare(item, properties[name], components, _join(where, name))
        elif isinstance(more, Mapping):
            yield from _compare(item, more, components, _join(where, "*"))
        elif more is False:
            yield Difference("extra", _join(where, name), "absent", find_kind(item))


_KINDS: Mapping[type, str] = {
    bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object",
}  # fmt: skip


def find_kind(value: Any) -> str:
    """Return the JSON type of a value."""
    return _KINDS.get(type(value), "null")


def _list_types(schema: Schema) -> Sequence[str]:
    declared = schema.get("type", ())
    return (declared,) if isinstance(declared, str) else declared


def _describe(schema: Schema) -> str:
    reference = schema.get("$ref", "")
    return " or ".join(_list_types(schema)) or reference.removeprefix(_REFERENCE) or "any value"


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _is_instant(text: str) -> bool:
    try:
        parse_instant(text)
    except ValueError:
        return False
    return True
