"""A world: one isolated universe, and everything in it that can change.

Whatever a request changes is reached through its world, so that two worlds cannot meet and a reset
is complete.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from mock_platform.store.archive import KeptWorld
from mock_platform.store.errors import StoreUnwritable
from mock_platform.store.interface import Change, SavedWorld
from mock_platform.store.memory import Base, MemoryStore
from mock_platform.store.memory_archive import MemoryArchive
from mock_platform.world.clock import Clock, read_state
from mock_platform.world.ids import Ids
from mock_platform.world.journal import Journal, JournalMemory
from mock_platform.world.kept import Companion, Parts
from mock_platform.world.names import UnknownWorld
from mock_platform.world.nonces import Nonces
from mock_platform.world.transitions import Kind, Transitions
from mock_platform.world.windows import Windows
from mock_platform.world.world_store import WorldStore

C = TypeVar("C", bound=Companion)

_KEPT_DELIVERIES = 10_000

ORIGIN = "origin"
"""Under what label a world keeps what it began as."""
_SNAPSHOT = "snapshot-"
"""How the labels of its snapshots begin."""

RESTORED = "world:restored"
"""Topic of the notice that a world returned to a saved state; its key is the world's name."""
PACED = "transitions:paced"
"""Topic of the notice that a kind's pace changed; its key is the kind's name."""


@dataclass(frozen=True, slots=True)
class WorldSettings:
    """What every world of a server starts with."""

    seed: int = 0
    freeze: datetime | None = None
    journal_entries: int = 10_000
    journal_bytes: int = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that a committed request wants done outside the world's lock: a job to start."""

    topic: str
    key: str


StoreMaker = Callable[["World"], WorldStore]


@dataclass(frozen=True, slots=True)
class Blueprint:
    """What all worlds of a server share: the fixtures, the kinds of transitions, the settings."""

    base: Base
    kinds: tuple[Kind, ...] = ()
    settings: WorldSettings = field(default_factory=WorldSettings)
    journal_memory: JournalMemory = field(default_factory=JournalMemory)


