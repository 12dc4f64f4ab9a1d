"""The interface of a placement, and the values for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct


class Place(Struct, frozen=True):
    """A process that has worlds, as the other processes know it."""

    label: str
    """What people call it in metrics, logs and lists: `1` for the first worker, or a host's name
    and a number. Unique among the processes, and without spaces.
    """
    address: str
    """Where it listens for the other processes: `unix:PATH`, or `HOST:PORT`."""
    door: str = ""
    """The path of the socket at which it takes connections of clients; empty: it takes none."""


class Misplaced(Exception):
    """No process can answer for a world at the moment. The text says why and what to do."""


class Placement(Protocol):
    """Knows in which process each world lives. Thread-safe.

    The order of calls for a request: `find`; if that does not know, or the found process says that
    the world is not its own, or cannot be reached, `settle`. `find` is called for each request on
    the event loop, so it must not wait. `settle` is called in a thread.
    """

    gone_listeners: list[Callable[[Place], object]]
    """Called, in any thread, with a process of which nothing more is to be expected."""
    moves: bool
    """Whether another process can take over the worlds of one that is gone."""

    @property
    def here(self) -> Place:
        """The place of this process."""

    @property
    def secret(self) -> bytes:
        """What processes prove to know; whoever does not is not let in."""

    def refresh(self) -> None:
        """Find out which processes are there. May wait."""

    def list_places(self) -> Sequence[Place]:
        """Returns all processes that are known to be there, this one included. Never waits."""

    def find(self, world: str) -> Place | None:
        """Returns where a world lives as far as is known without asking; never waits.

        `None` if that must be found out with `settle`. A world that does not exist has a place as
        well: that of the process which says that it does not exist, and which creates it.
        """

    def settle(self, world: str, not_at: Place | None = None) -> Place:
        """Find out where a world lives; if it lives nowhere, this process claims it.

        `not_at` is a process that did not have the world, or did not answer. Returns this process
        only when its platform can answer for the world. May wait.

        Raises:
            Misplaced: It cannot be found out, or claimed, at present.
        """

    def give_back(self, world: str) -> None:
        """Let another process claim a world: it was removed here, or put to rest."""

    def find_trouble(self) -> str | None:
        """Returns why this process cannot serve at present, in words for people; `None` if it can.

        Never waits.
        """

    def close(self) -> None:
        """Give back everything; nothing is claimed any more. Idempotent."""
