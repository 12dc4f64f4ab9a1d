"""GET oauth/authorize and oauth/authenticate by spec A, and the forms of their pages."""

from __future__ import annotations

import re

import pytest
import requests

from mock_platform.api.oauth.consent import tokens
from mock_platform.api.oauth.records import REQUEST_TOKEN_SECONDS
from mock_platform.core.auth import session as sessions
from mock_platform.world.clock import machine_now
from mock_platform.world.world import World
from tests.oauth_steps import CALLBACK, begun, exchange, granted, last, visitor
from tests.support import BEARER, HARBOR, NORTHBIKE, Keys, Sandbox, Sandboxes, sandbox
from tests.visitor import Visitor

PATHS = ("/oauth/authorize", "/oauth/authenticate")
LOG_IN = "Log in to continue to Harbor Campaign Desk"
ASK = "Allow Harbor Campaign Desk to use your account?"


def opened(box: Sandbox, path: str = PATHS[0], callback: str = CALLBACK, **query: str) -> Visitor:
    """A new browser at the page for a new request token."""
    return visitor(box).open(path, oauth_token=str(begun(box, callback).token), **query)


def state(box: Sandbox, page: Visitor) -> str:
    """The state of the request token that a page is about."""
    found: str = box.record("tokens", page.form.fields["oauth_token"])["state"]
    return found


def again(box: Sandbox, page: Visitor, path: str, **query: str) -> Visitor:
    """The same browser at the page for another new request token."""
    query = {"oauth_token": str(begun(box).token)} | query
    return page.open(path, **query)


# -- what is asked, and when ---------------------------------------------------------------------


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "oauth_callback")
@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "Browser step for")
@pytest.mark.parametrize("path", PATHS)
def test_a_user_logs_in_and_allows(box: Sandbox, path: str) -> None:
    """Log in, allow, and the callback gets oauth_token and oauth_verifier."""
    page = opened(box, path)
    token = page.form.fields["oauth_token"]
    headings = [page.heading, page.log_in().heading]
    page.submit("allow")

    assert [LOG_IN, ASK] == headings
    assert page.landed.startswith(f"{CALLBACK}?oauth_token={token}&oauth_verifier=")
    assert re.fullmatch(r"[A-Za-z0-9]{32,42}", page.landed_with["oauth_verifier"])


@pytest.mark.parametrize("logs_in", [False, True])
@pytest.mark.parametrize("path", PATHS)
def test_a_user_denies(box: Sandbox, path: str, logs_in: bool) -> None:
    """Denial leads to the callback with denied=<request token>, which is worth nothing after."""
    keys = begun(box)
    page = visitor(box).open(path, oauth_token=str(keys.token))
    if logs_in:
        page.log_in()
    page.submit("deny")

    assert f"{CALLBACK}?denied={keys.token}" == page.landed
    assert 410 == page.open(path, oauth_token=str(keys.token)).status
    assert "Invalid request token." == exchange(box, keys, "any").text


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "the value oob selects")
@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "Desktop applications")
def test_out_of_band_mode_shows_a_pin(box: Sandbox) -> None:
    """The page shows the PIN of 7 digits, or that the app was denied; it does not redirect."""
    page, denied = (opened(box, callback="oob").log_in() for _ in range(2))
    page.submit("allow")
    denied.submit("deny")

    assert (200, 200) == (page.status, denied.status)
    assert "Your PIN for Harbor Campaign Desk" == page.heading
    assert re.fullmatch(r"[0-9]{7}", page.pin)
    assert '<code id="pin"' in page.response.text
    assert "Harbor Campaign Desk was denied access" == denied.heading


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "also used for custom")
def test_custom_schemes_are_called_back(box: Sandbox) -> None:
    """A desktop or mobile app's callback is redirected to like any other."""
    page = opened(box, callback="harbordesk://oauth").log_in().submit("allow")

    assert page.landed.startswith("harbordesk://oauth?oauth_token=")


@pytest.mark.spec("A, GET {base_url}/oauth/authenticate", "This needs the")
@pytest.mark.parametrize(("path", "enabled"), [(PATHS[0], True), (PATHS[1], False)])
def test_a_user_who_granted_the_app_is_asked_again(box: Sandbox, path: str, enabled: bool) -> None:
    """By authorize each time; by authenticate without the sign-in setting on the app record."""
    box.change("apps", "11827", _sign_in_enabled=enabled)
    page = opened(box).log_in().submit("allow")
    again(box, page, path)

    assert (200, ASK) == (page.status, page.heading)


