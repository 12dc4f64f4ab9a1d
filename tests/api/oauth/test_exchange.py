"""OAuth 1.0a by spec A: exchanging request tokens for access tokens, and invalidating those."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import pytest

from mock_platform.api.oauth.records import REQUEST_TOKEN_SECONDS
from mock_platform.serving.app import create_app
from mock_platform.world.clock import machine_now
from tests.oauth_steps import (
    APP,
    CALLBACK,
    begun,
    code,
    exchange,
    granted,
    last,
    pairs,
    sign_in,
    visitor,
)
from tests.support import BEARER, HARBOR, NORTHBIKE, Keys, Sandbox, sandbox, signed

INVALIDATE = "/1.1/oauth/invalidate_token"
MEDIA = "/12/accounts/18ce54d4x5t/account_media"
NO_STORE = "no-cache, no-store, must-revalidate, pre-check=0, post-check=0"


# -- access_token --------------------------------------------------------------------------------


@pytest.mark.spec("A, Credential payloads", "Access token: oauth_token", "Request token and")
@pytest.mark.spec("A, POST {base_url}/oauth/access_token", "Response: the access")
@pytest.mark.spec("A, States and transitions", "request token issued")
def test_access_token_answers_with_the_access_token_payload(box: Sandbox) -> None:
    """Access token and secret in the public shapes, with user_id and screen_name, not cached."""
    box.call("POST", INVALIDATE, keys=HARBOR)  # so that none is held
    response = sign_in(box)
    found = pairs(response)

    assert ["oauth_token", "oauth_token_secret", "user_id", "screen_name"] == list(found)
    assert re.fullmatch(r"2244994945-[A-Za-z0-9]{40}", found["oauth_token"])
    assert re.fullmatch(r"[A-Za-z0-9]{40,45}", found["oauth_token_secret"])
    assert ("2244994945", "harbor_roasters") == (found["user_id"], found["screen_name"])
    assert "text/html; charset=utf-8" == response.headers["Content-Type"]
    assert NO_STORE == response.headers["cache-control"]


def owned(found: dict[str, str]) -> Keys:
    """The app's keys with an access token."""
    return Keys(APP.key, APP.secret, found["oauth_token"], found["oauth_token_secret"])


def test_the_access_token_acts_for_the_user_who_allowed(box: Sandbox) -> None:
    """It signs for the user who logged in, with any owner of the app."""
    found = pairs(sign_in(box, "northbike_co"))
    response = box.call("POST", f"{INVALIDATE}.json", keys=owned(found))

    assert ("3805104374", "northbike_co") == (found["user_id"], found["screen_name"])
    assert 200 == response.status_code
    assert "3805104374" == last(box).caller["user"]


@pytest.mark.spec("A, POST {base_url}/oauth/access_token", "oauth_verifier")
@pytest.mark.parametrize("place", ["header", "query", "body", "header and body"])
def test_the_verifier_stands_in_header_query_or_body(box: Sandbox, place: str) -> None:
    """oauth_verifier is read from each place, and from two of them."""
    keys = begun(box)
    sent = {"oauth_verifier": granted(box, keys)}
    more: Any = {"verifier": sent["oauth_verifier"]} if "header" in place else {}
    path = "/oauth/access_token" + (f"?{urlencode(sent)}" if place == "query" else "")
    form = sent if "body" in place else None
    headers = signed("POST", f"http://localhost{path}", keys, form, **more)
    response = box.client.post(path, headers=headers, data=form)

    assert "harbor_roasters" == pairs(response)["screen_name"]


@pytest.mark.spec("A, POST {base_url}/oauth/access_token", "OAuth 1.0a is strictly")
@pytest.mark.parametrize("verifier", [None, "", "wrong"])
@pytest.mark.parametrize("callback", [CALLBACK, "oob"])
def test_the_verifier_is_required_and_must_be_right(
    box: Sandbox, callback: str, verifier: str | None
) -> None:
    """OAuth 1.0a is strictly enforced: without the right verifier or PIN, 401 in plain text."""
    keys = begun(box, callback)
    right = granted(box, keys)
    response = exchange(box, keys, verifier)

    assert 401 == response.status_code
    assert "Error processing your OAuth request: Invalid oauth_verifier parameter" == response.text
    assert "verifier" == last(box).diagnosis["mistake"]
    assert "oauth.access-token-refusals" in response.headers["X-Mock-Assumptions"]
    assert 200 == exchange(box, keys, right).status_code  # a wrong one uses nothing up


