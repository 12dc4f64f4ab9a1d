"""Opens worlds in which deliveries had not ended when their process did, though no request asks.

A world is marked on the engine when its first delivery begins, before the client has its answer.
Each process looks at the marked worlds whenever it has renewed its lease.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mock_platform.rules.replay_jobs import RUNNING
from mock_platform.rules.webhook_log import OUTGOING
from mock_platform.store.errors import StoreError
from mock_platform.store.interface import Change
from mock_platform.world.names import TooManyWorlds, UnknownWorld
from mock_platform.world.shared_worlds import SharedWorlds
from mock_platform.world.transitions import PENDING
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.store.redis_archive import RedisArchive

_LOG = logging.getLogger(__name__)


class UnfinishedWorlds:
    """The marked worlds of an engine, as one process sees them."""

    def __init__(self, archive: RedisArchive, worlds: SharedWorlds) -> None:
        self._archive = archive
        self._worlds = worlds
        self._marked: set[str] = set()
        """Those that this process marked."""

    def watch(self, world: World) -> None:
        """Mark a world as soon as something is to be delivered."""
        world.on_commit(self._mark)

    def take_turn(self) -> None:
        """Unmark own worlds that are done, and open marked ones whose owner is gone."""
        try:
            self._unmark()
            others = self._archive.unfinished.read() - self._marked
            for name in sorted(others):
                if self._archive.find_owner(name) is None:
                    self._take_up(name)
        except StoreError as fault:
            _LOG.debug("Unfinished worlds are not looked at: %s", fault)

    def mark_again(self) -> None:
        """Mark own worlds on an engine that was started again, and may have forgotten them."""
        for name in sorted(self._marked):
            self._archive.unfinished.add(name)

    def _mark(self, world: World, changes: Iterable[Change]) -> None:
        if world.name in self._marked or not any(map(_begins_delivery, changes)):
            return
        try:
            self._archive.unfinished.add(world.name)
        except StoreError as fault:
            _LOG.warning("World %r goes on after a crash only when asked: %s", world.name, fault)
        else:
            self._marked.add(world.name)

    def _unmark(self) -> None:
        awake = {world.name: world for world in self._worlds}
        for name in list(self._marked):
            world = awake.get(name)
            if world is None:  # taken over, or dropped
                self._marked.discard(name)
                continue
            with world.lock:  # so that no delivery begins meanwhile
                if not has_deliveries(world):
                    self._archive.unfinished.remove(name)
                    self._marked.discard(name)

    def _take_up(self, name: str) -> None:
        try:
            world = self._worlds.get(name)
        except UnknownWorld:
            self._archive.unfinished.remove(name)
        except TooManyWorlds as fault:
            _LOG.debug("World %r waits for its deliveries: %s", name, fault)
        else:
            self._marked.add(world.name)


def has_deliveries(world: World) -> bool:
    """Whether a delivery has not ended: of a new event, or of a replay job. Needs the lock."""
    return bool(world.store.page(OUTGOING)) or any(
        entry.record["since"] is None for entry in world.store.page(PENDING)
    )


def _begins_delivery(change: Change) -> bool:
    if change.after is None:
        return False
    waits = change.table == PENDING and change.after.get("since") is None
    return waits or change.table in {OUTGOING, RUNNING}
