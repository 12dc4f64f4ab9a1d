"""Worlds of an archive that several processes share: opened when they are asked for.

This process has in memory what it owns and uses. A world without requests for a while is put to
rest: its memory is freed, and the archive has it until the next request, here or elsewhere.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from mock_platform.world.clock import UPTIME
from mock_platform.world.names import DEFAULT, TooManyWorlds, UnknownWorld, check_name, is_name
from mock_platform.world.store.archive import AlreadyKept, KeptWorld
from mock_platform.world.store.errors import StoreDamaged, StoreError, StoreOutdated
from mock_platform.world.store.interface import Change
from mock_platform.world.store.memory import Base
from mock_platform.world.world import World
from mock_platform.world.world_store import WorldStore
from mock_platform.world.worlds import Worlds

_LOG = logging.getLogger(__name__)


class Keeper(Protocol):
    """The archive of shared worlds, and the lease with which this process owns some of them."""

    def is_held(self) -> bool:
        """Whether the lease holds for certain, so that no other process owns what this one does."""

    def ensure(self) -> None:
        """Make sure that the lease holds; worlds that were lost meanwhile are closed.

        Raises:
            StoreError: The archive cannot be reached.
        """

    def find_trouble(self) -> str | None:
        """Return why the archive cannot be used at present; `None` if it can."""

    def list_warnings(self) -> Sequence[str]:
        """Return what people should know of the archive, although it can be used."""

    def open(self, name: str, base: Base) -> KeptWorld | None:
        """Take over a world; `None` if it does not exist.

        Raises:
            StoreError: Another process has it, or it cannot be read.
        """

    def owns(self, name: str) -> bool:
        """Whether this process owns a world, as far as it knows. Never waits."""

    def give_back(self, name: str, kept: KeptWorld) -> None:
        """Let other processes take over a world that could not be opened here."""

    def remove(self, name: str) -> bool:
        """Delete a world that cannot be read; return whether it was there."""

    def report_other_form(self, name: str, fault: BaseException) -> StoreOutdated:
        """Return the error of a world that is whole, and cannot be restored all the same."""

    def make_store(self, world: World, kept: KeptWorld | None) -> WorldStore:
        """Return the store of a world."""

    def list_owners(self) -> Mapping[str, str | None]:
        """Return every world with the address of its owner; `None` for those that rest."""


class SharedWorlds(Worlds):
    """The worlds that this process owns; others are opened when they are asked for.

    `may_rest` says whether nothing runs in a world that would need it in memory.
    """

    shared = True

    def __init__(
        self,
        *how: Any,
        keeper: Keeper,
        may_rest: Callable[[World], bool],
        rest_after: float | None = None,
        **more: Any,
    ) -> None:
        self._keeper = keeper
        self._may_rest = may_rest
        self._rest_after = rest_after
        self._used: dict[str, float] = {}
        self._damaged: dict[str, str] = {}
        super().__init__(*how, **more)

    @property
    def default(self) -> World:
        """The world of requests that name no world."""
        return self.get(DEFAULT)

    def get(self, name: str) -> World:
        """Return the world of this name; it is opened if it rests.

        Raises:
            UnknownWorld: No world has this name.
            StoreError: Another process has it, or the archive cannot be reached.
        """
        if not self._keeper.is_held():
            self._keeper.ensure()
        world = self._worlds.get(name)
        if world is None or world.closed:
            try:
                world = self._wake(name)
            except (StoreDamaged, StoreOutdated) as error:
                self._damaged[name] = str(error)
                raise
            self._damaged.pop(name, None)
        self._used[name] = UPTIME()
        return world

    def create(self, name: str, **how: Any) -> World:
        """Return a new world, or the one of this name, as `Worlds.create` does."""
        check_name(name)
        with self._lock:
            try:
                return self.get(name)
            except UnknownWorld:
                return self._make(name, **how)

    def drop(self, name: str) -> None:
        """Remove a world, as `Worlds.drop` does; a damaged one is not opened before.

        If that is the default world, the next request makes it again.
        """
        check_name(name)
        with self._lock:
            try:
                self.get(name)
            except (StoreDamaged, StoreOutdated) as error:
                _LOG.warning("World %r is removed. %s", name, error)
                self._keeper.remove(name)
                self._damaged.pop(name, None)
            else:
                super().drop(name)

    def owns(self, name: str) -> bool:
        """Whether a world is open here, and no other process can have it. Never waits."""
        world = self._worlds.get(name)
        return world is not None and not world.closed and self._keeper.is_held()

    def owner_of(self, credential: str) -> World | None:
        """Return the one world of a consumer key or token; `None` for shared ones."""
        name = self.owners.find(credential)
        return None if name is None else self.get(name)

    def list_owners(self) -> Mapping[str, str | None]:
        """Return every world with its owner's address, those of this process as well."""
        return self._keeper.list_owners()

    def list_damaged(self) -> Mapping[str, str]:
        """Return why each world could not be opened that was damaged, or of an older version."""
        return dict(self._damaged)

    def find_trouble(self) -> str | None:
        """Return why worlds cannot be opened or changed at present; `None` if they can."""
        return self._keeper.find_trouble()

    def list_warnings(self) -> Sequence[str]:
        """Return what people should know of the archive, although it can be used."""
        return self._keeper.list_warnings()

    def check_still_here(self, world: World, changes: Iterable[Change]) -> None:
        """Check that no other process has had a world while an answer was made from it.

        A process may be stopped at any moment for longer than its lease, and go on. What it reads
        after that is outdated if another process changed the world meanwhile. With `changes`, the
        archive has checked it already.

        Raises:
            UnknownWorld: It is closed here.
            StoreError: The archive cannot be reached, so this cannot be found out.
        """
        # A commit was refused or accepted by its token, so an answer with changes is certain. One
        # that only read was made from memory; it is certain if the lease holds at this moment,
        # after it was made, since no other process can have taken the world over before the lease
        # ended.
        if changes:
            return
        if not self._keeper.is_held():
            self._keeper.ensure()
        if world.moved:
            raise UnknownWorld(world.name)

    def index_again(self, names: Collection[str] | None = None) -> None:
        """Record the credentials of open worlds, of all unless named; the archive may lack them."""
        for world in self:
            if names is None or world.name in names:
                with world.lock:
                    self._index(world, world.store.list_changes())

    def rest_idle(self) -> None:
        """Put the worlds to rest that were not used for as long as the settings say."""
        if self._rest_after is None:
            return
        until = UPTIME() - self._rest_after
        for world in self:
            if self._used.get(world.name, 0.0) <= until:
                self.rest(world.name)

    def rest(self, name: str) -> bool:
        """Put a world to rest, unless something runs in it; return whether it rests now."""
        try:
            return self._put_to_rest(name)
        except (StoreError, UnknownWorld) as error:
            _LOG.info("World %r is not put to rest: %s", name, error)
            return False

    def lose(self, name: str) -> None:
        """Close a world that another process owns now, or may. Takes no lock: any thread may call.

        What belongs to it ends in a thread of its own.
        """
        world = self._worlds.get(name)
        if world is not None:
            world.closed = world.moved = True
            self._remove(world)
            # The end of a stream needs the lock of the world. A request may hold that, and wait for
            # the thread that calls this one.
            threading.Thread(
                target=self._end, args=(world,), name="mock-platform-lost", daemon=True
            ).start()

    def _begin(self) -> None:
        """Open no world: the default one is opened by the first request for it."""

    def _wake(self, name: str) -> World:
        if not is_name(name):
            raise UnknownWorld(name)
        with self._lock:
            world = self._worlds.get(name)
            if world is not None and not world.closed:
                return world
            # Under the lock, so that two requests for a world that rests do not open it twice. What
            # was opened and cannot be used is given back, or it would be nobody's until the lease
            # ends.
            kept = self._keeper.open(name, self.blueprint.base)
            if kept is None:
                if name == DEFAULT:
                    return self._make(name)
                raise UnknownWorld(name)
            try:
                world = self._open(name, kept)
            except BaseException:
                self._keeper.give_back(name, kept)
                raise
            self._worlds[name] = world
            self._close_if_lost(name)
            return world

    def _open(self, name: str, kept: KeptWorld) -> World:
        """Return a world as it was kept.

        Raises:
            StoreOutdated: What it keeps beside its records has another form.
            TooManyWorlds: Something runs in all worlds that are awake.
        """
        self._make_room()
        world = World(name, self.blueprint, store=lambda made: self._keeper.make_store(made, kept))
        try:
            self._set_up(world, None, None, None)
            world.resume(kept)
        except StoreError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            world.closed = True  # for what was begun on its behalf
            self._close(world)
            raise self._keeper.report_other_form(name, error) from error
        return world

    def _make(self, name: str, **how: Any) -> World:
        """Return a new world; if another process was faster, its world."""
        self._make_room()
        self._used[name] = UPTIME()
        try:
            world = super().create(name, **how)
        except AlreadyKept:
            return self.get(name)
        self._close_if_lost(name)
        return world

    def _close_if_lost(self, name: str) -> None:
        """Close a world that another process took over before it was known here.

        Whoever uses it asks for it again then.
        """
        if not self._keeper.owns(name):
            self.lose(name)

    def _forget(self, world: World) -> None:
        """Inform observers of a dropped world; the archive removed its credentials with it."""
        self._close(world)

    def _put_to_rest(self, name: str) -> bool:
        """Put a world to rest, unless something runs in it; return whether it rests now.

        Raises:
            StoreError: The archive cannot be reached, or another process has the world already.
            UnknownWorld: It was closed meanwhile.
        """
        with self._lock:
            world = self._worlds.get(name)
            if world is None or world.closed:
                return True
            if not self._may_rest(world):
                return False
            world.retire()
            self._close(world)
        return True

    def _make_room(self) -> None:
        """Put the worlds to rest that were not used for longest, if there are too many.

        Raises:
            TooManyWorlds: Something runs in all of them.
            StoreError: The archive cannot be reached.
        """
        # The ones not used for longest come first, until one may rest: worlds with open streams or
        # jobs cannot.
        if len(self._worlds) < self._limit:
            return
        fault: StoreError | None = None
        for name in sorted(self._worlds, key=lambda name: self._used.get(name, 0.0)):
            try:
                self._put_to_rest(name)
            except StoreError as error:
                fault = error
            except UnknownWorld:  # another process has it
                pass
            if len(self._worlds) < self._limit:
                return
        raise fault or TooManyWorlds(
            f"This server has {self._limit} worlds awake already, all in use."
        )

    def _close(self, world: World) -> None:
        """Free what belongs to a world that is closed here and lives on in the archive."""
        self._remove(world)
        self._end(world)

    def _remove(self, world: World) -> None:
        if self._worlds.get(world.name) is world:  # it may have been opened again meanwhile
            self._worlds.pop(world.name, None)
            self._used.pop(world.name, None)

    def _end(self, world: World) -> None:
        for listener in self.dropped_listeners:
            listener(world)
