"""A world: one isolated universe, and everything in it that can change.

Whatever a request changes is reached through its world, so that two worlds cannot meet and a reset
is complete.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from mock_platform.world.clock import Clock
from mock_platform.world.ids import Ids
from mock_platform.world.journal import Journal, JournalMemory
from mock_platform.world.memory import Base, MemoryStore
from mock_platform.world.mishaps import Mishap
from mock_platform.world.nonces import Nonces
from mock_platform.world.store import Change, Snapshot
from mock_platform.world.transitions import Kind, Transitions
from mock_platform.world.windows import Windows

_KEPT_DELIVERIES = 10_000

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


@dataclass(frozen=True, slots=True)
class SavedWorld:
    """A named point to come back to: records, clock, ids, paces."""

    records: Snapshot
    meta: dict[str, Any]


class Companion(Protocol):
    """What lives beside a world's records and begins anew with them: its scenarios."""

    def begin(self) -> None:
        """Begin as at the start; called under the world's lock."""

    def on_delivery(self, event: Mapping[str, Any], *, holding: bool) -> Mishap | None:
        """What befalls the delivery of an event; called once for each, under the world's lock.

        `holding` says that one before it is held back, to go out after it.
        """


StoreMaker = Callable[["World"], MemoryStore]


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
        self.clock = Clock(settings.freeze)
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
        self.scenarios: Companion | None = None
        """What makes requests fail on command; whoever embeds the world sets it."""
        self._outbox: list[Notice] = []
        self._depth = 0
        self._on_notice: Callable[[World, Notice], None] | None = None
        self._observers: list[Callable[[World, Iterable[Change]], None]] = []
        self._on_origin: Callable[[World], None] | None = None
        self.store = MemoryStore(blueprint.base) if store is None else store(self)
        self.transitions = Transitions(
            blueprint.kinds, self.store, self.clock, self._moved, self._paced
        )
        self._begin()

    @contextmanager
    def work(self) -> Iterator[list[Change]]:
        """Hold the world's lock over one all-or-nothing piece of work; gives its changes.

        An exception undoes every change. Notices go out after the lock is released, and only if the
        work was committed.
        """
        with self.lock:
            mark = len(self._outbox)
            self._depth += 1
            try:
                with self.store.transaction() as changes:
                    yield changes
            except BaseException:
                del self._outbox[mark:]
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

    def notify(self, topic: str, key: str) -> None:
        """Ask for something to be done once the present work is committed."""
        self._outbox.append(Notice(topic, key))

    def on_notice(self, listener: Callable[[World, Notice], None]) -> None:
        """Say who does what `notify` asks for."""
        self._on_notice = listener

    def on_commit(self, observer: Callable[[World, Iterable[Change]], None]) -> None:
        """Ask to be shown the changes of each committed piece of work, under the lock."""
        self._observers.append(observer)

    def on_origin(self, listener: Callable[[World], None]) -> None:
        """Say who keeps `origin` when it becomes another one."""
        self._on_origin = listener

    def begin_from(self, origin: SavedWorld | None) -> None:
        """Return to this with each reset, or with `None` to the fixtures."""
        self.origin = origin
        if self._on_origin is not None:
            self._on_origin(self)

    def reset(self) -> None:
        """The world as it started, at the price of what changed."""
        if self.origin is not None:
            with self.lock:
                self._begin_scenarios()
            self.load(self.origin)
            self.snapshots.clear()
            return
        with self.lock:
            self._begin_scenarios()
            changed = self._differences()
            self.epoch += 1
            self.store.clear()
            self.ids = Ids(self.seed, self.name)
            self.transitions.restore({})
            self._forget()
            self.snapshots.clear()
            freeze = self.blueprint.settings.freeze
            frozen_at = None if freeze is None else freeze.isoformat()
            for observer in self._observers:
                observer(self, changed)
            self.clock.restore({"offset_seconds": 0, "frozen_at": frozen_at})
            self._begin()

    def rebase(self, base: Base) -> None:
        """Begin anew with other fixtures, as a reset does with the same ones."""
        with self.lock:
            self.reset()
            if self.origin is not None:  # differs from the other fixtures otherwise
                self.begin_from(None)
            self.blueprint = replace(self.blueprint, base=base)
            self.store.rebase(base)
            self._begin()

    def resume(self, meta: dict[str, Any]) -> None:
        """Go on as a durable store left the world: its records are there, this brings the rest."""
        with self.lock:
            self.restore_meta(meta)
            found = [Change(c.table, c.key, c.after, c.before) for c in self._differences()]
            for observer in self._observers:
                observer(self, found)
        self._tell(Notice(RESTORED, self.name))

    def save(self) -> SavedWorld:
        """The present state as a value."""
        with self.lock:
            return SavedWorld(self.store.snapshot(), self.meta())

    def load(self, saved: SavedWorld) -> None:
        """Return to what `save` gave, of this world or of another one on the same fixtures."""
        with self.lock:
            before = self._differences()
            self.epoch += 1
            self.ids.drawn = saved.meta["ids"]
            self.transitions.restore(saved.meta["paces"])
            self._forget()
            self.store.restore(saved.records)
            after = [Change(c.table, c.key, c.after, c.before) for c in self._differences()]
            for observer in self._observers:
                observer(self, [*before, *after])
            self.clock.restore(saved.meta["clock"])
        self._tell(Notice(RESTORED, self.name))

    def meta(self) -> dict[str, Any]:
        """What makes up the state beside the records; a durable store keeps it with each commit."""
        return {
            "seed": self.seed,
            "ids": self.ids.drawn,
            "clock": self.clock.state(),
            "paces": self.transitions.state() if hasattr(self, "transitions") else {},
        }

    def restore_meta(self, meta: dict[str, Any]) -> None:
        """Return to what `meta` gave, the records aside."""
        self.seed = meta["seed"]
        self.ids = Ids(self.seed, self.name, meta["ids"])
        self.transitions.restore(meta["paces"])
        self.clock.restore(meta["clock"])

    def _begin(self) -> None:
        """Count the fixtures' relative moments from now, where they stand as they were loaded."""
        base = self.blueprint.base
        if not base.relative:
            return
        now = self.clock.now()
        with self.work():
            for (table, key), moments in base.relative.items():
                record = base.rows[table][key].record
                if self.store.get(table, key) is record:
                    counted = {moment.field: moment.form(now + moment.since) for moment in moments}
                    if not counted.items() <= record.items():
                        self.store.put(table, key, record | counted)

    def _begin_scenarios(self) -> None:
        if self.scenarios is not None:
            self.scenarios.begin()

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
        self.windows.clear()
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
