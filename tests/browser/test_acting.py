"""What one does with what one sees: send a request again, replay, deliver an event once more."""

from __future__ import annotations

import re

import pytest
import requests
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.visits import Visit
from tests.live_servers import LiveWorld
from tests.support import ACCOUNT
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK
from tests.waits import PATIENCE

pytestmark = [pytest.mark.live, pytest.mark.browser]


def test_a_request_is_sent_again(live_world: LiveWorld, new_context: NewContext) -> None:
    """As it was, then changed and signed for the test user; each has its own page."""
    live_world.session().get(f"{live_world.base_url}/12/accounts/{ACCOUNT}/line_items?count=0")
    visit = Visit(new_context().new_page(), live_world)
    page = visit.open("/")
    page.locator("#rows a").click()
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_role("status")).to_have_text("Sent again: 401.")

    page.get_by_text("Send it changed").first.click()
    page.get_by_label("Address").fill(f"/12/accounts/{ACCOUNT}/line_items?count=2")
    page.get_by_label("As", exact=True).select_option("the test user, with OAuth 1.0a")
    page.get_by_role("button", name="Send it changed").click()
    expect(page.get_by_role("status")).to_have_text("Sent again: 200.")
    expect(page.get_by_role("heading", level=1)).to_contain_text("count=2")
    page.get_by_text("node", exact=True).click()
    expect(page.get_by_label("As node")).to_contain_text("await fetch(")

    page.get_by_text("Send it changed").first.click()
    page.get_by_label("Address").fill("/_mock/reset")
    page.get_by_role("button", name="Send it changed").click()
    expect(page.get_by_label("Address")).to_have_attribute("aria-invalid", "true")
    assert [] == [text for text in visit.complaints if "422" not in text]


def test_an_event_is_delivered_again(
    live_world: LiveWorld, new_context: NewContext, receiver: Receiver
) -> None:
    """Without a listener the page says so; with a receiver it is delivered again, and replayed."""
    visit = Visit(new_context().new_page(), live_world)
    page = visit.open("/console/webhooks")
    page.get_by_label("What happens").select_option("profile.update.bio")
    page.get_by_role("button", name="Emit").click()
    expect(page.get_by_role("heading", name="It happened: Not delivered")).to_be_visible()
    expect(page.get_by_text("nothing listens at").first).to_be_visible()

    address = f"{live_world.control}/state/webhooks/{WEBHOOK}"
    requests.patch(address, json={"url": receiver.url}, timeout=PATIENCE).raise_for_status()
    page.get_by_role("link", name=re.compile(r"^d\d+$")).first.click()
    page.get_by_role("button", name="Deliver again").click()
    expect(page.get_by_role("status")).to_have_text("Delivered again: 200.")

    page.get_by_role("link", name="Replay and deliveries").first.click()
    page.get_by_label("Webhook", exact=True).select_option(WEBHOOK)
    page.get_by_role("button", name="Start the replay").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Replay job")
    assert [] == visit.complaints
