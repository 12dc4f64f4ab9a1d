"""OAuth 2.0 app-only by spec A: bearer tokens are created, kept, revoked."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlencode

import pytest
from werkzeug.test import TestResponse

from mock_platform.world.clock import machine_now
from tests.oauth_steps import last
from tests.support import BEARER, FORM, HARBOR, NORTHBIKE, Keys, Sandbox, body_of, sandbox

GRANT = {"grant_type": "client_credentials"}


def basic(keys: Keys = HARBOR) -> dict[str, str]:
    """An app's key and secret as HTTP Basic, URL-encoded before they are joined."""
    pair = f"{quote(keys.key, safe='')}:{quote(keys.secret, safe='')}"
    return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


def post(
    box: Sandbox, path: str, form: Mapping[str, str] | None, keys: Keys | None = HARBOR,
    headers: Mapping[str, str] | None = None,
) -> TestResponse:  # fmt: skip
    """A request as clients make it: Basic, and a form."""
    sent = {**(basic(keys) if keys else {}), **(headers or {})}
    return box.call("POST", path, keys=None, form=form, headers=sent)


def create(box: Sandbox, keys: Keys = HARBOR) -> str:
    """The app's bearer token."""
    return str(body_of(post(box, "/oauth2/token", GRANT, keys))["access_token"])


def revoke(box: Sandbox, token: str, keys: Keys = HARBOR) -> TestResponse:
    """The answer to revoking a bearer token."""
    return post(box, "/oauth2/invalidate_token", {"access_token": token}, keys)


def use(box: Sandbox, token: str) -> TestResponse:
    """A v2 request with a bearer token; its empty body is refused after the token."""
    return box.call("POST", "/2/webhooks/replay", keys=token, json={})


def assert_unverified(box: Sandbox, response: TestResponse, *, assumed: bool = True) -> None:
    """403 with code 99, as the public facts print it; marked as an assumption where it is one."""
    message, label = "Unable to verify your credentials", "authenticity_token_error"
    errors = [{"code": 99, "message": message, "label": label}]
    assert (403, {"errors": errors}) == (response.status_code, response.get_json())
    assert assumed == ("oauth2.failures-code-99" in response.headers["X-Mock-Assumptions"])
    if assumed:
        assert last(box).diagnosis["explanation"]


# -- oauth2/token --------------------------------------------------------------------------------


@pytest.mark.spec("A, Credential payloads", "Bearer token: token_type")
@pytest.mark.spec("A, POST {base_url}/oauth2/token", "Auth: HTTP Basic", "Response HTTP 200")
@pytest.mark.spec("A, States and transitions", "(none or invalidated)")
@pytest.mark.spec("A, Authentication", "OAuth 2.0 app-only")
@pytest.mark.spec("A, Versioning", "The token revocation")
def test_token_answers_with_the_bearer_token_payload(box: Sandbox) -> None:
    """HTTP 200 JSON: token_type bearer and an access_token with percent-encoded characters."""
    response = post(box, "/oauth2/token", GRANT, NORTHBIKE)
    body = body_of(response)

    assert "application/json; charset=utf-8" == response.headers["Content-Type"]
    assert ["token_type", "access_token"] == list(body)
    assert "bearer" == body["token_type"]
    assert re.fullmatch(r"AAAA[A-Za-z0-9]+%2F[A-Za-z0-9]+%3D[A-Za-z0-9]+", body["access_token"])
    assert response.headers["cache-control"].startswith("no-cache, no-store")


@pytest.mark.spec("A, States and transitions", "(none or invalidated)")
@pytest.mark.spec("A, Limits", "Outstanding bearer", side="inside")
def test_an_app_has_one_outstanding_bearer_token(box: Sandbox) -> None:
    """Repeat calls return the same token: the fixtures' one, or the first that was created."""
    of_fixtures = {create(box) for _ in range(3)}
    created = {create(box, NORTHBIKE) for _ in range(3)}

    assert {BEARER} == of_fixtures
    assert 1 == len(created)
    assert BEARER not in created


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC"])
def test_key_and_secret_are_url_encoded(box: Sandbox, scheme: str) -> None:
    """Characters that mean something in Basic or in URLs arrive as they are in the record.

    The name of the scheme is taken in any case, as HTTP compares it.
    """
    odd = Keys("key:with/colon", "se%cret+ü:")
    box.change("apps", "20993", consumer_key=odd.key, consumer_secret=odd.secret)
    headers = {"Authorization": basic(odd)["Authorization"].replace("Basic", scheme)}

    assert body_of(post(box, "/oauth2/token", GRANT, None, headers))["access_token"][:4] == "AAAA"


