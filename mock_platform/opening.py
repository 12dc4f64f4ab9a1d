"""From settings to a platform whose worlds stand where its store left them.

`memory` keeps nothing. `tinydb:FILE` keeps every world in that file: worlds that it holds go on
with their records, clock and ids. What they began with is read anew at each start if it was the
fixtures; what a fork began as stands in the file as well, under a name that no world can have.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mock_platform.operations import KINDS
from mock_platform.platform import Platform, load_base
from mock_platform.settings import Settings
from mock_platform.world.durable import Archive, Durability, DurableStore, StoreDamaged, StoreError
from mock_platform.world.memory import Base
from mock_platform.world.world import Blueprint, SavedWorld, World

MEMORY = "memory"
_TINYDB = "tinydb:"
_ORIGIN = "@origin"
"""Behind a world's name: what that world began as."""


class BadStore(ValueError):
    """The setting `store` names no store."""

    def __init__(self, text: str) -> None:
        hint = f" Did you mean 'tinydb:{text}'?" if text.endswith(".json") else ""
        super().__init__(f"{text!r} is no store: memory, or tinydb:FILE.{hint}")


def store_path(store: str) -> Path | None:
    """The file that a setting `store` names; `None` for memory.

    Raises:
        BadStore: It is neither `memory` nor `tinydb:FILE`.
    """
    if store == MEMORY:
        return None
    if not store.startswith(_TINYDB) or store == _TINYDB:
        raise BadStore(store)
    return Path(store.removeprefix(_TINYDB)).expanduser()


class Opened:
    """A platform and the files behind it. Close it when no more calls come."""

    def __init__(self, platform: Platform, archive: Archive | None) -> None:
        self.platform = platform
        self.archive = archive

    def close(self) -> None:
        """Stop deliveries, write what is not written yet, let go of the files. Again is harmless.

        Raises:
            OSError: The file could not be written, under durability `snapshot`; try again.
        """
        self.platform.close()
        if self.archive is None:
            return
        held = self.archive.worlds
        for world in self.platform.worlds:
            if world.name in held:
                with world.lock:
                    _record(world)
        self.archive.close()
        self.archive = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_platform(settings: Settings) -> Opened:
    """The platform of these settings, its worlds as the store left them.

    Raises:
        BadFixtures: Something is wrong with the fixtures.
        BadStore: The setting `store` names none.
        StoreError: The store's files are in use, damaged, not ours, or cannot be opened.
    """
    path = store_path(settings.store)
    base = load_base(settings)
    if path is None:
        return Opened(Platform(settings, base=base), None)
    archive = _archive(path, settings.durability)
    try:
        return Opened(_restored(settings, base, archive), archive)
    except BaseException:
        archive.close()
        raise


def _archive(path: Path, durability: Durability) -> Archive:
    try:
        return Archive(path, durability)
    except OSError as fault:
        raise StoreError(f"{path} cannot be opened: {fault}. Name a file that can.") from fault


def _restored(settings: Settings, base: Base, archive: Archive) -> Platform:
    found = {name: stored.meta for name, stored in archive.worlds.items()}
    for name, meta in found.items():
        _try(archive, name, meta)
    kept = {name: meta for name, meta in found.items() if not name.endswith(_ORIGIN)}
    for name in found.keys() - kept.keys():
        if name.removesuffix(_ORIGIN) not in kept:  # its drop was cut short
            archive.drop_world(name)
    waiting = dict(kept)

    def store(world: World) -> DurableStore:
        # A world that is being set up has a clock and ids of its own already; until it goes on with
        # those that were kept, nothing else may be recorded in their place.
        def meta() -> dict[str, Any]:
            return waiting[world.name] if world.name in waiting else world.meta()

        return DurableStore(world.blueprint.base, archive, world.name, meta)

    platform = Platform(settings, base=base, store=store)
    for name, meta in kept.items():
        world = platform.worlds.create(name)
        del waiting[name]
        world.resume(meta)
        snapshot = archive.attach(name + _ORIGIN, base)
        if snapshot is not None:
            world.origin = SavedWorld(snapshot, found[name + _ORIGIN])
    platform.on_world(_record_each_jump)
    platform.on_world(lambda world: world.on_origin(_keep_origin(archive)))
    platform.worlds.dropped_listeners.append(_forget(archive))
    return platform


def _try(archive: Archive, name: str, meta: dict[str, Any]) -> None:
    """Go on with what a world kept beside its records, in a world that nobody sees.

    Raises:
        StoreDamaged: It cannot be done.
    """
    try:
        World(name, Blueprint(Base(), KINDS)).restore_meta(meta)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        raise StoreDamaged(
            archive.path,
            f"what world {name!r} keeps beside its records is incomplete ({fault!r})",
            "Put back a copy of the file, or move it away to start anew.",
        ) from fault


def _record_each_jump(world: World) -> None:
    """A clock moves without a commit, so each jump is recorded by itself."""

    def jumped() -> None:
        if not world.closed:
            with world.lock:
                _record(world)

    world.clock.on_jump(jumped)


def _record(world: World) -> None:
    store = world.store
    assert isinstance(store, DurableStore)
    store.record_meta()


def _keep_origin(archive: Archive) -> Callable[[World], None]:
    def keep(world: World) -> None:
        name, origin = world.name + _ORIGIN, world.origin
        if name in archive.worlds:
            archive.drop_world(name)
        if origin is not None:
            archive.add_world(name, origin.meta, world.blueprint.base, origin.records)

    return keep


def _forget(archive: Archive) -> Callable[[World], None]:
    def forget(world: World) -> None:
        for name in (world.name, world.name + _ORIGIN):
            if name in archive.worlds:
                archive.drop_world(name)

    return forget
