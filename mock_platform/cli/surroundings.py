"""What surrounds a server while it serves: garbage collection, the store, watched files, errors."""

from __future__ import annotations

import contextlib
import gc
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mock_platform.cli.trouble import BadInput
from mock_platform.cli.watching import Watch
from mock_platform.platform import Platform
from mock_platform.restoring import Opened

if TYPE_CHECKING:
    from mock_platform.drift.shadow import ShadowSettings

_LOG = logging.getLogger(__name__)
_NEW_OBJECTS = 5_000
"""Number of new objects (beyond those freed) after which the garbage collector scans them.

While the journal is full, several times as many are made and freed until then, and all requests
wait for the scan: a larger number makes it rarer, and as many times longer.
"""
_YOUNG_SCANS = 40
"""Number of such scans after which it scans again what survived them."""


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


@contextlib.contextmanager
def close_after(opened: Opened) -> Iterator[None]:
    """Write the store at the end.

    Raises:
        BadInput: It could not be written.
    """
    try:
        yield
    finally:
        opened.platform.deliverer.close()
        try:
            opened.close()
        except OSError as fault:
            raise BadInput(
                f"{opened.archive.place} could not be written at the end ({fault}); it contains "
                "what was written before. Free some space; with --durability log each "
                "change is written at once."
            ) from fault


@contextlib.contextmanager
def watch_files(opened: Opened, *, active: bool) -> Iterator[None]:
    """Load files again when they change, if that is `active`."""
    if not active:
        yield
        return
    watch = Watch(opened.platform)
    watch.start()
    try:
        yield
    finally:
        watch.stop()


def report_error(fault: BaseException) -> None:
    """Log an error of the sandbox itself."""
    _LOG.error("The sandbox itself failed: %s", fault, exc_info=fault)


@contextlib.contextmanager
def send_to_shadow(
    platform: Platform, shadow: ShadowSettings | None, *, aloud: bool = True
) -> Iterator[None]:
    """Send requests to another service as well, as long as the block runs; `aloud`: say so."""
    if shadow is None:
        yield
        return
    from mock_platform.cli.comparing import make_shadow

    traffic = make_shadow(platform, shadow)
    traffic.start()
    what = "Reads and writes" if shadow.writes else "Reads"
    if aloud:
        _LOG.info("%s are sent to %s as well: GET /_mock/shadow", what, shadow.upstream)
    try:
        yield
    finally:
        traffic.stop()
