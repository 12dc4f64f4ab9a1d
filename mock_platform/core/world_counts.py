"""What a server counts for each of its worlds, for as many of them as memory is meant for.

The counts belong to the server: a reset of a world, a full journal and the end of a world leave
them, so that a whole test run adds up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
Counts = TypeVar("Counts")

MAX_WORLDS = 1000
"""Worlds with counts of their own; beyond that, the oldest world is added to `EARLIER`."""
EARLIER = "(earlier worlds)"


class WorldCounts(Generic[Counts]):
    """Counts by the names of worlds. Whoever reads or changes what `find` returns holds `lock`.

    Example:
        >>> counts = WorldCounts(dict, dict.update)
        >>> with counts.lock:
        ...     counts.find("w1")["users.get"] = 1
        >>> counts.merge(), counts.list_worlds()
        ({'users.get': 1}, ['w1'])
    """

    def __init__(self, make: Callable[[], Counts], add: Callable[[Counts, Counts], object]) -> None:
        """`make` returns counts of nothing, `add` adds the second counts to the first."""
        self.lock = threading.Lock()
        self._make = make
        self._add = add
        self._worlds: dict[str, Counts] = {}

    def find(self, world: str) -> Counts:
        """Return the counts of a world, to be changed."""
        found = self._worlds.get(world)
        if found is None:
            if len(self._worlds) >= MAX_WORLDS:
                oldest = next(known for known in self._worlds if known != EARLIER)
                earlier = self._worlds.setdefault(EARLIER, self._make())
                self._add(earlier, self._worlds.pop(oldest))
            found = self._worlds[world] = self._make()
        return found

    def merge(self, world: str | None = None) -> Counts:
        """Return a copy of the counts of a world, or of all worlds together."""
        merged = self._make()
        with self.lock:
            for name, counts in self._worlds.items():
                if world is None or name == world:
                    self._add(merged, counts)
        return merged

    def list_worlds(self) -> list[str]:
        """Return the names of the worlds that have counts, the oldest first."""
        with self.lock:
            return list(self._worlds)

    def read_each(self, read: Callable[[Counts], T]) -> dict[str, T]:
        """Return what `read` returns for the counts of each world."""
        with self.lock:
            return {name: read(counts) for name, counts in self._worlds.items()}

    def clear(self, world: str | None = None) -> None:
        """Forget the counts of a world, or of all worlds."""
        with self.lock:
            if world is None:
                self._worlds.clear()
            else:
                self._worlds.pop(world, None)
