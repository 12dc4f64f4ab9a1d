"""The clock's page: every action, and what is wrong beside its field."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.control.console.support import done, refused, show, submit
from tests.support import Sandbox

MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
CLOCK = "/console/clock"

pytestmark = pytest.mark.usefixtures("noon")


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


@pytest.mark.parametrize(
    ("action", "form", "text"),
    [
        ("advance", {"seconds": "soon"}, 'got "soon" for seconds'),
        ("advance", {"seconds": "inf"}, 'got "inf"'),
        ("advance", {"seconds": "1e300"}, "outside the years"),
        ("advance", {}, "needs 'seconds'"),
        ("travel", {"to_travel": "tomorrow"}, 'got "tomorrow"'),
        ("travel", {"to_travel": ""}, "such as 2026-12-24T18:00:00Z"),
        ("freeze", {"to": "24.12.2026"}, 'got "24.12.2026"'),
    ],
)
def test_refusals(box: Sandbox, action: str, form: dict[str, str], text: str) -> None:
    """A value that cannot be used is shown again with the reason, and nothing moves."""
    page = refused(submit(box, f"{CLOCK}/{action}", **form), 422)

    assert text in page
    assert box.world.clock.now() == MOMENT


def test_the_page_shows_the_time(box: Sandbox) -> None:
    """The page shows the moment, whether the clock is frozen, and what can be done then."""
    assert "2026-11-20 12:00:00 .000 UTC frozen" in show(box, CLOCK)
    assert "Resume the clock" in show(box, CLOCK)
