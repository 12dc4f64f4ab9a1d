"""The parameters in a scenario's document: found, and replaced by values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.core.documents.forms import parse_reference
from mock_platform.core.documents.source import Path

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
