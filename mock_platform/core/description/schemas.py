"""The schemas of the interface in OpenAPI: fields, conditions, failure bodies, problem types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from marshmallow import Schema, fields

from mock_platform.core.failures.problems import PROBLEM_TYPES
from mock_platform.core.fields import CommaList, Instant, Integer, Long
from mock_platform.core.validators import Between, Pattern

JsonObject = dict[str, Any]

_NUMERIC: JsonObject = {
    "type": "object",
    "properties": {
        "code": {"type": "integer", "format": "int32"},
        "message": {"type": "string"},
        "label": {"type": "string"},
    },
    "required": ["code", "message"],
    "additionalProperties": False,
}
_NAMED: JsonObject = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "pattern": "^[A-Z_]+$"},
        "message": {"type": "string"},
        "parameter": {"type": "string"},
        "details": {"type": "string"},
        "value": {"description": "The value that could not be read."},
    },
    "required": ["code", "message"],
}
REQUEST_ECHO: JsonObject = {
    "type": "object",
    "description": "Echo of the parameters, as they were understood.",
    "properties": {"params": {"type": "object"}},
    "required": ["params"],
    "additionalProperties": False,
}
_OPERATION_ECHO: JsonObject = {
    "type": "object",
    "description": "Echo of one operation, as it was understood.",
    "properties": {"params": {"type": "object"}, "operation_type": {"type": "string"}},
    "required": ["params"],
    "additionalProperties": False,
}
FAILURE_SCHEMAS: Mapping[str, JsonObject] = {
    "Error": {
        "type": "object",
        "description": "The error object of document A.",
        "properties": {
            "code": {"type": "integer", "format": "int32"},
            "message": {"type": "string"},
        },
        "required": ["code", "message"],
        "additionalProperties": False,
    },
    "TokenError": {
        "type": "object",
        "description": "An error of the OAuth 2.0 token endpoints (RFC 6749, 5.2).",
        "properties": {"error": {"type": "string"}, "error_description": {"type": "string"}},
        "required": ["error", "error_description"],
        "additionalProperties": False,
    },
    "Errors": {
        "type": "object",
        "description": "Errors with numeric codes, as the OAuth endpoints send them.",
        "properties": {"errors": {"type": "array", "minItems": 1, "items": _NUMERIC}},
        "required": ["errors"],
        "additionalProperties": False,
    },
    "AdsErrors": {
        "type": "object",
        "description": "Errors of the advertising interface.",
        "properties": {
            "errors": {"type": "array", "minItems": 1, "items": _NAMED},
            "request": REQUEST_ECHO,
        },
        "required": ["errors", "request"],
        "additionalProperties": False,
    },
    "BatchErrors": {
        "type": "object",
        "description": "Errors of a batch: one array, possibly empty, for each item.",
        "properties": {
            "operation_errors": {"type": "array", "items": {"type": "array", "items": _NAMED}},
            "request": {"type": "array", "items": _OPERATION_ECHO},
        },
        "required": ["operation_errors", "request"],
        "additionalProperties": False,
    },
}
"""Bodies of failures, except for the problem objects."""


_DEMANDED = "x-required"
"""Metadata (`x_required`) of a parameter that the spec requires, but whose absence the operation
itself answers, not as a missing parameter.
"""


class Converter:
    """Converts schemas into JSON Schema within one document."""

    def __init__(self, apispec_converter: Any) -> None:
        self._apispec = apispec_converter
        self._apispec.add_attribute_function(_special)
        self._apispec.add_parameter_attribute_function(_describe_comma_list)

    def reference(self, schema: Schema | type[Schema]) -> JsonObject:
        """Return a reference to the schema's component, and add a new component."""
        found: JsonObject = self._apispec.resolve_nested_schema(schema)
        return found

    def inline(self, schema: Schema | type[Schema]) -> JsonObject:
        """Return the schema for values that are sent as text, which cannot be null."""
        instance = schema if isinstance(schema, Schema) else schema()
        described: JsonObject = self._apispec.schema2jsonschema(instance)
        described["properties"] = {
            name: _remove_null(value) for name, value in described["properties"].items()
        }
        demanded = [name for name, v in described["properties"].items() if v.pop(_DEMANDED, False)]
        if demanded:
            described["required"] = sorted({*described.get("required", ()), *demanded})
        return described

    def parameters(self, schema: Schema, *, allow_empty: bool = False) -> list[JsonObject]:
        """Return the fields as query parameters; `allow_empty` lets nullable ones be empty."""
        found: list[JsonObject] = self._apispec.schema2parameters(schema, location="query")
        for parameter in found:
            before = parameter["schema"]
            parameter["schema"] = _remove_null(before)
            if allow_empty and parameter["schema"] != before:
                parameter["allowEmptyValue"] = True
            if parameter["schema"].pop(_DEMANDED, False):
                parameter["required"] = True
        return found

    def properties(self, schema: Schema | type[Schema]) -> JsonObject:
        """Return the fields by name, each with its schema."""
        found: JsonObject = self.inline(schema)["properties"]
        return found

    def finish(
        self, schemas: Mapping[str, JsonObject], owners: Mapping[str, type[Schema]] = {}
    ) -> None:
        """Remove the mock's own keys from every component, because they are never served.

        The `json_conditions` of the class that a component describes are added.
        """
        for component, schema in schemas.items():
            schema.update(getattr(owners.get(component), "json_conditions", {}))
            properties = schema.get("properties", {})
            for name in [name for name in properties if name.startswith("_")]:
                del properties[name]
            if "required" in schema:
                schema["required"] = [n for n in schema["required"] if not n.startswith("_")]


