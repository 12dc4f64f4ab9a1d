"""A real browser goes through the pages of oauth/authorize and oauth/authenticate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import ConsoleMessage, Page, expect
from requests_oauthlib import OAuth1

from tests.browser.callback import CallbackServer
from tests.browser.conftest import NewContext
from tests.live_servers import LiveWorld

pytestmark = [pytest.mark.live, pytest.mark.browser]

ASK = "Allow Harbor Campaign Desk to use your account?"


@pytest.fixture
def callback() -> Iterator[CallbackServer]:
    """The app's address."""
    with CallbackServer() as server:
        yield server


def _listen(page: Page) -> Iterator[Page]:
    """The page, of which nothing may break the policy."""
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and "favicon" not in message.location["url"]:
            complaints.append(message.text)

    page.on("console", hear)
    yield page
    assert [text for text in complaints if "status of 4" not in text] == []


@pytest.fixture
def page(new_context: NewContext) -> Iterator[Page]:
    """A new browser. No page has a script, so it says the same with JavaScript and without."""
    yield from _listen(new_context().new_page())


@pytest.fixture
def page_without_scripts(new_context: NewContext) -> Iterator[Page]:
    """A new browser that runs no scripts."""
    yield from _listen(new_context(java_script_enabled=False).new_page())


def begin(world: LiveWorld, callback: str, step: str = "authorize", **query: str) -> str:
    """The address to open for a new request token; registers the callback."""
    if callback not in {"oob", "harbordesk://oauth"}:
        world.change("apps", world.app_id, callback_urls=[callback])
    token = request(world, "request_token", callback_uri=callback)["oauth_token"]
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return f"{world.base_url}/oauth/{step}?oauth_token={token}{more}"


def request(world: LiveWorld, step: str, **signing: Any) -> dict[str, str]:
    """A signed step of the app."""
    auth = OAuth1(world.key, world.secret, **signing)
    answer = world.session().post(f"{world.base_url}/oauth/{step}", auth=auth)
    assert answer.ok, answer.text
    return dict(parse_qsl(answer.text))


def exchange(world: LiveWorld, begun: dict[str, str], verifier: str) -> str:
    """The name of the user for whom the app gets an access token."""
    token, secret = begun["oauth_token"], begun["oauth_token_secret"]
    found = request(
        world, "access_token", verifier=verifier,
        resource_owner_key=token, resource_owner_secret=secret,
    )  # fmt: skip
    return found["screen_name"]


def fill_in(page: Page, name: str, password: str) -> None:
    """Fill in the login by the labels of its fields, and press its button."""
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def log_in(page: Page, world: LiveWorld) -> None:
    """Log in as the well-known user, who is asked to consent then."""
    fill_in(page, world.screen_name, world.password)
    expect(page.get_by_role("heading", level=1)).to_have_text(ASK)


@pytest.mark.parametrize("step", ["authorize", "authenticate"])
def test_the_apps_exchange_after_the_browsers_visit(
    page: Page, live_world: LiveWorld, callback: CallbackServer, step: str
) -> None:
    """Clicking through leads to the callback, whose verifier is good for an access token."""
    live_world.change("apps", live_world.app_id, callback_urls=[callback.url])
    begun = request(live_world, "request_token", callback_uri=callback.url)
    page.goto(f"{live_world.base_url}/oauth/{step}?oauth_token={begun['oauth_token']}")
    log_in(page, live_world)
    page.get_by_role("button", name="Allow").click()
    expect(page).to_have_title("Arrived")
    called = callback.called_with()

    assert begun["oauth_token"] == called["oauth_token"]
    assert 32 <= len(called["oauth_verifier"]) <= 42
    assert live_world.screen_name == exchange(live_world, begun, called["oauth_verifier"])


def test_no_page_has_a_script(
    page_without_scripts: Page, live_world: LiveWorld, callback: CallbackServer
) -> None:
    """The whole way without JavaScript: no page of it has a script that others could run."""
    page = page_without_scripts
    page.goto(begin(live_world, callback.url))
    seen = [page.content()]
    fill_in(page, live_world.screen_name, "wrong")
    expect(page.get_by_role("alert")).to_be_visible()
    seen.append(page.content())
    log_in(page, live_world)
    seen.append(page.content())
    page.get_by_role("button", name="Allow").click()
    expect(page).to_have_title("Arrived")
    page.goto(begin(live_world, "oob"))
    page.get_by_role("button", name="Allow").click()
    expect(page.locator("#pin")).to_be_visible()
    seen.append(page.content())

    assert "oauth_verifier" in callback.called_with()
    assert [] == re.findall(r"<script|\son\w+=|javascript:", "".join(seen))


@pytest.mark.parametrize("logged_in", [True, False])
def test_deny(page: Page, live_world: LiveWorld, callback: CallbackServer, logged_in: bool) -> None:
    """Deny leads to the callback with denied, and so does Cancel, whose form may be empty."""
    address = begin(live_world, callback.url)
    page.goto(address)
    if logged_in:
        log_in(page, live_world)
    page.get_by_role("button", name="Deny" if logged_in else "Cancel").click()
    expect(page).to_have_title("Arrived")

    assert {"denied": address.partition("oauth_token=")[2]} == callback.called_with()


def test_pin(page: Page, live_world: LiveWorld) -> None:
    """Out of band the page shows the PIN, with which the app gets its token."""
    begun = request(live_world, "request_token", callback_uri="oob")
    page.goto(f"{live_world.base_url}/oauth/authorize?oauth_token={begun['oauth_token']}")
    log_in(page, live_world)
    page.get_by_role("button", name="Allow").click()
    pin = page.locator("#pin").inner_text()

    assert 7 == len(pin)
    assert pin.isdecimal()
    assert live_world.screen_name == exchange(live_world, begun, pin)


