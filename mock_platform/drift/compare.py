"""Compares a JSON value with the JSON Schema that the sandbox declares for it.

It supports what the sandbox's own descriptions use: references, alternatives, types, enumerations,
required and unknown properties, items and moments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_platform.drift.difference import Difference, shorten
from mock_platform.drift.formats import describe_moment
from mock_platform.world.clock import parse_instant

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
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        found = [list(_compare(value, branch, components, where)) for branch in branches]
        yield from min(found, key=len)
        return
    for part in schema.get("allOf", ()):
        yield from _compare(value, part, components, where)
    wanted = _list_types(schema)
    if wanted and not any(_has_type(value, kind) for kind in wanted):
        yield Difference("type", where or "(body)", " or ".join(wanted), find_kind(value))
        return
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(str(item) for item in schema["enum"] if item is not None)
        yield Difference("enum", where, allowed, shorten(value, _MAX_QUOTED_CHARACTERS))
    if schema.get("format") == "date-time" and isinstance(value, str) and not _is_instant(value):
        example = shorten(value, _MAX_QUOTED_CHARACTERS)
        yield Difference("format", where, "date-time", describe_moment(value), example)
    if isinstance(value, dict):
        yield from _compare_object(value, schema, components, where)
    elif isinstance(value, list) and "items" in schema:
        for item in value:
            yield from _compare(item, schema["items"], components, f"{where}[]")


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


def find_kind(value: Any) -> str:
    """Return the JSON type of a value."""
    kinds: Sequence[tuple[type, str]] = (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _has_type(value: Any, kind: str) -> bool:
    found = find_kind(value)
    return found == kind or (found == "integer" and kind == "number")


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
