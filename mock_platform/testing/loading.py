"""Loads the sandbox fast in a test run: without rewriting its modules, or scanning for garbage."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Save a tenth of the start: it makes many objects, and all of them live until the run ends."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


def exit_without_collecting() -> None:
    """Save a fifth of a second at the end of the process.

    The interpreter scans all objects while it ends. pytest has collected garbage before, and the
    language does not promise finalizers of what still exists then.
    """
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
