"""Scenarios as a tester chooses them: by what is seen, from a card, by the name of a record."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.visits import Visit
from tests.live_servers import LiveWorld

pytestmark = [pytest.mark.live, pytest.mark.browser]


def test_a_failure_is_found_by_what_is_seen(live_world: LiveWorld, new_context: NewContext) -> None:
    """A sentence finds it, the card switches it on, and it is on top the next time."""
    visit = Visit(new_context().new_page(), live_world)
    page = visit.open("/console/scenarios")
    page.get_by_label("Search").fill("second delete gives 404")
    found = page.get_by_role("listitem").filter(has_text="404 LINE_ITEM_NOT_FOUND")
    expect(page.get_by_text(re.compile("^2 of "))).to_be_visible()
    found.get_by_role("button", name="Switch line-item-deleted-twice on").click()
    expect(page.get_by_role("status").first).to_have_text("line-item-deleted-twice is on.")
    page.get_by_role("button", name="Switch line-item-deleted-twice off").click()

    expect(page.get_by_text("Recently used 1")).to_be_visible()
    page.get_by_role("link", name="line-item-deleted-twice").first.click()
    page.get_by_label("Which line item").select_option("Holiday clicks, US (itttx)")
    page.get_by_label("Which call").select_option("the second")
    page.get_by_role("button", name="Switch on").click()
    told = visit.world.session().get(f"{live_world.control}/scenarios/line-item-deleted-twice")
    assert {"line_item_id": "itttx", "call": 2} == told.json()["given"]
    assert [] == visit.complaints
