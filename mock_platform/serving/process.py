"""What a process of the sandbox sets for itself: it loads quickly, and collects garbage rarely."""

from __future__ import annotations

import contextlib
import gc
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

_NEW_OBJECTS = 1_000
"""Number of new objects (beyond those freed) after which the garbage collector scans them.

While the journal is full, several times as many are made and freed until then, and all requests
wait for the scan. A larger number makes scans rarer and as many times longer, which saves nothing.
"""
_YOUNG_SCANS = 200
"""Number of such scans after which it scans again what survived them."""
_CHECKS = "marshmallow.validate"
"""The module whose patterns may wait."""


class _LatePattern:
    """A regular expression that is compiled when it is used for the first time."""

    def __init__(
        self, compile_: Callable[[str, int], re.Pattern[str]], pattern: str, flags: int
    ) -> None:
        self._compile, self._given = compile_, (pattern, flags)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return self._compile(*self._given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python asks each attribute of a class whether it is abstract
            raise AttributeError(name)
        return getattr(self._pattern, name)


@contextlib.contextmanager
def load_quickly(*, keep: bool = True) -> Iterator[None]:
    """Let some of what modules do while they are loaded wait.

    The garbage collector took a tenth of a start. With `keep` what exists then is kept until the
    end, so it is not scanned later either.
    """
    # Letters of all languages in either case take 40 ms to compile, a twelfth of a start.
    # marshmallow has such a pattern, for addresses of mail, which no schema here has. The pattern
    # works as before for whoever does check an address, and those of other modules are not touched.
    compile_, runs = re.compile, gc.isenabled()
    if compile_.__module__ != re.__name__:  # another thread is here: what it set, it sets back
        yield
        return

    def compile_later(pattern: Any, flags: int = 0) -> Any:
        frame = inspect.currentframe()
        caller = frame.f_back if frame is not None else None
        is_of_mail = caller is not None and caller.f_globals.get("__name__") == _CHECKS
        is_slow = is_of_mail and isinstance(pattern, str) and not pattern.isascii()
        return _LatePattern(compile_, pattern, flags) if is_slow else compile_(pattern, flags)

    gc.disable()
    re.compile = compile_later
    try:
        yield
    finally:
        re.compile = compile_
        if keep:
            gc.freeze()
        if runs:
            gc.enable()


def load_operations(*, keep: bool = True) -> contextlib.AbstractContextManager[None]:
    """Load all operations quickly; where they are loaded already, nothing is set."""
    loaded = "mock_platform.api.served" in sys.modules
    return contextlib.nullcontext() if loaded else load_quickly(keep=keep)


@contextlib.contextmanager
def collect_rarely() -> Iterator[None]:
    """Let the garbage collector scan less: it took about a fifth of the time of a request.

    What is loaded now is kept until the end, so it is not scanned at all. Of the rest nearly
    everything is freed without the collector, when the journal drops its oldest entry, so the
    collector waits until many more objects exist than before.
    """
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, _YOUNG_SCANS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
