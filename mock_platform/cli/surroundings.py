"""What surrounds a server while it serves: the store, watched files, errors."""

from __future__ import annotations

import contextlib
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
