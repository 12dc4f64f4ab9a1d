"""The console and the interactive documentation, used by a person with a browser."""

from __future__ import annotations

import re
import shlex

import pytest
import requests
from playwright.sync_api import Locator, expect

from tests.browser.conftest import NewContext
from tests.browser.visits import PHONE, WIDE, Visit
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


def test_live(visit: Visit) -> None:
    """New requests appear by themselves if the filter lets them; a pause holds them back."""
    page = visit.open("/")
    rows = page.locator("#rows tr")
    expect(page.get_by_text("None yet.")).to_be_visible()

    failing_call(visit.world)
    expect(rows).to_have_count(1)
    page.get_by_label("Status").fill("404")
    page.get_by_label("Status").blur()
    expect(page).to_have_url(re.compile("status=404"))
    visit.world.session().get(f"{visit.world.base_url}/2/openapi.json")
    failing_call(visit.world)
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status")).to_have_text("Paused")
    failing_call(visit.world)
    page.get_by_role("button", name="Pause").click()
    expect(rows).to_have_count(3)
    expect(page.locator("#total")).to_have_text("4 in the journal")
    page.get_by_role("link", name="Empty the list…").click()
    page.get_by_role("button", name="Empty the list").click()

    expect(page.get_by_text("was emptied")).to_be_visible()


def test_pages_that_cannot_refresh_themselves_say_so(
    live_server: LiveServer, new_context: NewContext
) -> None:
    """The list of a world that was dropped, and any page while the server does not answer."""
    visit = Visit(new_context().new_page(), live_server.world())
    page = visit.open("/console/clock")
    page.context.set_offline(True)
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    page.context.set_offline(False)
    expect(page.get_by_role("alert")).to_have_count(0)

    visit.open("/")
    expect(page.get_by_role("status")).to_have_text("Live")
    name = visit.world.control.rpartition("~")[2].partition("/")[0]
    requests.delete(f"{live_server.url}/_mock/worlds/{name}", timeout=PATIENCE).raise_for_status()
    expect(page.get_by_role("status")).to_have_text("Not live any more: reload the page")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("There is no world")
    page.get_by_role("link", name="To the first page of the world default").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Requests")


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


def test_what_leaves_the_list(visit: Visit) -> None:
    """The list stays short, and the next page goes on exactly where it ends."""
    page = visit.open("/")
    expect(page.get_by_role("link", name="Older")).to_be_hidden()
    rows = page.locator("#rows tr")
    sent: list[str] = []
    for _ in range(3):  # fewer at once than an event has
        sent += [failing_call(visit.world) for _ in range(20)]
        expect(rows.first).to_have_attribute("data-id", sent[-1])
    expect(rows).to_have_count(50)
    expect(rows.last).to_have_attribute("data-id", sent[10])
    page.get_by_role("link", name="Older").click()

    expect(rows).to_have_count(10)
    expect(rows.first).to_have_attribute("data-id", sent[9])


def test_filter_as_one_types(visit: Visit) -> None:
    """The list follows the search; a value that cannot be is explained, and the focus stays."""
    failing_call(visit.world)
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


def test_save_as_scenario(visit: Visit) -> None:
    """The file changes as one chooses what it matches, and is downloaded with its name."""
    failing_call(visit.world)
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
    answer = visit.world.session().get(f"{visit.world.control}/scenarios/misspelt-token")
    assert 200 == answer.status_code


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


def test_everything_is_undone_from_the_head(visit: Visit) -> None:
    """Failures are switched off and the clock returns on the page that is open; a reset asks."""
    session, control = visit.world.session(), visit.world.control
    for name in ("outage", "slow-network"):
        session.post(f"{control}/scenarios/{name}/activate", json={}).raise_for_status()
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
    page.keyboard.press("Escape")
    expect(head.get_by_role("link", name="default", exact=True)).to_be_hidden()


def is_inside(target: Locator, size: tuple[int, int]) -> bool:
    """Whether something is within the width of the window, without scrolling sideways."""
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    assert box is not None
    return box["x"] >= 0 and box["x"] + box["width"] <= size[0]


def test_fifteen_requests_on_a_screen(visit: Visit) -> None:
    """On a laptop fifteen rows fit, decoded; on a phone each has its status.

    Long names push nothing out of the window.
    """
    session = visit.world.session()
    for _ in range(15):
        session.get(f"{visit.world.base_url}/2/tweets/search/recent?query=from%3Ahrb%20%22a%22")
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
        session.post(f"{visit.world.control}/scenarios/{name}/activate", json={}).raise_for_status()
    visit.open("/console/scenarios")
    assert is_inside(page.get_by_role("button", name="Switch outage off"), PHONE)
    visit.open("/console/webhooks")
    assert is_inside(page.get_by_role("button", name="Challenge").first, PHONE)
    visit.open("/console/coverage?only=post_search.recent")
    shown = page.get_by_role("group", name="Operations by outcomes")
    assert shown.evaluate("each => each.scrollWidth <= each.clientWidth")

    text = {"name": "n" * 64, "rules": [{"then": {"delay": 0}}]}
    named = f"{visit.world.control}/scenarios/{'n' * 64}"
    session.put(named, json=text).raise_for_status()
    session.post(f"{named}/activate", json={}).raise_for_status()
    sent = session.get(f"{visit.world.base_url}/oauth2/tokn", headers={"X" * 200: "x"})
    visit.be("light", WIDE)
    visit.open("/console/scenarios")
    shown = page.get_by_role("group", name="Active")
    assert shown.evaluate("each => each.scrollWidth <= each.clientWidth")
    visit.open(f"/console/requests/{sent.headers['X-Mock-Request-Id']}")
    assert WIDE[0] == page.evaluate("document.documentElement.scrollWidth")


def test_no_link_leaves_a_trace(visit: Visit) -> None:
    """Whatever the menu leads to is there, the icon too; an unknown page says so as a page."""
    page = visit.open("/")
    menu = page.get_by_role("navigation", name="Console").first
    addresses = [link.get_attribute("href") for link in menu.get_by_role("link").all()]
    session, server = visit.world.session(), visit.world.control.partition("/~")[0]
    for address in addresses:  # `test_console_pages.py` opens each in the browser
        assert 200 == session.get(f"{server}{address}").status_code, address
    icon = session.get(f"{server}/favicon.ico")
    assert (200, "image/svg+xml") == (icon.status_code, icon.headers["Content-Type"][:13])
    assert 0 == session.get(f"{visit.world.control}/requests/count").json()["count"]

    visit.open("/console/no-such-page")
    expect(page.get_by_role("heading", level=1)).to_have_text("Not Found")
    visit.complaints.clear()  # the browser notes the 404
    page.get_by_role("link", name="Credentials").first.click()
    expect(page.get_by_role("row").filter(has_text="bearer token")).to_be_visible()
