"""Checks that settings have values of their kinds: a value that nothing reads would have no effect.

The command line checks its options itself; in Python nothing else does.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from mock_platform.core.errors import did_you_mean
from mock_platform.settings import ConnectionSettings, DeliverySettings, Settings

_GROUPS = (DeliverySettings, ConnectionSettings)
_KINDS: dict[Any, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a path",
    datetime: "a moment",
    NoneType: "None",
}


def check_settings(settings: Settings) -> None:
    """Check that each setting, and each of its `delivery` and `connection`, has a possible value.

    Raises:
        TypeError: A value has another type, or these are no settings.
        ValueError: A text is not one of those that the setting may be.
    """
    if not isinstance(settings, Settings):
        raise TypeError(
            f"Settings are given by name, as in seed=7, or as mock_platform.Settings(…), not as "
            f"{settings!r}."
        )
    _check_fields(settings, "")


def _check_fields(holder: Any, prefix: str) -> None:
    for name, kind in get_type_hints(type(holder)).items():
        value = getattr(holder, name)
        if kind in _GROUPS and isinstance(value, kind):
            _check_fields(value, f"{name}_")
        elif not _is_of_kind(value, kind):
            text = f"The setting {prefix + name!r} is {_describe(kind)}, not {value!r}."
            if isinstance(value, str) and (choices := _list_choices(kind)):
                raise ValueError(text + did_you_mean(value, choices))
            raise TypeError(text)


def _is_of_kind(value: Any, kind: Any) -> bool:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return value in parts
    if origin in {Union, UnionType}:
        return any(_is_of_kind(value, part) for part in parts)
    if origin is tuple:
        several = isinstance(value, tuple | list | set | frozenset)
        return several and all(_is_of_kind(each, parts[0]) for each in value)
    if kind is bool:
        return value in (True, False)  # 1 and 0 as well
    if kind in {int, float}:
        return isinstance(value, int | kind) and not isinstance(value, bool)
    return isinstance(value, kind)


def _list_choices(kind: Any) -> list[str]:
    """Return the texts that a value may be, if it cannot be any other text."""
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [choice for part in get_args(kind) for choice in _list_choices(part)]


def _describe(kind: Any) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(repr(part) for part in parts)
    if origin in {Union, UnionType}:
        return " or ".join(_describe(part) for part in parts)
    if origin is tuple:
        return f"a tuple, with {_describe(parts[0])} in each place"
    return _KINDS.get(kind) or str(kind.__name__)
