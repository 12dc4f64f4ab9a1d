"""An archive that stores nothing and only checks who may change a world."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Collection, Mapping

from mock_platform.settings import Durability
from mock_platform.world.store.archive import Meta, Slots, WholeWorld, check_new, check_part
from mock_platform.world.store.interface import SavedWorld
from mock_platform.world.store.memory import Base


class MemoryArchive:
    """An archive whose worlds end with the process."""

    keeps = False
    place = "memory"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[str, int] = {}
        self._labels: dict[str, set[str]] = {}
        self._next = itertools.count(1)

    def names(self) -> Collection[str]:
        """Return the names of all worlds."""
        with self._lock:
            return list(self._tokens)

    def open(self, name: str, base: Base) -> None:
        """Return `None`: no world outlives its process."""

    def add(self, name: str, whole: WholeWorld, points: Mapping[str, SavedWorld]) -> int:
        """Add a new world; return its token."""
        with self._lock:
            check_new(name, self._tokens)
            for label in points:
                check_part(label, "a point")
            token = self._tokens[name] = next(self._next)
            self._labels[name] = set(points)
            return token

    def commit(self, name: str, token: int, slots: Slots, meta: Meta) -> None:
        """Check that the token is the world's current one."""
        with self._lock:
            self._check_token(name, token)

    def replace(
        self, name: str, token: int, whole: WholeWorld, *, dropped: Collection[str] = ()
    ) -> None:
        """Delete the points `dropped`."""
        with self._lock:
            self._check_token(name, token)
            self._check_labels(name, dropped)
            self._labels[name].difference_update(dropped)

    def keep_point(self, name: str, token: int, label: str, whole: WholeWorld) -> None:
        """Remember the label of a point."""
        check_part(label, "a point")
        with self._lock:
            self._check_token(name, token)
            self._labels[name].add(label)

    def drop_point(self, name: str, token: int, label: str) -> None:
        """Remove the label of a point."""
        with self._lock:
            self._check_token(name, token)
            self._check_labels(name, [label])
            self._labels[name].discard(label)

    def drop(self, name: str, token: int) -> None:
        """Remove a world with its points."""
        with self._lock:
            self._check_token(name, token)
            del self._tokens[name], self._labels[name]

    def close(self) -> None:
        """Do nothing: no resources are used."""

    def _check_token(self, name: str, token: int) -> None:
        if self._tokens.get(name) != token:
            raise LookupError(f"world {name!r} is not kept in memory, or no longer")

    def _check_labels(self, name: str, labels: Collection[str]) -> None:
        for label in labels:
            if label not in self._labels[name]:
                raise LookupError(f"world {name!r} has no point {label!r}")


def open_archive(place: str, durability: Durability) -> MemoryArchive:
    """Return an archive without worlds."""
    return MemoryArchive()