@pytest.mark.spec("A, States and transitions", "request token issued")
def test_a_request_token_that_nobody_allowed_has_no_verifier(box: Sandbox) -> None:
    """A pending request token cannot be exchanged by guessing."""
    response = exchange(box, begun(box), "None")

    assert 401 == response.status_code
    assert "the user has not allowed this request token yet" == last(box).diagnosis["explanation"]


@pytest.mark.spec("A, States and transitions", "request token issued")
@pytest.mark.parametrize("callback", [CALLBACK, "oob"])
def test_a_request_token_is_exchanged_once(box: Sandbox, callback: str) -> None:
    """Verifier and PIN are single use."""
    keys = begun(box, callback)
    verifier = granted(box, keys)
    first, second = exchange(box, keys, verifier), exchange(box, keys, verifier)

    assert 200 == first.status_code
    assert (401, "Invalid request token.") == (second.status_code, second.text)


def test_parallel_exchanges_give_one_access_token(box: Sandbox) -> None:
    """Of eight clients with the same verifier one gets the token."""
    keys = begun(box)
    more: dict[str, Any] = {"verifier": granted(box, keys)}
    clients = [create_app(box.platform).test_client() for _ in range(8)]

    def attempt(number: int) -> int:
        headers = signed("POST", "http://localhost/oauth/access_token", keys, **more)
        return clients[number].post("/oauth/access_token", headers=headers).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(attempt, range(8)))

    assert [200] + [401] * 7 == sorted(statuses)


@pytest.mark.parametrize("strict", [False, True])
def test_clients_may_repeat_the_callback_and_name_a_realm(strict: bool) -> None:
    """Popular clients sign the exchange with oauth_callback; it is warned of, also if strict."""
    box = sandbox(strict=strict)
    keys = begun(box)
    more: dict[str, Any] = {"callback_uri": CALLBACK, "realm": "r", "verifier": granted(box, keys)}
    headers = signed("POST", "http://localhost/oauth/access_token", keys, **more)
    warning = "parameter 'oauth_callback' is not one of this operation and was ignored"

    assert 200 == box.client.post("/oauth/access_token", headers=headers).status_code
    assert [warning] == last(box).warnings


def forged(box: Sandbox, case: str) -> Keys:
    """Keys whose token is not a request token that this app may exchange."""
    keys = begun(box)
    if case == "missing":
        return APP
    if case == "unknown":
        return Keys(APP.key, APP.secret, "x" * 27, keys.token_secret)
    if case == "of another app":
        return Keys(NORTHBIKE.key, NORTHBIKE.secret, keys.token, keys.token_secret)
    if case == "an access token":
        return HARBOR
    if case == "a bearer token":
        return Keys(APP.key, APP.secret, BEARER, "")
    page = visitor(box).open("/oauth/authorize", oauth_token=str(keys.token))
    page.submit("deny")
    return keys


@pytest.mark.spec("A, POST {base_url}/oauth/access_token", "oauth_token (required)")
@pytest.mark.spec("A, States and transitions", "request token issued")
@pytest.mark.parametrize(
    "case",
    ["missing", "unknown", "of another app", "an access token", "a bearer token", "denied"],
)
def test_the_token_must_be_the_one_that_was_issued(box: Sandbox, case: str) -> None:
    """oauth_token must equal the token from request_token; otherwise 401 in plain text."""
    response = exchange(box, forged(box, case), "verifier")

    assert (401, "Invalid request token.") == (response.status_code, response.text)
    assert "oauth.access-token-refusals" in response.headers["X-Mock-Assumptions"]
    assert last(box).diagnosis


@pytest.mark.spec("A, POST {base_url}/oauth/access_token", "Requires authentication")
def test_access_token_is_signed_with_the_request_tokens_secret(box: Sandbox) -> None:
    """A signature with another token secret is 401 with code 32."""
    keys = begun(box)
    verifier = granted(box, keys)
    other = Keys(keys.key, keys.secret, keys.token, begun(box).token_secret)

    assert (401, 32) == code(exchange(box, other, verifier))
    assert "other-secret" == last(box).diagnosis["mistake"]
    assert (400, 215) == code(box.call("POST", "/oauth/access_token", keys=None))


@pytest.mark.parametrize(("age", "status"), [
    (REQUEST_TOKEN_SECONDS - 1, 200), (REQUEST_TOKEN_SECONDS, 401),
])  # fmt: skip
def test_a_request_token_expires_on_the_worlds_clock(box: Sandbox, age: int, status: int) -> None:
    """Just inside its lifetime it can be exchanged, just outside no longer."""
    box.world.clock.freeze(machine_now().replace(microsecond=0))
    keys = begun(box)
    verifier = granted(box, keys)
    box.world.clock.advance(age)
    response = exchange(box, keys, verifier)

    assert status == response.status_code
    assert status == 200 or "Invalid request token." == response.text


