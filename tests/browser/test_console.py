"""The console and the interactive documentation, used by a person with a browser."""

from __future__ import annotations

import re
import shlex

import pytest
import requests
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.visits import Visit
from tests.live_servers import LiveServer, LiveWorld
from tests.waits import PATIENCE

SIZES = """() => [...document.querySelectorAll('button, input:not([type=checkbox])')]
  .filter((e) => e.getClientRects().length).map((e) => e.getBoundingClientRect().height)"""

pytestmark = [pytest.mark.live, pytest.mark.browser]


def failing_call(world: LiveWorld) -> str:
    """A client calls an address that is misspelt; the id of the request."""
    answer = world.session().get(f"{world.base_url}/oauth2/tokn")
    return answer.headers["X-Mock-Request-Id"]


def test_from_list_to_request(live_world: LiveWorld, new_context: NewContext) -> None:
    """Without JavaScript a request is found in the list, with its reason, and has a page."""
    failing_call(live_world)
    live_world.session().get(f"{live_world.base_url}/2/openapi.json")
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{live_world.control}/")

    page.get_by_label("Status").fill("4xx")
    page.get_by_role("button", name="Filter").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("link"))
    expect(row).to_have_count(1)
    expect(row).to_contain_text("No operation has the path /oauth2/tokn.")
    row.get_by_role("link").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("/oauth2/tokn")
    expect(page.get_by_role("heading", name="Why this answer")).to_be_visible()
    expect(page.get_by_label("As pytest")).to_be_hidden()
    page.get_by_text("pytest", exact=True).click()
    expect(page.get_by_label("As pytest")).to_contain_text("def test_request(mock_platform)")


def test_live(live_world: LiveWorld, new_context: NewContext) -> None:
    """New requests appear by themselves if the filter lets them; a pause holds them back."""
    visit = Visit(new_context().new_page(), live_world)
    page = visit.open("/")
    rows = page.locator("#rows tr")
    expect(page.get_by_text("None yet.")).to_be_visible()

    failing_call(live_world)
    expect(rows).to_have_count(1)
    page.get_by_label("Status").fill("404")
    page.get_by_label("Status").blur()
    expect(page).to_have_url(re.compile("status=404"))
    live_world.session().get(f"{live_world.base_url}/2/openapi.json")
    failing_call(live_world)
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status")).to_have_text("Paused")
    failing_call(live_world)
    page.get_by_role("button", name="Pause").click()
    expect(rows).to_have_count(3)
    page.get_by_role("link", name="Empty the list…").click()
    page.get_by_role("button", name="Empty the list").click()

    expect(page.get_by_text("was emptied")).to_be_visible()
    assert [] == visit.complaints


def test_a_pressed_row_does_not_move(live_world: LiveWorld, new_context: NewContext) -> None:
    """A slow click opens the request on which it began, although newer ones came meanwhile."""
    first = failing_call(live_world)
    page = Visit(new_context().new_page(), live_world).open("/")
    rows = page.locator("#rows tr")
    page.evaluate(
        """() => { window.came = new Promise((done) => {
            const source = new EventSource(document.querySelector("#results").dataset.live);
            source.addEventListener("requests", done); }); }"""
    )
    rows.first.get_by_role("link").hover()
    page.mouse.down()
    failing_call(live_world)
    page.evaluate("() => window.came.then(() => null)")

    expect(rows).to_have_count(1)
    page.mouse.up()
    expect(page).to_have_url(re.compile(f"/console/requests/{first}$"))


def test_what_leaves_the_list(live_world: LiveWorld, new_context: NewContext) -> None:
    """The list stays short, and the next page goes on exactly where it ends."""
    visit = Visit(new_context().new_page(), live_world)
    page = visit.open("/")
    expect(page.get_by_role("link", name="Older")).to_be_hidden()
    rows = page.locator("#rows tr")
    sent: list[str] = []
    for _ in range(3):  # fewer at once than an event has
        sent += [failing_call(live_world) for _ in range(20)]
        expect(rows.first).to_have_attribute("data-id", sent[-1])
    expect(rows).to_have_count(50)
    expect(rows.last).to_have_attribute("data-id", sent[10])
    page.get_by_role("link", name="Older").click()

    expect(rows).to_have_count(10)
    expect(rows.first).to_have_attribute("data-id", sent[9])
    assert [] == visit.complaints