class World:
    """One universe. Take `work()` around everything that reads and writes its records."""

    def __init__(
        self,
        name: str,
        blueprint: Blueprint,
        *,
        seed: int | None = None,
        store: StoreMaker | None = None,
    ) -> None:
        self.name = name
        self.blueprint = blueprint
        settings = blueprint.settings
        self.seed = settings.seed if seed is None else seed
        self.lock = threading.RLock()
        self.closed = False
        self.clock = Clock(settings.freeze, lock=self.lock, record=self._record_jump)
        self.ids = Ids(self.seed, name)
        self.journal = Journal(
            settings.journal_entries, settings.journal_bytes, blueprint.journal_memory
        )
        self.windows = Windows(self.clock)
        self.nonces = Nonces()
        self.deliveries: deque[dict[str, Any]] = deque(maxlen=_KEPT_DELIVERIES)
        self.snapshots: dict[str, SavedWorld] = {}
        self.origin: SavedWorld | None = None
        """What a fork began as; `None` for a world that began with the fixtures."""
        self.epoch = 0
        """Grows with each reset, so that work begun before one can tell that it is stale."""
        self._companions: dict[type[Any], Any] = {}
        self.beside = Parts(lambda: [self.windows, *self.companions])
        """What is recorded with the records, where the world outlives the process."""
        self._outbox: list[Notice] = []
        self._depth = 0
        self._on_notice: Callable[[World, Notice], None] | None = None
        self._observers: list[Callable[[World, Iterable[Change]], None]] = []
        self.store = (store or _store_in_memory)(self)
        self.windows.outlives = self.store.outlives
        self.transitions = Transitions(
            blueprint.kinds, self.store, self.clock, self._moved, self._paced
        )
        if self.store.kept is None:
            self.store.restore(self._beginning(blueprint.base).records)

    @contextmanager
    def work(self) -> Iterator[list[Change]]:
        """Hold the world's lock over one all-or-nothing piece of work; gives its changes.

        An exception undoes every change. Notices go out after the lock is released, and only if the
        work was committed.

        Raises:
            UnknownWorld: The world was dropped.
            StoreUnwritable: The changes could not be recorded, so they were not made.
        """
        with self.lock:
            if self.closed:
                raise UnknownWorld(self.name)
            mark = len(self._outbox)
            clock, paces, drawn = self.clock.mark(), self.transitions.paces, self.ids.drawn
            self._depth += 1
            try:
                with self.store.transaction() as changes:
                    yield changes
            except BaseException as fault:
                del self._outbox[mark:]
                self.clock.put(clock)
                self.transitions.paces = paces
                if isinstance(fault, StoreUnwritable):
                    self.ids.drawn = drawn
                elif self._depth == 1:
                    self.store.record()  # what counts although the work failed
                raise
            finally:
                self._depth -= 1
            if self._depth > 0:  # the outermost piece decides, and tells
                return
            for observer in self._observers:
                observer(self, changes)
            ready, self._outbox = self._outbox, []
        self._tell(*ready)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Within `work()`: undo this part alone, notices included, if it raises."""
        mark = len(self._outbox)
        try:
            with self.store.attempt():
                yield
        except BaseException:
            del self._outbox[mark:]
            raise

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the world's lock.

        Raises:
            UnknownWorld: The world was dropped, maybe while its lock was waited for.
        """
        with self.lock:
            if self.closed:
                raise UnknownWorld(self.name)
            yield

    def notify(self, topic: str, key: str) -> None:
        """Ask for something to be done once the present work is committed."""
        self._outbox.append(Notice(topic, key))

    @property
    def companions(self) -> Collection[Companion]:
        """What was added to the world."""
        return self._companions.values()

    def add_companion(self, companion: Companion) -> None:
        """Add what begins again, and is recorded, with the world; one of each type."""
        self._companions[type(companion)] = companion

    def companion(self, kind: type[C]) -> C:
        """What of this type was added.

        Raises:
            LookupError: Nothing.
        """
        found: C = self._companions[kind]
        return found

    def on_notice(self, listener: Callable[[World, Notice], None]) -> None:
        """Say who does what `notify` asks for."""
        self._on_notice = listener

    def on_commit(self, observer: Callable[[World, Iterable[Change]], None]) -> None:
        """Ask to be shown the changes of each committed piece of work, under the lock."""
        self._observers.append(observer)

    # -- beginning, ending, coming back ----------------------------------------------------------

    def begin(self, origin: SavedWorld | None) -> None:
        """Be stored as it is, and return to `origin` with each reset, or to the fixtures.

        Raises:
            StoreUnwritable: It could not be recorded; nothing is stored.
        """
        with self.held():
            self.store.begin({} if origin is None else {ORIGIN: origin})
            self.origin = origin

    def resume(self, kept: KeptWorld) -> None:
        """Go on as an earlier process left the world: its records are there, this is the rest."""
        with self.held():
            self.restore_meta(kept.meta)
            self.origin = kept.points.get(ORIGIN)
            self.snapshots = {
                label.removeprefix(_SNAPSHOT): saved
                for label, saved in kept.points.items()
                if label.startswith(_SNAPSHOT)
            }
            self.beside.resume(self.store.beside)
            self.store.resume()
            found = [Change(c.table, c.key, c.after, c.before) for c in self._differences()]
            for observer in self._observers:
                observer(self, found)
        self._tell(Notice(RESTORED, self.name))

    def close(self) -> None:
        """Be no more: what comes later finds the world unknown.

        Raises:
            StoreUnwritable: That could not be recorded; the world is still there.
        """
        with self.held():
            self.store.drop()
            self.closed = True

    def reset(self) -> None:
        """The world as it started, at the price of what changed.

        Raises:
            StoreUnwritable: It could not be recorded; nothing has changed. As below.
        """
        if self.origin is not None:
            self._return_to(self.origin, restarts=True)
            self._tell(Notice(RESTORED, self.name))
        else:
            self._return_to(self._beginning(self.blueprint.base), restarts=True)

    def rebase(self, base: Base) -> None:
        """Begin with other fixtures from scratch, as a reset does with the same ones."""
        self._return_to(self._beginning(base), base, restarts=True)

    def take_snapshot(self, name: str) -> SavedWorld:
        """Keep the present state under a name, in place of what had it."""
        with self.held():
            saved = self.save()
            self.store.keep_point(_SNAPSHOT + name, saved)
            self.snapshots[name] = saved
            return saved

    def drop_snapshot(self, name: str) -> None:
        """Forget the state under a name."""
        with self.held():
            self.store.drop_point(_SNAPSHOT + name)
            del self.snapshots[name]

    def save(self) -> SavedWorld:
        """The present state as a value."""
        with self.lock:
            return SavedWorld(self.store.snapshot(), self.meta())

    def load(self, saved: SavedWorld) -> None:
        """Return to what `save` gave, of this world or of another one on the same fixtures."""
        self._return_to(saved)
        self._tell(Notice(RESTORED, self.name))

    def meta(self) -> dict[str, Any]:
        """What makes up the state beside the records; a durable store keeps it with each commit."""
        return {
            "seed": self.seed,
            "ids": self.ids.drawn,
            "clock": self.clock.state(),
            "paces": self.transitions.state(),
        }

    def restore_meta(self, meta: dict[str, Any]) -> None:
        """Return to what `meta` gave, the records aside."""
        self.seed = meta["seed"]
        self.ids = Ids(self.seed, self.name, meta["ids"])
        self.transitions.restore(meta["paces"])
        self.clock.put(read_state(meta["clock"]))

    # -- within ----------------------------------------------------------------------------------

    def _record_jump(self) -> None:
        if self._depth == 0:  # else the work under way is recorded with it
            with self.work():
                pass

    def _beginning(self, base: Base) -> SavedWorld:
        """What a world begins as: fixtures, their relative moments counted from now."""
        clock = Clock(self.blueprint.settings.freeze)
        store = MemoryStore(base)
        if base.relative:
            now = clock.now()
            for (table, key), moments in base.relative.items():
                record = base.rows[table][key].record
                counted = {moment.field: moment.form(now + moment.since) for moment in moments}
                if not counted.items() <= record.items():
                    store.put(table, key, record | counted)
        meta = {"seed": self.seed, "ids": 0, "clock": clock.state(), "paces": {}}
        return SavedWorld(store.snapshot(), meta)

    def _return_to(
        self, saved: SavedWorld, base: Base | None = None, *, restarts: bool = False
    ) -> None:
        """Be what was saved, over other fixtures if given, in one commit or not at all.

        `restarts` begins the scenarios from scratch and forgets the snapshots, and with other
        fixtures the origin, which differs from them otherwise.
        """
        with self.held():
            before = self._differences()
            dropped = [_SNAPSHOT + name for name in self.snapshots] if restarts else []
            if base is not None:
                dropped.append(ORIGIN)
            with self._all_or_nothing():
                self.ids = Ids(self.seed, self.name, saved.meta["ids"])
                self.transitions.restore(saved.meta["paces"])
                self.clock.put(read_state(saved.meta["clock"]))
                self.windows.clear()
                if restarts:
                    for companion in self.companions:
                        companion.begin()
                self.store.restore(saved.records, base=base, dropped=dropped)
            if restarts:
                self.snapshots.clear()
            if base is not None:
                self.blueprint, self.origin = replace(self.blueprint, base=base), None
            self.epoch += 1
            self._forget()
            after = [Change(c.table, c.key, c.after, c.before) for c in self._differences()]
            for observer in self._observers:
                observer(self, [*before, *after])
        self.clock.tell()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Put back what is not the store's if it cannot record the change."""
        ids, paces, clock = self.ids, self.transitions.paces, self.clock.mark()
        try:
            with self.beside.all_or_nothing():
                yield
        except BaseException:
            self.ids, self.transitions.paces = ids, paces
            self.clock.put(clock)
            raise

    def _tell(self, *notices: Notice) -> None:
        if self._on_notice is not None:
            for notice in notices:
                self._on_notice(self, notice)

    def _moved(self, kind: Kind, key: str, to: str) -> None:
        self.notify(f"{kind.name}:{to}", key)

    def _paced(self, kind: Kind) -> None:
        self.notify(PACED, kind.name)

    def _forget(self) -> None:
        self.journal.clear()
        self.nonces.clear()
        self.deliveries.clear()
        self._outbox.clear()

    def _differences(self) -> list[Change]:
        """What differs from the fixtures, as changes back to them."""
        base = self.blueprint.base.rows
        found = []
        for table, rows in self.store.snapshot().rows.items():
            for key, row in rows.items():
                original = base.get(table, {}).get(key)
                found.append(
                    Change(
                        table, key,
                        None if row is None else row.record,
                        None if original is None else original.record,
                    )
                )  # fmt: skip
        return found


def _store_in_memory(world: World) -> WorldStore:
    base, archive = world.blueprint.base, MemoryArchive()
    return WorldStore(base, archive, world.name, world.meta, parts=world.beside)