def test_grant_type_may_stand_in_the_query(box: Sandbox) -> None:
    """Public fact, recorded: parameters in the query do as well as in the form."""
    in_query = post(box, "/oauth2/token?" + urlencode(GRANT), None)
    in_form = post(box, "/oauth2/token", GRANT)

    assert 200 == in_query.status_code
    assert "oauth2.parameters-in-query" in in_query.headers["X-Mock-Assumptions"]
    assert "oauth2.parameters-in-query" not in in_form.headers["X-Mock-Assumptions"]


@pytest.mark.spec("A, POST {base_url}/oauth2/token", "Body: application/x-www-form-urlencoded")
@pytest.mark.parametrize("form", [
    None, {}, {"grant_type": ""}, {"grant_type": "password"}, {"grant_type": "Client_Credentials"},
])  # fmt: skip
def test_only_client_credentials_is_allowed(box: Sandbox, form: Mapping[str, str] | None) -> None:
    """A missing or other grant_type is 403 with code 99."""
    assert_unverified(box, post(box, "/oauth2/token", form))
    assert "grant_type must be client_credentials" in last(box).diagnosis["explanation"]


@pytest.mark.spec("A, POST {base_url}/oauth2/token", "Body: application/x-www-form-urlencoded")
def test_a_body_that_is_no_form_carries_no_grant_type(box: Sandbox) -> None:
    """The body is application/x-www-form-urlencoded; JSON is ignored with a warning."""
    response = box.call("POST", "/oauth2/token", keys=None, headers=basic(), json=GRANT)
    assert_unverified(box, response)
    assert "the body has Content-Type application/json" in last(box).warnings[0]


CREDENTIALS: dict[str, dict[str, str]] = {
    "none": {},
    "wrong secret": basic(Keys(HARBOR.key, "wrong")),
    "unknown key": basic(Keys("nobody", HARBOR.secret)),
    "secret of another app": basic(Keys(HARBOR.key, NORTHBIKE.secret)),
    "no base64": {"Authorization": "Basic %%%"},
    "no colon": {"Authorization": "Basic " + b64encode(b"nocolon").decode()},
    "no text": {"Authorization": "Basic " + b64encode(b"\xff\xfe:x").decode()},
    "bearer": {"Authorization": f"Bearer {BEARER}"},
    "another scheme": {"Authorization": "Digest x"},
    "unsigned": {"Authorization": f'OAuth oauth_consumer_key="{HARBOR.key}"'},
}


@pytest.mark.spec("A, POST {base_url}/oauth2/token", "Auth: HTTP Basic")
@pytest.mark.parametrize("case", list(CREDENTIALS))
@pytest.mark.parametrize("path", ["/oauth2/token", "/oauth2/invalidate_token"])
def test_bad_credentials_are_403_with_code_99(box: Sandbox, path: str, case: str) -> None:
    """Whatever is wrong with the credentials: not 400, not 401; the journal says what it was."""
    form = GRANT | {"access_token": BEARER}
    assert_unverified(box, post(box, path, form, None, CREDENTIALS[case]))
    assert "active" == box.record("tokens", BEARER)["state"]


@pytest.mark.spec("A, POST {base_url}/oauth2/token", "Auth: HTTP Basic")
def test_token_takes_no_oauth1_signature(box: Sandbox) -> None:
    """oauth2/token is for HTTP Basic only."""
    assert_unverified(box, box.call("POST", "/oauth2/token", keys=HARBOR, form=GRANT))


# -- too frequently ------------------------------------------------------------------------------


@pytest.mark.spec("A, POST {base_url}/oauth2/token", "Tokens should be")
def test_nothing_is_too_frequent_by_default(box: Sandbox) -> None:
    """How often is too often is not shown, so no number is enforced."""
    assert [200] * 20 == [post(box, "/oauth2/token", GRANT).status_code for _ in range(20)]


