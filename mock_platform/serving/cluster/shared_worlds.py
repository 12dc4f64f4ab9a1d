"""Worlds on an engine: opened when asked for or when work is left, with one owner at a time."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from socket import gethostname
from typing import TYPE_CHECKING

from mock_platform.api.v2.streams.open_streams import OpenStreams
from mock_platform.api.v2.webhooks.event_log import OUTGOING, RUNNING
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.world.clock import count_seconds
from mock_platform.world.names import TooManyWorlds, UnknownWorld
from mock_platform.world.shared_worlds import SharedWorlds
from mock_platform.world.store.archive import KeptWorld
from mock_platform.world.store.errors import StoreDamaged, StoreError, StoreOutdated, WorldElsewhere
from mock_platform.world.store.interface import Change
from mock_platform.world.store.memory import Base
from mock_platform.world.store.redis.encoding import report_other_form
from mock_platform.world.transitions import PENDING
from mock_platform.world.world import World
from mock_platform.world.world_store import WorldStore

if TYPE_CHECKING:
    from mock_platform.world.store.redis_archive import RedisArchive


# Opens worlds in which deliveries had not ended when their process did, though no request asks.
# A world is marked on the engine when its first delivery begins, before the client has its
# answer. Each process looks at the marked worlds whenever it has renewed its lease.

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
        except StoreError as fault:
            _LOG.debug("Unfinished worlds are not looked at: %s", fault)
            return
        for name in sorted(others):
            try:
                if self._archive.find_owner(name) is None:
                    self._take_up(name)
            except StoreError as fault:  # the others go on
                _LOG.debug("World %r, which is unfinished, is not opened: %s", name, fault)

    def mark_again(self) -> None:
        """Mark own worlds on an engine that was started again, and may have forgotten them."""
        for name in sorted(self._marked):
            self._archive.unfinished.add(name)

    def _mark(self, world: World, changes: Iterable[Change]) -> None:
        # Nearly every commit comes here and begins no delivery, or is of a world that is marked;
        # both are found out without asking the engine.
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
            # The mark is removed under the world's lock: a delivery that began between the look and
            # the removal would not be marked, and would be lost with this process.
            with world.lock:  # so that no delivery begins meanwhile
                if not has_deliveries(world):
                    self._marked.discard(name)  # first: the answer may be lost
                    self._archive.unfinished.remove(name)

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


Check = Callable[[str, KeptWorld], None]
"""Raises `StoreDamaged` for a world of which something cannot be restored."""


class EngineKeeper:
    """The worlds of an engine, as `SharedWorlds` needs them."""

    def __init__(self, archive: RedisArchive, check: Check) -> None:
        self._archive = archive
        self._check = check
        self.is_held = archive.lease.is_held
        self.ensure = archive.lease.ensure
        self.owns = archive.owns
        self.list_warnings = archive.list_warnings

    def find_trouble(self) -> str | None:
        """Return why the engine cannot be reached at present; `None` if it can."""
        return self._archive.trouble

    def open(self, name: str, base: Base) -> KeptWorld | None:
        """Take over a world; `None` if it does not exist."""
        kept = self._archive.open(name, base)
        if kept is not None:
            try:
                self._check(name, kept)
            except StoreDamaged as fault:  # its checksum was right: so it was written like this
                self.give_back(name, kept)
                raise self.report_other_form(name, fault.__cause__ or fault) from fault
        return kept

    def give_back(self, name: str, kept: KeptWorld) -> None:
        """Let other processes take over a world that could not be opened here."""
        with suppress(StoreError):  # the lease will end by itself
            self._archive.give_back(name, kept.token)

    def remove(self, name: str) -> bool:
        """Delete a world that cannot be read; return whether it was there."""
        return self._archive.remove(name)

    def report_other_form(self, name: str, fault: BaseException) -> StoreOutdated:
        """Return the error of a world that is whole, and cannot be restored all the same."""
        what = f"what world {name!r} keeps beside its records"
        return report_other_form(self._archive.place, what, repr(fault))

    def make_store(self, world: World, kept: KeptWorld | None) -> WorldStore:
        """Return the store of a world, new or as it was kept."""
        return WorldStore(
            world.blueprint.base,
            self._archive,
            world.name,
            world.meta,
            parts=world.beside,
            kept=kept,
        )

    def list_owners(self) -> Mapping[str, str | None]:
        """Return every world with the label of its owner; `None` for those that rest."""
        owners = self._archive.list_owners()
        return {name: text and text.partition(" ")[0] for name, text in owners.items()}


class EngineLeases:
    """What an engine knows of processes and of the worlds they own, as `ByLease` needs it."""

    def __init__(self, archive: RedisArchive, worlds: SharedWorlds) -> None:
        self._archive = archive
        self._worlds = worlds
        self.owns = worlds.owns
        self.find_trouble = worlds.find_trouble

    def claim(self, world: str) -> str | None:
        """Open a world here, unless another process has it; return how that is reached.

        `None` also if it does not exist or cannot be opened: then a request for it is refused.
        """
        try:
            self._worlds.get(world)
        except WorldElsewhere as fault:
            return fault.address
        except (StoreError, UnknownWorld, TooManyWorlds) as fault:
            _LOG.debug("World %r is not opened: %s", world, fault)
        return None

    def announce(self, text: str) -> None:
        """Say how this process is reached, to whoever asks for a world that it has."""
        self._archive.lease.address = text
        self._archive.lease.renew()

    def join(self, on_turn: Callable[[], object]) -> None:
        """Be among the living processes; `on_turn` is called each time the lease is renewed."""
        self._archive.processes.enter(self._archive.lease.process)
        self._archive.turn_listeners.append(on_turn)

    def list_living(self) -> Sequence[str] | None:
        """Return how the living processes are reached; `None` if the engine cannot be."""
        processes = self._archive.processes
        try:
            processes.enter(self._archive.lease.process)
            return processes.list_living()
        except StoreError:
            return None


class EngineOwners:
    """The worlds of an engine by their credentials, whichever process owns them."""

    def __init__(self, archive: RedisArchive) -> None:
        self._credentials = archive.credentials
        self._missed: set[str] = set()
        """The worlds of which something could not be recorded."""

    def take_missed(self) -> set[str]:
        """Return the worlds of which something could not be recorded since the last call."""
        missed, self._missed = self._missed, set()
        return missed

    def add(self, credential: str, world: str) -> None:
        """Record that a world has a credential."""
        self._try(self._credentials.add, credential, world)

    def remove(self, credential: str, world: str) -> None:
        """Record that a world no longer has a credential."""
        self._try(self._credentials.remove, credential, world)

    def forget(self, world: str) -> None:
        """Do nothing: a world's credentials are removed with it, and stay while it rests."""

    def find(self, credential: str) -> str | None:
        """Return the one world that has a credential of its own.

        Raises:
            StoreUnreachable: The engine cannot be reached.
        """
        # A credential of several worlds, as those of the fixtures are, chooses none.
        found = self._credentials.find_worlds(credential)
        return found[0] if len(found) == 1 else None

    def is_empty(self) -> bool:
        """Return `False`: a world that rests, or is elsewhere, may have some."""
        return False

    def _try(self, record: Callable[[str, str], None], credential: str, world: str) -> None:
        try:
            record(credential, world)
        except StoreError as fault:  # it is recorded with one of the next turns
            self._missed.add(world)
            _LOG.warning("A credential of world %r is not found: %s", world, fault)


