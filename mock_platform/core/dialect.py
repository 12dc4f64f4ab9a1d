"""The dialects: families of paths, each of which renders its failures in its own way."""

from __future__ import annotations

from typing import Literal

Dialect = Literal["v2", "oauth", "ads"]


def dialect_of(path: str) -> Dialect:
    """Returns the dialect of a path, whether an operation has it or not."""
    first = path.lstrip("/").partition("/")[0]
    if first == "2":
        return "v2"
    return "ads" if first.isdecimal() else "oauth"
