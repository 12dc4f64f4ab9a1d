"""Makes a JSON Schema small: parts that occur more than once are defined once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from mock_platform.core.jsonio import canonical
from mock_platform.scenario.forms import JsonSchema

_ONE = ("if", "then", "else", "items", "propertyNames", "additionalProperties", "not")
_MANY = ("allOf", "anyOf")
_LEAST_CHARACTERS = 60
"""The size from which a repeated part is worth a definition."""


def share_parts(schema: JsonSchema) -> JsonSchema:
    """Return an equal schema whose repeated parts are references to `$defs`."""
    counts: Counter[Any] = Counter()

    def count(part: JsonSchema) -> JsonSchema:
        key = canonical(part)
        counts[key] += 1
        if counts[key] == 1:  # the parts of a repeated one are shared with it
            _map_parts(part, count)
        return part

    names: dict[Any, str] = {}
    definitions: dict[str, JsonSchema] = {}

    def replace(part: JsonSchema) -> JsonSchema:
        key = canonical(part)
        if counts[key] < 2 or len(key) < _LEAST_CHARACTERS:
            return _simplify(_map_parts(part, replace))
        if key not in names:
            name = names[key] = f"{part.get('title', 'part')}-{len(names) + 1}".replace(" ", "-")
            definitions[name] = _simplify(_map_parts(part, replace))
        return {"$ref": f"#/$defs/{names[key]}"}

    count(schema)
    return {**replace(schema), "$defs": definitions}


def _map_parts(schema: JsonSchema, change: Callable[[JsonSchema], JsonSchema]) -> JsonSchema:
    """Return a schema with each of its direct parts changed."""
    found = dict(schema)
    for name in _ONE:
        if isinstance(found.get(name), dict):
            found[name] = change(found[name])
    for name in _MANY:
        if name in found:
            found[name] = [change(part) for part in found[name]]
    if "properties" in found:
        found["properties"] = {name: change(part) for name, part in found["properties"].items()}
    return found


def _simplify(schema: JsonSchema) -> JsonSchema:
    """Return a description of one reference without the list around it."""
    parts = schema.get("allOf")
    if parts is None or len(parts) != 1 or [*parts[0]] != ["$ref"]:
        return schema
    return {**{name: value for name, value in schema.items() if name != "allOf"}, **parts[0]}
