"""Placement by lease: a world is where a process opened it, and an engine knows which one that is.

The first process that is asked for a world opens it, unless another one has it whose lease holds.
What was found out is remembered as long as that process lives; if the world has moved meanwhile,
the process says so, and the engine is asked again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from mock_platform.serving.cluster.placement import Place

_MAX_REMEMBERED = 100_000
_LOOPBACK = ("unix:", "127.", "[::1]", "localhost:")


class Leases(Protocol):
    """What an engine knows of processes, and of the worlds that they own. Texts are of `write`."""

    def owns(self, world: str) -> bool:
        """Whether this process has a world open, and no other process can. Never waits."""

    def claim(self, world: str) -> str | None:
        """Open a world here, unless another process has it; returns the text of that process.

        `None` also if the world does not exist, or cannot be opened: this process says so.
        """

    def announce(self, text: str) -> None:
        """Say how this process is reached, to whoever asks for a world that it has."""

    def join(self, on_turn: Callable[[], object]) -> None:
        """Be among the living processes; `on_turn` is called often while the lease lasts."""

    def list_living(self) -> Sequence[str] | None:
        """Returns the texts of all living processes; `None` if the engine cannot be reached."""

    def find_trouble(self) -> str | None:
        """Returns why the engine cannot be used at present; `None` if it can. Never waits."""


class ByLease:
    """Where worlds live among the processes of one engine, on any number of machines."""

    moves = True

    def __init__(self, here: Place, leases: Leases, secret: bytes) -> None:
        self.gone_listeners: list[Callable[[Place], object]] = []
        """Called with each process whose lease has ended."""
        self._here = here
        self._leases = leases
        self._secret = secret
        self._found: dict[str, Place] = {}
        self._living: dict[str, Place] = {}
        self._lock = threading.Lock()

    @property
    def here(self) -> Place:
        """The place of this process."""
        return self._here

    @property
    def secret(self) -> bytes:
        """What processes prove to one another that they know."""
        return self._secret

    def announce(self) -> None:
        """Say how this process is reached; to be called before it opens any world."""
        self._leases.announce(write(self._here))

    def join(self) -> None:
        """Let the others ask this process; to be called when it answers."""
        self._leases.join(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Find out which processes live."""
        texts = self._leases.list_living()
        if texts is None:
            return
        places = [read(text) for text in texts]
        with self._lock:
            before = self._living
            # Only processes that this one can connect to count as places. One that is not
            # reachable, for instance because it listens on its own machine alone, may still own
            # worlds; then requests are refused here with the reason.
            self._living = {
                place.label: place for place in places if place is not None and self._reaches(place)
            }
            gone = {*before.values()} - {*self._living.values()}
        for place in gone:
            for listener in self.gone_listeners:
                listener(place)

    def list_places(self) -> Sequence[Place]:
        """Returns the processes that lived and could be reached when the engine was asked last."""
        others = [place for place in self._living.values() if place != self._here]
        return [self._here, *others]

    def find(self, world: str) -> Place | None:
        """Returns where a world is, if it is here, or was found elsewhere, with one that lives."""
        if self._leases.owns(world):
            return self._here
        place = self._found.get(world)
        if place is None or self._living.get(place.label) != place:
            return None
        return place

    def settle(self, world: str, not_at: Place | None = None) -> Place:
        """Returns the process that has a world; this one if none has it, or it is not reachable.

        Then the platform answers: it has the world open, or refuses with the reason.
        """
        # Asking and taking is one step: if no other process has the world, this one has it
        # afterwards. With two steps, two processes could find a world free and both open it.
        text = self._leases.claim(world)
        place = None if text is None else read(text)
        if place is None or place == self._here or not self._reaches(place):
            self._found.pop(world, None)
            return self._here
        with self._lock:
            if len(self._found) >= _MAX_REMEMBERED:
                self._found.clear()
            self._found[world] = self._living[place.label] = place
        return place

    def give_back(self, world: str) -> None:
        """Do nothing: who puts a world to rest, or drops it, changes its lease as well."""

    def find_trouble(self) -> str | None:
        """Returns why the engine cannot be used at present; `None` if it can."""
        return self._leases.find_trouble()

    def close(self) -> None:
        """Do nothing: the leases end with the archive."""

    def _reaches(self, place: Place) -> bool:
        """Whether this process can connect to another: a path or loopback is of its machine."""
        if not place.address:
            return False
        same = find_machine(place) == find_machine(self._here)
        return same or not place.address.startswith(_LOOPBACK)


def find_machine(place: Place) -> str:
    """Returns the name of the machine of a place, which its label begins with."""
    return place.label.rpartition("/")[0]


def write(place: Place) -> str:
    """Returns a place as text: the label and the address of one that can be reached."""
    return f"{place.label} {place.address}".rstrip()


def read(text: str) -> Place | None:
    """Returns the place that a text describes; `None` if it describes none."""
    label, _, address = text.partition(" ")
    return Place(label, address) if label else None
