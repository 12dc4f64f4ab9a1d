from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from mock_platform.delivery.agenda import Agenda, DeliveryWorkers, StateChange
from mock_platform.world.attached import Notice
from mock_platform.world.blueprint import Blueprint, WorldSettings
from mock_platform.world.store.memory import Base
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World
from tests.waits import PATIENCE

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
BAKING = TransitionKind(
    "baking", "loaves", "state", "DOUGH", ("BREAD", "COAL"), Pace("time", seconds=60)
)


class Kitchen:
    """A world with a loaf in it, and the agenda that watches."""

    def __init__(self, *, freeze: datetime | None = NOON) -> None:
        self.faults: list[BaseException] = []
        self.agenda = Agenda(self.faults.append)
        self.notices: list[Notice] = []
        self.told = threading.Condition()
        blueprint = Blueprint(Base(), (BAKING,), WorldSettings(freeze=freeze))
        self.world = World("kitchen", blueprint)
        self.world.on_notice(self._take)
        self.world.clock.on_jump(self.agenda.wake)

    def _take(self, _world: World, notice: Notice) -> None:
        if notice.topic == "transitions:paced":
            self.agenda.wake()
        with self.told:
            self.notices.append(notice)
            self.told.notify_all()

    def bake(self, key: str = "rye") -> None:
        """Put a loaf into the oven and watch it."""
        with self.world.work():
            self.world.store.put("loaves", key, {"id": key, "state": "DOUGH"})
            self.world.transitions.begin("baking", key)
        self.agenda.watch(StateChange(self.world, self.world.epoch, "baking", key))

    def pace(self, **changes: Any) -> None:
        """Change the heat."""
        with self.world.work():
            self.world.transitions.set_pace("baking", **changes)

    def wait_for(self, topic: str) -> None:
        """Wait for a notice."""
        with self.told:
            assert self.told.wait_for(lambda: topic in [n.topic for n in self.notices], PATIENCE)

    def looked(self) -> None:
        """Wait until the agenda has looked at everything once more."""
        self.agenda.wake()
        assert self.agenda.wait_until_settled(10)

    @property
    def states(self) -> list[str]:
        """The loaves' states."""
        return [entry.record["state"] for entry in self.world.store.page("loaves")]


@pytest.fixture
def kitchen() -> Iterator[Kitchen]:
    """A kitchen with a frozen clock."""
    found = Kitchen()
    yield found
    found.agenda.stop(5)
    assert [] == found.faults


def test_there_is_no_thread_before_there_is_something_to_watch(kitchen: Kitchen) -> None:
    """An agenda costs nothing until it is needed, however often it is woken."""
    kitchen.world.clock.advance(5)

    assert kitchen.agenda._thread is None


def test_an_advanced_clock_moves_what_is_due(kitchen: Kitchen) -> None:
    """Exactly at its moment a record is moved, and not a millisecond before."""
    kitchen.bake()
    kitchen.world.clock.advance(59.999)
    kitchen.looked()
    assert ["DOUGH"] == kitchen.states

    kitchen.world.clock.advance(0.001)
    kitchen.wait_for("baking:BREAD")
    assert ["BREAD"] == kitchen.states


def test_a_running_clock_moves_what_is_due() -> None:
    """No request is needed: real time alone brings the moment."""
    kitchen = Kitchen(freeze=None)
    kitchen.pace(seconds=0.05)
    kitchen.bake()

    kitchen.wait_for("baking:BREAD")
    kitchen.agenda.stop(5)


def test_a_changed_pace_is_noticed(kitchen: Kitchen) -> None:
    """A record that waits by hand is moved once its kind moves by itself again."""
    kitchen.pace(progression="manual")
    kitchen.bake()
    kitchen.world.clock.advance(3600)
    kitchen.looked()
    assert ["DOUGH"] == kitchen.states

    kitchen.pace(progression="immediate")
    kitchen.wait_for("baking:BREAD")


