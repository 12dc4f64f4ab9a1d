"""Scenarios, worlds, clock, records and transitions, as a person with a browser uses them.

Scenarios are chosen by what is seen, from a card, and by the name of a record.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Locator, Page, expect

from mock_platform.cli.main import group
from tests.browser.conftest import NewContext
from tests.browser.visits import PHONE, WIDE, Visit
from tests.live_servers import LiveServer, LiveWorld
from tests.support import ACCOUNT

pytestmark = [pytest.mark.live, pytest.mark.browser]

ONE = re.compile(r"^1 of ")
ITEMS = f"/12/accounts/{ACCOUNT}/line_items"
FAULTY = "name: soon\nrules:\n  - on: webhooks.replya\n    then: {error: 89}\n"


@pytest.fixture
def plain(live_world: LiveWorld, new_context: NewContext) -> Visit:
    """A visit without scripts."""
    return Visit(new_context(java_script_enabled=False).new_page(), live_world)


def expect_message(page: Page, text: str) -> None:
    """Wait until the page that follows a form says `text`."""
    expect(page.get_by_role("status").first).to_contain_text(text)


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_the_form_to_make_records_is_seen(visit: Visit, size: tuple[int, int]) -> None:
    """On the first screen of a long table, wide or narrow; a click opens it, another one makes."""
    visit.be("light", size)
    page = visit.open("/console/records/posts")
    summary = page.get_by_text("Make records")
    expect(summary).to_be_in_viewport()
    summary.click()
    page.get_by_label("How many").fill("2")
    page.get_by_role("button", name="Make", exact=True).click()
    expect(page.get_by_role("status").first).to_have_text("2 posts were made.")


def test_a_double_click_makes_no_more(visit: Visit) -> None:
    """While the server works on a form, a second click does not send it again."""
    page = visit.open("/console/records/posts")

    taken = page.locator("#make form").evaluate(
        """(form) => [1, 2].map(() => form.dispatchEvent(
            new SubmitEvent('submit', {bubbles: true, cancelable: true})))"""
    )

    assert [True, False] == taken


def test_watch_a_scenario(visit: Visit) -> None:
    """A scenario is found, switched on with parameters, and its counts follow the requests."""
    page = visit.open("/console/scenarios")
    page.get_by_label("Search").fill("flaky net")
    expect(page.get_by_text(ONE)).to_be_visible()
    page.get_by_role("link", name="flaky-network").click()
    page.get_by_label("or another number").fill("0")
    page.get_by_role("button", name="Switch on").click()
    field = page.get_by_label("How often")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    expect(page.get_by_text("expected a whole number from 1").last).to_be_visible()

    page.get_by_role("link", name="Scenarios").last.click()
    page.get_by_label("Search").fill("rate-limited")
    page.get_by_role("link", name="rate-limited").click()
    page.get_by_label("How many calls are let through").fill("1")
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_text("expected", exact=True)).to_be_visible()
    session, world = visit.world.session(), visit.world
    for _ in range(3):
        session.get(f"{world.base_url}{ITEMS}", headers=world.bearer)

    expect(page.locator("#counts")).to_contain_text("3 matched")
    page.get_by_role("button", name="Switch off").click()
    expect_message(page, "rate-limited is off.")


def test_a_refresh_keeps_the_focus(visit: Visit) -> None:
    """Counts that refresh by themselves do not take the focus from who uses the keyboard."""
    activate = f"{visit.world.control}/scenarios/rate-limited/activate"
    visit.world.session().post(activate, json={}).raise_for_status()
    page = visit.open("/console/scenarios")
    button = page.get_by_role("button", name="Switch rate-limited off")
    page.evaluate(  # finds it in the same step: a refresh could replace it before
        """() => {
          const button = document.getElementById("off-rate-limited");
          button.focus();
          button.dataset.old = "yes";
        }"""
    )

    expect(page.locator("#off-rate-limited[data-old]")).to_have_count(0)
    expect(button).to_be_focused()


def press(page: Page, target: Locator) -> None:
    """Press the mouse button on something, and hold it."""
    target.hover()
    page.mouse.down()


def expect_answer(page: Page, asking: str) -> None:
    """Let `wait_for_answer` wait until the page has the answer to a request of an element."""
    page.evaluate(
        """(asking) => { window.answered = new Promise((done) =>
            document.addEventListener("htmx:afterRequest", (event) => {
              if (event.detail.requestConfig.elt.matches(asking)) setTimeout(done);
            })); }""",
        asking,
    )


def wait_for_answer(page: Page) -> None:
    """Wait until the page has done with the answer what it does."""
    page.evaluate("() => window.answered")


def test_nothing_moves_under_a_pressed_button(visit: Visit) -> None:
    """A slow click counts, although what it is on was read again meanwhile."""
    activate = f"{visit.world.control}/scenarios/rate-limited/activate"
    visit.world.session().post(activate, json={}).raise_for_status()
    page = visit.open("/console/scenarios")
    link = page.locator("#active-rate-limited")
    press(page, link)
    link.evaluate("e => { e.dataset.old = 'yes'; }")
    expect_answer(page, "#active")
    wait_for_answer(page)

    expect(page.locator("#active-rate-limited[data-old]")).to_have_count(1)
    page.mouse.up()
    expect(page).to_have_url(re.compile("/console/scenarios/rate-limited$"))


def test_a_search_waits_for_a_pressed_button(visit: Visit) -> None:
    """What was found meanwhile is shown when the button is up."""
    page = visit.open("/console/scenarios")
    press(page, page.get_by_role("heading", name="Switch one on"))
    expect_answer(page, "form")
    page.get_by_label("Search").evaluate(
        "e => { e.value = 'flaky net'; e.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    wait_for_answer(page)
    expect(page.get_by_text(ONE)).to_have_count(0)

    page.mouse.up()
    expect(page.get_by_text(ONE)).to_be_visible()


def test_write_a_scenario(visit: Visit) -> None:
    """Faults appear while one types and lead to their place; then the text is defined."""
    page = visit.open("/console/scenarios/+new")
    area = page.get_by_label("Scenario, in YAML or JSON")
    expect(page.locator("#findings")).to_contain_text("No faults: my-failure")

    area.fill(FAULTY)
    expect(page.locator("#findings")).to_contain_text("Did you mean 'webhooks.replay'?")
    page.get_by_role("link", name="Line 3, column 5").click()
    chosen = area.evaluate("e => e.value.slice(e.selectionStart, e.selectionEnd)")
    assert "on: webhooks.replya" == chosen
    page.keyboard.type("on: webhooks.replay")
    expect(page.locator("#findings")).to_contain_text("No faults: soon")
    page.get_by_role("button", name="Define it in this world").click()

    expect_message(page, "soon is defined")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert "soon.yaml" == download.value.suggested_filename


def test_worlds_without_scripts(plain: Visit, live_server: LiveServer) -> None:
    """Worlds are made, visited, copied and deleted with links and forms alone."""
    name = f"{plain.world.control.rpartition('~')[2].partition('/')[0]}-qa"
    page = plain.open("/console/worlds")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Seed").fill("12")
    page.get_by_label("Clock frozen at").fill("2026-12-24T18:00:00Z")
    page.get_by_label("Own credentials").check()
    page.get_by_role("button", name="Make the world").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"World {name}")

    page.get_by_role("link", name="Open its console").click()
    expect(page).to_have_url(re.compile(f"/~{name}/_mock/"))
    expect(page.locator(".world")).to_contain_text("2026-12-24 18:00:00")
    page.goto(f"{plain.world.control}/console/worlds/{name}")
    page.get_by_role("link", name="Delete…").click()
    page.get_by_role("button", name=f"Delete {name}").click()

    expect_message(page, f"The world {name} was deleted.")
    expect(page.get_by_role("table")).not_to_contain_text(name)


def test_clock(visit: Visit) -> None:
    """The clock runs on the page, and is frozen and moved by keyboard."""
    page = visit.open("/console/clock")
    shown = page.locator("#face time").get_attribute("datetime")
    assert shown is not None
    expect(page.locator("#face time")).not_to_have_attribute("datetime", shown)

    page.get_by_label("Freeze at").fill("2026-12-24T18:00:00Z")
    page.keyboard.press("Enter")
    expect(page.locator("#face")).to_contain_text("2026-12-24 18:00:00")
    page.get_by_role("button", name="+ 15 minutes").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#face")).to_contain_text("18:15:00")
    page.get_by_label("To", exact=True).fill("tomorrow")
    page.get_by_role("button", name="Set the clock").click()
    expect(page.get_by_label("To", exact=True)).to_have_attribute("aria-invalid", "true")


def test_change_a_record(visit: Visit) -> None:
    """A record is found, changed as JSON, and refused with its faults."""
    page = visit.open("/console/records")
    page.get_by_role("searchbox").fill("line_it")
    page.get_by_role("link", name="line_items", exact=True).click()
    page.get_by_role("searchbox").fill("pour-over")
    expect(page.get_by_text("1 to 1 of 1")).to_be_visible()
    page.get_by_role("link", name="iuc5v").click()
    area = page.get_by_label("Record, as JSON in stored form")
    record = json.loads(area.input_value())
    area.fill(json.dumps(record | {"objective": "VIEWZ"}))
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#record-faults")).to_contain_text("objective")

    area.fill(json.dumps(record | {"name": "Renamed"}))
    page.get_by_role("button", name="Save").click()
    expect_message(page, "line_items/iuc5v was saved.")
    page.get_by_role("link", name=f"campaigns/{record['campaign_id']}").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"({record['campaign_id']})")


def test_move_a_record_without_scripts(plain: Visit) -> None:
    """A transition is slowed down to reads, and a record is moved at once."""
    page = plain.open("/console/transitions")
    page.get_by_role("link", name="audience", exact=True).click()
    page.get_by_label("When records move").select_option("manual")
    page.get_by_role("button", name="Change it").click()
    button = page.get_by_role("button", name="Move").first
    name = button.get_attribute("aria-label")
    button.click()

    assert name is not None
    expect_message(page, f"{name.split()[1]} was moved to PROCESSED.")
    expect(page.get_by_text("One in the state PROCESSING appears here.")).to_be_visible()


def test_a_failure_is_found_by_what_is_seen(visit: Visit) -> None:
    """A sentence finds it, the card switches it on, and it is on top the next time."""
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
    told = visit.world.session().get(f"{visit.world.control}/scenarios/line-item-deleted-twice")
    assert {"line_item_id": "itttx", "call": 2} == told.json()["given"]


def test_a_failure_of_ones_own(visit: Visit, tmp_path: Path) -> None:
    """It is put together from choices; its file is beside them, and `check` accepts it."""
    page = visit.open("/console/scenarios")
    page.get_by_role("link", name="A failure of your own").click()
    page.get_by_label("Which operation").select_option("post_search.recent")
    page.get_by_label("Which call").select_option("the second")
    page.get_by_label("Which error").select_option("429 usage-capped")
    page.get_by_label("Text of the error").fill("No more searches")
    file = page.get_by_label("The file")
    expect(file).to_contain_text("detail: No more searches")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert "post-search-recent-429-usage-capped.yaml" == saved.name
    assert 0 == CliRunner().invoke(group, ["check", str(saved)]).exit_code

    page.get_by_role("button", name="Switch on").click()
    session, url = visit.world.session(), f"{visit.world.base_url}/2/tweets/search/recent?query=a"
    session.headers.update(visit.world.bearer)
    expect(page.get_by_role("status").first).to_contain_text("is on.")
    assert [200, 429, 200] == [session.get(url).status_code for _ in range(3)]
