"""Placement by hash: the workers of one machine share the worlds by their names, without an engine.

Every process computes the same place from a name, so no process asks another. The default world
lives in the first worker. Worlds that were kept in the file of a worker stay with it, whatever
their hash says: so all are found if a later start has more workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from zlib import crc32

from mock_platform.serving.cluster.placement import Place

_FIRST = "default"
"""The world of requests that name none."""


class ByHash:
    """Where worlds live among a fixed number of processes. Nothing is claimed or given back."""

    moves = False

    def __init__(
        self,
        places: Sequence[Place],
        index: int,
        secret: bytes,
        kept: Mapping[str, int] | None = None,
    ) -> None:
        """`index` is this process's in `places`; `kept` are worlds that stay where they are."""
        self.gone_listeners: list[Callable[[Place], object]] = []
        """None is called: a process that has ended is started again."""
        self._places = tuple(places)
        self._here = self._places[index]
        self._secret = secret
        self._kept = dict(kept or {}) | {_FIRST: 0}

    @property
    def here(self) -> Place:
        """The place of this process."""
        return self._here

    @property
    def secret(self) -> bytes:
        """What processes prove to one another that they know."""
        return self._secret

    def refresh(self) -> None:
        """Do nothing: the number of processes is fixed."""

    def list_places(self) -> Sequence[Place]:
        """Returns all processes; one that is being started again is among them."""
        return self._places

    def find(self, world: str) -> Place:
        """Returns where a world lives; it is always known."""
        index = self._kept.get(world)
        if index is None:
            index = crc32(world.encode("utf-8", "surrogateescape")) % len(self._places)
        return self._places[index]

    def settle(self, world: str, not_at: Place | None = None) -> Place:
        """Returns where a world lives; a process that does not answer is started again there."""
        return self.find(world)

    def give_back(self, world: str) -> None:
        """Do nothing: a world of the same name would live here again."""

    def find_trouble(self) -> str | None:
        """Returns `None`: a hash is always known."""
        return None

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""