@pytest.mark.spec("A, POST {base_url}/oauth2/token", "Tokens should be")
@pytest.mark.spec("A, Errors", "oauth2/token requested")
def test_too_frequent_requests_are_403_with_code_99() -> None:
    """Inside --bearer-threshold 200, beyond it 403 and 99, per app, on the world's clock."""
    box = sandbox(bearer_threshold=2, bearer_window=60)
    clock = box.platform.worlds.default.clock
    clock.freeze(machine_now().replace(microsecond=0))
    inside = [post(box, "/oauth2/token", GRANT) for _ in range(2)]
    beyond = post(box, "/oauth2/token", GRANT)
    other_app = post(box, "/oauth2/token", GRANT, NORTHBIKE)
    clock.advance(59)
    still = post(box, "/oauth2/token", GRANT)
    clock.advance(1)
    later = post(box, "/oauth2/token", GRANT)

    assert [200, 200, 200, 200] == [r.status_code for r in (*inside, other_app, later)]
    assert_unverified(box, beyond, assumed=False)
    assert_unverified(box, still, assumed=False)
    assert "oauth2.too-frequent-threshold" in beyond.headers["X-Mock-Assumptions"]
    assert ["2", "0"] == [beyond.headers[f"x-rate-limit-{n}"] for n in ("limit", "remaining")]


def test_what_the_threshold_counts() -> None:
    """Requests of the app itself for a token: no wrong credentials, no revocations.

    --limits off drops the platform's limits, not the one that was set on purpose.
    """
    box = sandbox(bearer_threshold=1, limits="off")
    post(box, "/oauth2/token", GRANT, Keys(HARBOR.key, "wrong"))
    revoke(box, BEARER)

    assert [200, 403] == [post(box, "/oauth2/token", GRANT).status_code for _ in range(2)]


def test_two_limits_send_each_header_once() -> None:
    """With an OAuth limit as well the headers show the tighter one."""
    box = sandbox(bearer_threshold=2, oauth_limit=5)
    response = post(box, "/oauth2/token", GRANT)

    assert ["2"] == response.headers.getlist("x-rate-limit-limit")
    assert ["1"] == response.headers.getlist("x-rate-limit-remaining")


# -- oauth2/invalidate_token ---------------------------------------------------------------------


@pytest.mark.spec("A, POST {base_url}/oauth2/invalidate_token", "Response is a JSON")
@pytest.mark.spec("A, Versioning", "The token revocation")
def test_invalidate_token_describes_the_revoked_token(box: Sandbox) -> None:
    """HTTP 200, JSON with access_token; recorded, because the spec shows no parameters."""
    response = revoke(box, BEARER)

    assert {"access_token": BEARER} == body_of(response)
    assert "oauth2.invalidate-access-token" in response.headers["X-Mock-Assumptions"]


@pytest.mark.spec("A, POST {base_url}/oauth2/invalidate_token", "Request parameters")
@pytest.mark.parametrize("spelling", [BEARER, unquote(BEARER)])
@pytest.mark.parametrize("place", ["form", "query"])
def test_the_token_is_taken_encoded_and_decoded(box: Sandbox, place: str, spelling: str) -> None:
    """As it was handed out, percent-encoded, or decoded once; in form or query."""
    given = {"access_token": spelling}
    if place == "form":
        response = post(box, "/oauth2/invalidate_token", given)
    else:
        response = post(box, "/oauth2/invalidate_token?" + urlencode(given), None)

    assert {"access_token": BEARER} == response.get_json()
    decoded = "oauth2.bearer-decoded" in response.headers["X-Mock-Assumptions"]
    assert decoded == (spelling != BEARER)


def test_the_token_is_taken_as_the_public_guide_sends_it(box: Sandbox) -> None:
    """The guide puts the token into the body unencoded, so that it arrives decoded."""
    more: Any = {"headers": basic() | {"Content-Type": FORM}, "data": f"access_token={BEARER}"}
    response = box.call("POST", "/oauth2/invalidate_token", keys=None, **more)

    assert {"access_token": BEARER} == response.get_json()


@pytest.mark.spec("A, POST {base_url}/oauth2/invalidate_token", "Revokes the bearer")
@pytest.mark.spec("A, Other v2 endpoints", "OAuth 1.0a endpoints")
@pytest.mark.spec("A, States and transitions", "bearer token issued")
@pytest.mark.spec("A, Limits", "Outstanding bearer", side="outside")
def test_a_revoked_token_is_no_longer_usable(box: Sandbox) -> None:
    """Before, the v2 interface takes it; after, 401 with code 89.

    The next call creates another, which works, and stays.
    """
    before = use(box, BEARER)
    revoke(box, BEARER)
    after, fresh = use(box, BEARER), create(box)

    assert (400, 401) == (before.status_code, after.status_code)
    assert 89 == after.get_json()["errors"][0]["code"]
    assert BEARER != fresh == create(box)
    assert (400, 401) == (use(box, fresh).status_code, use(box, BEARER).status_code)


