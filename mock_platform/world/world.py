"""A world is isolated from all others and contains everything that can change.

Everything that a request changes is reached through its world. So two worlds cannot affect each
other and a reset is complete.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from msgspec.structs import replace

from mock_platform.world.attached import RESTORED, RETURNED, Companion, Notice, Parts
from mock_platform.world.blueprint import Blueprint
from mock_platform.world.clock import UPTIME, Clock, ClockState, format_date, read_state
from mock_platform.world.history import Mark, WorldHistory
from mock_platform.world.ids import Ids
from mock_platform.world.journal import Journal
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.archive import ORIGIN, SNAPSHOT, KeptWorld
from mock_platform.world.store.errors import StoreUnwritable
from mock_platform.world.store.interface import (
    Change,
    SavedWorld,
    Scope,
    make_closed_scope,
)
from mock_platform.world.store.memory import Base
from mock_platform.world.store.memory_archive import MemoryArchive
from mock_platform.world.transitions import Pace, Transitions
from mock_platform.world.windows import Nonces, Windows
from mock_platform.world.world_store import WorldStore

T = TypeVar("T")
Observer = Callable[["World", Sequence[Change]], None]
"""Keeps up to date what it derives from records."""

_KEPT_DELIVERIES = 10_000


class DeliveryLog(deque[dict[str, Any]]):
    """What was delivered, oldest first; the oldest ones are dropped."""

    def __init__(self) -> None:
        super().__init__(maxlen=_KEPT_DELIVERIES)
        self.settle: Callable[[], None] | None = None
        """Counts what deliveries cost (`take_new`): before some are dropped."""
        self._new = 0
        """How many were not counted yet."""
        self._adding = threading.Lock()

    def append(self, delivery: dict[str, Any]) -> None:
        """Add a delivery, in the place of the oldest one if the log is full."""
        if len(self) == self.maxlen and self.settle is not None:
            self.settle()
        with self._adding:
            super().append(delivery)
            self._new += 1

    def take_new(self) -> list[dict[str, Any]]:
        """Return the deliveries since the last call, oldest first."""
        with self._adding:
            found = [*islice(reversed(self), self._new)]
            self._new = 0
        return found[::-1]

    def clear(self) -> None:
        """Forget all deliveries, once their costs were counted."""
        if self.settle is not None:
            self.settle()
        with self._adding:
            super().clear()
            self._new = 0


_Begun = tuple[
    AbstractContextManager[list[Change]], list[Change], int, ClockState, dict[str, Pace], int
]
"""An open piece of work: its transaction and changes; notices, clock, paces and ids before it."""

StoreMaker = Callable[["World"], WorldStore]


class World:
    """One world. Use `work()` around everything that reads or writes its records."""

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
        self.opened = UPTIME()
        """When this process made it, or took it from its archive: real seconds of `UPTIME`."""
        self.lock = threading.RLock()
        self.closed = False
        self.moved = False
        """Whether it was closed here alone: it rests in the archive, or another process has it."""
        self.names = settings.names
        self.wire = settings.own_wire or settings.wire
        self.refuses_warnings = settings.refuse_warnings
        self._all_releases = settings.all_releases
        self.as_of = settings.own_as_of or settings.as_of
        """The date whose contract is in force; a request may have one of its own for its time."""
        self.clock = Clock(settings.freeze, lock=self.lock, record=self._record_jump)
        self.drawn_as = name
        """The name from which ids are drawn: another one in the copy of a world elsewhere."""
        self.ids = Ids(self.seed, name)
        self.journal = Journal(
            settings.journal_entries, settings.journal_bytes, blueprint.journal_memory
        )
        self.windows = Windows(self.clock)
        self.nonces = Nonces()
        self.deliveries = DeliveryLog()
        self.snapshots: dict[str, SavedWorld] = {}
        self.origin: SavedWorld | None = None
        """The origin of a copied world; `None` for a world that started with the fixtures."""
        self._is_request = False
        self.epoch = 0
        """Grows with each reset, so that earlier work can notice that it is outdated."""
        self._parts: dict[type[Any], Any] = {}
        """What belongs to a subject and not to worlds as such, one of each type."""
        self.companions: list[Companion] = []
        """Those of the parts that restart and are recorded with the world."""
        # A function that refers to `self` would make a circle of references, and the world would
        # stay in memory until the garbage collector finds it.
        windows, companions = self.windows, self.companions  # not `self`: see `release`
        self.beside = Parts(lambda: [windows, *companions])
        """The data that are recorded with the records, if the world outlives the process."""
        self._outbox: list[Notice] = []
        self._begun: list[_Begun] = []
        """The open pieces of work, each inside the one before it; use it under the lock."""
        self._work = Scope(self._begin_work, self._end_work)
        self._on_notice: list[Callable[[World, Notice], None]] = []
        self._observers: list[tuple[Observer, Collection[str]]] = []
        self.store = (store or _store_in_memory)(self)
        self.windows.outlives = self.store.outlives
        self.transitions = Transitions(blueprint.kinds, self.store, self.clock, self.notify, self)
        self.history = WorldHistory(blueprint.make_start(self.seed), self.clock.now())
        if self.store.kept is None:
            self.store.restore(self.history.start.records)

    def work(self) -> Scope[list[Change]]:
        """Return a block that holds the world's lock for one atomic piece of work.

        It yields its changes. An exception undoes every change. Notices are sent after the lock is
        released, and only after a commit.

        Raises:
            UnknownWorld: The world was dropped.
            StoreUnwritable: The changes could not be recorded, so they were undone.
        """
        return self._work

    def take_turn(self, came: datetime, jumps: int) -> tuple[int, datetime]:
        """Give the request that `work()` answers its number and its moment, and return both.

        `came` is when it came, and `jumps` how often the clock had jumped until then. The clock
        does not move until the end of the work. So the same request at the same moment, after the
        same ones, gets the same answer.
        """
        self._is_request = True
        moment = self.clock.hold(came, jumps)
        self.history.turn += 1
        return self.history.turn, moment

    def count_request(self) -> int:
        """Return the number of a request that needed no work, because nothing answered it."""
        with self.lock:
            self.history.turn += 1
            return self.history.turn

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Within `work()`: undo this block alone, with its notices, if it raises."""
        # The store undoes the records of this block. Notices are no records, so they are cut off
        # here.
        mark = len(self._outbox)
        try:
            with self.store.attempt():
                yield
        except BaseException:
            del self._outbox[mark:]
            raise

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the world's lock.

        Raises:
            UnknownWorld: The world was dropped, perhaps while this waited for its lock.
        """
        with self.lock:
            if self.closed:
                raise UnknownWorld(self.name)
            yield

    @property
    def has_all_releases(self) -> bool:
        """Whether all of the release history is in force."""
        return self._all_releases and self.as_of is None

    def contract_now(self) -> datetime:
        """Return the moment whose contract is in force: `as_of`, or the time on the clock."""
        return self.as_of or self.clock.now()

    def explain_too_early(self) -> str:
        """Return why a part of the contract does not exist yet, and what has it."""
        if self.as_of is None:
            return "the world's clock is before that; --releases all has it at any time"
        at = format_date(self.as_of)
        return f"the contract is that of {at}; a later --as-of or X-Mock-As-Of has it"

    def notify(self, topic: str, key: str) -> None:
        """Request work that is done after the current piece of work is committed."""
        self._outbox.append(Notice(topic, key))

    def attach(self, part: object) -> None:
        """Add what belongs to the world in this process alone; one of each type."""
        self._parts[type(part)] = part

    def attach_companion(self, companion: Companion) -> None:
        """Add a part that restarts and is recorded with the world."""
        self.attach(companion)
        self.companions.append(companion)
        self.history.set_mark(self._mark())

    def find_attachment(self, kind: type[T]) -> T:
        """Return the part of this type.

        Raises:
            UnknownWorld: The world was dropped.
            LookupError: The world has none.
        """
        if self.closed and kind not in self._parts:
            raise UnknownWorld(self.name)
        found: T = self._parts[kind]
        return found

    def cache(self, kind: type[T]) -> T:
        """Return the world's part of this type, made at its first use.

        It must be computed from records alone; `store.version` says whether these have changed.
        """
        if kind not in self._parts:
            self._parts[kind] = kind()
        found: T = self._parts[kind]
        return found

    def on_notice(self, listener: Callable[[World, Notice], None]) -> None:
        """Register a function that does requested work."""
        self._on_notice.append(listener)

    def on_commit(self, observer: Observer, tables: Collection[str] = ()) -> None:
        """Call `observer` with the changes of each committed piece of work, under the lock.

        With `tables` only of work that changed one of them, and of each return to a saved state.
        """
        self._observers.append((observer, tables))

    # -- start, end, return ----------------------------------------------------------------------

    def begin(self, origin: SavedWorld | None) -> None:
        """Store the world as it is; each reset returns to `origin`, or to the fixtures.

        Raises:
            StoreUnwritable: The world could not be recorded; nothing is stored.
        """
        with self.hold():
            self.store.begin({} if origin is None else {ORIGIN: origin})
            self.origin = origin
            self._begin_history(origin or self.history.start)

    def resume(self, kept: KeptWorld) -> None:
        """Continue as an earlier process left the world; its records are there already."""
        with self.hold():
            self.restore_meta(kept.meta)
            self.origin = kept.points.get(ORIGIN)
            self.snapshots = kept.snapshots
            self.beside.resume(self.store.beside)
            self.store.resume()
            self._begin_history(self.save())
            self._note_step((), whole=True)
            found = self.store.list_changes()
            self._call_observers(found, whole=True)
        self._tell(Notice(RESTORED, self.name))

    def close(self) -> None:
        """Drop the world: later requests find no world of its name.

        Raises:
            StoreUnwritable: This could not be recorded; the world still exists.
        """
        with self.hold():
            self.store.drop()
            self.closed = True

    def release(self) -> None:
        """Let go of all parts that refer to a closed world, so that it is freed with its last user.

        Otherwise it would stay until the garbage collector comes, and a test run makes one for each
        test. Its journal and its records can still be read; work finds it closed.
        """
        with self.lock:
            self._work = make_closed_scope(partial(_refuse_work, self.name))
            self.clock.release()
            self.transitions.release()
            self.store.release()
            self._observers.clear()
            self._on_notice.clear()
            self._parts.clear()
            self.companions.clear()

    def retire(self) -> None:
        """Close the world here, and let any process open it from the archive.

        Raises:
            StoreError: The archive cannot be reached, or another process has the world already.
        """
        with self.hold():
            self.store.give_back()
            self.closed = self.moved = True

    def reset(self) -> None:
        """Return the world to its start, at a cost that depends only on its changes.

        Raises:
            StoreUnwritable: This could not be recorded; nothing has changed. The same for the
                methods below.
        """
        if self.origin is not None:
            self._return_to(self.origin, restarts=True)
            self._tell(Notice(RESTORED, self.name))
        else:
            self._return_to(self.blueprint.make_start(self.seed), restarts=True)

    def rebase(self, base: Base) -> None:
        """Start from scratch with other fixtures, as a reset does with the same ones."""
        start = replace(self.blueprint, base=base).make_start(self.seed)
        self._return_to(start, base, restarts=True)

    def begin_at(self, origin: SavedWorld) -> None:
        """Start from scratch with a state, to which each reset returns."""
        self.store.keep_point(ORIGIN, origin)
        self.drawn_as = origin.meta.get("drawn_as", self.name)
        self.origin = origin
        self.reset()

    def take_snapshot(self, name: str) -> SavedWorld:
        """Save the current state under a name; replaces an existing snapshot."""
        with self.hold():
            saved = self.save()
            self.store.keep_point(SNAPSHOT + name, saved)
            self.snapshots[name] = saved
            return saved

    def drop_snapshot(self, name: str) -> None:
        """Delete a snapshot of this world."""
        with self.hold():
            self.store.drop_point(SNAPSHOT + name)
            del self.snapshots[name]

    def save(self) -> SavedWorld:
        """Return the current state as a value."""
        with self.lock:
            return SavedWorld(self.store.snapshot(), self.meta())

    def load(self, saved: SavedWorld) -> None:
        """Return to the result of `save`, of this world or of another one on the same fixtures."""
        self._return_to(saved)
        self._tell(Notice(RESTORED, self.name))

    def clear_journal(self) -> None:
        """Delete all entries of the journal; what comes then is after the current state."""
        with self.hold():
            self._begin_history(self.save())
            self._note_step((), whole=True)
            self.journal.clear()

    def meta(self) -> dict[str, Any]:
        """Return the state beside the records; a durable store writes it with each commit."""
        own, own_wire = self.blueprint.settings.own_as_of, self.blueprint.settings.own_wire
        named = {} if self.drawn_as == self.name else {"drawn_as": self.drawn_as}
        return named | {
            "seed": self.seed,
            "ids": self.ids.drawn,
            "clock": self.clock.state(),
            "paces": self.transitions.state(),
            "names": self.names,
            "refuse_warnings": self.refuses_warnings,
            **({} if own is None else {"as_of": own.isoformat()}),
            **({} if own_wire is None else {"wire": own_wire}),
        }

    def restore_meta(self, meta: dict[str, Any]) -> None:
        """Restore the result of `meta`, without the records."""
        self.seed = meta["seed"]
        self.names = meta.get("names", self.names)
        self.refuses_warnings = meta.get("refuse_warnings", self.refuses_warnings)
        if "as_of" in meta:
            self.as_of = datetime.fromisoformat(meta["as_of"])
            settings = replace(self.blueprint.settings, own_as_of=self.as_of)
            self.blueprint = replace(self.blueprint, settings=settings)
        if "wire" in meta:
            self.wire = meta["wire"]
            settings = replace(self.blueprint.settings, own_wire=self.wire)
            self.blueprint = replace(self.blueprint, settings=settings)
        self.drawn_as = meta.get("drawn_as", self.name)
        self.ids = Ids(self.seed, self.drawn_as, meta["ids"])
        self.transitions.restore(meta["paces"])
        self.clock.put(read_state(meta["clock"]))

    # -- details ---------------------------------------------------------------------------------

    def _record_jump(self) -> None:
        # A jump of the clock is no record; the empty piece of work commits, and a commit records
        # the clock.
        if not self._begun:  # else the work under way is recorded with it
            with self.work():
                pass

    def _return_to(
        self, saved: SavedWorld, base: Base | None = None, *, restarts: bool = False
    ) -> None:
        """Restore a saved state, with other fixtures if given, in one commit or not at all.

        `restarts` restarts the scenarios and deletes the snapshots; with other fixtures also the
        origin, which is based on the old ones.
        """
        with self.hold():
            # Observers keep what they derive from records up to date by changes alone. A return has
            # no list of changes, so one is made: all that differed from the fixtures goes back to
            # them, and then all that differs in the restored state comes. The cost depends on the
            # differences, never on the fixtures.
            before = self.store.list_differences()
            dropped = [SNAPSHOT + name for name in self.snapshots] if restarts else []
            if base is not None:
                dropped.append(ORIGIN)
            # The store is restored last, because only it can fail: it writes to the archive. If it
            # does, the parts that were set before it (ids, paces, clock, windows, scenarios) are
            # set back, and the world is as it was.
            with self._all_or_nothing():
                self.ids = Ids(self.seed, self.drawn_as, saved.meta["ids"])
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
            # Threads that deliver events compare the epoch with the one they started in, and drop
            # their work if the world was reset meanwhile.
            self.epoch += 1
            self._begin_history(saved)
            if not restarts:
                self._note_step((), whole=True)
            for each in (self.journal, self.nonces, self.deliveries, self._outbox):
                each.clear()
            after = self.store.list_changes()
            self._call_observers([*before, *after], whole=True)
        # Outside the lock: listeners wake threads, and these want the lock at once.
        self.clock.call_listeners()
        self._tell(Notice(RETURNED, self.name))

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Undo changes outside the store if the store cannot record them."""
        ids, paces, clock = self.ids, self.transitions.paces, self.clock.mark()
        try:
            with self.beside.all_or_nothing():
                yield
        except BaseException:
            self.ids, self.transitions.paces = ids, paces
            self.clock.put(clock)
            raise

    def _begin_work(self) -> list[Change]:
        # The lock is taken before `closed` is looked at, and not by a `with`, because it stays held
        # until `_end_work`. The lock is reentrant, so a piece of work can begin inside another one
        # of the same thread: a handler that uses a part of the Python interface. What to return to
        # is therefore kept on a stack, one entry for each open piece.
        self.lock.acquire()
        if self.closed:
            self.lock.release()
            raise UnknownWorld(self.name)
        transaction = self.store.transaction()
        changes = transaction.__enter__()
        before = len(self._outbox), self.clock.mark(), self.transitions.paces, self.ids.drawn
        self._begun.append((transaction, changes, *before))
        return changes

    def _end_work(self, fault: BaseException | None) -> None:
        ready: Sequence[Notice] = ()
        try:
            # The transaction of the store ends first. Either it commits: it writes to the archive,
            # which may fail, and that failure has to undo everything else as well. Or it rolls back
            # the records; then the rest is undone here. In both cases the entry of the stack is
            # needed until then, so it is removed in the `finally`.
            transaction, changes, *_ = self._begun[-1]
            try:
                transaction.__exit__(None if fault is None else type(fault), fault, None)
            except BaseException as unwritten:
                self._undo_work(unwritten)
                raise
            else:
                if fault is not None:
                    self._undo_work(fault)
            finally:
                self._begun.pop()
            # Observers run under the lock, so that what they derive is never behind the records.
            # Notices are taken out under the lock and sent after it is released: they start threads
            # that work on this world and could otherwise wait for us while we wait for them.
            if fault is None and not self._begun:  # the outermost piece decides, and notifies
                if changes:
                    self._call_observers(changes)
                if not self._is_request:
                    self._note_step(changes)
                if self._outbox:
                    ready, self._outbox = self._outbox, []
        finally:
            if self._is_request and not self._begun:
                self._is_request = False
                self.clock.let_go()
            self.lock.release()
        if ready:
            self._tell(*ready)

    def _call_observers(self, changes: Sequence[Change], *, whole: bool = False) -> None:
        # A world that came back as a whole concerns every observer, even if nothing differs.
        for observer, tables in self._observers:
            if whole or not tables or any(change.table in tables for change in changes):
                observer(self, changes)

    def _mark(self) -> Mark:
        return self.transitions.paces, [each.mark() for each in self.companions]

    def _begin_history(self, start: SavedWorld) -> None:
        self.history.begin(start, self.clock.now(), self._mark())

    def _note_step(self, changes: Sequence[Change], *, whole: bool = False) -> None:
        drawn, mark = self.ids.drawn, self._mark()
        self.history.note(changes, drawn, mark, self.companions, whole=whole)

    def _undo_work(self, fault: BaseException) -> None:
        """Undo what the store does not know: notices, the clock, paces, and sometimes ids."""
        _, _, notices, clock, paces, drawn = self._begun[-1]
        # Ids that were drawn stay used after an ordinary failure, so that a repeated request does
        # not get an id that the client may have seen. If nothing could be written, the archive does
        # not know that they were drawn, and neither may this process. After an ordinary failure of
        # the outermost piece, what counts in any case (rate limits, nonces, scenarios' counters)
        # still has to be recorded.
        del self._outbox[notices:]
        self.clock.put(clock)
        self.transitions.paces = paces
        if isinstance(fault, StoreUnwritable):
            self.ids.drawn = drawn
        elif len(self._begun) == 1:
            self.store.record()  # what counts although the work failed

    def _tell(self, *notices: Notice) -> None:
        for notice in notices:
            for listen in self._on_notice:
                listen(self, notice)


def _refuse_work(name: str) -> list[Change]:
    raise UnknownWorld(name)


def _store_in_memory(world: World) -> WorldStore:
    base, archive = world.blueprint.base, MemoryArchive()
    return WorldStore(base, archive, world.name, world.meta, parts=world.beside)
