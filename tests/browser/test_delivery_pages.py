"""What one does on the pages of replay jobs, webhooks, streams and rules."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import requests
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.visits import Visit
from tests.live_servers import LiveServer, LiveWorld
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK
from tests.waits import PATIENCE

pytestmark = [pytest.mark.live, pytest.mark.browser]


@pytest.fixture
def world(live_server: LiveServer) -> LiveWorld:
    """A world of its own."""
    return live_server.world()


@pytest.fixture
def visit(world: LiveWorld, new_context: NewContext) -> Iterator[Visit]:
    """A page in a browser that complains of nothing."""
    made = Visit(new_context().new_page(), world)
    yield made
    assert [] == made.complaints


def bearer(world: LiveWorld) -> dict[str, str]:
    """The header of the well-known app."""
    return {"Authorization": f"Bearer {world.credentials['bearer_token']}"}


def test_a_replay_job_in_pictures(world: LiveWorld, visit: Visit, receiver: Receiver) -> None:
    """The job and one of its deliveries are found from the list, and look as they should."""
    requests.patch(
        f"{world.control}/state/webhooks/{WEBHOOK}", json={"url": receiver.url}, timeout=PATIENCE
    )
    now = datetime.fromisoformat(
        requests.get(f"{world.control}/clock", timeout=PATIENCE).json()["now"]
    )
    job = requests.post(
        f"{world.base_url}/2/webhooks/replay",
        json={
            "webhook_id": WEBHOOK,
            "from_date": f"{now - timedelta(hours=23, minutes=50):%Y%m%d%H%M}",
            "to_date": f"{now:%Y%m%d%H%M}",
        },
        headers=bearer(world),
        timeout=PATIENCE,
    ).json()["job_id"]
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
    visit.complaints.clear()  # the browser notes the 422


def test_a_stream_is_ended(world: LiveWorld, visit: Visit) -> None:
    """A client's stream appears by itself; a button ends it with a problem."""
    page = visit.open("/console/streams")
    address = f"{world.base_url}/2/activity/stream"
    with requests.get(address, headers=bearer(world), stream=True, timeout=PATIENCE) as stream:
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
