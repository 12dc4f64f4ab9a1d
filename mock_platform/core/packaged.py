"""Where the files that come with the package stand: in the wheel, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def folder(name: str) -> Path:
    """The shipped folder `fixtures` or `scenarios`."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name
