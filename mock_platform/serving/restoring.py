"""Makes a platform from settings; its worlds continue from their store.

`memory` keeps nothing. `tinydb:FILE` keeps every world in that file: stored worlds continue with
their records, clock, ids, scenarios, rate windows and snapshots. An engine (`redis://…`) keeps the
same, and its worlds are opened when they are asked for. Fixtures are read again at each
start. The origin of a copy and its snapshots are in the file as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from mock_platform.api.served import KINDS
from mock_platform.core.errors import did_you_mean
from mock_platform.platform import Platform, load_base
from mock_platform.serving.settings_check import check_settings
from mock_platform.settings import DeliverySettings, Settings
from mock_platform.world.blueprint import Blueprint
from mock_platform.world.clock import moment
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.archive import Archive, KeptWorld, SharedArchive
from mock_platform.world.store.backends import ENGINE, NeedsEngine, find_backend, open_archive
from mock_platform.world.store.errors import StoreDamaged, WorldLost
from mock_platform.world.store.interface import Record
from mock_platform.world.store.memory import Base
from mock_platform.world.world import World
from mock_platform.world.world_store import WorldStore
from mock_platform.world.worlds import Owners

if TYPE_CHECKING:
    from mock_platform.verification.cases.replay import Replay
    from mock_platform.world.store.redis_archive import RedisArchive


WATCHER: ContextVar[Callable[[Platform], object] | None] = ContextVar("WATCHER", default=None)
"""Called with each platform that is opened in this context: for tools that follow a run of tests.
"""


class Opened:
    """A platform and its archive. Close it after the last call."""

    def __init__(self, platform: Platform, archive: Archive) -> None:
        self.platform = platform
        self.archive = archive
        self._closed = False
        watch = WATCHER.get()
        if watch is not None:
            watch(platform)

    def close(self) -> None:
        """Stop deliveries, write everything that is not written yet, release the files; idempotent.

        Raises:
            OSError: The file could not be written, with durability `snapshot`; call this again.
        """
        self.platform.close()
        if self._closed:
            return
        if self.archive.keeps:
            for world in self.platform.worlds:
                with suppress(UnknownWorld, WorldLost):  # another process has it now
                    _record(world)
        self.archive.close()
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_platform(
    settings: Settings, owners: Owners | None = None, base: Base | None = None
) -> Opened:
    """Return the platform for these settings, with its worlds as the store left them.

    `owners` are the worlds by their credentials, if other processes have worlds as well; `base` are
    other fixtures than those of the settings.

    Raises:
        BadFixtures: The fixtures have faults.
        BadStore: The setting `store` does not name a store.
        NeedsEngine: `rest_after` is set, and the store is not an engine.
        StoreError: The store's files are in use, damaged, not from mock_platform, or cannot be
            opened.
        TypeError: A setting has a value of another type.
        ValueError: A setting has a value that it cannot have.
    """
    check_settings(settings)
    module, _ = find_backend(settings.store)  # before the fixtures, which take longer
    for option, value in (
        ("--rest-after", settings.rest_after),
        ("--advertise", settings.advertise),
    ):
        if value is not None and module != ENGINE:
            raise NeedsEngine(option, settings.store)
    base = base or load_base(settings)
    archive = open_archive(settings.store, settings.durability)
    try:
        return Opened(_restore_worlds(settings, base, archive, owners), archive)
    except BaseException:
        archive.close()
        raise


def open_replayed(replayed: Replay, overrides: Mapping[str, Any]) -> Opened:
    """Return a platform whose default world is that of a case, as it was when it was saved.

    A reset returns it to the start of the case. Other worlds start with its records. `overrides`
    are settings of the server, such as its port.
    """
    case, before = replayed.case, replayed.world
    base = before.blueprint.base
    with case.open_settings() as settings:
        opened = open_platform(replace(settings, **overrides), base=base)
    world = opened.platform.worlds.default
    world.begin_at(case.make_start(base))
    with before.hold():
        saved, beside, history = before.save(), before.beside.read_records(), before.history
    tables: dict[str, dict[str, Record]] = {}
    for (table, key), record in beside.items():
        if record is not None:
            tables.setdefault(table, {})[key] = record
    world.load(saved)
    with world.hold():
        world.beside.resume(tables)
        world.history = history
    for entry in replayed.entries:
        world.journal.add(entry)
    for delivery in case.document.deliveries:
        world.deliveries.append(delivery)
    numbers = [int(entry.id[1:]) for entry in replayed.entries if entry.id[1:].isdecimal()]
    opened.platform.number_requests(max(numbers, default=0) + 1, 1)
    return opened


def _restore_worlds(
    settings: Settings, base: Base, archive: Archive, owners: Owners | None
) -> Platform:
    if isinstance(archive, SharedArchive):
        from mock_platform.serving.cluster.shared_worlds import make_shared_platform

        shared = cast("RedisArchive", archive)
        return make_shared_platform(settings, base, shared, partial(_try, archive))
    kept = {name: found for name in archive.names() if (found := archive.open(name, base))}
    for name, found in kept.items():
        _try(archive, name, found)
    unclaimed = dict(kept)

    def store(world: World) -> WorldStore:
        return WorldStore(
            world.blueprint.base,
            archive,
            world.name,
            world.meta,
            parts=world.beside,
            kept=unclaimed.pop(world.name, None),
        )

    platform = Platform(settings, base=base, store=store, owners=owners)
    for name, found in kept.items():
        platform.worlds.create(name).resume(found)
    for world in platform.worlds:  # scenarios that this start switches on or off
        _record(world)
    return platform


def _try(archive: Archive, name: str, kept: KeptWorld) -> None:
    """Restore the data of a world beside its records, before any request can reach it.

    Raises:
        StoreDamaged: The data cannot be restored.
    """
    for meta in (kept.meta, *(point.meta for point in kept.points.values())):
        try:
            World(name, Blueprint(Base(), KINDS)).restore_meta(meta)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise StoreDamaged(
                archive.place,
                f"what world {name!r} keeps beside its records is incomplete ({fault!r})",
                "Put back a copy of the file, or move it away to start from scratch.",
            ) from fault


def _record(world: World) -> None:
    with world.work():
        pass


def override_settings(settings: Settings, overrides: Mapping[str, Any]) -> Settings:
    """Return settings with some fields changed, or of their `delivery` as `delivery_timeout=1`.

    Folders and files may be text, and `freeze` and `as_of` may be ISO 8601.

    Raises:
        TypeError: A setting of this name does not exist, or `settings` are something else.
        ValueError: `freeze` or `as_of` is not a moment, or has no offset from UTC.
    """
    check_settings(settings)
    known = [field.name for field in fields(Settings) if field.name != "port"]
    known += [f"delivery_{field.name}" for field in fields(DeliverySettings)]
    top: dict[str, Any] = {}
    delivery: dict[str, Any] = {}
    for name, value in overrides.items():
        if name not in known:
            hint = did_you_mean(name, known)
            raise TypeError(
                f"The setting {name!r} does not exist.{hint} Settings: {', '.join(known)}."
            )
        if name.startswith("delivery_"):
            delivery[name.removeprefix("delivery_")] = value
        else:
            top[name] = value
    if "fixtures" in top:
        given = top["fixtures"]
        folders = [given] if isinstance(given, str | Path) else given
        top["fixtures"] = tuple(Path(folder) for folder in folders)
    if "scenarios" in top:
        chosen = top["scenarios"]
        named = [chosen] if isinstance(chosen, str | Path) else chosen
        top["scenarios"] = tuple(str(each) for each in named)
    if top.get("prices") is not None:
        top["prices"] = Path(top["prices"])
    for name in ("freeze", "as_of"):
        if top.get(name) is not None:
            top[name] = moment(top[name])
    if delivery:
        top["delivery"] = replace(top.get("delivery", settings.delivery), **delivery)
    return replace(settings, **top)
