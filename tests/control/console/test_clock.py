"""The pages of the clock and of transitions: every action, and what is wrong beside its field."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.control.console.support import done, refused, show, submit
from tests.support import Sandbox

MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
CLOCK = "/console/clock"
TRANSITIONS = "/console/transitions"


@pytest.mark.usefixtures("noon")
def test_every_action(box: Sandbox) -> None:
    """The clock is moved by seconds and by durations, set, resumed and frozen at a moment."""
    clock = box.world.clock

    assert done(submit(box, f"{CLOCK}/advance", seconds="60"))
    assert done(submit(box, f"{CLOCK}/advance", seconds="15m"))
    assert (12, 16) == (clock.now().hour, clock.now().minute)
    assert done(submit(box, f"{CLOCK}/advance", seconds="-3600"))
    assert 11 == clock.now().hour
    assert done(submit(box, f"{CLOCK}/travel", to_travel="2026-12-24T18:00:00Z"))
    assert (True, datetime(2026, 12, 24, 18, tzinfo=UTC)) == (clock.frozen, clock.now())
    assert done(submit(box, f"{CLOCK}/resume"))
    assert "frozen" not in show(box, CLOCK).partition("Now")[2][:200]
    assert done(submit(box, f"{CLOCK}/freeze", to="2027-01-01T00:00:00Z"))
    assert (True, 2027) == (clock.frozen, clock.now().year)
    assert done(submit(box, f"{CLOCK}/freeze"))


@pytest.mark.usefixtures("noon")
def test_to_the_next_thing_that_is_due(box: Sandbox) -> None:
    """The button moves the clock and says what happened; when nothing is due, it says that."""
    box.world.windows.count(("search", "app"), 5, 60)
    said = done(submit(box, f"{CLOCK}/next"))
    assert ("2026-11-20T12:01:00Z: window search/app", 1) == (said, box.world.clock.now().minute)
    box.world.clock.freeze(datetime(2100, 1, 1, tzinfo=UTC))
    assert "Nothing is due in the world 'default'" in refused(submit(box, f"{CLOCK}/next"), 409)


@pytest.mark.usefixtures("noon")
def test_what_is_due_is_listed(box: Sandbox) -> None:
    """The soonest first, with its moment and its record; what was due before is not there."""
    box.world.windows.count(("search", "app"), 5, 60)
    box.world.windows.count(("search", "late"), 5, 1e9)
    box.world.windows.count(("search", "over"), 5, 30)
    box.world.clock.advance(40)

    page = show(box, CLOCK)
    due = page.partition("Due next")[2].partition("By Seconds")[0]
    assert due.strip().startswith("2026-11-20 12:01:00 end of the rate window search/app ")
    assert "transition of custom_audiences 2c9xv" in due
    assert "search/over" not in due
    assert "search/late" not in due
    box.world.clock.freeze(datetime(2100, 1, 1, tzinfo=UTC))
    assert "Nothing is due." in show(box, CLOCK)


@pytest.mark.usefixtures("noon")
def test_the_page_shows_the_time(box: Sandbox) -> None:
    """The page shows the moment, whether the clock is frozen, and what can be done then."""
    assert "2026-11-20 12:00:00 .000 UTC frozen" in show(box, CLOCK)
    assert "Resume the clock" in show(box, CLOCK)


def find_running(box: Sandbox) -> str:
    """The key of an audience that is being processed."""
    with box.world.work():
        return box.world.transitions.list_running("audience")[0]


def test_kinds_of_transitions(box: Sandbox) -> None:
    """Every kind is listed with its states and its progression."""
    page = show(box, TRANSITIONS)

    for kind in box.world.transitions.kinds.values():
        assert f"{kind.first} → {', '.join(kind.ends)}" in page
    assert "after 3600 s" in page


def test_progression(box: Sandbox) -> None:
    """The progression of a kind is changed by the form."""
    path = f"{TRANSITIONS}/stats_job/pace"

    assert done(submit(box, path, progression="polls", seconds="15m", polls="3"))
    pace = box.world.transitions.paces["stats_job"]

    assert ("polls", 900, 3) == (pace.progression, pace.seconds, pace.polls)
    assert "after 3 reads" in show(box, TRANSITIONS)


def test_move_of_a_record(box: Sandbox) -> None:
    """A record that is changing is listed with its due time, and moved by its button."""
    key, path = find_running(box), f"{TRANSITIONS}/audience"
    assert key in show(box, path)

    assert f"{key} was moved to PROCESSED." == done(
        submit(box, f"{path}/move", key=key, to="PROCESSED")
    )

    assert "One in the state PROCESSING appears here." in show(box, path)


def test_unknown_kind(box: Sandbox) -> None:
    """A kind that does not exist is refused with what was meant."""
    assert "Did you mean 'audience'?" in show(box, f"{TRANSITIONS}/audienc", status=404)
