"""Reads the fields of an entry, and says which one is not as an archive has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class BadField(Exception):
    """A field of an entry that is not what an archive may have there."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(f"{field}: {text}")


def read_object(holder: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    """Returns an object; an empty one if it is missing."""
    found = holder.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _refuse(where, name, "an object", found)
    return found


def require_object(holder: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Returns an object that must be there."""
    if name not in holder:
        raise BadField(name, "is missing")
    return read_object(holder, name, "")


def read_list(holder: Mapping[str, Any], name: str, where: str) -> list[Any]:
    """Returns a list; an empty one if it is missing."""
    found = holder.get(name)
    if found is None:
        return []
    if not isinstance(found, list):
        raise _refuse(where, name, "a list", found)
    return found


def read_text(holder: Mapping[str, Any], name: str, where: str) -> str | None:
    """Returns a string; `None` if it is missing."""
    found = holder.get(name)
    if found is not None and not isinstance(found, str):
        raise _refuse(where, name, "a string", found)
    return found


def require_text(holder: Mapping[str, Any], name: str, where: str) -> str:
    """Returns a string that must be there and not be empty."""
    found = read_text(holder, name, where)
    if not found:
        raise BadField(f"{where}.{name}", "is missing")
    return found


def read_number(holder: Mapping[str, Any], name: str) -> float:
    """Returns a number of milliseconds, 0 if it is missing or negative."""
    found = holder.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return 0.0
    return max(float(found), 0.0)


def read_size(holder: Mapping[str, Any], name: str, where: str) -> int | None:
    """Returns a number of bytes; `None` if it is missing or -1, which means unknown."""
    found = holder.get(name)
    if found is None or found == -1:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or found < 0:
        raise _refuse(where, name, "a number of bytes, or -1", found)
    return int(found)


def _refuse(where: str, name: str, wanted: str, found: object) -> BadField:
    field = f"{where}.{name}" if where else name
    return BadField(field, f"must be {wanted}, not {found!r:.60}")
