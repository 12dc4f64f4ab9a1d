"""Conditions in a description: objects whose fields depend on one of them.

A schema class declares such conditions in `json_conditions`; its own checks refuse what they
forbid.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

JsonObject = dict[str, Any]


def either(*forms: JsonObject) -> JsonObject:
    """Returns the condition that an object has at least one of these forms."""
    return {"anyOf": list(forms)}


def form(
    name: str, value: str, *, needed: Iterable[str] = (), foreign: Iterable[str] = ()
) -> JsonObject:
    """Returns the form of the objects whose field `name` is `value`.

    They have all fields in `needed` and no field in `foreign`.
    """
    needed = tuple(needed)
    absent = dict.fromkeys((other for other in foreign if other not in needed), False)
    return {
        "properties": {name: {"const": value}, **absent},
        "required": [name, *needed],
    }


def exclusive(*names: str) -> JsonObject:
    """Returns the forms of objects that have exactly one of these fields."""
    return either(
        *(
            {
                "properties": dict.fromkeys((other for other in names if other != name), False),
                "required": [name],
            }
            for name in names
        )
    )
