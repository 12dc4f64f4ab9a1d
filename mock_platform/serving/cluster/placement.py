"""In which process a world lives: the interface of a placement, and the two that there are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from msgspec import Struct

if TYPE_CHECKING:
    from mock_platform.serving.cluster.shared_worlds import EngineLeases


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


class Placement:
    """Knows in which process each world lives. Thread-safe.

    The order of calls for a request: `find`; if that does not know, or the found process says that
    the world is not its own, or cannot be reached, `locate`. `find` is called for each request on
    the event loop, so it must not wait. `locate` is called in a thread.
    """

    moves = False
    """Whether another process can take over the worlds of one that is gone."""

    def __init__(self, here: Place, secret: bytes) -> None:
        self.here = here
        """The place of this process."""
        self.secret = secret
        """What processes prove to know; whoever does not is not let in."""
        self.gone_listeners: list[Callable[[Place], object]] = []
        """Called, in any thread, with a process of which nothing more is to be expected."""

    def refresh(self) -> None:
        """Find out which processes are there, if their number is not fixed. May wait."""

    def list_places(self) -> Sequence[Place]:
        """Return all processes that are known to be there, this one included. Never waits."""
        raise NotImplementedError

    def find(self, world: str) -> Place | None:
        """Return where a world lives as far as is known without asking; never waits.

        `None` if that must be found out with `locate`. A world that does not exist has a place as
        well: that of the process which says that it does not exist, and which creates it.
        """
        raise NotImplementedError

    def locate(self, world: str, not_at: Place | None = None) -> Place:
        """Find out where a world lives; if it lives nowhere, this process claims it.

        `not_at` is a process that did not have the world, or did not answer. Returns this process
        only when its platform can answer for the world. May wait.

        Raises:
            Misplaced: It cannot be found out, or claimed, at present.
        """
        raise NotImplementedError

    def find_trouble(self) -> str | None:
        """Return why this process cannot serve at present, in words for people; `None` if it can.

        Never waits.
        """
        return None


# Placement by hash: the workers of one machine share the worlds by their names, without an engine.
# Every process computes the same place from a name, so no process asks another. The default world
# lives in the first worker. Worlds that were kept in the file of a worker stay with it, whatever
# their hash says: so all are found if a later start has more workers.

_FIRST = "default"
"""The world of requests that name none."""


class ByHash(Placement):
    """Where worlds live among a fixed number of processes. Nothing is claimed or given back."""

    def __init__(
        self,
        places: Sequence[Place],
        index: int,
        secret: bytes,
        kept: Mapping[str, int] | None = None,
    ) -> None:
        """`index` is this process's in `places`; `kept` are worlds that stay where they are."""
        super().__init__(places[index], secret)
        self._places = tuple(places)
        self._kept = dict(kept or {}) | {_FIRST: 0}

    def list_places(self) -> Sequence[Place]:
        """Return all processes; one that is being started again is among them."""
        return self._places

    def find(self, world: str) -> Place:
        """Return where a world lives; it is always known."""
        index = self._kept.get(world)
        if index is None:
            index = crc32(world.encode("utf-8", "surrogateescape")) % len(self._places)
        return self._places[index]

    def locate(self, world: str, not_at: Place | None = None) -> Place:
        """Return where a world lives; a process that does not answer is started again there."""
        return self.find(world)


# Placement by lease: a world is where a process opened it, and an engine knows which one that is.
# The first process that is asked for a world opens it, unless another one has it whose lease holds.
# What was found out is remembered as long as that process lives; if the world has moved meanwhile,
# the process says so, and the engine is asked again.

_MAX_REMEMBERED = 100_000
_LOOPBACK = ("unix:", "127.", "[::1]", "localhost:")


class ByLease(Placement):
    """Where worlds live among the processes of one engine, on any number of machines."""

    moves = True

    def __init__(self, here: Place, leases: EngineLeases, secret: bytes) -> None:
        super().__init__(here, secret)
        self._leases = leases
        self._found: dict[str, Place] = {}
        self._living: dict[str, Place] = {}
        self._lock = threading.Lock()

    def announce(self) -> None:
        """Say how this process is reached; to be called before it opens any world."""
        self._leases.announce(write_place(self.here))

    def join(self) -> None:
        """Let the others ask this process; to be called when it answers."""
        self._leases.join(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Find out which processes live."""
        texts = self._leases.list_living()
        if texts is None:
            return
        places = [read_place(text) for text in texts]
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
        """Return the processes that lived and could be reached when the engine was asked last."""
        others = [place for place in self._living.values() if place != self.here]
        return [self.here, *others]

    def find(self, world: str) -> Place | None:
        """Return where a world is, if it is here, or was found elsewhere, with one that lives."""
        if self._leases.owns(world):
            return self.here
        place = self._found.get(world)
        if place is None or self._living.get(place.label) != place:
            return None
        return place

    def locate(self, world: str, not_at: Place | None = None) -> Place:
        """Return the process that has a world; this one if none has it, or it is not reachable.

        Then the platform answers: it has the world open, or refuses with the reason.
        """
        # Asking and taking is one step: if no other process has the world, this one has it
        # afterwards. With two steps, two processes could find a world free and both open it.
        text = self._leases.claim(world)
        place = None if text is None else read_place(text)
        if place is None or place == self.here or not self._reaches(place):
            self._found.pop(world, None)
            return self.here
        with self._lock:
            if len(self._found) >= _MAX_REMEMBERED:
                self._found.clear()
            self._found[world] = self._living[place.label] = place
        return place

    def find_trouble(self) -> str | None:
        """Return why the engine cannot be used at present; `None` if it can."""
        return self._leases.find_trouble()

    def _reaches(self, place: Place) -> bool:
        """Whether this process can connect to another: a path or loopback is of its machine."""
        if not place.address:
            return False
        same = find_machine(place) == find_machine(self.here)
        return same or not place.address.startswith(_LOOPBACK)


def find_machine(place: Place) -> str:
    """Return the name of the machine of a place, which its label begins with."""
    return place.label.rpartition("/")[0]


def write_place(place: Place) -> str:
    """Return a place as text: the label and the address of one that can be reached."""
    return f"{place.label} {place.address}".rstrip()


def read_place(text: str) -> Place | None:
    """Return the place that a text describes; `None` if it describes none."""
    label, _, address = text.partition(" ")
    return Place(label, address) if label else None
