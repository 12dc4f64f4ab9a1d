"""A world knows where its journal begins, and what changed it beside requests since."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mock_platform.core.call import Call
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.world import history
from mock_platform.world.world import World

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def platform() -> Platform:
    """A platform without records, whose clock runs."""
    return Platform(Settings(default_fixtures=False))


@pytest.fixture
def world(platform: Platform) -> World:
    """Its world."""
    return platform.worlds.default


def put(world: World, key: str) -> None:
    """Change a record beside requests."""
    with world.work():
        world.store.put("notes", key, {"id": key})


def ask(platform: Platform, path: str) -> int:
    """The number of a request."""
    reply = platform.handle(Call("GET", f"http://localhost{path}", path, "http://localhost", []))
    assert reply.entry is not None
    return reply.entry.turn


def test_steps_have_their_place_between_requests(platform: Platform, world: World) -> None:
    """Requests are numbered, also those that nothing answers; reading is no step."""
    turns = [ask(platform, "/2/users/me"), ask(platform, "/nothing")]
    put(world, "a")
    with world.work():
        world.store.get("notes", "a")
    turns.append(ask(platform, "/2/users/me"))
    put(world, "b")
    steps = world.history.steps or []

    assert [1, 2, 3] == turns
    assert [(2, "a"), (3, "b")] == [(step.turn, step.changes[0].key) for step in steps]
    assert [None, None] == [step.scenarios for step in steps]


def test_paces_and_ids_are_in_the_next_step(world: World) -> None:
    """A pace alone is a step; the ids that were drawn are those after it."""
    with world.work():
        world.transitions.set_pace("audience", progression="manual")
        world.ids.base36()
    (step,) = world.history.steps or []

    assert "manual" == step.paces["audience"].progression
    assert 1 == step.drawn


@pytest.mark.parametrize("how", ["reset", "load", "clear"])
def test_a_return_begins_again(platform: Platform, world: World, how: str) -> None:
    """A reset has no step; other ways have one, with the scenarios that stay active."""
    ask(platform, "/2/users/me")
    put(world, "a")
    saved = world.save()
    {"reset": world.reset, "load": lambda: world.load(saved), "clear": world.clear_journal}[how]()
    steps = world.history.steps or []

    assert 1 == world.history.start_turn
    assert [] == list(world.journal)
    assert (how == "reset") == (steps == [])
    assert (how == "reset") == ("notes" not in world.history.start.records.rows)


def test_too_many_steps_are_forgotten(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the world begins again."""
    monkeypatch.setattr(history, "MAX_STEPS", 4)
    put(world, "a")
    put(world, "b")
    kept = len(world.history.steps or [])
    put(world, "c")
    lost = world.history.steps
    world.reset()

    assert (2, None, []) == (kept, lost, world.history.steps)


def test_a_request_happens_at_one_moment(world: World) -> None:
    """That at which it came; after a jump the moment of its turn."""
    came, jumps = world.clock.now(), world.clock.jumps
    with world.work():
        world.take_turn(came, jumps)
        held = [world.clock.now(), world.clock.now()]
    after = world.clock.now()
    world.clock.travel(MARCH)
    with world.work():
        world.take_turn(came, jumps)
        moved = world.clock.now()
        world.clock.freeze(MARCH + timedelta(days=9))
        within = world.clock.now()

    assert [came, came] == held
    assert after > came
    assert MARCH <= moved < MARCH + timedelta(hours=1)
    assert MARCH + timedelta(days=9) == within


def test_a_request_that_waited_is_not_before_those_answered_meanwhile(world: World) -> None:
    """So what it makes is newer than what they made."""
    jumps = world.clock.jumps
    with world.work():
        first = world.take_turn(MARCH + timedelta(seconds=1), jumps)
    with world.work():
        waited = world.take_turn(MARCH, jumps)

    assert [(1, MARCH + timedelta(seconds=1)), (2, MARCH + timedelta(seconds=1))] == [first, waited]
