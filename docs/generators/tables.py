"""A part of `docs/tables.md`: every table of records, with its fields."""

from __future__ import annotations

from typing import Any

from marshmallow.fields import Field, List, Nested

from docs.generators.markdown import paragraphs, table
from mock_platform.api.served import TABLES
from mock_platform.core.fields import Choice
from mock_platform.core.tables.table import Table

_MAX_VALUES = 15
"""More values than this are only counted."""


def write_tables() -> str:
    """Returns a section for each table."""
    return "\n".join(_section(each) for each in TABLES)


def _section(each: Table) -> str:
    rows = [
        (f"`{name}`", _value(field), ", ".join(_remarks(each, name, field)))
        for name, field in _fields(each).items()
    ]
    lines = [f"## `{each.name}`", "", paragraphs(each.schema.__doc__), ""]
    return "\n".join(lines + table(("field", "value", "remarks"), rows)) + "\n"


def _fields(each: Table) -> dict[str, Field[Any]]:
    """The fields by the names that records have for them, the sandbox's own ones last."""
    found = {f.data_key or name: f for name, f in each.schema().load_fields.items()}
    return dict(sorted(found.items(), key=lambda item: item[0].startswith("_")))


def _value(field: Field[Any]) -> str:
    if isinstance(field, List):
        return f"list of: {_value(field.inner)}"
    if isinstance(field, Nested):
        return "object with " + ", ".join(f"`{name}`" for name in field.schema.load_fields)
    if isinstance(field, Choice) and len(field.values) <= _MAX_VALUES:
        return ", ".join(f"`{value}`" for value in field.values)
    if isinstance(field, Choice):
        return f"one of {len(field.values)} values, such as `{field.values[0]}`"
    return str(getattr(field, "kind", type(field).__name__.lower()))


def _remarks(each: Table, name: str, field: Field[Any]) -> list[str]:
    remarks = ["key"] if name == each.key else []
    remarks += ["required"] if field.required else []
    remarks += ["may be null"] if field.allow_none else []
    for reference in each.references:
        if reference.field == name:
            remarks.append("refers to " + " or ".join(f"`{other}`" for other in reference.tables))
    return remarks