def test_the_earliest_moment_comes_first(kitchen: Kitchen) -> None:
    """Records are moved each in its own time."""
    kitchen.bake("rye")
    kitchen.world.clock.advance(30)
    kitchen.bake("wheat")

    kitchen.world.clock.travel(NOON + timedelta(seconds=60))
    kitchen.wait_for("baking:BREAD")
    kitchen.looked()
    assert ["BREAD", "DOUGH"] == kitchen.states
    kitchen.world.clock.travel(NOON + timedelta(seconds=90))
    kitchen.looked()
    assert ["BREAD", "BREAD"] == kitchen.states


def test_a_reset_world_is_forgotten(kitchen: Kitchen) -> None:
    """What was watched in a world before its reset is not settled in the world after it."""
    kitchen.bake()
    kitchen.world.reset()
    with kitchen.world.work():  # the same key again, which is not watched
        kitchen.world.store.put("loaves", "rye", {"id": "rye", "state": "DOUGH"})
        kitchen.world.transitions.begin("baking", "rye")
    kitchen.world.clock.advance(3600)
    kitchen.looked()

    assert ["DOUGH"] == kitchen.states
    assert set() == kitchen.agenda._entries


def test_a_record_that_went_another_way_is_forgotten(kitchen: Kitchen) -> None:
    """What was moved by hand, or removed, needs no watching."""
    kitchen.bake("rye")
    kitchen.bake("wheat")
    with kitchen.world.work():
        kitchen.world.transitions.move("baking", "rye", "COAL")
        kitchen.world.store.remove("loaves", "wheat")
    kitchen.world.clock.advance(60)
    kitchen.looked()

    assert ["COAL"] == kitchen.states
    assert set() == kitchen.agenda._entries