def test_a_sign_in_returns_the_pair_that_is_held(box: Sandbox) -> None:
    """Signing in again leaves the pair of user and app as it is, the published one included.

    After an invalidation, a sign-in issues a new pair, and later ones return that.
    """
    first, second = sign_in(box), sign_in(box)
    other = pairs(sign_in(box, "northbike_co"))
    held = pairs(first)

    assert (HARBOR.token, HARBOR.token_secret) == (held["oauth_token"], held["oauth_token_secret"])
    assert held == pairs(second)
    assert "oauth.held-pair" in first.headers["X-Mock-Assumptions"]
    assert other["oauth_token"] != NORTHBIKE.token  # that one is another app's
    assert 200 == box.call("GET", "/12/accounts").status_code
    assert 200 == box.call("POST", INVALIDATE, keys=HARBOR).status_code
    third = pairs(sign_in(box))
    assert third["oauth_token"] != HARBOR.token
    assert third == pairs(sign_in(box))


@pytest.mark.parametrize(("held", "allowed"), [("read", "write"), ("write", "read")])
def test_a_held_pair_may_do_what_is_allowed_now(box: Sandbox, held: str, allowed: str) -> None:
    """The token stays, its access is that of the last sign-in."""
    box.change("tokens", str(HARBOR.token), access=held)
    found = pairs(sign_in(box, x_auth_access_type=allowed))

    assert HARBOR.token == found["oauth_token"]
    assert allowed == box.record("tokens", found["oauth_token"])["access"]


def test_fresh_tokens_invalidate_the_held_pair() -> None:
    """Rule 4, the other reading: with --fresh-tokens the previous pair no longer works."""
    box = sandbox(fresh_tokens=True)
    of_other_user, response = pairs(sign_in(box, "northbike_co")), sign_in(box)
    token = pairs(response)["oauth_token"]
    after = box.call("POST", INVALIDATE, keys=HARBOR)

    assert token != HARBOR.token
    assert "oauth.regenerated-pair" in response.headers["X-Mock-Assumptions"]
    assert (401, 89) == code(after)
    for active in (of_other_user["oauth_token"], str(NORTHBIKE.token), token):
        assert "active" == box.record("tokens", active)["state"]


@pytest.mark.spec("A, Authentication", "regenerating invalidates")
def test_a_regenerated_pair_invalidates_the_previous_one(box: Sandbox) -> None:
    """Rule 4: the portal's button issues a new pair, and the old one no longer works."""
    made = box.client.post("/_mock/credentials/regenerate").get_json()
    fresh = Keys(HARBOR.key, HARBOR.secret, made["access_token"], made["access_token_secret"])

    assert [HARBOR.token] == made["invalidated"]
    assert (401, 89) == code(box.call("POST", "/1.1/oauth/invalidate_token", keys=HARBOR))
    assert 200 == box.call("GET", "/12/accounts", keys=fresh).status_code


def test_the_exchange_records_the_grant(box: Sandbox) -> None:
    """The table grants says which user granted which app what; invalidating takes it back."""
    found = pairs(sign_in(box, x_auth_access_type="read"))
    grant = box.record("grants", "11827-2244994945")
    box.call("POST", INVALIDATE, keys=owned(found))

    assert ("11827", "2244994945", "read") == (grant["app_id"], grant["user_id"], grant["access"])
    assert box.world.store.get("grants", "11827-2244994945") is None


def test_a_user_who_is_gone_gets_no_token(box: Sandbox) -> None:
    """A user removed between allowing and exchanging ends the request token."""
    keys = begun(box)
    verifier = granted(box, keys)
    with box.world.work():
        box.world.store.remove("users", "2244994945")
    response = exchange(box, keys, verifier)

    assert (401, "Invalid request token.") == (response.status_code, response.text)


@pytest.mark.spec("A, Authentication", "Access token and")
def test_secrets_are_shown_once(box: Sandbox) -> None:
    """Rule 4: after the exchange no answer and no journal entry shows token, secret or verifier.

    The page with a PIN is kept without it.
    """
    keys, by_pin = begun(box), begun(box, "oob")
    verifier, pin = granted(box, keys), granted(box, by_pin)
    found = pairs(exchange(box, keys, verifier))
    shown = "".join(str(entry.as_json()) for entry in box.world.journal)

    assert re.fullmatch(r"[0-9]{7}", pin)
    for secret in (
        keys.token, keys.token_secret, verifier, found["oauth_token"], found["oauth_token_secret"],
        "espresso-2026", HARBOR.secret, pin,
    ):  # fmt: skip
        assert str(secret) not in shown


