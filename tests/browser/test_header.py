"""The head of each page: what is unusual about the world, and how to undo it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.visits import Visit
from tests.live_servers import LiveWorld

pytestmark = [pytest.mark.live, pytest.mark.browser]


def test_everything_is_undone_from_the_head(live_world: LiveWorld, new_context: NewContext) -> None:
    """Failures are switched off and the clock returns on the page that is open; a reset asks."""
    session, control = live_world.session(), live_world.control
    for name in ("outage", "slow-network"):
        session.post(f"{control}/scenarios/{name}/activate", json={}).raise_for_status()
    visit = Visit(new_context().new_page(), live_world)
    page = visit.open("/console/clock")
    page.get_by_label("By", exact=True).fill("-7d")
    page.get_by_role("button", name="Move the clock").click()
    head = page.get_by_role("banner")
    expect(head.get_by_text("-7 d", exact=True)).to_be_visible()

    page.get_by_role("link", name="Records", exact=True).click()
    head.get_by_role("button", name="Back to real time").click()
    expect(page).to_have_url(re.compile("/console/records$"))
    expect(head.get_by_text("-7 d")).to_have_count(0)
    expect(head.get_by_role("link", name="2 failures on")).to_be_visible()
    head.get_by_role("button", name="All off").click()
    expect(head.get_by_role("link", name="no failure on")).to_be_visible()

    head.get_by_role("link", name="Reset…").click()
    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_role("status")).to_contain_text("was reset")
    head.get_by_text("World", exact=False).first.click()
    expect(head.get_by_role("link", name="default", exact=True)).to_be_visible()
    assert [] == visit.complaints