@pytest.mark.spec("A, GET {base_url}/oauth/authenticate", "Uses the currently", "If the user has")
@pytest.mark.spec("A, GET {base_url}/oauth/authenticate", "Replaces authorize")
def test_authenticate_redirects_without_asking_again(box: Sandbox) -> None:
    """A logged-in user who granted the app before goes straight back, with a new verifier.

    The same holds for a user who has to log in first, in a browser that is new here.
    """
    page = opened(box).log_in().submit("allow")
    first, keys = page.landed_with["oauth_verifier"], begun(box)
    page.open("/oauth/authenticate", oauth_token=str(keys.token))
    other = opened(box, "/oauth/authenticate").log_in()

    for each in (page, other):
        assert each.landed.startswith(f"{CALLBACK}?oauth_token=")
    assert first != page.landed_with["oauth_verifier"]
    assert "oauth.when-asked" in page.response.headers["X-Mock-Assumptions"]
    assert 200 == exchange(box, keys, page.landed_with["oauth_verifier"]).status_code


@pytest.mark.spec("A, GET {base_url}/oauth/authenticate", "If the user has")
def test_authenticate_asks_for_more_than_was_granted(box: Sandbox) -> None:
    """A grant to read does not answer a request to write, one to write answers both."""
    read, write = (str(begun(box, x_auth_access_type=kind).token) for kind in ("read", "write"))
    page = visitor(box).open("/oauth/authenticate", oauth_token=read).log_in().submit("allow")
    page.open("/oauth/authenticate", oauth_token=write)
    asked = page.status
    page.submit("allow")
    again(box, page, "/oauth/authenticate", oauth_token=str(begun(box).token))

    assert (200, 302) == (asked, page.status)


def test_authenticate_asks_for_another_app_or_user(box: Sandbox) -> None:
    """A grant counts for its app and its user alone."""
    box.change("apps", "20993", _sign_in_enabled=True)
    page = opened(box).log_in().submit("allow")
    other = begun(box, "https://northbike.example/cb", Keys(NORTHBIKE.key, NORTHBIKE.secret))
    page.open("/oauth/authenticate", oauth_token=str(other.token))

    assert "Allow Northbike Poster to use your account?" == page.heading
    assert ASK == opened(box, "/oauth/authenticate").log_in("northbike_co").heading


@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "Desktop applications")
def test_authenticate_refuses_out_of_band_tokens(box: Sandbox) -> None:
    """It replaces authorize for callback-based flows; desktop apps must use authorize."""
    page = opened(box, "/oauth/authenticate", "oob")

    assert 403 == page.status
    assert "must send their users to /oauth/authorize" in page.text
    assert "oauth.authenticate-out-of-band" in page.response.headers["X-Mock-Assumptions"]


# -- force_login, screen_name, oauth_callback ----------------------------------------------------


@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "force_login (optional)")
@pytest.mark.spec("A, GET {base_url}/oauth/authenticate", "Uses the currently")
@pytest.mark.spec("A, GET {base_url}/oauth/authenticate", "Same query parameters")
@pytest.mark.parametrize("user", ["northbike_co", "harbor_roasters"])
@pytest.mark.parametrize("value", ["true", "True"])
@pytest.mark.parametrize("path", PATHS)
def test_force_login_asks_to_log_in_again_and_once(
    box: Sandbox, path: str, value: str, user: str
) -> None:
    """A logged-in user has to log in again, and is then asked even where authenticate would not."""
    page = opened(box).log_in().submit("allow")
    again(box, page, path, force_login=value)
    headings = [page.heading, page.log_in(user).heading]
    address = page.response.url.removeprefix("http://localhost")
    headings.append(page.open(address).heading)

    assert [LOG_IN, ASK, ASK] == headings
    assert f"@{user}" in page.response.text


@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "force_login (optional)")
@pytest.mark.parametrize(("value", "warned"), [("false", False), ("1", True)])
def test_other_values_of_force_login_do_nothing(box: Sandbox, value: str, warned: bool) -> None:
    """Only true forces; what is neither true nor false is warned of."""
    page = opened(box).log_in()
    again(box, page, "/oauth/authorize", force_login=value)

    assert ASK == page.heading
    assert warned == any("force_login accepts true" in text for text in last(box).warnings)


