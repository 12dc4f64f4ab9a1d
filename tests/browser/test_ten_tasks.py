"""Ten things that a QA engineer does, each from the start page in at most five clicks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import requests
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import NewContext
from tests.browser.visits import Visit
from tests.live_servers import LiveWorld
from tests.support import ACCOUNT
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK
from tests.waits import PATIENCE

pytestmark = [pytest.mark.live, pytest.mark.browser]

MOST_CLICKS = 5
ITEMS = f"/12/accounts/{ACCOUNT}/line_items"
BIO = {"event_type": "profile.update.bio", "user_id": "2244994945"}


class Engineer:
    """A person at the console, whose clicks and choices are counted, and the client under test."""

    def __init__(self, world: LiveWorld, page: Page, receiver: Receiver) -> None:
        self.world = world
        self.page = page
        self.receiver = receiver
        self.clicks = 0
        self.session = world.session()
        self.session.headers["Authorization"] = f"Bearer {world.credentials['bearer_token']}"

    def click(self, name: str, role: str = "button", within: Locator | None = None) -> None:
        """Click what has this role and this name."""
        self.clicks += 1
        place = within or self.page
        place.get_by_role(role, name=name, exact=True).first.click()  # type: ignore[arg-type]

    def go(self, name: str) -> None:
        """Click a link."""
        self.click(name, "link")

    def choose(self, label: str, option: str) -> None:
        """Choose an option; that is a click as well."""
        self.clicks += 1
        self.page.get_by_label(label, exact=True).select_option(option)

    def type(self, label: str, text: str) -> None:
        """Type into a field."""
        self.page.get_by_label(label, exact=True).fill(text)

    def call(self, method: str, path: str, **more: object) -> int:
        """The status that the client gets."""
        url = f"{self.world.base_url}{path}"
        return self.session.request(method, url, timeout=PATIENCE, **more).status_code  # type: ignore[arg-type]

    def happen(self) -> None:
        """Something happens to a user."""
        url = f"{self.world.control}/events"
        requests.post(url, json=BIO, timeout=PATIENCE).raise_for_status()


def cap_searches(me: Engineer) -> None:
    """The usage cap is reached on searches."""
    me.go("Scenarios")
    me.click("Switch usage-capped on")
    assert 429 == me.call("GET", "/2/tweets/search/recent?query=a")


def delete_twice(me: Engineer) -> None:
    """The second delete finds nothing: 404."""
    me.go("Scenarios")
    me.type("Search", "second delete gives 404")
    me.click("Switch line-item-deleted-twice on")
    assert [200, 404] == [me.call("DELETE", f"{ITEMS}/{n}") for n in ("itttx", "iu0p9")]


def lose_an_answer(me: Engineer) -> None:
    """An answer is lost, although the request was executed."""
    me.go("Scenarios")
    me.go("answer-lost")
    me.choose("Which operation", "line_items.delete")
    me.click("Switch on")
    with pytest.raises(requests.ConnectionError):
        me.call("DELETE", f"{ITEMS}/itttx")
    assert me.world.record("line_items", "itttx")["deleted"]


def expire_a_token(me: Engineer) -> None:
    """The token expires in the middle."""
    me.go("Scenarios")
    me.click("Switch token-revoked-midway on")
    assert [200, 200, 401] == [me.call("GET", ITEMS) for _ in range(3)]


def redeliver(me: Engineer) -> None:
    """The webhook is down; later its event is delivered again."""
    me.world.change("webhooks", WEBHOOK, url=me.receiver.url)
    me.go("Scenarios")
    me.click("Switch webhook-receiver-down on")
    me.happen()
    me.click("All off")
    me.go("Replay and deliveries")
    me.page.get_by_role("button", name="Deliver").first.click()
    me.clicks += 1
    expect(me.page.get_by_role("status")).to_have_text("Delivered again: 200.")


def replay_twice(me: Engineer) -> None:
    """A replay is asked for while another one is in progress."""
    me.go("Scenarios")
    me.click("Switch replay-conflict on")
    me.go("Replay and deliveries")
    me.click("Start the replay")
    expect(me.page.get_by_role("status")).to_have_text("The replay was refused with 409.")


def limit_for_a_minute(me: Engineer) -> None:
    """For a minute there is 429, then time passes."""
    me.go("Scenarios")
    me.click("Switch rate-limited on")
    assert [429, 429] == [me.call("GET", ITEMS) for _ in range(2)]
    me.go("Clock")
    me.click("+ 1 minute")
    expect(me.page.get_by_role("status")).to_be_visible()
    assert 200 == me.call("GET", ITEMS)


def break_a_stream(me: Engineer) -> None:
    """A stream breaks."""
    me.go("Scenarios")
    me.click("Switch stream-cut on")
    wanted = {"event_type": BIO["event_type"], "filter": {"user_id": BIO["user_id"]}}
    assert me.call("POST", "/2/activity/subscriptions", json=wanted) < 300
    url = f"{me.world.base_url}/2/activity/stream"
    with me.session.get(url, stream=True, timeout=PATIENCE) as stream:
        me.happen()
        with pytest.raises(requests.RequestException):
            assert stream.content


def make_an_old_campaign(me: Engineer) -> None:
    """A campaign is of last month."""
    before = requests.get(f"{me.world.control}/clock", timeout=PATIENCE).json()["now"][:7]
    me.go("Clock")
    me.type("By", "-31d")
    me.click("Move the clock")
    expect(me.page.get_by_role("banner").get_by_text("-31 d")).to_be_visible()
    fields = "name=Old&funding_instrument_id=lygyi&daily_budget_amount_local_micro=5000000"
    assert me.call("POST", f"/12/accounts/{ACCOUNT}/campaigns?{fields}") < 300
    me.click("Back to real time")
    expect(me.page.get_by_role("status")).to_be_visible()
    made = requests.get(f"{me.world.control}/state/campaigns", timeout=PATIENCE).json()
    (old,) = [each for each in made["records"] if each["name"] == "Old"]
    assert old["created_at"][:7] < before


def go_back_to_the_start(me: Engineer) -> None:
    """The world is as at the start."""
    me.world.change("line_items", "itttx", name="Changed")
    me.page.reload()
    me.go("Reset…")
    me.click(f"Reset {me.world.control.split('/~')[1].partition('/')[0]}")
    expect(me.page.get_by_role("status")).to_contain_text("was reset")
    assert "Changed" != me.world.record("line_items", "itttx")["name"]


TASKS = (
    cap_searches, delete_twice, lose_an_answer, expire_a_token, redeliver, replay_twice,
    limit_for_a_minute, break_a_stream, make_an_old_campaign, go_back_to_the_start,
)  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_ten_tasks(
    live_world: LiveWorld,
    new_context: NewContext,
    receiver: Receiver,
    task: Callable[[Engineer], None],
) -> None:
    """Each is done, as the client under test sees, in at most five clicks from the start page."""
    visit = Visit(new_context().new_page(), live_world)
    me = Engineer(live_world, visit.open("/"), receiver)
    task(me)

    assert 0 < me.clicks <= MOST_CLICKS
    assert [] == visit.complaints
