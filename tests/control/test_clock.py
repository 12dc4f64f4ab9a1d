from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mock_platform.world.clock import machine_now, parse_instant, wire_millis
from tests.control.support import call
from tests.support import Sandbox

MOMENT = "2026-03-01T12:00:00.000Z"


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


def test_freeze(box: Sandbox) -> None:
    """A frozen clock stays at the requested moment, or where it is."""
    assert {"now": MOMENT, "frozen": True} == act(box, action="freeze", to=MOMENT)
    assert {"now": MOMENT, "frozen": True} == act(box, action="freeze")
    assert {"now": MOMENT, "frozen": True} == call(box, "GET", "/clock").get_json()


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
    """An advanced clock moves by so many seconds, fractions and negative ones included."""
    act(box, action="freeze", to=MOMENT)

    assert "2026-03-01T13:00:00.500Z" == act(box, action="advance", seconds=3600.5)["now"]
    assert "2026-03-01T12:00:00.500Z" == act(box, action="advance", seconds=-3600)["now"]


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [("1h30m", "2026-03-01T13:30:00.000Z"), ("-7d", "2026-02-22T12:00:00.000Z")],
)
def test_advance_by_a_duration(box: Sandbox, seconds: str, expected: str) -> None:
    """A step may have units, and a minus to go back."""
    act(box, action="freeze", to=MOMENT)

    assert expected == act(box, action="advance", seconds=seconds)["now"]


def test_travel_to_now(box: Sandbox) -> None:
    """`now` is the time of the machine, wherever the clock was."""
    act(box, action="travel", to=MOMENT)
    before = machine_now()

    shown = act(box, action="travel", to="now")

    assert wire_millis(before) <= shown["now"] <= wire_millis(machine_now())


def test_resume(box: Sandbox) -> None:
    """A resumed clock continues from where it was."""
    act(box, action="freeze", to=MOMENT)

    shown = act(box, action="resume")

    assert (MOMENT[:16], False) == (shown["now"][:16], shown["frozen"])


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
