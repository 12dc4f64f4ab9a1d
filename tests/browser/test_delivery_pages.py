"""What one does on the pages of replay jobs, webhooks, streams and rules, and with a request."""

from __future__ import annotations

import re
from datetime import datetime

import pytest
import requests
from playwright.sync_api import expect

from tests.browser.visits import Visit
from tests.support import ACCOUNT
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, window_before
from tests.waits import PATIENCE

pytestmark = [pytest.mark.live, pytest.mark.browser]


def test_a_replay_job_in_pictures(visit: Visit, receiver: Receiver) -> None:
    """The job and one of its deliveries are found from the list, and look as they should."""
    world = visit.world
    requests.patch(
        f"{world.control}/state/webhooks/{WEBHOOK}", json={"url": receiver.url}, timeout=PATIENCE,
    )  # fmt: skip
    now = datetime.fromisoformat(
        requests.get(f"{world.control}/clock", timeout=PATIENCE).json()["now"]
    )
    job = requests.post(
        f"{world.base_url}/2/webhooks/replay", json=window_before(now, hours=23, minutes=50),
        headers=world.bearer, timeout=PATIENCE,
    ).json()["job_id"]  # fmt: skip
    made = requests.get(f"{world.control}/deliveries?wait=60", timeout=PATIENCE).json()
    delivery = made["deliveries"][-1]["id"]

    page = visit.open("/console/replay")
    page.get_by_role("link", name=job, exact=True).click()
    expect(page.get_by_role("img", name="15 events in the window: 15 delivered")).to_be_visible()

    assert {} == visit.inspect(f"/console/replay/{job}")
    assert {} == visit.inspect(f"/console/replay/deliveries/{delivery}")


def test_something_happens_to_a_user(visit: Visit) -> None:
    """An event is emitted from the form, and the page says where it goes and where not."""
    page = visit.open("/console/webhooks")
    page.get_by_label("What happens").select_option("profile.update.bio")
    page.get_by_label("To the user").fill("2244994945")
    page.get_by_role("button", name="Emit").click()

    expect(page.get_by_role("heading", name="It happened")).to_be_visible()
    reason = page.get_by_role("listitem").filter(has_text="it is for post.create, not profile")
    expect(reason).to_be_visible()
    page.get_by_label("Payload as JSON").fill("{")
    page.get_by_role("button", name="Emit").click()
    expect(page.get_by_label("Payload as JSON")).to_have_attribute("aria-invalid", "true")


def test_a_stream_is_ended(visit: Visit) -> None:
    """A client's stream appears by itself; a button ends it with a problem."""
    page = visit.open("/console/streams")
    address = f"{visit.world.base_url}/2/activity/stream"
    with requests.get(address, headers=visit.world.bearer, stream=True, timeout=PATIENCE) as stream:
        expect(page.get_by_role("cell", name="activity_stream")).to_be_visible()
        page.get_by_label("Problem of the last line").select_option("ForceDisconnect")
        page.get_by_role("button", name="Disconnect").click()
        expect(page.get_by_role("status")).to_contain_text("Ended: all streams.")

        assert b"ForceDisconnect" in stream.content


def test_a_rule_is_tried(visit: Visit) -> None:
    """The part that failed is marked, in both color schemes and on a phone."""
    page = visit.open("/console/rules")
    page.get_by_label("Rule", exact=True).fill("coffee (has:links OR lang:en) -is:repost")
    page.get_by_label("Or a post as JSON").fill('{"id": "1", "text": "coffee"}')
    page.get_by_role("button", name="Try it").click()

    expect(page.get_by_text("this part failed").first).to_be_visible()
    assert [] == visit.find_violations()
    visit.shoot("rules-tried")


def test_a_request_is_sent_again(visit: Visit) -> None:
    """As it was, then changed and signed for the test user; each has its own page."""
    visit.world.session().get(f"{visit.world.base_url}/12/accounts/{ACCOUNT}/line_items?count=0")
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


def test_an_event_is_delivered_again(visit: Visit, receiver: Receiver) -> None:
    """Without a listener the page says so; with a receiver it is delivered again, and replayed."""
    page = visit.open("/console/webhooks")
    page.get_by_label("What happens").select_option("profile.update.bio")
    page.get_by_role("button", name="Emit").click()
    expect(page.get_by_role("heading", name="It happened: Not delivered")).to_be_visible()
    expect(page.get_by_text("nothing listens at").first).to_be_visible()

    address = f"{visit.world.control}/state/webhooks/{WEBHOOK}"
    requests.patch(address, json={"url": receiver.url}, timeout=PATIENCE).raise_for_status()
    page.get_by_role("link", name=re.compile(r"^d\d+$")).first.click()
    page.get_by_role("button", name="Deliver again").click()
    expect(page.get_by_role("status")).to_have_text("Delivered again: 200.")

    page.get_by_role("link", name="Replay and deliveries").first.click()
    page.get_by_label("Webhook", exact=True).select_option(WEBHOOK)
    page.get_by_role("button", name="Start the replay").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Replay job")
