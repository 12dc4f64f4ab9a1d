"""Which worlds have a credential: a client that sends one of a single world chooses that world."""

from __future__ import annotations

import threading
from typing import Protocol


class Owners(Protocol):
    """The worlds by their credentials. Thread-safe.

    A commit uses it while it holds its world's lock, so no method waits for a world.
    """

    def add(self, credential: str, world: str) -> None:
        """Record that a world has a credential."""

    def remove(self, credential: str, world: str) -> None:
        """Record that a world no longer has a credential."""

    def forget(self, world: str) -> None:
        """Remove all credentials of a world."""

    def find(self, credential: str) -> str | None:
        """Returns the one world that has a credential; `None` if no or more than one has it."""

    def is_empty(self) -> bool:
        """Whether no world has a credential of its own."""


class OwnersInMemory:
    """The worlds of one process by their credentials."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worlds: dict[str, set[str]] = {}

    def add(self, credential: str, world: str) -> None:
        """Record that a world has a credential."""
        with self._lock:
            self._worlds.setdefault(credential, set()).add(world)

    def remove(self, credential: str, world: str) -> None:
        """Record that a world no longer has a credential."""
        with self._lock:
            self._remove(credential, world)

    def forget(self, world: str) -> None:
        """Remove all credentials of a world."""
        with self._lock:
            owned = [each for each, names in self._worlds.items() if world in names]
            for credential in owned:
                self._remove(credential, world)

    def find(self, credential: str) -> str | None:
        """Returns the one world that has a credential."""
        names = self._worlds.get(credential)
        # Two worlds may have the same credential: copies do. Then it chooses neither, and the
        # request goes to the world that is named, or to the default one.
        if names is None or len(names) != 1:
            return None
        return next(iter(names), None)

    def is_empty(self) -> bool:
        """Whether no world has a credential of its own."""
        return not self._worlds

    def _remove(self, credential: str, world: str) -> None:
        names = self._worlds.get(credential)
        if names is not None:
            names.discard(world)
            if not names:
                del self._worlds[credential]