def test_a_jump_while_it_looks_is_not_missed(
    kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock that jumps just after a record was found not to be due has it looked at again."""
    due_at, jumps = kitchen.world.transitions.find_due_time, [60.0]

    def due_at_and_jump(kind: str, key: str) -> datetime | None:
        found = due_at(kind, key)
        if jumps:
            kitchen.agenda.wake()  # what the jump does; the jump itself is hidden from this look
            kitchen.world.clock._state = (timedelta(), NOON + timedelta(seconds=jumps.pop()))
            return None
        return found

    monkeypatch.setattr(kitchen.world.transitions, "find_due_time", due_at_and_jump)
    kitchen.bake()

    kitchen.wait_for("baking:BREAD")


def test_a_fault_is_told_and_the_others_go_on(
    kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A world that fails while it is looked at is dropped; the next one is still served."""
    broken = Kitchen()
    monkeypatch.setattr(broken.world.transitions, "evaluate", _fail)
    kitchen.agenda.watch(StateChange(broken.world, 0, "baking", "x"))
    kitchen.bake()
    kitchen.world.clock.advance(60)

    kitchen.wait_for("baking:BREAD")
    kitchen.looked()
    assert ["broken"] == [str(fault) for fault in kitchen.faults]
    kitchen.faults.clear()


def _fail(*_args: Any) -> None:
    raise LookupError("broken")


def test_several_are_watched_at_once(kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread is woken once for all of them, and not at all for none."""
    woken: list[bool] = []
    monkeypatch.setattr(kitchen.agenda, "_wake", lambda: woken.append(True))
    loaves = [StateChange(kitchen.world, 1, "baking", key) for key in ("rye", "wheat")]

    kitchen.agenda.watch(*loaves)
    kitchen.agenda.watch()

    assert [True] == woken


def test_a_stopped_agenda_watches_nothing_more(kitchen: Kitchen) -> None:
    """After a stop its thread is gone and no new one begins."""
    kitchen.bake()
    thread = kitchen.agenda._thread
    assert thread is not None

    kitchen.agenda.stop(5)
    kitchen.bake("wheat")
    kitchen.world.clock.advance(3600)

    assert not thread.is_alive()
    assert thread is kitchen.agenda._thread
    assert kitchen.agenda.wait_until_settled(0)
    assert ["DOUGH", "DOUGH"] == kitchen.states


class Crew:
    """Workers, and what their tasks raised."""

    def __init__(self) -> None:
        self.faults: list[BaseException] = []
        self.made: list[DeliveryWorkers] = []

    def __call__(self, count: int) -> DeliveryWorkers:
        """So many workers, stopped at the end of the test."""
        workers = DeliveryWorkers(count, self.faults.append)
        self.made.append(workers)
        return workers


@pytest.fixture
def crew() -> Iterator[Crew]:
    """Makes workers."""
    made = Crew()
    yield made
    for workers in made.made:
        workers.stop(5)


def waiting_for(event: threading.Event) -> Callable[[], None]:
    """A task that lasts until an event."""

    def wait() -> None:
        event.wait(PATIENCE)

    return wait


def test_there_is_no_thread_before_the_first_task(crew: Crew) -> None:
    """Workers cost nothing until they are needed."""
    workers = crew(4)

    assert [] == workers._threads
    assert workers.wait_until_idle(0)


def test_one_lane_is_done_in_order_by_one_at_a_time(crew: Crew) -> None:
    """A hundred tasks of one lane happen in the order in which they came, never two at once."""
    workers, done, inside, most = crew(4), list[int](), list[int](), list[int]()

    def task(number: int) -> Callable[[], None]:
        def do() -> None:
            inside.append(number)
            most.append(len(inside))
            done.append(number)
            inside.remove(number)

        return do

    for number in range(100):
        workers.submit("lane", task(number))

    assert workers.wait_until_idle(10)
    assert list(range(100)) == done
    assert 1 == max(most)


def test_lanes_run_beside_one_another(crew: Crew) -> None:
    """A lane that waits does not delay another."""
    workers, gate, passed = crew(2), threading.Event(), threading.Event()
    workers.submit("slow", waiting_for(gate))
    workers.submit("fast", passed.set)

    assert passed.wait(PATIENCE)
    assert not workers.wait_until_idle(0)
    gate.set()
    assert workers.wait_until_idle(10)


def test_lanes_take_turns(crew: Crew) -> None:
    """With one worker, a long lane lets a short one in between."""
    workers, gate, order = crew(1), threading.Event(), list[str]()
    workers.submit("first", waiting_for(gate))
    for number in (1, 2):
        workers.submit("long", partial(order.append, f"long {number}"))
    workers.submit("short", lambda: order.append("short"))
    gate.set()

    assert workers.wait_until_idle(10)
    assert ["long 1", "short", "long 2"] == order


def test_no_more_threads_than_allowed(crew: Crew) -> None:
    """Ten waiting lanes share the three threads there may be."""
    workers, gate = crew(3), threading.Event()
    for lane in range(10):
        workers.submit(lane, waiting_for(gate))

    assert 3 == len(workers._threads)
    gate.set()
    assert workers.wait_until_idle(10)


def test_a_task_that_fails_is_told_and_stops_nobody(crew: Crew) -> None:
    """What a task raises reaches on_error; the lane goes on."""
    workers, done = crew(1), threading.Event()

    def fail() -> None:
        raise LookupError("lost")

    workers.submit("lane", fail)
    workers.submit("lane", done.set)

    assert done.wait(PATIENCE)
    assert workers.wait_until_idle(10)
    assert ["lost"] == [str(fault) for fault in crew.faults]


def test_a_stop_drops_what_has_not_begun(crew: Crew) -> None:
    """Stopping waits for what runs, drops the rest, and takes nothing more."""
    workers, gate, begun, done = crew(1), threading.Event(), threading.Event(), list[str]()

    def first() -> None:
        begun.set()
        gate.wait(PATIENCE)
        done.append("first")

    workers.submit("lane", first)
    workers.submit("lane", lambda: done.append("second"))
    assert begun.wait(PATIENCE)
    workers.stop(0)
    gate.set()
    workers.stop(10)
    workers.submit("late", lambda: done.append("late"))

    assert ["first"] == done
    assert not any(thread.is_alive() for thread in workers._threads)


def test_what_a_stop_drops_is_not_waited_for(crew: Crew) -> None:
    """Neither tasks behind the one that runs nor lanes that had no thread yet."""
    workers, gate, begun = crew(1), threading.Event(), threading.Event()

    def first() -> None:
        begun.set()
        gate.wait(PATIENCE)

    workers.submit("lane", first)
    workers.submit("lane", first)
    workers.submit("other", first)
    assert begun.wait(PATIENCE)
    workers.stop(0)

    assert not workers.wait_until_idle(0)
    gate.set()
    assert workers.wait_until_idle(PATIENCE)