@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "screen_name (optional")
@pytest.mark.spec("A, GET {base_url}/oauth/authenticate", "Same query parameters")
@pytest.mark.parametrize("path", PATHS)
def test_screen_name_prefills_the_username_box(box: Sandbox, path: str) -> None:
    """The field contains the name, with any characters."""
    page = opened(box, path, screen_name='"><script>alert(1)</script>')

    assert '"><script>alert(1)</script>' == page.form.fields["screen_name"]
    assert "<script" not in page.response.text


@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "oauth_callback")
@pytest.mark.parametrize("path", PATHS)
def test_oauth_callback_has_no_effect_here(box: Sandbox, path: str) -> None:
    """It belongs to request_token: the page ignores it and the journal says so."""
    page = opened(box, path, oauth_callback="https://elsewhere.example/")
    warning = "oauth_callback belongs to POST /oauth/request_token and has no effect here"

    assert warning in last(box).warnings
    assert page.log_in().submit("allow").landed.startswith(f"{CALLBACK}?")


# -- request tokens that cannot be answered ------------------------------------------------------


def token_of(box: Sandbox, case: str) -> str:
    """A token that no page can ask about."""
    if case in {"", "unknown"}:
        return case
    if case in {"an access token", "a bearer token"}:
        return str(HARBOR.token) if case == "an access token" else BEARER
    keys = begun(box)
    if case == "used":
        exchange(box, keys, granted(box, keys))
    elif case == "allowed by another":
        granted(box, keys, "northbike_co")
    return str(keys.token)


@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "Query: oauth_token")
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("case", "status", "text"), [
    ("", 400, "The address has no oauth_token."),
    ("unknown", 404, "This sandbox did not issue the request token of this address."),
    ("an access token", 404, "This sandbox did not issue the request token"),
    ("a bearer token", 404, "This sandbox did not issue the request token"),
    ("used", 410, "This request was used already."),
])  # fmt: skip
def test_a_page_says_why_a_token_cannot_be_answered(
    box: Sandbox, path: str, case: str, status: int, text: str
) -> None:
    """The page has the right status, says what is wrong and what to do, and offers no form."""
    page = visitor(box).open(path, oauth_token=token_of(box, case))

    assert status == page.status
    assert page.text.startswith(text)
    assert "<form" not in page.response.text
    assert page.response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "oauth.page-refusals" in page.response.headers["X-Mock-Assumptions"]


def test_a_token_that_another_user_allowed_cannot_be_answered(box: Sandbox) -> None:
    """Once one user has allowed a request, no other user can."""
    token = token_of(box, "allowed by another")
    page = visitor(box).open("/oauth/authorize", oauth_token=token).log_in()

    assert 410 == page.status
    assert page.text.startswith("Another user has allowed this request already.")


@pytest.mark.parametrize(("age", "status"), [
    (REQUEST_TOKEN_SECONDS - 1, 200), (REQUEST_TOKEN_SECONDS, 410),
])  # fmt: skip
def test_a_request_token_expires(box: Sandbox, age: int, status: int) -> None:
    """Just inside its lifetime on the world's clock the page asks, just outside it refuses."""
    box.world.clock.freeze(machine_now().replace(microsecond=0))
    token = str(begun(box).token)
    box.world.clock.advance(age)

    assert status == visitor(box).open("/oauth/authorize", oauth_token=token).status


def test_allowing_twice_gives_the_same_answer(box: Sandbox) -> None:
    """A double click or a reload of the answer shows the same PIN again."""
    page = opened(box, callback="oob").log_in()
    form = page.response
    first = page.submit("allow").pin
    page.response = form

    assert first == page.submit("allow").pin


# -- logging in ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["harbor_roasters", "@harbor_roasters", " Harbor_Roasters "])
def test_the_username_is_taken_as_people_write_it(box: Sandbox, name: str) -> None:
    """In any case, with or without @ and spaces around it."""
    page = opened(box).submit("log_in", screen_name=name, password="espresso-2026")

    assert ASK == page.heading