def test_the_v2_interface_takes_the_decoded_token_too(box: Sandbox) -> None:
    """Clients that decode what they received are understood; it is recorded."""
    response = use(box, unquote(BEARER))

    assert 400 == response.status_code
    assert "oauth2.bearer-decoded" in response.headers["X-Mock-Assumptions"]
    assert 401 == use(box, unquote(BEARER)[:-1]).status_code


@pytest.mark.parametrize(
    "token", ["", "unknown", str(HARBOR.token), BEARER[:-1], quote(quote(BEARER, ""), "")]
)
def test_what_is_no_bearer_token_cannot_be_revoked(box: Sandbox, token: str) -> None:
    """An unknown value, or a token of another kind, is 403 with code 99."""
    assert_unverified(box, revoke(box, token))
    assert_unverified(box, post(box, "/oauth2/invalidate_token", None))
    assert "active" == box.record("tokens", str(HARBOR.token))["state"]


@pytest.mark.spec("A, POST {base_url}/oauth2/invalidate_token", "Auth: client credentials")
def test_a_token_is_revoked_once_and_by_its_own_app(box: Sandbox) -> None:
    """A revoked token, and one of another app, are 403 with code 99."""
    assert_unverified(box, revoke(box, BEARER, NORTHBIKE))
    assert 200 == revoke(box, BEARER).status_code
    assert_unverified(box, revoke(box, BEARER))


def test_the_owners_oauth1_signature_revokes_too(box: Sandbox) -> None:
    """The public pages disagree: the app's keys with its owner's token are accepted as well."""
    response = box.call("POST", "/oauth2/invalidate_token", form={"access_token": BEARER})

    assert {"access_token": BEARER} == response.get_json()
    assert "oauth2.invalidate-auth" in response.headers["X-Mock-Assumptions"]


@pytest.mark.spec("A, POST {base_url}/oauth2/invalidate_token", "Auth: client credentials")
@pytest.mark.parametrize("keys", [HARBOR, Keys(HARBOR.key, HARBOR.secret)], ids=["user", "app"])
def test_another_users_oauth1_signature_does_not_revoke(box: Sandbox, keys: Keys) -> None:
    """Only the app's owner may; an app's signature without any user does not do either."""
    box.change("apps", "11827", _owner_user_id="3805104374")
    form = {"access_token": BEARER}
    assert_unverified(box, box.call("POST", "/oauth2/invalidate_token", keys=keys, form=form))
    assert "active" == box.record("tokens", BEARER)["state"]


# -- settings ------------------------------------------------------------------------------------


def test_auth_off_gives_tokens_to_everybody() -> None:
    """--auth off: the well-known app's token without credentials, other apps' by their key."""
    box = sandbox(auth="off")
    well_known = post(box, "/oauth2/token", GRANT, None).get_json()
    other = post(box, "/oauth2/token", GRANT, Keys(NORTHBIKE.key, "wrong")).get_json()
    revoked = post(box, "/oauth2/invalidate_token", {"access_token": BEARER}, None)

    assert BEARER == well_known["access_token"]
    assert other["access_token"] not in {BEARER, ""}
    assert {"access_token": BEARER} == revoked.get_json()


@pytest.mark.spec("A, POST {base_url}/oauth2/invalidate_token", "Request parameters")
def test_strict_refuses_what_the_spec_does_not_show() -> None:
    """oauth2/token is served; the parameters of oauth2/invalidate_token are not shown: 501."""
    box = sandbox(strict=True)

    assert BEARER == create(box)
    assert 501 == revoke(box, BEARER).status_code
    assert "oauth2.invalidate-access-token" in revoke(box, BEARER).text


def test_worlds_have_tokens_of_their_own(box: Sandbox) -> None:
    """A token created in one world is unknown in another, and chooses its own."""
    world = box.platform.worlds.create("w1")
    answer = post(box, "/oauth2/token", GRANT, NORTHBIKE, {"X-Mock-World": "w1"})
    token = body_of(answer)["access_token"]

    assert box.world.store.get("tokens", token) is None
    assert token != create(box, NORTHBIKE)
    assert 400 == use(box, token).status_code
    assert 2 == world.journal.count()
