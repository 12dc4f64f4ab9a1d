"""What is installed: the files of the package, and the libraries of its extras.

The files are inside the wheel, or beside the package in a checkout. What only some users need is an
extra of the package: `mock-platform[tls,watch]`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def folder(name: str) -> Path:
    """Return the packaged folder `fidelity`, `fixtures`, `scenarios` or `docs`."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


class MissingExtra(ImportError):
    """An option needs a library that is not installed; the text says how to install it."""

    def __init__(self, option: str, extra: str, library: str) -> None:
        super().__init__(
            f"{option} needs {library}, which is not installed. Install it with "
            f"pip install 'mock-platform[{extra}]'",
            name=library,
        )


def require_extra(option: str, extra: str, library: str) -> None:
    """Check that the library of an extra is installed, without importing it.

    Raises:
        MissingExtra: It is not installed.
    """
    if find_spec(library) is None:
        raise MissingExtra(option, extra, library)
