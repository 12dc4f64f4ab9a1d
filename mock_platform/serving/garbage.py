"""How often the garbage collector runs: while a process starts, and while it works for long."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

_NEW_OBJECTS = 1_000
"""Number of new objects (beyond those freed) after which the garbage collector scans them.

While the journal is full, several times as many are made and freed until then, and all requests
wait for the scan. A larger number makes scans rarer and as many times longer, which saves nothing.
"""
_YOUNG_SCANS = 200
"""Number of such scans after which it scans again what survived them."""


@contextlib.contextmanager
def load_without_collecting() -> Iterator[None]:
    """Let the garbage collector wait while modules are loaded; it took a tenth of a start.

    They are kept until the end, so what exists then is not scanned later either.
    """
    runs = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if runs:
            gc.enable()


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
