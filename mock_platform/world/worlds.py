"""All worlds of one server: made, copied, found and dropped by name, or found by a credential."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.settings import NamesMode
from mock_platform.world.blueprint import Blueprint
from mock_platform.world.clock import wire_millis
from mock_platform.world.ids import check_seed
from mock_platform.world.names import DEFAULT, TooManyWorlds, UnknownWorld, check_name
from mock_platform.world.store.interface import Change, Row, Rows, SavedWorld, Slot, Snapshot
from mock_platform.world.store.memory import Base
from mock_platform.world.world import StoreMaker, World

# A world as JSON, for a copy of it in another process.


class WorldCopy(Struct, frozen=True):
    """The state and the settings of a world that lives in another process."""

    saved: SavedWorld
    settings: Mapping[str, Any]
    """What differs from world to world of `WorldSettings`."""


def pack_world(world: World, base: Base) -> dict[str, Any]:
    """Return a world as JSON; `base` are the current fixtures, which both processes have."""
    with world.hold():
        saved, settings = world.save(), world.blueprint.settings
        own_base = world.blueprint.base
    # After fixtures were loaded again, an earlier world still has the old ones: all of it is sent.
    whole = own_base is not base
    rows = merge_rows(own_base.rows, saved.records.rows) if whole else saved.records.rows
    return {
        "whole": whole,
        "rows": [
            [table, key, None if slot is None else [slot.seq, slot.record]]
            for table, slots in rows.items()
            for key, slot in slots.items()
        ],
        "next_seq": saved.records.next_seq,
        "meta": saved.meta,
        "names": settings.names,
        "wire": settings.own_wire,
        "refuse_warnings": settings.refuse_warnings,
        "as_of": None if settings.own_as_of is None else settings.own_as_of.isoformat(),
        "freeze": None if settings.freeze is None else settings.freeze.isoformat(),
    }


def unpack_world(packed: Mapping[str, Any], base: Base) -> WorldCopy:
    """Return what `pack_world` packed, as differences from these fixtures."""
    rows: dict[str, dict[str, Slot]] = {}
    for table, key, slot in packed["rows"]:
        rows.setdefault(table, {})[key] = None if slot is None else Row(*slot)
    if packed["whole"]:
        visible = {
            table: {key: slot for key, slot in slots.items() if slot is not None}
            for table, slots in rows.items()
        }
        rows = base.difference(visible)
    freeze, as_of = packed["freeze"], packed["as_of"]
    return WorldCopy(
        SavedWorld(Snapshot(rows, packed["next_seq"]), packed["meta"]),
        {
            "names": packed["names"],
            "own_wire": packed["wire"],
            "refuse_warnings": packed["refuse_warnings"],
            "freeze": None if freeze is None else datetime.fromisoformat(freeze),
            "own_as_of": None if as_of is None else datetime.fromisoformat(as_of),
        },
    )


def list_ignored(
    world: World,
    *,
    seed: int | None,
    freeze: datetime | None,
    refuse_warnings: bool | None,
    names: NamesMode | None,
    wire: str | None,
    as_of: datetime | None,
) -> list[str]:
    """Return what was asked of a world that existed already and is another world, in sentences."""
    start = world.blueprint.settings.freeze
    is_kept = start is None and world.store.outlives  # a restart does not tell what it was
    errors = {None: None, True: "error", False: "ignore"}
    asked: dict[str, tuple[Any, Any]] = {
        "seed": (seed, world.seed),
        "freeze": (None if is_kept else freeze, start),
        "warnings": (errors[refuse_warnings], errors[world.refuses_warnings]),
        "names": (names, world.names),
        "wire": (wire, world.wire),
        "as_of": (as_of, world.as_of),
    }
    return [
        f"The world {world.name!r} exists and does not change: {name} is {_show(has)}, not "
        f"{_show(wanted)}. Drop it first to make it so."
        for name, (wanted, has) in asked.items()
        if wanted is not None and wanted != has
    ]


def _show(value: Any) -> str:
    if value is None:
        return "that of the server"
    return wire_millis(value) if isinstance(value, datetime) else str(value)


def merge_rows(base: Rows, changed: Mapping[str, Mapping[str, Slot]]) -> dict[str, dict[str, Row]]:
    """Return all visible rows of fixtures with changes."""
    found: dict[str, dict[str, Row]] = {}
    for table in dict.fromkeys([*base, *changed]):
        slots: dict[str, Slot] = {**base.get(table, {}), **changed.get(table, {})}
        found[table] = {key: slot for key, slot in slots.items() if slot is not None}
    return found


# A client that sends a credential which a single world has chooses that world.


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
        """Return the one world that has a credential; `None` if no or more than one has it."""

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
        """Return the one world that has a credential."""
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


class CredentialIndex(NamedTuple):
    """What in the changes of worlds concerns their credentials."""

    tables: Collection[str]
    compare: Callable[[Change], Iterable[tuple[str, bool]]]
    """Return each credential that a change removed (`False`) or added (`True`)."""


class Worlds:
    """The worlds of a server. `default` always exists."""

    shared = False
    """Whether other processes may have the worlds that are not open in this one."""

    def __init__(
        self,
        blueprint: Blueprint,
        *,
        limit: int = 1000,
        store: StoreMaker | None = None,
        prepare: Callable[[World], None] | None = None,
        credentials: CredentialIndex | None = None,
        owners: Owners | None = None,
    ) -> None:
        self.blueprint = blueprint
        self._limit = limit
        self._store = store
        self._prepare = prepare
        self._credentials = credentials
        self._lock = threading.RLock()
        self._worlds: dict[str, World] = {}
        self.owners: Owners = owners or OwnersInMemory()
        """The worlds by their credentials; those of other processes as well, if there are any."""
        self.dropped_listeners: list[Callable[[World], None]] = []
        self._begin()

    def rebase(self, base: Base) -> None:
        """Start new worlds with other fixtures, and reset the default world to them.

        The other worlds keep their fixtures.
        """
        with self._lock:
            self.default.rebase(base)
            self.blueprint = replace(self.blueprint, base=base)

    @property
    def default(self) -> World:
        """The world of requests that name no world."""
        return self._worlds[DEFAULT]

    def get(self, name: str) -> World:
        """Return the world of this name.

        Raises:
            UnknownWorld: No world has this name.
        """
        world = self._worlds.get(name)
        if world is None:
            raise UnknownWorld(name)
        return world

    def create(
        self,
        name: str,
        *,
        source: str | WorldCopy | None = None,
        seed: int | None = None,
        freeze: datetime | None = None,
        change: Callable[[World], None] | None = None,
        refuse_warnings: bool | None = None,
        names: NamesMode | None = None,
        wire: str | None = None,
        as_of: datetime | None = None,
    ) -> World:
        """Return a new world, a copy of `source` if given. An existing one is returned unchanged.

        A source of another process is given as a `WorldCopy`.

        With `freeze` its clock is stopped at that moment, at the start and after each reset. What
        `change` changes in the new world belongs to its start, too.
        `refuse_warnings`, `names`, `wire` and `as_of`, the date of the contract, are those of the
        server or of the source unless given.

        Raises:
            BadWorldName: The name has another form.
            TypeError: The seed is not an integer.
            UnknownWorld: `source` does not exist.
            TooManyWorlds: The limit is reached.
            ValueError: `freeze` has no offset from UTC, or is out of a clock's bounds.
            StoreUnwritable: The world could not be stored; no world was made.
        """
        check_name(name)
        check_seed(seed)
        with self._lock:
            if name in self._worlds:
                return self._worlds[name]
            if len(self._worlds) >= self._limit:
                raise TooManyWorlds.at_limit(self._limit)
            # A copy shares the records of its source and has only the source's differences, so it
            # costs about as much as these. What is set for this world alone (its clock, its names)
            # becomes part of its blueprint, because a reset has to return to it.
            saved, blueprint = self._find_source(source)
            own: dict[str, Any] = {
                "freeze": freeze, "refuse_warnings": refuse_warnings, "names": names,
                "own_wire": wire, "own_as_of": as_of,
            }  # fmt: skip
            own = {name: value for name, value in own.items() if value is not None}
            if own:
                blueprint = replace(blueprint, settings=replace(blueprint.settings, **own))
            world = World(name, blueprint, seed=seed, store=self._store)
            try:
                self._set_up(world, saved, freeze, change)
            except BaseException:
                world.closed = True  # for what was begun on its behalf
                self._forget(world)
                raise
            self._worlds[name] = world
            return world

    def drop(self, name: str) -> None:
        """Remove a world with all its contents; late requests find it closed.

        Raises:
            UnknownWorld: No world has this name.
            ValueError: It is the default world.
            StoreUnwritable: This could not be recorded; the world still exists.
        """
        if name == DEFAULT:
            raise ValueError("The world 'default' always exists; reset it instead.")
        with self._lock:
            world = self.get(name)
            world.close()
            del self._worlds[name]
            self._forget(world)
            world.release()

    def owner_of(self, credential: str) -> World | None:
        """Return the one world of a consumer key or token; `None` for shared ones."""
        name = self.owners.find(credential)
        return None if name is None else self._worlds.get(name)

    def list_owners(self) -> Mapping[str, str | None]:
        """Return worlds that are not in this process with their owners, if others share them."""
        return {}

    def list_damaged(self) -> Mapping[str, str]:
        """Return what is damaged in each world that could not be opened; none where none rests."""
        return {}

    def list_warnings(self) -> Sequence[str]:
        """Return what people should know of what keeps the worlds, although it can be used."""
        return ()

    def check_still_here(self, world: World, changes: Iterable[Change]) -> None:
        """Do nothing: no other process can have had a world of this one."""

    def find_trouble(self) -> str | None:
        """Return why worlds cannot be opened or changed at present; `None` if they can."""
        return None

    def __iter__(self) -> Iterator[World]:
        return iter(list(self._worlds.values()))

    def __len__(self) -> int:
        return len(self._worlds)

    def _begin(self) -> None:
        """Make the world that always exists."""
        self.create(DEFAULT)

    def _find_source(self, source: str | WorldCopy | None) -> tuple[SavedWorld | None, Blueprint]:
        """Return the state and the blueprint with which a world starts.

        Raises:
            UnknownWorld: The source does not exist.
        """
        if source is None:
            return None, self.blueprint
        if isinstance(source, str):
            origin = self.get(source)
            return origin.save(), origin.blueprint
        settings = replace(self.blueprint.settings, **source.settings)
        return source.saved, replace(self.blueprint, settings=settings)

    def _set_up(
        self,
        world: World,
        saved: SavedWorld | None,
        freeze: datetime | None,
        change: Callable[[World], None] | None,
    ) -> None:
        """Set up the start of a world, and store it."""
        if self._credentials is not None:
            world.on_commit(self._index, self._credentials.tables)
        if self._prepare is not None:
            self._prepare(world)
        if world.store.kept is not None:  # it began long ago
            return
        if saved is not None:
            # The start of a world is complete before it is stored: what is frozen and changed here
            # is saved as its origin, and a reset returns to exactly this. A world without any of it
            # needs no origin; it returns to the fixtures, which cost nothing to keep.
            world.load(saved)
        if freeze is not None:
            world.clock.freeze(freeze)
        if change is not None:
            change(world)
        if freeze is not None or change is not None:
            saved = world.save()
        world.begin(saved)

    def _forget(self, world: World) -> None:
        """Remove a world's credentials, and inform observers of the world."""
        self.owners.forget(world.name)
        for listener in self.dropped_listeners:
            listener(world)

    def _index(self, world: World, changes: Iterable[Change]) -> None:
        assert self._credentials is not None
        for change in changes:
            for credential, held in self._credentials.compare(change):
                if held:
                    self.owners.add(credential, world.name)
                else:
                    self.owners.remove(credential, world.name)
