from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.control.support import call
from tests.support import Sandbox, sandbox


@pytest.fixture
def box() -> Sandbox:
    """A sandbox whose clock is frozen, with a replay job under way."""
    box = sandbox(freeze=datetime(2026, 3, 1, tzinfo=UTC))
    with box.world.work():
        job = {"id": "1", "webhook_id": "1", "state": "IN_PROGRESS", "_app_id": "11827"}
        box.world.store.put("replay_jobs", "1", job)
        box.world.transitions.begin("replay_job", "1")
    return box


def state(box: Sandbox) -> Any:
    """The job's state."""
    return box.record("replay_jobs", "1")["state"]


def test_list(box: Sandbox) -> None:
    """Each kind shows its pace, its states and what is in progress."""
    assert {
        "progression": "time", "seconds": 2.0, "polls": 1,
        "states": ["IN_PROGRESS", "COMPLETE", "INCOMPLETE"], "under_way": ["1"],
    } == call(box, "GET", "/transitions").get_json()["replay_job"]  # fmt: skip


def test_listing_looks_at_the_clock(box: Sandbox) -> None:
    """What is due by the clock is no longer under way."""
    box.world.clock.advance(2)

    assert [] == call(box, "GET", "/transitions").get_json()["replay_job"]["under_way"]
    assert "COMPLETE" == state(box)


def test_set_pace(box: Sandbox) -> None:
    """A pace is changed where the body names it, and holds for what is under way."""
    answer = call(box, "PUT", "/transitions/replay_job", json={"seconds": 60})
    box.world.clock.advance(59)
    call(box, "GET", "/transitions")
    waiting = state(box)
    immediate = call(box, "PUT", "/transitions/replay_job", json={"progression": "immediate"})

    assert ("time", 60.0, 1) == tuple(
        answer.get_json()[name] for name in ("progression", "seconds", "polls")
    )
    assert "IN_PROGRESS" == waiting
    assert ([], "COMPLETE") == (immediate.get_json()["under_way"], state(box))


@pytest.mark.parametrize("body", [{"seconds": 0}, {"seconds": 1e9}, {"polls": 1}, {}])
def test_good_pace(box: Sandbox, body: dict[str, Any]) -> None:
    """Zero seconds and one poll are the least."""
    assert 200 == call(box, "PUT", "/transitions/replay_job", json=body).status_code


def test_move(box: Sandbox) -> None:
    """A record moves at once to the state that is named."""
    answer = call(box, "POST", "/transitions/replay_job/1", json={"to": "INCOMPLETE"})

    assert {"kind": "replay_job", "id": "1", "state": "INCOMPLETE"} == answer.get_json()
    assert "INCOMPLETE" == state(box)
