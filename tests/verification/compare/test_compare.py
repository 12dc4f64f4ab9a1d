from __future__ import annotations

from typing import Any

import pytest

from mock_platform.verification.compare.compare import find_differences, find_kind

COMPONENTS: dict[str, dict[str, Any]] = {
    "Thing": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "state": {"type": ["string", "null"], "enum": ["ON", "OFF", None], "default": None},
            "size": {"type": "number"},
            "at": {"type": "string", "format": "date-time"},
            "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}},
            "shape": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]
            },
            "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        "required": ["id"],
        "additionalProperties": False,
    }
}  # fmt: skip
LIST = {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}}


@pytest.mark.parametrize(("value", "expected"), [
    ([{"id": "1", "state": "ON"}, {"id": "2", "state": None, "size": 1}], []),
    ([{"id": "1", "state": "ON", "at": "2026-03-01T00:00:00Z", "shape": [1]}], []),
    ({}, [("type", "(body)", "array", "object")]),
    ([{"state": "ON"}], [("missing", "[].id", "string", "absent")]),
    ([{"id": "1"}], [("missing", "[].state", "string or null", "absent")]),
    ([{"id": "1", "state": "ON", "x": 1}], [("extra", "[].x", "absent", "integer")]),
    ([{"id": 1, "state": "ON"}], [("type", "[].id", "string", "integer")]),
    ([{"id": True, "state": "ON"}], [("type", "[].id", "string", "boolean")]),
    ([{"id": "1", "state": "on"}], [("enum", "[].state", "ON, OFF", "on")]),
    ([{"id": "1", "state": "ON", "size": 1.5}], []),
    ([{"id": "1", "state": "ON", "size": True}], [("type", "[].size", "number", "boolean")]),
    ([{"id": "1", "state": "ON", "at": "now"}], [("format", "[].at", "date-time", "aaa")]),
    ([{"id": "1", "state": "ON", "parts": [{"id": "2"}]}],
     [("missing", "[].parts[].state", "string or null", "absent")]),
    ([{"id": "1", "state": "ON", "shape": ["x"]}],
     [("type", "[].shape", "string", "array")]),
    ([{"id": "1", "state": "ON", "counts": {"a": 1, "b": "2"}}],
     [("type", "[].counts.*", "integer", "string")]),
])  # fmt: skip
def test_differences(value: Any, expected: list[tuple[str, str, str, str]]) -> None:
    """Each kind of difference is reported with its place, what is declared and what came."""
    found = find_differences(value, LIST, COMPONENTS)

    assert expected == [(d.kind, d.where, d.expected, d.got) for d in found]


def test_elements_share_a_place() -> None:
    """A difference of many elements is reported once."""
    found = find_differences([{"id": 1, "state": "ON"}] * 50, LIST, COMPONENTS)

    assert ["[].id"] == [difference.where for difference in found]


@pytest.mark.parametrize(
    ("value", "kind"),
    [(None, "null"), (True, "boolean"), (1, "integer"), (1.0, "number"), ("", "string"),
     ([], "array"), ({}, "object")],
)  # fmt: skip
def test_kinds(value: Any, kind: str) -> None:
    """Values have the types of JSON."""
    assert kind == find_kind(value)


def test_long_values_are_cut() -> None:
    """A long value outside an enumeration does not flood the report."""
    found = find_differences("x" * 100, {"type": "string", "enum": ["a"]}, {})

    assert ["x" * 60 + "…"] == [difference.got for difference in found]