# -- invalidate_token ----------------------------------------------------------------------------


@pytest.mark.spec("A, Credential payloads", "Access token invalidation")
@pytest.mark.spec(
    "A, POST {base_url}/1.1/oauth/invalidate_token", "A .json suffix", "Response HTTP 200"
)
@pytest.mark.spec("A, Versioning", "The token revocation")
@pytest.mark.parametrize(
    "path", ["/1.1/oauth/invalidate_token", "/1.1/oauth/invalidate_token.json"]
)
def test_invalidate_token_answers_with_the_token(box: Sandbox, path: str) -> None:
    """With and without .json: HTTP 200, JSON with access_token."""
    response = box.call("POST", path, keys=HARBOR)

    assert (200, {"access_token": HARBOR.token}) == (response.status_code, response.get_json())
    assert "application/json; charset=utf-8" == response.headers["Content-Type"]
    assert "oauth.invalidate_token" == response.headers["X-Mock-Operation"]


@pytest.mark.spec("A, States and transitions", "access token issued")
@pytest.mark.spec("A, Errors", "Use of an invalidated")
@pytest.mark.parametrize(("method", "path"), [
    ("POST", "/1.1/oauth/invalidate_token.json"), ("GET", MEDIA),
])  # fmt: skip
def test_an_invalidated_token_answers_401_with_code_89(
    box: Sandbox, method: str, path: str
) -> None:
    """Errors: use of an invalidated access token is 401, an errors array with code 89."""
    box.call("POST", f"{INVALIDATE}.json", keys=HARBOR)
    response = box.call(method, path, keys=HARBOR)

    assert 401 == response.status_code
    assert [{"code": 89, "message": "Invalid or expired token."}] == response.get_json()["errors"]


@pytest.mark.spec("A, Other v2 endpoints", "OAuth 1.0a endpoints")
@pytest.mark.spec("A, States and transitions", "access token issued")
def test_a_new_creation_yields_a_different_token(box: Sandbox) -> None:
    """After invalidation the three-legged flow returns another pair, which works."""
    box.call("POST", f"{INVALIDATE}.json", keys=HARBOR)
    fresh = owned(pairs(sign_in(box)))

    assert HARBOR.token != fresh.token
    assert 200 == box.call("GET", MEDIA, keys=fresh).status_code


@pytest.mark.spec("A, POST {base_url}/1.1/oauth/invalidate_token", "Requires user-context")
@pytest.mark.spec("A, States and transitions", "access token issued")
def test_invalidate_token_needs_the_user_context_of_that_token(box: Sandbox) -> None:
    """An app's own signature, a request token, a bearer token and nothing at all are refused."""
    for keys, refused in (
        (APP, (400, 215)), (begun(box), (401, 89)), (BEARER, (403, 220)), (None, (400, 215))
    ):  # fmt: skip
        assert refused == code(box.call("POST", f"{INVALIDATE}.json", keys=keys))
    assert "active" == box.record("tokens", str(HARBOR.token))["state"]


# -- wording -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "keys", "status", "number", "message"), [
    (INVALIDATE, Keys("unknown", "x", "t", "s"), 401, 32, "Could not authenticate you"),
    (INVALIDATE, Keys(HARBOR.key, "no", HARBOR.token, "s"), 401, 32, "Could not authenticate you"),
    (INVALIDATE, Keys(HARBOR.key, HARBOR.secret, "t", "s"), 401, 89, "Invalid or expired token."),
    # On 1.1, a bearer token that was never issued and one that was invalidated: no full stop.
    (INVALIDATE, "never-issued", 401, 89, "Invalid or expired token"),
    (INVALIDATE, BEARER, 401, 89, "Invalid or expired token"),
    ("/oauth/nowhere", None, 404, 34, "Sorry, that page does not exist"),
])  # fmt: skip
def test_refusals_are_worded_as_public(
    box: Sandbox, path: str, keys: Keys | str | None, status: int, number: int, message: str
) -> None:
    """Code and message of the public table."""
    box.change("tokens", BEARER, state="invalidated")
    response = box.call("POST", path, keys=keys)

    assert status == response.status_code
    assert [{"code": number, "message": message}] == response.get_json()["errors"]
