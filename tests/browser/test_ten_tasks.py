"""What a QA engineer does: ten things in at most five clicks each, and one failure handed over."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import requests
from click.testing import CliRunner
from playwright.sync_api import Locator, Page, expect

from mock_platform.cli.main import group
from tests.browser.conftest import NewContext
from tests.browser.visits import Visit
from tests.live_servers import LiveServer, LiveWorld
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
        self.session.headers.update(world.bearer)

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
def test_ten_tasks(visit: Visit, receiver: Receiver, task: Callable[[Engineer], None]) -> None:
    """Each is done, as the client under test sees, in at most five clicks from the start page."""
    me = Engineer(visit.world, visit.open("/"), receiver)
    task(me)

    assert 0 < me.clicks <= MOST_CLICKS


class Client:
    """The client under test: it lists the media of an account."""

    def __init__(self, server: LiveServer) -> None:
        self.world = server.world()
        self._session = self.world.session()
        self._session.headers.update(self.world.bearer)
        self.account = self.world.credentials["accounts"][0]

    def list_media(self, **query: str) -> requests.Response:
        """Call the platform."""
        url = f"{self.world.base_url}/12/accounts/{self.account}/account_media"
        return self._session.get(url, params=query)


def test_story(live_server: LiveServer, new_context: NewContext) -> None:
    """See it fail, find why, limit the rate, watch that, move the clock, save, hand over."""
    client = Client(live_server)
    visit = Visit(new_context(accept_downloads=True).new_page(), client.world)
    page = visit.open("/")
    rows = page.locator("#rows tr")

    # A client fails, and the list shows it.
    assert 400 == client.list_media(count="0").status_code
    expect(rows.first).to_contain_text("400")
    rows.first.get_by_role("link").click()
    why = page.get_by_role("region", name="Why this answer")
    expect(why).to_contain_text("count must be between 1 and 1000, got 0")

    # A scenario with parameters: one call, then none until the clock moves on.
    page.get_by_role("link", name="Scenarios", exact=True).click()
    page.get_by_label("Search").fill("rate-limited")
    expect(page).to_have_url(re.compile("=rate-limited"))
    page.get_by_role("link", name="rate-limited").click()
    page.get_by_label("Which operation").select_option("account_media.list")
    page.get_by_label("How many calls are let through").fill("1")
    page.get_by_role("button", name="Switch on").click()
    counts = page.get_by_role("region", name="What it did")
    expect(counts).to_contain_text("0 fired")
    assert [200, 429] == [client.list_media().status_code for _ in range(2)]
    expect(counts).to_contain_text(re.compile("[12] fired"))

    # The window of the limit ends.
    page.get_by_role("link", name="Clock", exact=True).click()
    page.get_by_label("By", exact=True).fill("15m")
    page.get_by_role("button", name="Move the clock").click()
    expect(page.get_by_role("status")).to_be_visible()
    assert 200 == client.list_media().status_code

    # What was seen becomes a file, which others can use.
    page.get_by_role("link", name="Requests", exact=True).click()
    page.get_by_label("Status").fill("429")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(rows).to_have_count(1)
    rows.first.get_by_role("link").click()
    page.get_by_role("link", name="Save as scenario").click()
    page.get_by_label("Name").fill("media-rate-limited")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    file = download.value.path().with_name("media-rate-limited.yaml")
    download.value.save_as(file)

    colleague = Client(live_server)
    put = f"{colleague.world.control}/scenarios/media-rate-limited"
    text = {"Content-Type": "application/yaml"}
    assert 0 == CliRunner().invoke(group, ["check", str(file)]).exit_code
    assert requests.put(put, data=file.read_bytes(), headers=text, timeout=60).ok
    assert requests.post(f"{put}/activate", json={}, timeout=60).ok
    assert 429 == colleague.list_media().status_code
    assert [] == visit.complaints