@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "Browser step for")
@pytest.mark.parametrize(("name", "password"), [
    ("harbor_roasters", "Espresso-2026"), ("harbor_roasters", ""),
    ("harbor_roaster", "espresso-2026"), ("", "espresso-2026"), ("northbike_co", "espresso-2026"),
])  # fmt: skip
def test_a_wrong_login_is_told_and_can_be_repeated(box: Sandbox, name: str, password: str) -> None:
    """The page comes again with 403, keeps the name, says where the users are listed."""
    page = opened(box).submit("log_in", screen_name=name, password=password)

    assert (403, LOG_IN, name) == (page.status, page.heading, page.form.fields["screen_name"])
    assert "No user has this username and password." in page.fault
    assert "http://localhost/_mock/credentials" in page.fault
    assert ASK == page.log_in().heading


def test_another_account_can_be_used(box: Sandbox) -> None:
    """A logged-in user can log out on the page and log in as another user."""
    page = opened(box).log_in().submit("switch")

    assert [LOG_IN, ASK] == [page.heading, page.log_in("northbike_co").heading]
    assert "@northbike_co" in page.response.text


def test_a_session_ends_with_its_world(box: Sandbox) -> None:
    """After a reset no user is logged in, and answering leads back to the login."""
    page = opened(box).log_in()
    box.world.reset()
    again(box, page, "/oauth/authorize")

    assert LOG_IN == page.heading


def test_allowing_without_a_session_leads_to_the_login(box: Sandbox) -> None:
    """If the session ended while the page was shown, the user logs in again and loses nothing."""
    page = opened(box).log_in()
    with box.world.work():
        for entry in box.world.store.page(sessions.TABLE):
            box.world.store.remove(sessions.TABLE, entry.key)
    page.submit("allow")

    assert (200, LOG_IN) == (page.status, page.heading)
    assert "pending" == state(box, page)


# -- the session's cookie and the forms' tokens --------------------------------------------------


def cookie(response: requests.Response) -> str:
    """The cookie that an answer sets."""
    return str(response.headers["Set-Cookie"])


def test_the_cookie_is_closed_to_scripts_and_other_sites(box: Sandbox) -> None:
    """HttpOnly, SameSite=Lax, below /oauth only, for this browser session; over https Secure."""
    value, *attributes = cookie(opened(box).response).split("; ")
    token = str(begun(box).token)
    page = visitor(box, "https://localhost").open("/oauth/authorize", oauth_token=token)

    assert re.fullmatch(r"mock_platform_session_default=[A-Za-z0-9]{40}", value)
    assert ["Path=/oauth", "HttpOnly", "SameSite=Lax"] == attributes
    assert [*attributes, "Secure"] == cookie(page.response).split("; ")[1:]


def issue(world: World) -> str:
    """A request token of another world."""
    with world.work():
        app = world.store.get("apps", "11827")
        assert app is not None
        token: str = tokens.issue_request_token(world, app, CALLBACK, "write")["id"]
        return token


def test_the_cookie_stays_below_its_world(box: Sandbox) -> None:
    """Under a world's prefix its path begins with the prefix, and the flow runs there."""
    token = issue(box.platform.worlds.create("w1"))
    keys = begun(box)  # the ids of worlds differ, so this one is unknown there
    there = visitor(box).open("/~w1/oauth/authorize", oauth_token=str(keys.token))
    page = visitor(box).open("/~w1/oauth/authorize", oauth_token=token)
    value, path, *_ = cookie(page.response).split("; ")
    page.log_in().submit("allow")

    assert 404 == there.status
    assert value.startswith("mock_platform_session_w1=")
    assert "Path=/~w1/oauth" == path
    assert page.landed.startswith(f"{CALLBACK}?oauth_token={token}&")


def test_worlds_at_one_address_do_not_share_a_login(box: Sandbox) -> None:
    """A world that the request token chose has a session of its own."""
    token, page = issue(box.platform.worlds.create("w1")), opened(box).log_in()
    page.open("/oauth/authorize", oauth_token=token)
    there = page.heading
    page.log_in().submit("allow")
    landed = page.landed_with["oauth_token"]
    again(box, page, "/oauth/authorize")

    assert (LOG_IN, token, ASK) == (there, landed, page.heading)


def test_logging_in_changes_the_session(box: Sandbox) -> None:
    """A client that planted or saw the cookie before is not logged in afterwards."""
    page = opened(box)
    planted = page.session.cookies.copy()
    page.log_in()
    other = visitor(box)
    other.session.cookies = planted
    again(box, other, "/oauth/authorize")

    assert LOG_IN == other.heading
    assert 1 == box.world.store.count(sessions.TABLE)


