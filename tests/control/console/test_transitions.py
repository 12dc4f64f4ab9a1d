"""The pages of transitions: what is changing, how fast, and one record moved now."""

from __future__ import annotations

from tests.control.console.support import done, show, submit
from tests.support import Sandbox

TRANSITIONS = "/console/transitions"


def find_running(box: Sandbox) -> str:
    """The key of an audience that is being processed."""
    with box.world.work():
        return box.world.transitions.list_running("audience")[0]


def test_kinds(box: Sandbox) -> None:
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


def test_move(box: Sandbox) -> None:
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
