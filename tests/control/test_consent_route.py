"""A user's consent without a browser: request tokens and addresses of pages."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from mock_platform.core.auth.oauth2 import SCOPES
from tests.api.oauth import oauth2_steps
from tests.api.oauth.oauth2_steps import asked, use
from tests.control.support import call, detail
from tests.oauth_steps import CALLBACK, begun, exchange, pairs
from tests.support import HARBOR, NORTHBIKE, Keys, Sandbox, sandbox

ROUTE = "/oauth/approve"


def approved(box: Sandbox, **body: Any) -> dict[str, Any]:
    """The answer of the route."""
    answer = call(box, "POST", ROUTE, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def address(**changed: str | None) -> str:
    """The address to which an app sends its user."""
    return f"http://localhost/2/oauth2/authorize?{urlencode(asked(**changed))}"


@pytest.mark.parametrize("form", ["oauth_token", "url"])
def test_a_request_token(box: Sandbox, form: str) -> None:
    """Its verifier is good for the exchange, and the callback is the one of the browser."""
    keys = begun(box)
    asked_ = f"http://localhost/oauth/authorize?oauth_token={keys.token}"
    found = approved(box, **{form: keys.token if form == "oauth_token" else asked_})

    back = f"{CALLBACK}?oauth_token={keys.token}&oauth_verifier={found['verifier']}"
    assert {"redirect": back, "verifier": found["verifier"], "code": None} == found
    assert "harbor_roasters" == pairs(exchange(box, keys, found["verifier"]))["screen_name"]


def test_out_of_band(box: Sandbox) -> None:
    """The PIN is the verifier, and there is no address."""
    keys = begun(box, "oob")
    found = approved(box, oauth_token=keys.token, user="3805104374")

    assert None is found["redirect"]
    assert found["verifier"].isdecimal()
    assert "northbike_co" == pairs(exchange(box, keys, found["verifier"]))["screen_name"]


@pytest.mark.parametrize("callback", [CALLBACK, "oob"])
def test_a_denied_request_token(box: Sandbox, callback: str) -> None:
    """The callback learns of it, and the token is worth nothing."""
    keys = begun(box, callback)
    found = approved(box, oauth_token=keys.token, deny=True)

    back = None if callback == "oob" else f"{CALLBACK}?denied={keys.token}"
    assert {"redirect": back, "verifier": None, "code": None} == found
    assert 401 == exchange(box, keys, "any").status_code


def test_an_address_of_oauth2(box: Sandbox) -> None:
    """The code is good for the exchange, and the state comes back."""
    found = approved(box, url=address(), user="@northbike_co")
    back = parse_qs(urlsplit(found["redirect"]).query)

    assert {"code": [found["code"]], "state": ["s 1&2"]} == back
    assert None is found["verifier"]
    tokens = oauth2_steps.exchange(box, found["code"]).get_json()
    assert "3805104374" == box.record("tokens", tokens["access_token"])["user_id"]


@pytest.mark.parametrize(
    ("changed", "deny", "error"),
    [({}, True, "access_denied"), ({"scope": "post.reed"}, False, "invalid_scope")],
)
def test_oauth2_goes_back_with_an_error(
    box: Sandbox, changed: dict[str, str | None], deny: bool, error: str
) -> None:
    """As the browser would: denied by the user, or refused."""
    found = approved(box, url=address(**changed), deny=deny)

    assert [error] == parse_qs(urlsplit(found["redirect"]).query)["error"]
    assert None is found["code"]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({}, "Send either oauth_token, a request token of OAuth 1.0a, or url"),
        ({"oauth_token": "a", "url": "b"}, "Send either oauth_token"),
        ({"oauth_token": "a"}, "World 'default' did not issue this request token."),
        ({"url": "http://localhost/2/oauth2/authorize"}, "neither oauth_token nor client_id"),
        ({"url": address(client_id="x")}, "has no app with the client_id 'x'"),
        ({"url": address(redirect_uri="https://evil.example/")}, "is not one of the callback_urls"),
        ({"url": address(), "user": "nobody"}, "there are harbor_roasters, northbike_co"),
    ],
)
def test_what_nobody_waits_for_is_refused(box: Sandbox, body: dict[str, str], text: str) -> None:
    """The refusal says what to send."""
    assert text in detail(call(box, "POST", ROUTE, json=body), 422)


def test_a_request_token_that_was_answered(box: Sandbox) -> None:
    """Used, denied, expired, or allowed by another user."""
    used, denied, other, old = (begun(box) for _ in range(4))
    exchange(box, used, approved(box, oauth_token=used.token)["verifier"])
    approved(box, oauth_token=denied.token, deny=True)
    approved(box, oauth_token=other.token, user="northbike_co")

    def refusal(keys: Keys) -> str:
        return detail(call(box, "POST", ROUTE, json={"oauth_token": keys.token}), 422)

    assert "was used already" in refusal(used)
    assert "was denied already" in refusal(denied)
    assert "Another user has allowed" in refusal(other)
    box.platform.worlds.default.clock.advance(3600)
    assert "is older than 3600 seconds" in refusal(old)


@pytest.mark.parametrize(
    ("route", "body", "status", "told"),
    [
        (ROUTE, {"oauth_token": "a"}, 422, "This world has no user; first add one"),
        ("/credentials/regenerate", None, 404, "has no app; first add one to its table apps."),
    ],
)
def test_a_world_without_users_or_apps(
    route: str, body: dict[str, str] | None, status: int, told: str
) -> None:
    """What is missing is named."""
    empty = sandbox(default_fixtures=False)

    assert told in detail(call(empty, "POST", route, json=body), status)


REGENERATE = "/credentials/regenerate"


def keys_of(made: dict[str, Any], app: Keys) -> Keys:
    """What signs with a new pair."""
    return Keys(app.key, app.secret, made["access_token"], made["access_token_secret"])


@pytest.mark.parametrize(
    "body",
    [
        None, {}, {"app": "11827"}, {"app": HARBOR.key, "user": "harbor_roasters"},
        {"user": "2244994945"},
    ],
)  # fmt: skip
def test_regenerate_the_well_known_pair(box: Sandbox, body: dict[str, str] | None) -> None:
    """Named by id or by name, or not at all; the credentials are the new ones from then on."""
    made = call(box, "POST", REGENERATE, json=body).get_json()

    shown = call(box, "GET", "/credentials").get_json()["user"]
    assert ("11827", "2244994945", "harbor_roasters") == (
        made["app_id"], made["user_id"], made["screen_name"],
    )  # fmt: skip
    assert [HARBOR.token] == made["invalidated"]
    assert (made["access_token"], made["access_token_secret"]) == (
        shown["access_token"], shown["access_token_secret"],
    )  # fmt: skip
    assert 401 == box.call("GET", "/12/accounts").status_code
    assert 200 == box.call("GET", "/12/accounts", keys=keys_of(made, HARBOR)).status_code


def test_a_first_pair_has_the_permissions_of_the_app(box: Sandbox) -> None:
    """An app without a pair for a user gets one, which invalidates none."""
    made = call(box, "POST", REGENERATE, json={"user": "northbike_co"}).get_json()

    assert ([], "write") == (
        made["invalidated"], box.record("tokens", made["access_token"])["access"],
    )  # fmt: skip
    assert 200 == box.call("GET", "/12/accounts", keys=keys_of(made, HARBOR)).status_code
    assert 200 == box.call("GET", "/12/accounts", keys=NORTHBIKE).status_code


def test_a_pair_that_may_only_read_is_replaced_by_one(box: Sandbox) -> None:
    """Regenerating changes the pair, not what it allows."""
    box.change("tokens", str(HARBOR.token), access="read")

    made = call(box, "POST", REGENERATE).get_json()

    assert "read" == box.record("tokens", made["access_token"])["access"]


def test_worlds_have_pairs_of_their_own(box: Sandbox) -> None:
    """What is regenerated in one world stays valid in the others."""
    box.platform.worlds.create("w1")

    assert 200 == call(box, "POST", REGENERATE, world="w1").status_code
    assert 200 == box.call("GET", "/~default/12/accounts").status_code
    assert 401 == box.call("GET", "/~w1/12/accounts").status_code


@pytest.mark.parametrize("scopes", [["post.read", "like.read"], ["tweet.read", "offline.access"]])
def test_tokens_of_oauth2(box: Sandbox, scopes: list[str]) -> None:
    """Another kind of token with chosen scopes; it replaces those of its kind alone."""
    before = call(box, "GET", "/credentials").get_json()["user"]
    made = call(box, "POST", REGENERATE, json={"kind": "oauth2", "scopes": scopes}).get_json()
    after = call(box, "GET", "/credentials").get_json()["user"]
    status = use(box, made["access_token"])

    assert ([before["oauth2_access_token"]], None) == (
        made["invalidated"], made["access_token_secret"],
    )  # fmt: skip
    assert (scopes, made["access_token"]) == (made["scopes"], after["oauth2_access_token"])
    assert (200 if "like.read" in scopes else 403) == status
    assert ("offline.access" in scopes) == (made["refresh_token"] is not None)
    assert 401 == use(box, before["oauth2_access_token"])
    assert 200 == box.call("GET", "/12/accounts").status_code


def test_a_token_of_oauth2_has_all_scopes_unless_some_are_named(box: Sandbox) -> None:
    """For any user of the world, also one who never logged in."""
    made = call(box, "POST", REGENERATE, json={"kind": "oauth2", "user": "northbike_co"}).get_json()

    assert list(SCOPES) == made["scopes"]
    assert ([], "3805104374") == (made["invalidated"], made["user_id"])
    assert 200 == use(box, made["access_token"])
