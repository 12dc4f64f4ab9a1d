"""How slow states move under each progression."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.world.attached import Notice
from mock_platform.world.blueprint import Blueprint, WorldSettings
from mock_platform.world.store.memory import Base
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
JOB = TransitionKind(
    "job",
    "jobs",
    "state",
    "RUNNING",
    ("DONE", "FAILED"),
    also=lambda record, to: {"note": f"{record['id']} {to}"},
)


@pytest.fixture
def world() -> World:
    """A world with one record in its first state."""
    made = World("w", Blueprint(Base(), (JOB,), WorldSettings(freeze=NOON)))
    made.store.put("jobs", "7", {"id": "7", "state": "RUNNING"})
    return made


def state(world: World) -> str:
    """The state of the record after it was settled."""
    world.transitions.evaluate("job", "7")
    record = world.store.get("jobs", "7")
    assert record is not None
    return str(record["state"])


def test_immediate_moves_at_once(world: World) -> None:
    """Under `immediate` a record never stays in its first state."""
    world.transitions.set_pace("job", progression="immediate")

    world.transitions.begin("job", "7")

    assert world.store.get("jobs", "7") == {"id": "7", "state": "DONE", "note": "7 DONE"}


def test_time_moves_when_the_clock_has_come_that_far(world: World) -> None:
    """Under `time` a record moves exactly when the seconds have passed on the world's clock."""
    world.transitions.set_pace("job", progression="time", seconds=5)
    world.transitions.begin("job", "7")

    world.clock.advance(4.999)
    before = state(world)
    world.clock.advance(0.001)

    assert (before, state(world)) == ("RUNNING", "DONE")


def test_polls_moves_after_so_many_looks(world: World) -> None:
    """Under `polls` looking counts only when it is asked to."""
    world.transitions.set_pace("job", progression="polls", polls=2)
    world.transitions.begin("job", "7", to="FAILED")

    seen = [world.transitions.evaluate("job", "7", poll=poll) for poll in (True, False, True)]

    assert seen == [False, False, True]
    assert state(world) == "FAILED"


def test_manual_moves_by_hand_only(world: World) -> None:
    """Under `manual` neither time nor looks move a record; a hand does, and back again."""
    world.transitions.set_pace("job", progression="manual")
    world.transitions.begin("job", "7")
    world.clock.advance(10_000)
    before = state(world)

    world.transitions.move("job", "7", "FAILED")
    failed = state(world)
    world.transitions.move("job", "7", "RUNNING")

    assert (before, failed, state(world)) == ("RUNNING", "FAILED", "RUNNING")
    assert world.transitions.list_running("job") == ["7"]


def test_a_record_that_was_not_started_waits(world: World) -> None:
    """Time does not count until it is started, and may then lead to another end."""
    world.transitions.begin("job", "7", started=False)
    world.clock.advance(60)
    before = state(world)

    world.transitions.start("job", "7", "FAILED")
    world.clock.advance(2)

    assert (before, state(world)) == ("RUNNING", "FAILED")


def test_a_changed_pace_holds_for_what_is_under_way(world: World) -> None:
    """Switching to `immediate` lets a waiting record arrive at its next reading."""
    world.transitions.begin("job", "7")
    world.transitions.set_pace("job", progression="immediate")

    assert state(world) == "DONE"


def test_a_move_is_told(world: World) -> None:
    """Each move goes out as a notice with kind and state."""
    told: list[Notice] = []
    world.on_notice(lambda _world, notice: told.append(notice))
    with world.work():
        world.transitions.begin("job", "7")
        world.transitions.move("job", "7", "DONE")

    assert told == [Notice("job:DONE", "7")]


def test_the_paces_can_be_saved(world: World) -> None:
    """What `state` returns, `restore` returns to."""
    world.transitions.set_pace("job", progression="polls", polls=3)
    saved = world.transitions.state()
    world.transitions.restore({})
    default = world.transitions.paces["job"]

    world.transitions.restore(saved)

    assert (default, world.transitions.paces["job"]) == (Pace(), Pace("polls", 2.0, 3))


@pytest.mark.parametrize("pace", [
    {"progression": "fast"},
    {"seconds": -0.1},
    {"seconds": float("inf")},
    {"seconds": float("nan")},
    {"seconds": "2"},
    {"seconds": True},
    {"polls": 0},
    {"polls": 1.0},
])  # fmt: skip
def test_what_is_no_pace_is_refused(pace: dict[str, Any]) -> None:
    """A pace has a known progression, seconds from 0 and polls from 1 up."""
    with pytest.raises(ValueError, match=next(iter(pace))):
        Pace(**pace)
