"""How the parameters of a scenario stand in its document, and how their values are put in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.scenario.shapes import Path, reference

_ANY: Any = object()


def references(value: Any, at: Path) -> list[tuple[Path, str]]:
    """Every parameter that a value names, with its place."""
    name = reference(value)
    if name is not None:
        return [(at, name)]
    found: list[tuple[Path, str]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            tail = reference(key.partition("/")[2])
            if tail is not None:
                found.append(((*at, key), tail))
            found += references(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += references(item, (*at, index))
    return found


def reference_at(raw: Any, at: Path) -> str:
    """The parameter that stands at a place of the unbound rule, or around it; empty if none."""
    for step in at:
        named = reference(raw)
        if named is not None:
            return named
        try:
            raw = raw[step]
        except (KeyError, IndexError, TypeError):
            break
    return reference(raw) or ""


def put_in(values: Mapping[str, Any], value: Any) -> Any:
    """A value with its parameters put in; what is any (null) is left out.

    A parameter without a value stays as it is written.
    """
    found = _bound(value, values)
    return {} if found is _ANY else found


def _bound(value: Any, values: Mapping[str, Any]) -> Any:
    name = reference(value)
    if name is not None:
        given = values.get(name, value)
        return _ANY if given is None else given
    if isinstance(value, str):
        return value[1:] if value.startswith("$$") else value
    if isinstance(value, dict):
        found = {}
        for key, item in value.items():
            bound = _bound(item, values)
            if bound is not _ANY:
                found[_bound_key(key, values)] = bound
        # A condition or an object of which nothing is left restricts nothing.
        return _ANY if value and not found else found
    if isinstance(value, list):
        return [bound for item in value if (bound := _bound(item, values)) is not _ANY]
    return value


def _bound_key(key: str, values: Mapping[str, Any]) -> str:
    """`TABLE/$name` with the parameter put in."""
    table, slash, tail = key.partition("/")
    name = reference(tail)
    if name is None:
        return key
    given = values.get(name, tail)
    return f"{table}{slash}{'' if given is None else given}"