class EngineNonces:
    """The nonces of one world on an engine."""

    def __init__(self, archive: RedisArchive, world: str) -> None:
        self._credentials = archive.credentials
        self._world = world

    def use(self, nonce: str, mark: float, *, now: int, until: int) -> bool:
        """Return whether a nonce is new, or was used with this mark; remembers it until then."""
        return self._credentials.use_nonce(self._world, nonce, mark, now=now, until=until)

    def give_back(self, nonce: str) -> bool:
        """Forget a nonce; return whether the engine could be reached."""
        try:
            self._credentials.give_nonce_back(self._world, nonce)
        except StoreError:
            return False
        return True

    def clear(self) -> None:
        """Delete all nonces of the world; those that stay expire by themselves."""
        with suppress(StoreError):
            self._credentials.clear_nonces(self._world)


def make_shared_platform(
    settings: Settings, base: Base, archive: RedisArchive, check: Check
) -> Platform:
    """Return a platform that opens the worlds of an engine when they are asked for.

    Raises:
        StoreError: The engine cannot be reached.
    """
    keeper, owners = EngineKeeper(archive, check), EngineOwners(archive)
    make = partial(SharedWorlds, keeper=keeper, may_rest=is_idle, rest_after=settings.rest_after)
    platform = Platform(
        settings,
        base=base,
        store=lambda world: keeper.make_store(world, None),
        owners=owners,
        worlds=make,
    )
    platform.on_world(
        lambda world: setattr(world.nonces, "kept", EngineNonces(archive, world.name))
    )
    worlds = platform.worlds
    assert isinstance(worlds, SharedWorlds)
    archive.lost_listeners.append(worlds.lose)
    archive.turn_listeners.append(worlds.rest_idle)
    unfinished = UnfinishedWorlds(archive, worlds)
    platform.on_world(unfinished.watch)
    archive.turn_listeners.append(unfinished.take_turn)
    archive.turn_listeners.append(lambda: worlds.index_again(owners.take_missed()))
    archive.restart_listeners += [archive.processes.find_secret, unfinished.mark_again]
    archive.restart_listeners.append(worlds.index_again)
    archive.lease.start(settings.lease, f"{gethostname()}/{os.getpid()}", count_seconds)
    return platform


def is_idle(world: World) -> bool:
    """Whether nothing runs in a world: no stream, no delivery, and nothing moves by time alone."""
    with world.lock:
        if any(True for _ in world.find_attachment(OpenStreams)) or has_deliveries(world):
            return False
        return all(
            world.transitions.find_due_time(entry.record["kind"], entry.record["key"]) is None
            for entry in world.store.page(PENDING)
        )
