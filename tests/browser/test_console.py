"""The console and the interactive documentation, used by a person with a browser."""

from __future__ import annotations

import re
from typing import Literal

import pytest
import requests
from playwright.sync_api import expect

from tests.browser.conftest import NewContext
from tests.browser.test_appearance import COLORS, SIZES, contrast
from tests.serving import LiveServer, LiveWorld
from tests.waits import PATIENCE

pytestmark = [pytest.mark.live, pytest.mark.browser]


def test_forms(live_world: LiveWorld, new_context: NewContext) -> None:
    """Without JavaScript the forms act on the world whose page they are on."""
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{live_world.control}/")

    page.get_by_label("Moment").fill("2026-03-01T12:00:00Z")
    page.get_by_role("button", name="Travel").click()
    page.get_by_role("button", name="Freeze clock").click()
    page.get_by_label("Seconds").fill("60")
    page.get_by_role("button", name="Advance").click()

    clock = live_world.session().get(f"{live_world.control}/clock").json()
    assert f"{live_world.control}/" == page.url
    assert ("2026-03-01T12:01", True) == (clock["now"][:16], clock["frozen"])
    expect(page.get_by_role("button", name="Resume clock")).to_be_visible()


def test_faulty_form(live_world: LiveWorld, new_context: NewContext) -> None:
    """A form that cannot be used shows what is wrong."""
    page = new_context().new_page()
    page.goto(f"{live_world.control}/")

    page.get_by_label("Seconds").fill("soon")
    page.get_by_role("button", name="Advance").click()

    expect(page.get_by_role("alert")).to_contain_text('got "soon" for seconds')


def test_from_list_to_request(live_world: LiveWorld, new_context: NewContext) -> None:
    """A request is found in the list, with its reason, and leads to a page of its own."""
    live_world.session().get(f"{live_world.base_url}/oauth2/tokn")
    page = new_context().new_page()
    page.goto(f"{live_world.control}/")

    row = page.get_by_role("row").filter(has_text="/oauth2/tokn")
    expect(row).to_contain_text("No operation has the path /oauth2/tokn.")
    row.get_by_role("link").click()

    expect(page.get_by_role("heading", level=1)).to_contain_text("/oauth2/tokn")
    expect(page.get_by_role("heading", name="Why")).to_be_visible()


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
        page.get_by_role("button", name="Freeze clock").click()

        expect(page.get_by_role("button", name="Resume clock")).to_be_visible()
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_label("Control token")).to_be_visible()
        assert 401 == refused.status_code


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(
    live_world: LiveWorld, new_context: NewContext, scheme: Literal["light", "dark"]
) -> None:
    """Every text can be read in both color schemes."""
    live_world.session().get(f"{live_world.base_url}/oauth2/tokn")
    page = new_context(color_scheme=scheme).new_page()
    page.goto(f"{live_world.control}/")
    texts = page.evaluate(COLORS)
    page.get_by_role("table").first.get_by_role("link").first.click()
    texts += page.evaluate(COLORS)

    assert len(texts) > 50
    assert [] == [text for text in texts if contrast(text["text"], text["ground"]) < 4.5]


def test_small_screen(live_world: LiveWorld, new_context: NewContext) -> None:
    """At 320 pixels only tables are scrolled sideways, and what is pressed is 40 pixels high."""
    live_world.session().get(f"{live_world.base_url}/oauth2/tokn")
    page = new_context(viewport={"width": 320, "height": 640}).new_page()
    page.goto(f"{live_world.control}/")

    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert all(height >= 40 for height in page.evaluate(SIZES))
    page.get_by_role("table").first.get_by_role("link").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
