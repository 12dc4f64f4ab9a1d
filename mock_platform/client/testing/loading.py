"""Loads the modules of the package as any program does, although pytest would rewrite them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_OURS = "mock_platform."


class PlainFinder:
    """Finds the modules of this package before pytest does.

    pytest rewrites the assertions of all modules of a package that has a plugin, here hundreds. The
    first run took seconds longer for that; where no bytecode can be stored, as in many containers,
    each run did.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Returns where a module of this package is; `None` for any other module."""
        return PathFinder.find_spec(name, path, target) if name.startswith(_OURS) else None


def find_plainly() -> Callable[[], None]:
    """Keep pytest from rewriting the modules of this package; returns what ends that."""
    finder = PlainFinder()
    sys.meta_path.insert(0, finder)

    def end() -> None:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)

    return end
