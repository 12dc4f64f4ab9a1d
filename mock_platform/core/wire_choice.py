"""Which wires there are: by name, and what is in doubt on them chosen by itself.

`recorded,missing=200` is the recorded wire, on which a missing resource that is read is a 200 with
errors. The command line reads it, so nothing here takes long to load.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from mock_platform.core.errors import did_you_mean
from mock_platform.settings import DOCUMENTED, WireChoice

_RECORDED = WireChoice("recorded", "201", "404", "json", "problem", "refused", "recorded")
WIRES: Mapping[str, WireChoice] = {
    "spec": DOCUMENTED,
    "recorded": _RECORDED,
    "recorded-2023": replace(_RECORDED, missing="200", name="recorded-2023"),
}
"""The wires that have a name; the last one is as until 2023, where that differs."""
IN_DOUBT: Mapping[str, tuple[str, str]] = {
    "rules": ("200", "201"),
    "missing": ("404", "200"),
    "problems": ("problem+json", "json"),
    "limit": ("code", "problem"),
    "unknown": ("ignored", "refused"),
}
"""What was seen in more than one form, with its forms, the documented one first."""


@lru_cache(maxsize=256)
def read_wire(text: str) -> WireChoice:
    """Return the wire of a text: a name, and behind it what is in doubt.

    Example:
        >>> read_wire("recorded,missing=200").name, read_wire("spec,rules=201").name
        ('recorded-2023', 'spec,rules=201')
        >>> read_wire("recorded,missing=400")
        Traceback (most recent call last):
        ValueError: missing is 404 or 200, not '400'. Did you mean '404'?

    Raises:
        ValueError: It is no wire; the message says what is allowed.
    """
    name, *parts = (part.strip() for part in text.split(","))
    if name not in WIRES:
        raise ValueError(
            f"a wire is {_join(WIRES)}, and behind it what is in doubt, as in "
            f"recorded,missing=200; not {name!r}.{did_you_mean(name, WIRES)}"
        )
    chosen: dict[str, Any] = {}
    for part in parts:
        key, _, value = part.partition("=")
        if key not in IN_DOUBT:
            known = ", ".join(IN_DOUBT)
            raise ValueError(f"a wire has no {key!r}, but {known}.{did_you_mean(key, IN_DOUBT)}")
        if value not in IN_DOUBT[key]:
            near = did_you_mean(value, IN_DOUBT[key])
            raise ValueError(f"{key} is {_join(IN_DOUBT[key])}, not {value!r}.{near}")
        if chosen.setdefault(key, value) != value:
            raise ValueError(f"{key} is both {chosen[key]} and {value}")
    usual = WIRES[name]
    wire = replace(usual, **chosen)
    others = [f"{key}={value}" for key, value in chosen.items() if value != getattr(usual, key)]
    named = next((one for one in WIRES.values() if one == wire), None)
    return named or replace(wire, name=",".join([name, *others]))


def _join(words: Mapping[str, Any] | tuple[str, ...]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}"