def test_filter_as_one_types(live_world: LiveWorld, new_context: NewContext) -> None:
    """The list follows the search; a value that cannot be is explained, and the focus stays."""
    failing_call(live_world)
    visit = Visit(new_context().new_page(), live_world)
    page = visit.open("/")
    rows = page.locator("#rows tr")

    page.get_by_label("Search").press_sequentially("nothing like it")
    expect(page.get_by_text("No request in the journal matches.")).to_be_visible()
    expect(page.get_by_label("Search")).to_be_focused()
    page.get_by_label("Search").fill("TOKN")
    expect(rows).to_have_count(1)
    page.get_by_label("Status").fill("teapot")
    page.get_by_label("Status").blur()

    expect(page.get_by_role("alert")).to_contain_text("expected a status such as 404")
    assert [] == [text for text in visit.complaints if "422" not in text]


def test_save_as_scenario(live_world: LiveWorld, new_context: NewContext) -> None:
    """The file changes as one chooses what it matches, and is downloaded with its name."""
    failing_call(live_world)
    visit = Visit(new_context(accept_downloads=True).new_page(), live_world)
    page = visit.open("/")
    page.locator("#rows a").click()
    page.get_by_role("link", name="Save as scenario").click()

    page.get_by_label("Name").fill("misspelt-token")
    expect(page.get_by_role("heading", name="misspelt-token.yaml")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").click()
    page.get_by_role("button", name="Add to this world").click()

    expect(page.get_by_role("status")).to_contain_text("knows the scenario misspelt-token")
    assert "misspelt-token.yaml" == download.value.suggested_filename
    assert "on: GET /oauth2/tokn" in download.value.path().read_text("utf-8")
    answer = live_world.session().get(f"{live_world.control}/scenarios/misspelt-token")
    assert 200 == answer.status_code
    assert [] == visit.complaints


def test_copy(live_world: LiveWorld, new_context: NewContext) -> None:
    """A button copies the request for curl."""
    failing_call(live_world)
    context = new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit = Visit(context.new_page(), live_world)
    page = visit.open("/")
    page.locator("#rows a").click()

    page.get_by_role("button", name="Copy as curl").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("curl -sSi ")
    assert shlex.split(copied)[-1] == f"{live_world.base_url}/oauth2/tokn"
    assert [] == visit.complaints


def test_documentation(live_world: LiveWorld, new_context: NewContext) -> None:
    """The documentation describes the world's address, and loads nothing from elsewhere."""
    page = new_context().new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{live_world.control}/docs")

    expect(page.get_by_role("heading", name=re.compile("^mock_platform"))).to_be_visible()
    expect(page.locator(".servers select")).to_have_value(live_world.base_url)
    page.get_by_role("button", name="Expand operation").first.wait_for(state="attached")

    assert all(url.startswith((live_world.base_url, "data:")) for url in asked), asked
    assert [] == complaints


def test_login(new_context: NewContext) -> None:
    """Where a control token is set, the login asks for it, and the page that was wanted follows."""
    with LiveServer("--control-token", "s3cret") as server:
        refused = requests.get(f"{server.url}/_mock/", timeout=PATIENCE)
        page = new_context().new_page()
        page.goto(f"{server.url}/_mock/")
        page.get_by_label("Control token").fill("secret")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_label("Control token")).to_have_accessible_description(
            re.compile("not the server's control token")
        )
        page.get_by_label("Control token").fill("s3cret")
        page.get_by_role("button", name="Log in").click()

        expect(page.get_by_role("heading", name="Requests", exact=True)).to_be_visible()
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Control token")).to_be_visible()
        assert 401 == refused.status_code


def test_small_screen(live_world: LiveWorld, new_context: NewContext) -> None:
    """At 320 pixels nothing is scrolled sideways, and what is pressed is 40 pixels high."""
    failing_call(live_world)
    page = new_context(viewport={"width": 320, "height": 640}).new_page()
    page.goto(f"{live_world.control}/")

    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert all(height >= 40 for height in page.evaluate(SIZES))
    page.locator("#rows a").click()
    expect(page.get_by_role("heading", name="Why this answer")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
