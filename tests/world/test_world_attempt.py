"""An attempt: a part of a piece of work that is undone by itself."""

from __future__ import annotations

import pytest

from mock_platform.world.store.memory import Base
from mock_platform.world.world import Blueprint, Notice, World


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
