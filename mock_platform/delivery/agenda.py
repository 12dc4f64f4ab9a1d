"""Work that must not run under a world's lock: at once in threads, or when a moment is due.

Everything else in the sandbox settles such states when they are read; here the change itself has an
effect. One thread sleeps until the earliest moment and is woken when a clock jumps or a pace
changes; it never polls.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mock_platform.world.clock import UPTIME
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreUnwritable
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

_NO_ROOM_PAUSE_SECONDS = 5.0
"""Pause before a change that could not be recorded is tried again."""


class Wait(Struct, frozen=True):
    """How long to wait: real seconds until it is due, `None` if only a change makes it due."""

    seconds: float | None
    over: bool = False
    """Whether there is nothing to wait for any more."""


class Appointment(Protocol):
    """Something that is due at a moment of a world's clock. Equal ones are kept once."""

    def look(self) -> Wait:
        """Do what is due, without blocking, and say how long to wait now.

        Raises:
            StoreUnwritable: It could not be recorded; it is due as before.
        """

    def __hash__(self) -> int:
        """Appointments are kept in a set."""


class StateChange(Struct, frozen=True):
    """A record whose state is to change: its world (in one epoch), its kind and its key."""

    world: World
    epoch: int
    kind: str
    key: str

    def look(self) -> Wait:
        """Settle the state if it is due."""
        world = self.world
        try:
            with world.work():
                if world.epoch != self.epoch:
                    return Wait(None, over=True)
                world.transitions.evaluate(self.kind, self.key)
                over = world.transitions.has_started(self.kind, self.key) is None
                due = world.transitions.find_due_time(self.kind, self.key)
        except UnknownWorld:
            return Wait(None, over=True)
        return Wait(None if due is None else world.clock.real_seconds_until(due), over)


class DueAct(Struct, frozen=True):
    """A record that the world acts for when it is due; a reset does not end the wait."""

    world: World
    kind: str
    key: str

    def look(self) -> Wait:
        """Act for the record if it is due; until then nothing is recorded."""
        world, moves = self.world, self.world.transitions
        with world.lock:
            if world.closed or moves.has_started(self.kind, self.key) is None:
                return Wait(None, over=True)
            # Looked at first without a transaction: a transaction, even one without changes, is a
            # commit to a durable store. The clock may jump between the two blocks; `evaluate` then
            # decides once more.
            due = moves.find_due_time(self.kind, self.key)
            if due is None or world.clock.now() < due:
                return Wait(None if due is None else world.clock.real_seconds_until(due))
        with suppress(UnknownWorld), world.work():
            moves.evaluate(self.kind, self.key)
        return Wait(None, over=True)


@dataclass(frozen=True, slots=True)
class DueStart:
    """What is started for a record when it is due, on another thread: a challenge, a read."""

    world: World
    table: str
    key: str
    find_due: Callable[[Record], datetime | None]
    start: Callable[[DueStart], None] = field(compare=False)

    def look(self) -> Wait:
        """Start it if it is due. Whoever does it watches for the next time."""
        with self.world.lock:
            record = self.world.store.get(self.table, self.key)
            due = None if record is None or self.world.closed else self.find_due(record)
            if due is None:
                return Wait(None, over=True)
            if self.world.clock.now() < due:
                return Wait(self.world.clock.real_seconds_until(due))
        self.start(self)
        return Wait(None, over=True)