def test_a_wrong_password_is_told_and_repaired(page: Page, live_world: LiveWorld) -> None:
    """The page says so, keeps the name, and takes the right one."""
    page.goto(begin(live_world, "oob"))
    fill_in(page, live_world.screen_name, "wrong")
    expect(page.get_by_role("alert")).to_contain_text("No user has this username and password.")
    expect(page.get_by_label("Username")).to_have_value(live_world.screen_name)
    log_in(page, live_world)


def test_empty_fields_are_held_back_by_the_browser(page: Page, live_world: LiveWorld) -> None:
    """Username and password are required, so an empty form is not sent."""
    address = begin(live_world, "oob")
    page.goto(address)
    page.get_by_role("button", name="Log in").click()

    assert address == page.url
    expect(page.get_by_label("Username")).to_be_focused()


def test_authenticate_goes_straight_back(
    page: Page, live_world: LiveWorld, callback: CallbackServer
) -> None:
    """Logged in and granted before, the user sees no page; force_login=true asks again."""
    page.goto(begin(live_world, callback.url))
    log_in(page, live_world)
    page.get_by_role("button", name="Allow").click()
    first = callback.called_with()["oauth_verifier"]
    page.goto(begin(live_world, callback.url, "authenticate"))
    expect(page).to_have_title("Arrived")
    second = callback.called_with()["oauth_verifier"]
    page.goto(begin(live_world, callback.url, "authenticate", force_login="true"))
    expect(page.get_by_label("Username")).to_be_visible()
    log_in(page, live_world)

    assert first != second


def test_screen_name_prefills_and_the_password_has_the_focus(
    page: Page, live_world: LiveWorld
) -> None:
    """When the name is filled in, only the password is left to type."""
    page.goto(begin(live_world, "oob", screen_name=live_world.screen_name))

    expect(page.get_by_label("Username")).to_have_value(live_world.screen_name)
    expect(page.get_by_label("Password")).to_be_focused()


def test_another_account(page: Page, live_world: LiveWorld) -> None:
    """The logged-in user can hand over to another."""
    page.goto(begin(live_world, "oob"))
    log_in(page, live_world)
    page.get_by_role("button", name="Use another account").click()
    fill_in(page, "@Northbike_Co", "gravel-2026")

    expect(page.get_by_text("@northbike_co")).to_be_visible()


@pytest.mark.parametrize("in_field", [True, False], ids=["in a field", "on the button"])
def test_the_whole_way_by_keyboard(
    page: Page, live_world: LiveWorld, callback: CallbackServer, in_field: bool
) -> None:
    """Typing, Tab and Enter are enough; the focus goes in the order in which one reads."""
    page.goto(begin(live_world, callback.url))
    expect(page.get_by_label("Username")).to_be_focused()
    page.keyboard.type(live_world.screen_name)
    page.keyboard.press("Tab")
    expect(page.get_by_label("Password")).to_be_focused()
    page.keyboard.type(live_world.password)
    for name in ("Log in", "Cancel"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=name)).to_be_focused()
    if in_field:  # the first button of the form is its default
        page.get_by_label("Password").focus()
    else:
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(ASK)
    for name in ("Allow", "Deny", "Use another account"):
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=name)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(page).to_have_title("Arrived")

    assert "oauth_verifier" in callback.called_with()


def test_the_callback_may_lead_on(page: Page, live_world: LiveWorld) -> None:
    """The policy's form-action forbids neither the callback nor where it redirects to."""
    with CallbackServer() as last, CallbackServer(f"http://localhost:{last.port}/done") as first:
        page.goto(begin(live_world, first.url))
        log_in(page, live_world)
        page.get_by_role("button", name="Allow").click()
        expect(page).to_have_title("Arrived")

        assert page.url == f"http://localhost:{last.port}/done"
        assert "oauth_verifier" in first.called_with()


def test_a_custom_scheme_is_followed(page: Page, live_world: LiveWorld) -> None:
    """The browser passes the callback to the system; the policy does not prevent it."""
    page.goto(begin(live_world, "harbordesk://oauth"))
    log_in(page, live_world)
    with page.expect_request(lambda found: found.url.startswith("harbordesk:")) as handed:
        page.get_by_role("button", name="Allow").click(no_wait_after=True)

    assert handed.value.url.startswith("harbordesk://oauth?oauth_token=")


def test_a_bad_link_is_explained(page: Page, live_world: LiveWorld) -> None:
    """An unknown token gets a page with a heading and a sentence."""
    answer = page.goto(f"{live_world.base_url}/oauth/authorize?oauth_token=unknown")

    assert answer is not None
    assert 404 == answer.status
    expect(page.get_by_role("main")).to_contain_text("Go back to the app and start again")


def test_over_https(live_world_tls: LiveWorld, new_context: NewContext) -> None:
    """The session's cookie is Secure, and the flow works with it."""
    context = new_context(ignore_https_errors=True)
    page = context.new_page()
    page.goto(begin(live_world_tls, "oob"))
    log_in(page, live_world_tls)
    page.get_by_role("button", name="Allow").click()
    (cookie,) = context.cookies()

    expect(page.locator("#pin")).to_be_visible()
    assert cookie["secure"]
    assert cookie["httpOnly"]
    assert "Lax" == cookie["sameSite"]
    assert cookie["path"].startswith("/~")
