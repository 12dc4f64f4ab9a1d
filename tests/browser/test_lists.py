"""Lists that can be read: many rows on a screen, and status and buttons on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import NewContext
from tests.browser.visits import PHONE, WIDE, Visit
from tests.live_servers import LiveWorld

pytestmark = [pytest.mark.live, pytest.mark.browser]


def is_inside(target: Locator, size: tuple[int, int]) -> bool:
    """Whether something is within the width of the window, without scrolling sideways."""
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    return box["x"] >= 0 and box["x"] + box["width"] <= size[0]


def test_fifteen_requests_on_a_screen(live_world: LiveWorld, new_context: NewContext) -> None:
    """On a laptop fifteen rows fit, decoded; on a phone each has its status."""
    session = live_world.session()
    for _ in range(15):
        session.get(f"{live_world.base_url}/2/tweets/search/recent?query=from%3Ahrb%20%22a%22")
    visit = Visit(new_context().new_page(), live_world)
    visit.be("light")
    page = visit.open("/")
    last = page.locator("#rows tr").nth(14)
    box = last.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= WIDE[1]
    expect(last).to_contain_text('query=from:hrb "a"')

    visit.be("dark", PHONE)
    visit.open("/")
    assert is_inside(last.get_by_text("401", exact=True), PHONE)
    for name in ("outage", "slow-network"):
        session.post(f"{live_world.control}/scenarios/{name}/activate", json={}).raise_for_status()
    visit.open("/console/scenarios")
    assert is_inside(page.get_by_role("button", name="Switch outage off"), PHONE)
    visit.open("/console/webhooks")
    assert is_inside(page.get_by_role("button", name="Challenge").first, PHONE)
    visit.open("/console/coverage?only=post_search.recent")
    shown = page.get_by_role("group", name="Operations by outcomes")
    assert shown.evaluate("each => each.scrollWidth <= each.clientWidth")
    assert [] == visit.complaints


def test_no_link_leaves_a_trace(live_world: LiveWorld, new_context: NewContext) -> None:
    """Whatever the menu leads to is there, the icon too; an unknown page says so as a page."""
    visit = Visit(new_context().new_page(), live_world)
    page = visit.open("/")
    menu = page.get_by_role("navigation", name="Console").first
    addresses = [link.get_attribute("href") for link in menu.get_by_role("link").all()]
    for address in addresses:
        page.goto(f"{live_world.control.partition('/~')[0]}{address}")
    icon = live_world.session().get(f"{live_world.base_url.partition('/~')[0]}/favicon.ico")
    assert (200, "image/svg+xml") == (icon.status_code, icon.headers["Content-Type"][:13])
    assert 0 == live_world.session().get(f"{live_world.control}/requests/count").json()["count"]

    visit.open("/console/no-such-page")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not Found")
    page.get_by_role("link", name="Credentials").first.click()
    expect(page.get_by_role("row").filter(has_text="bearer token")).to_be_visible()