class Agenda:
    """Does what is due when it is due. Errors go to `on_error`."""

    def __init__(self, on_error: Callable[[BaseException], None]) -> None:
        self._on_error = on_error
        self._changed = threading.Condition()
        self._entries: set[Appointment] = set()
        self._turn = 0
        """Grows with each change, so that a change is not missed while the thread is looking."""
        self._seen = 0
        """The turn after which everything was looked at."""
        self._stopped = False
        self._thread: threading.Thread | None = None

    def watch(self, *entries: Appointment) -> None:
        """Do these as soon as each is due; the thread wakes once for all of them."""
        with self._changed:
            if self._stopped or not entries:
                return
            self._entries.update(entries)
            if self._thread is None:
                name = "mock-platform-agenda"
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()
            self._wake()

    def wake(self) -> None:
        """Look again: a clock jumped, a pace changed, or a world was dropped."""
        with self._changed:
            self._wake()

    def wait_until_settled(self, seconds: float) -> bool:
        """Wait up to so many real seconds; return whether everything that was due is settled.

        After a stop nothing is due any more.
        """
        with self._changed:
            return self._thread is None or self._changed.wait_for(
                lambda: self._stopped or self._seen == self._turn, seconds
            )

    def stop(self, seconds: float) -> None:
        """Stop the thread, and wait up to so many real seconds for it."""
        with self._changed:
            self._stopped = True
            self._wake()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _wake(self) -> None:
        self._turn += 1
        self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._stopped:
                    return
                # The entries are looked at without the lock, since each takes the lock of a world.
                # A change meanwhile grows `_turn`; then the thread does not sleep but looks again.
                # `_seen` says up to which turn all was looked at, which is what
                # `wait_until_settled` waits for.
                turn, entries = self._turn, list(self._entries)
            waits = [wait for entry in entries if (wait := self._look(entry)) is not None]
            with self._changed:
                self._seen = turn
                self._changed.notify_all()
                if self._turn == turn:
                    self._changed.wait(min(waits) if waits else None)

    def _look(self, entry: Appointment) -> float | None:
        """Look at an appointment; return real seconds until it is due, `None` if unknown."""
        with self._changed:
            self._entries.discard(entry)  # first: what it starts may watch for the next one
        try:
            wait = entry.look()
        except StoreUnwritable as error:  # it is due as before, once there is room
            self._on_error(error)
            wait = Wait(_NO_ROOM_PAUSE_SECONDS)
        except Exception as error:  # noqa: BLE001 - reported to the server's owner
            self._on_error(error)
            wait = Wait(None, over=True)
        if not wait.over:
            with self._changed:
                self._entries.add(entry)
        return wait.seconds


# Threads for work that must not run under a world's lock. Tasks of one lane run one after the
# other, in the order in which they came; lanes take turns. No thread exists before the first
# task.

Task = Callable[[], None]


class DeliveryWorkers:
    """At most `count` daemon threads. Exceptions of tasks go to `on_error`."""

    def __init__(self, count: int, on_error: Callable[[BaseException], None]) -> None:
        self._count = count
        self._on_error = on_error
        self._changed = threading.Condition()
        self._lanes: dict[Hashable, deque[Task]] = {}
        self._ready: deque[Hashable] = deque()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._stopped = False

    def submit(self, lane: Hashable, task: Task) -> None:
        """Queue a task in a lane; after `stop`, it is ignored."""
        with self._changed:
            if self._stopped:
                return
            # A lane exists as long as one of its tasks waits or runs. So a lane that exists already
            # has a thread that will take this task after the ones before it, and must not get a
            # second one.
            if lane in self._lanes:  # the lane's worker continues with this task
                self._lanes[lane].append(task)
                return
            self._lanes[lane] = deque([task])
            self._ready.append(lane)
            # A new thread only if nobody is free to take it. Threads that wait are counted, not
            # those that exist: with slow receivers all that exist may be busy.
            if self._idle < len(self._ready) and len(self._threads) < self._count:
                name = f"mock-platform-delivery-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait up to so many real seconds; return whether everything submitted is done.

        What a stop dropped is not waited for.
        """
        with self._changed:
            return self._changed.wait_for(lambda: not self._lanes, seconds)

    def stop(self, seconds: float) -> None:
        """Drop waiting tasks, and wait up to so many real seconds for running ones."""
        with self._changed:
            self._stopped = True
            for lane in self._ready:
                del self._lanes[lane]
            self._ready.clear()
            for tasks in self._lanes.values():  # of these lanes one task runs
                tasks.clear()
            self._changed.notify_all()
        end = UPTIME() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - UPTIME()))

    def _run(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(lambda: self._ready or self._stopped)
                self._idle -= 1
                if self._stopped:
                    return
                # One task, then the lane goes to the end of the queue: a webhook with a thousand
                # events does not keep a thread from the others.
                lane = self._ready.popleft()
                task = self._lanes[lane].popleft()
            try:
                task()
            except Exception as error:  # noqa: BLE001 - reported to the server's owner
                self._on_error(error)
            with self._changed:
                if self._lanes[lane]:
                    self._ready.append(lane)
                else:
                    del self._lanes[lane]
                self._changed.notify_all()