_KEPT = ["type", "title", "detail"]
"""What problems have in any case on the recorded wire, where most lack their status."""


def problem_schemas(converter: Converter, base_url: str) -> dict[str, JsonObject]:
    """Add a component for each problem type, and `Problem`, which has one of them."""
    found: dict[str, JsonObject] = {}
    mapping: dict[str, str] = {}
    for kind in PROBLEM_TYPES.values():
        schema = kind.schema()
        described = converter.inline(schema)
        described["description"] = kind.meaning
        described["properties"]["type"] = {"type": "string", "const": kind.uri(base_url)}
        described["x-mock-recorded"] = {"required": _KEPT}
        own = {"$ref": f"#/components/schemas/{schema.__name__}"}
        if kind.repeatable:
            once = {"type": "array", "items": own, "minItems": 1, "maxItems": 1}
            described["properties"]["errors"] = once
        found[schema.__name__] = described
        mapping[kind.uri(base_url)] = own["$ref"]
    found["Problem"] = {
        "description": "The problem object of document A; `type` tells which.",
        "oneOf": [{"$ref": reference} for reference in mapping.values()],
        "discriminator": {"propertyName": "type", "mapping": mapping},
    }
    return found


def _special(_converter: Any, field: fields.Field[Any], **_kwargs: Any) -> JsonObject:
    """Return what the library cannot know of our field types; called for each field."""
    described: JsonObject = {}
    if isinstance(field, Instant):
        described["type"] = ["string", "null"] if field.allow_none else "string"
        described["format"] = "date-time"
    elif isinstance(field, Long) or (isinstance(field, Integer) and not _has_maximum(field)):
        described["format"] = "int64"
    elif isinstance(field, CommaList):
        described["minItems"] = 1  # an empty text is a list of one empty value
    for check in field.validators:
        if isinstance(check, Pattern):
            described["pattern"] = anchor_pattern(str(check.regex.pattern))
    own = getattr(field, "json_schema", None)
    return described if own is None else described | own()


def _has_maximum(field: Integer) -> bool:
    return any(isinstance(check, Between) and check.max is not None for check in field.validators)


def _describe_comma_list(_converter: Any, field: fields.Field[Any], **_kwargs: Any) -> JsonObject:
    """Lists in the query are separated by commas; the library would describe them as repeated."""
    return {"explode": False, "style": "form"} if isinstance(field, CommaList) else {}


def anchor_pattern(pattern: str) -> str:
    """Return a pattern for JSON Schema: ours match the whole text, those any part of it."""
    if pattern.startswith("^") and pattern.endswith("$"):
        return pattern
    return f"^(?:{pattern})$" if "|" in pattern else f"^{pattern}$"


def _remove_null(schema: JsonObject) -> JsonObject:
    described = dict(schema)
    kinds = described.get("type")
    if isinstance(kinds, list):
        left = [kind for kind in kinds if kind != "null"]
        described["type"] = left[0] if len(left) == 1 else left
    if None in described.get("enum", ()):
        described["enum"] = [value for value in described["enum"] if value is not None]
    if "default" in described and described["default"] is None:
        del described["default"]
    return described


# Conditions in a description: objects whose fields depend on one of them. A schema class
# declares such conditions in `json_conditions`; its own checks refuse what they forbid.


def either(*forms: JsonObject) -> JsonObject:
    """Return the condition that an object has at least one of these forms."""
    return {"anyOf": list(forms)}


def form(
    name: str, value: str, *, needed: Iterable[str] = (), foreign: Iterable[str] = ()
) -> JsonObject:
    """Return the form of the objects whose field `name` is `value`.

    They have all fields in `needed` and no field in `foreign`.
    """
    needed = tuple(needed)
    absent = dict.fromkeys((other for other in foreign if other not in needed), False)
    return {
        "properties": {name: {"const": value}, **absent},
        "required": [name, *needed],
    }


def exclusive(*names: str) -> JsonObject:
    """Return the forms of objects that have exactly one of these fields."""
    return either(
        *(
            {
                "properties": dict.fromkeys((other for other in names if other != name), False),
                "required": [name],
            }
            for name in names
        )
    )
