"""A world: all-or-nothing work, reset, save and load, notices."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mock_platform.world.attached import Notice
from mock_platform.world.blueprint import Blueprint, WorldSettings
from mock_platform.world.store.interface import Change
from mock_platform.world.store.memory import Base
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
JOB = TransitionKind("job", "jobs", "state", "RUNNING", ("DONE", "FAILED"), Pace("time", 2))


def make(name: str = "w", **settings: object) -> World:
    """A world over one fixture."""
    base = Base({"users": {"1": {"id": "1", "name": "Ada"}}})
    values = WorldSettings(freeze=NOON, **settings)  # type: ignore[arg-type]
    return World(name, Blueprint(base, (JOB,), values))


def test_work_is_all_or_nothing() -> None:
    """An exception undoes every change of the work and keeps its notices back."""
    world, told = make(), []
    world.on_notice(lambda _world, notice: told.append(notice))

    def fail() -> None:
        with world.work():
            world.store.put("users", "2", {"id": "2"})
            world.notify("job", "2")
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        fail()

    assert world.store.get("users", "2") is None
    assert told == []


def test_notices_go_out_after_the_commit() -> None:
    """A listener finds the work committed and the lock free."""
    world, seen = make(), []

    def listener(heard: World, notice: Notice) -> None:
        seen.append((notice, heard.store.get("users", "2")))

    world.on_notice(listener)
    with world.work() as changes:
        world.store.put("users", "2", {"id": "2"})
        world.notify("job", "2")

    assert seen == [(Notice("job", "2"), {"id": "2"})]
    assert [(c.table, c.key) for c in changes] == [("users", "2")]


def test_a_reset_returns_to_the_beginning() -> None:
    """Records, clock, ids, paces, journal, snapshots and windows are as they were."""
    world = make()
    first = world.ids.snowflake()
    with world.work():
        world.store.put("users", "2", {"id": "2"})
        world.store.remove("users", "1")
    world.clock.advance(3600)
    world.windows.count(("a",), 1, 60)
    world.transitions.set_pace("job", progression="manual")
    world.snapshots["s"] = world.save()

    world.reset()

    assert world.store.page("users")[0].record == {"id": "1", "name": "Ada"}
    assert world.store.count("users") == 1
    assert world.clock.now() == NOON
    assert world.ids.snowflake() == first
    assert world.transitions.paces["job"] == Pace("time", 2)
    assert not world.windows.count(("a",), 1, 60).exceeded
    assert world.snapshots == {}


def test_a_saved_point_can_be_come_back_to() -> None:
    """Loading returns records, clock and ids to the saved point, however often."""
    world = make()
    with world.work():
        world.store.put("users", "2", {"id": "2"})
    saved = world.save()
    next_id = world.ids.base36()
    for _ in range(2):
        with world.work():
            world.store.remove("users", "2")
            world.store.remove("users", "1")
        world.clock.advance(60)

        world.load(saved)

        assert [entry.key for entry in world.store.page("users")] == ["1", "2"]
        assert world.clock.now() == NOON
        assert world.ids.base36() == next_id


def test_observers_see_what_a_reset_takes_back() -> None:
    """Who watches commits is shown a reset as changes back to the fixtures."""
    world = make()
    seen: list[Change] = []
    with world.work():
        world.store.put("users", "1", {"id": "1", "name": "Bob"})
        world.store.put("users", "2", {"id": "2"})
    world.on_commit(lambda _world, changes: seen.extend(changes))

    world.reset()

    found = {change.key: (change.before, change.after) for change in seen}
    assert found == {
        "1": ({"id": "1", "name": "Bob"}, {"id": "1", "name": "Ada"}),
        "2": ({"id": "2"}, None),
    }


def test_observers_name_the_tables_that_concern_them() -> None:
    """Work on other tables does not call them; each return to a saved state does."""
    world = make()
    seen: list[list[str]] = []
    world.on_commit(lambda _, changes: seen.append([change.key for change in changes]), {"posts"})
    world.store.consequences.append(({"posts"}, lambda _: world.store.put("notes", "n", {})))

    with world.work():
        world.store.put("users", "2", {"id": "2"})
    assert ([], None) == (seen, world.store.get("notes", "n"))
    with world.work():
        world.store.put("posts", "3", {"id": "3"})
    assert ([["3", "n"]], {}) == (seen, world.store.get("notes", "n"))
    world.reset()
    world.reset()
    assert 3 == len(seen)


def test_caches() -> None:
    """A world has one value of each type, made at its first use, and shares it with no other."""

    class Found(list[str]):
        """What somebody computed from records."""

    one, other = make(), make("v")
    one.cache(Found).append("x")

    assert ["x"] == one.cache(Found)
    assert [] == other.cache(Found)


@pytest.fixture
def world() -> World:
    """A world that holds one record."""
    world = World("w", Blueprint(Base({"t": {"a": {"id": "a", "n": 1}}})))
    with world.work():
        world.store.put("t", "b", {"id": "b"})
    return world


def keys(world: World) -> list[str]:
    """What the table holds, in order."""
    return [entry.key for entry in world.store.page("t")]


class Refused(Exception):
    """What the tests end a piece of work with."""


def try_in_vain(world: World) -> None:
    """An attempt that changes and notifies a lot, and fails."""
    with world.attempt():
        world.store.put("t", "d", {"id": "d"})
        world.store.put("t", "a", {"id": "a", "n": 2})
        world.store.remove("t", "b")
        world.notify("topic", "d")
        raise Refused


def test_undone(world: World) -> None:
    """What was done before and after stays; the attempt leaves no record, change or notice."""
    told: list[Notice] = []
    world.on_notice(lambda _, notice: told.append(notice))
    with world.work() as changes:
        world.store.put("t", "c", {"id": "c"})
        with pytest.raises(Refused):
            try_in_vain(world)
        world.store.put("t", "e", {"id": "e"})
        world.notify("topic", "e")

    assert ["a", "b", "c", "e"] == keys(world)
    assert {"id": "a", "n": 1} == world.store.get("t", "a")
    assert ["c", "e"] == [change.key for change in changes]
    assert ["e"] == [notice.key for notice in told]


def work_in_vain(world: World) -> None:
    """A piece of work that fails after an attempt that did not."""
    with world.work():
        with world.attempt():
            world.store.put("t", "d", {"id": "d"})
        assert ["a", "b", "d"] == keys(world)
        raise Refused


def test_kept(world: World) -> None:
    """An attempt that succeeds is part of the work, and is undone with it."""
    with pytest.raises(Refused):
        work_in_vain(world)

    assert ["a", "b"] == keys(world)
