"""Caches fixture folders that override a server's own, until one of their files changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from mock_platform.store.memory import Base

_MAX_CACHED_SETS = 32

Signature = tuple[tuple[str, int, int], ...]


class Overlays:
    """Fixtures by the folders that they come from; those used last are kept.

    A test suite uses the same few folders many times, and checking them costs more than all the
    rest of a test's world.
    """

    def __init__(self, load: Callable[[Sequence[Path]], Base]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._kept: dict[Signature, Base] = {}

    def load(self, folders: Sequence[Path]) -> Base:
        """Return the fixtures of these folders, the last one on top.

        Raises:
            BadFixtures: Their files have faults.
        """
        signature = tuple(part for folder in folders for part in _list_file_versions(folder))
        with self._lock:
            base = self._kept.pop(signature, None)
            if base is None:
                base = self._load(folders)
            self._kept[signature] = base  # now the newest
            if len(self._kept) > _MAX_CACHED_SETS:
                del self._kept[next(iter(self._kept))]
            return base


def _list_file_versions(folder: Path) -> Iterator[tuple[str, int, int]]:
    yield str(folder.resolve()), 0, 0
    if folder.is_dir():
        for path in sorted(folder.glob("*.json")):
            status = path.stat()
            yield path.name, status.st_mtime_ns, status.st_size
