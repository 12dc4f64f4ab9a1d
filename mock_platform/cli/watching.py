"""`serve --watch`: fixture folders are loaded again when a file in them changes.

What changed is checked first. If it is sound, the default world begins anew with it, as a reset
would, and so does every world made from then on; other worlds keep the fixtures they began with. If
it is not, the server goes on with the last sound fixtures and says what is wrong.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from mock_platform.core.fixtures import BadFixtures
from mock_platform.platform import Platform, load_base

_LOG = logging.getLogger(__name__)
_PATIENCE = 5.0
"""Seconds that a start waits for the system's watches to be in place."""


class Watcher(Protocol):
    """Gives what changed, an empty set now and then if nothing did, until the event is set."""

    def __call__(
        self, folders: Sequence[Path], stop: threading.Event
    ) -> Iterable[Collection[object]]:
        """Wait for changes; the first set says that none will be missed from now on."""


class Watch:
    """A thread that keeps a platform's fixtures as its folders have them."""

    def __init__(self, platform: Platform, watcher: Watcher | None = None) -> None:
        self._platform = platform
        self._watcher = watcher or _watch_files
        self._stop = threading.Event()
        self._watching = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fixtures", daemon=True)

    def start(self) -> None:
        """Begin to watch; no change is missed once this returns."""
        self._thread.start()
        self._watching.wait(_PATIENCE)

    def stop(self) -> None:
        """Watch no longer."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            for changes in self._watcher(self._platform.settings.fixtures, self._stop):
                self._watching.set()
                if changes and not self._stop.is_set():
                    reload(self._platform)
        except (OSError, RuntimeError) as fault:  # the system's watches may be used up
            self._watching.set()
            _LOG.error("Fixture folders cannot be watched any longer: %s", fault)


def reload(platform: Platform) -> bool:
    """Load a platform's fixtures again; whether they were sound."""
    folders = ", ".join(str(folder) for folder in platform.settings.fixtures)
    try:
        base = load_base(platform.settings)
    except BadFixtures as fault:
        _LOG.error("Fixtures changed and have faults; the last sound ones stay.\n%s", fault)
        return False
    except OSError as fault:
        _LOG.error("Fixtures cannot be read (%s); the last sound ones stay.", fault)
        return False
    platform.reload(base)
    _LOG.info("Fixtures of %s loaded again; the default world began anew.", folders)
    return True


def _watch_files(folders: Sequence[Path], stop: threading.Event) -> Iterable[Collection[object]]:
    from watchfiles import watch  # 27 ms that other servers do not pay

    return watch(*folders, stop_event=stop, debounce=200, rust_timeout=100, yield_on_timeout=True)