def test_logging_in_again_ends_the_session_before(box: Sandbox) -> None:
    """A browser holds one session, so that they do not pile up; mere visits store none."""
    page = opened(box)
    again(box, page, "/oauth/authorize")
    visited = box.world.store.count(sessions.TABLE)
    page.log_in()
    for _ in range(3):
        again(box, page, "/oauth/authorize", force_login="true").log_in()

    assert (0, 1) == (visited, box.world.store.count(sessions.TABLE))


@pytest.mark.parametrize("action", ["log_in", "allow", "deny", "switch"])
@pytest.mark.parametrize("forgery", ["missing", "wrong", "of another token", "of another browser"])
@pytest.mark.parametrize("path", PATHS)
def test_a_forged_form_is_refused(box: Sandbox, path: str, forgery: str, action: str) -> None:
    """authenticity_token must be of this browser and this request token; nothing happens else."""
    page = opened(box, path).log_in()
    values = {
        "missing": "",
        "wrong": "0" * 64,
        "of another token": again(box, visitor(box), path).form.fields["authenticity_token"],
        "of another browser": opened(box, path).log_in().form.fields["authenticity_token"],
    }
    fields = {"screen_name": "harbor_roasters", "password": "espresso-2026"}
    token = page.form.fields["oauth_token"]
    form = {"oauth_token": token, "authenticity_token": values[forgery], "action": action}
    response = page.session.post(f"http://localhost{path}", data=form | fields)

    assert 403 == response.status_code
    assert "This form did not come from the page that was shown to this browser." in response.text
    assert "pending" == box.record("tokens", token)["state"]


def test_a_form_without_its_cookie_is_refused(box: Sandbox) -> None:
    """Other sites cannot send the cookie along (SameSite=Lax), and without it nothing happens.

    A form with anything else than what the buttons say is refused as well.
    """
    page = opened(box).log_in()
    token, form = page.form.fields["oauth_token"], page.form.fields | {"action": "destroy"}
    odd = page.session.post("http://localhost/oauth/authorize", data=form)
    page.session.cookies.clear()
    page.submit("allow")

    assert (400, 403) == (odd.status_code, page.status)
    assert "must be log_in, allow, deny or switch" in odd.text
    assert "Allow cookies for this address" in page.text
    assert "pending" == box.record("tokens", token)["state"]


# -- failures of other stages --------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("path", PATHS)
def test_failures_are_pages_too(sandboxes: Sandboxes, path: str, method: str) -> None:
    """What refuses before the step itself is shown to people as well as a page."""
    response = sandboxes.get(require_https=True).client.open(path, method=method)

    assert 403 == response.status_code
    assert "text/html; charset=utf-8" == response.headers["Content-Type"]
    assert "<h1>Forbidden</h1>" in response.text
    assert "SSL is required" in response.text
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]


@pytest.mark.spec("A, GET {base_url}/oauth/authorize", "authorize, Rate")
@pytest.mark.spec("A, Versioning", "Numeric rate limits")
def test_the_oauth_limit_counts_the_pages_of_an_app() -> None:
    """Pages are rate limited for each app that the request token names, as a page with headers."""
    box = sandbox(oauth_limit=2)
    with box.world.work():
        mine, other = (
            tokens.issue_request_token(box.world, box.record("apps", key), CALLBACK, "read")["id"]
            for key in ("11827", "20993")
        )
    page = visitor(box)
    statuses = [page.open("/oauth/authorize", oauth_token=mine).status for _ in range(2)]
    beyond = page.open("/oauth/authorize", oauth_token=mine)
    text, headers = beyond.text, beyond.response.headers
    statuses += [beyond.status, page.open("/oauth/authorize", oauth_token=other).status]

    assert [200, 200, 429, 200] == statuses
    assert "Rate limit exceeded" == text
    assert ("2", "0") == (headers["x-rate-limit-limit"], headers["x-rate-limit-remaining"])


def test_the_app_is_known_from_the_form(box: Sandbox) -> None:
    """The journal says who answered for which app, and by which session."""
    opened(box).log_in().submit("allow")
    how = "logged in with the session of the cookie"

    assert last(box).caller == {
        "scheme": "session", "app": "11827", "user": "2244994945", "how": how,
    }  # fmt: skip
