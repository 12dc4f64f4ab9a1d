from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mock_platform.delivery.agenda import Agenda, StateChange
from mock_platform.world.store.memory import Base
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import Blueprint, Notice, World, WorldSettings
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
    monkeypatch.setattr(broken.world.transitions, "settle", _fail)
    kitchen.agenda.watch(StateChange(broken.world, 0, "baking", "x"))
    kitchen.bake()
    kitchen.world.clock.advance(60)

    kitchen.wait_for("baking:BREAD")
    assert ["broken"] == [str(fault) for fault in kitchen.faults]
    kitchen.faults.clear()


def _fail(*_args: Any) -> None:
    raise LookupError("broken")


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
