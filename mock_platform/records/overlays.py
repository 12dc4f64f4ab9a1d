"""Folders laid over a server's fixtures, read once for as long as their files stay as they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mock_platform.store.memory import Base

_KEPT = 32

Signature = tuple[tuple[str, int, int], ...]


class Overlays:
    """Fixtures by the folders that they come from; the sets used last are kept.

    A suite lays the same few folders again and again, and checking them costs more than all the
    rest of a test's world.
    """

    def __init__(self, load: Callable[[Sequence[Path]], Base]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._kept: dict[Signature, Base] = {}

    def load(self, folders: Sequence[Path]) -> Base:
        """The fixtures of these folders, the last one on top.

        Raises:
            BadFixtures: Something is wrong with them.
        """
        signature = tuple(part for folder in folders for part in _signature(folder))
        with self._lock:
            base = self._kept.pop(signature, None)
            if base is None:
                base = self._load(folders)
            self._kept[signature] = base  # now the newest
            if len(self._kept) > _KEPT:
                del self._kept[next(iter(self._kept))]
            return base


def _signature(folder: Path) -> Iterator[tuple[str, int, int]]:
    yield str(folder.resolve()), 0, 0
    if folder.is_dir():
        for path in sorted(folder.glob("*.json")):
            status = path.stat()
            yield path.name, status.st_mtime_ns, status.st_size
