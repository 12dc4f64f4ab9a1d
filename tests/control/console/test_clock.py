"""The clock's page: every action, and what is wrong beside its field."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.control.console.support import done, show, submit
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


def test_the_page_shows_the_time(box: Sandbox) -> None:
    """The page shows the moment, whether the clock is frozen, and what can be done then."""
    assert "2026-11-20 12:00:00 .000 UTC frozen" in show(box, CLOCK)
    assert "Resume the clock" in show(box, CLOCK)
