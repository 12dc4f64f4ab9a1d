from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mock_platform.world.clock import machine_now, parse_instant, wire_millis
from tests.control.support import call
from tests.support import Sandbox

MOMENT = "2026-03-01T12:00:00.000Z"
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)


def act(box: Sandbox, **body: Any) -> dict[str, Any]:
    """What the clock shows after an action."""
    answer = call(box, "PUT", "/clock", json=body)
    assert 200 == answer.status_code, answer.get_json()
    shown: dict[str, Any] = answer.get_json()
    return shown


def test_read(box: Sandbox) -> None:
    """A fresh clock runs with real time."""
    shown = call(box, "GET", "/clock").get_json()

    assert ["now", "frozen"] == list(shown)
    assert not shown["frozen"]
    real = parse_instant(shown["now"]) - box.world.clock.now()
    assert abs(real) < timedelta(seconds=5)


def test_instants(box: Sandbox) -> None:
    """Moments may be dates, may lack seconds, may have another offset."""
    assert "2026-03-01T00:00:00.000Z" == act(box, action="freeze", to="2026-03-01")["now"]
    assert (
        "2026-03-01T10:00:00.000Z" == act(box, action="travel", to="2026-03-01T12:00+02:00")["now"]
    )


def test_travel(box: Sandbox) -> None:
    """A travelling clock goes on as it was: frozen or running."""
    running = act(box, action="travel", to=MOMENT)
    act(box, action="freeze")
    frozen = act(box, action="travel", to="2027-01-01T00:00:00Z")

    assert (MOMENT[:16], False) == (running["now"][:16], running["frozen"])
    assert {"now": "2027-01-01T00:00:00.000Z", "frozen": True} == frozen


def test_advance(box: Sandbox) -> None:
    """An advanced clock moves by seconds or a duration, fractions and negative ones included."""
    act(box, action="freeze", to=MOMENT)

    assert "2026-03-01T13:00:00.500Z" == act(box, action="advance", seconds=3600.5)["now"]
    assert "2026-03-01T12:00:00.500Z" == act(box, action="advance", seconds=-3600)["now"]
    assert "2026-03-01T13:30:00.500Z" == act(box, action="advance", seconds="1h30m")["now"]
    assert "2026-02-22T13:30:00.500Z" == act(box, action="advance", seconds="-7d")["now"]


def test_travel_to_now(box: Sandbox) -> None:
    """`now` is the time of the machine, wherever the clock was."""
    act(box, action="travel", to=MOMENT)
    before = machine_now()

    shown = act(box, action="travel", to="now")

    assert wire_millis(before) <= shown["now"] <= wire_millis(machine_now())


@pytest.mark.parametrize("to", ["1970-01-01T00:00:00.000Z", "8999-12-31T23:59:59.000Z"])
def test_bounds(box: Sandbox, to: str) -> None:
    """A clock stays in the years in which a day before and years after are moments too."""
    assert to == act(box, action="freeze", to=to)["now"]


def test_what_falls_due(box: Sandbox) -> None:
    """What is due at the new time has happened when the answer comes."""
    box.world.clock.freeze(datetime(2026, 3, 1, tzinfo=UTC))
    with box.world.work():
        job = {"id": "1", "webhook_id": "1", "state": "IN_PROGRESS", "_app_id": "11827"}
        box.world.store.put("replay_jobs", "1", job)
        box.world.transitions.begin("replay_job", "1")

    act(box, action="advance", seconds=2)

    assert "COMPLETE" == box.record("replay_jobs", "1")["state"]


NEXT = {"action": "advance", "to": "next"}


def test_advance_to_next(box: Sandbox) -> None:
    """The clock goes from moment to moment; what happened is said, and has happened."""
    act(box, action="freeze", to=MOMENT)
    world, noon = box.world, parse_instant(MOMENT)
    with world.work():
        job = {"id": "1", "webhook_id": "1", "state": "IN_PROGRESS", "_app_id": "11827"}
        world.store.put("replay_jobs", "1", job)
        world.transitions.begin("replay_job", "1")
        world.windows.count(("search", "app"), 5, 3)
        token = {"id": "t", "kind": "request", "state": "pending", "expires_at": None}
        world.store.put(
            "tokens", "t", token | {"created_at": wire_millis(noon - HOUR + 4 * SECOND)}
        )
        world.store.put("uploads", "u", {"id": "u", "expires_at": wire_millis(noon + 4 * SECOND)})
    moments = [wire_millis(noon + count * SECOND) for count in (2, 3, 4)]

    found = [act(box, **NEXT) for _ in moments]

    assert [(moment, True) for moment in moments] == [(e["now"], e["frozen"]) for e in found]
    assert [
        [{"at": moments[0], "kind": "transition", "table": "replay_jobs", "id": "1"}],
        [{"at": moments[1], "kind": "window", "id": "search/app"}],
        [
            {"at": moments[2], "kind": "expiry", "table": "tokens", "id": "t"},
            {"at": moments[2], "kind": "expiry", "table": "uploads", "id": "u"},
        ],
    ] == [each["happened"] for each in found]
    assert "COMPLETE" == box.record("replay_jobs", "1")["state"]
    assert not world.windows.list_ends()


def test_advance_to_next_until_nothing_is_due(box: Sandbox) -> None:
    """What the fixtures have comes in order, scheduled posts among it; then it is refused."""
    act(box, action="freeze", to=MOMENT)
    webhook = box.world.store.page("webhooks")[0].record
    passed = {"valid": True, "_passed_at": MOMENT, "_challenged_at": MOMENT}
    box.world.store.put("webhooks", webhook["id"], webhook | passed)
    happened: list[dict[str, Any]] = []
    while (answer := call(box, "PUT", "/clock", json=NEXT)).status_code == 200:
        found = answer.get_json()["happened"]
        if found[0]["kind"] == "challenge":  # which is made again and again
            box.world.store.remove("webhooks", webhook["id"])
        happened += found
    left = box.world.clock.now()

    assert sorted(each["at"] for each in happened) == [each["at"] for each in happened]
    kinds = {each["kind"] for each in happened}
    assert {"transition", "scheduled_post", "expiry", "challenge", "feed"} == kinds
    assert 409 == answer.status_code
    assert answer.get_json()["detail"].startswith("Nothing is due in the world 'default'")
    assert left == box.world.clock.now()


def test_a_running_clock_goes_on_from_what_was_due(box: Sandbox) -> None:
    """It is moved like a frozen one, and keeps running."""
    first = act(box, **NEXT)

    assert first["now"] >= first["happened"][0]["at"]
    assert not first["frozen"]
