"""OAuth 1.0a by spec A: request tokens, https, limits, --auth off."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from oauthlib.oauth1 import (
    SIGNATURE_TYPE_AUTH_HEADER,
    SIGNATURE_TYPE_BODY,
    SIGNATURE_TYPE_QUERY,
    Client,
)
from werkzeug.test import TestResponse

from mock_platform.world.clock import machine_now
from tests.oauth_steps import APP, CALLBACK, begun, code, exchange, granted, last, pairs, visitor
from tests.support import BEARER, FORM, HARBOR, NORTHBIKE, Keys, Sandbox, sandbox

NO_STORE = "no-cache, no-store, must-revalidate, pre-check=0, post-check=0"


# -- request_token: what it answers --------------------------------------------------------------


@pytest.mark.spec("A, Credential payloads", "Request token: oauth_token", "Request token and")
@pytest.mark.spec(
    "A, POST {base_url}/oauth/request_token", "Listed as not requiring", "Response: the request"
)
@pytest.mark.spec("A, States and transitions", "(none): POST oauth/request_token")
def test_request_token_answers_with_the_request_token_payload(box: Sandbox) -> None:
    """Credential payloads: name=value pairs joined by &, the last one literally true."""
    response = box.call(
        "POST", "/oauth/request_token", keys=APP, query_string={"oauth_callback": CALLBACK}
    )

    assert ["oauth_token", "oauth_token_secret", "oauth_callback_confirmed"] == list(
        pairs(response)
    )
    assert "true" == pairs(response)["oauth_callback_confirmed"]
    assert "text/html; charset=utf-8" == response.headers["Content-Type"]
    assert NO_STORE == response.headers["cache-control"]
    assert "no-cache" == response.headers["pragma"]
    assert "Tue, 31 Mar 1981 05:00:00 GMT" == response.headers["expires"]


@pytest.mark.spec("A, Credential payloads", "Request token and")
def test_request_tokens_have_the_public_shape(box: Sandbox) -> None:
    """A request token is 27 to 43 letters and digits, its secret 40 to 45, and no two are equal."""
    keys = [begun(box) for _ in range(5)]

    assert all(re.fullmatch(r"[A-Za-z0-9]{27,43}", str(k.token)) for k in keys)
    assert all(re.fullmatch(r"[A-Za-z0-9]{40,45}", str(k.token_secret)) for k in keys)
    assert 5 == len({k.token for k in keys}) == len({k.token_secret for k in keys})


def test_tokens_are_asked_for_with_get_as_well(box: Sandbox) -> None:
    """Older libraries ask with GET in both steps, and get the tokens of the same user."""
    query = {"oauth_callback": CALLBACK}
    found = pairs(box.call("GET", "/oauth/request_token", keys=APP, query_string=query))
    keys = Keys(APP.key, APP.secret, found["oauth_token"], found["oauth_token_secret"])
    query = {"oauth_verifier": granted(box, keys)}
    made = pairs(box.call("GET", "/oauth/access_token", keys=keys, query_string=query))

    assert "true" == found["oauth_callback_confirmed"]
    assert "harbor_roasters" == made["screen_name"]
    assert {"oauth.get", "oauth.form-encoded-answers"} <= set(last(box).assumptions)


# -- request_token: places of parameters -------------------------------------------------------


@pytest.mark.parametrize(
    "place", [SIGNATURE_TYPE_AUTH_HEADER, SIGNATURE_TYPE_QUERY, SIGNATURE_TYPE_BODY]
)
def test_oauth_parameters_stand_in_header_query_or_body(box: Sandbox, place: str) -> None:
    """Every OAuth parameter, oauth_callback included, is read from each of the three places."""
    client = Client(HARBOR.key, HARBOR.secret, callback_uri=CALLBACK, signature_type=place)
    form = {"Content-Type": FORM} if place == SIGNATURE_TYPE_BODY else {}
    url, headers, body = client.sign(
        "http://localhost/oauth/request_token", "POST", "" if form else None, form
    )
    response = box.client.post(url.removeprefix("http://localhost"), data=body, headers=headers)

    assert "true" == pairs(response)["oauth_callback_confirmed"]


@pytest.mark.parametrize("second", ["query", "body"])
def test_the_same_parameter_may_stand_in_two_places(box: Sandbox, second: str) -> None:
    """oauth_callback in the header and again in query or body is accepted."""
    client = Client(HARBOR.key, HARBOR.secret, callback_uri=CALLBACK)
    again = urlencode({"oauth_callback": CALLBACK})
    url = "http://localhost/oauth/request_token" + (f"?{again}" if second == "query" else "")
    form = {"Content-Type": FORM} if second == "body" else {}
    url, headers, body = client.sign(url, "POST", again if second == "body" else None, form)
    response = box.client.post(url.removeprefix("http://localhost"), data=body, headers=headers)

    assert "true" == pairs(response)["oauth_callback_confirmed"]
    assert [] == last(box).warnings
    assert "oauth.parameter-in-two-places" in response.headers["X-Mock-Assumptions"]


def test_two_places_that_disagree_are_refused(box: Sandbox) -> None:
    """oauth_callback in header and query with two values is bad authentication data."""
    client = Client(HARBOR.key, HARBOR.secret, callback_uri=CALLBACK)
    url, headers, _ = client.sign(
        "http://localhost/oauth/request_token?oauth_callback=oob", "POST", None, {}
    )
    response = box.client.post(url.removeprefix("http://localhost"), headers=headers)

    assert (400, 215) == code(response)
    assert "differs from the one in the" in last(box).diagnosis["explanation"]


# -- request_token: oauth_callback ---------------------------------------------------------------


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "oauth_callback", "Always sent, even")
@pytest.mark.spec("A, States and transitions", "(none): POST oauth/request_token")
@pytest.mark.parametrize("query", [{}, {"oauth_callback": ""}])
def test_oauth_callback_is_required(box: Sandbox, query: dict[str, str]) -> None:
    """Without oauth_callback, or with an empty one, the answer is 403 with code 38."""
    response = box.call("POST", "/oauth/request_token", keys=APP, query_string=query)

    assert (403, 38) == code(response)
    assert "oauth_callback parameter is missing." == response.get_json()["errors"][0]["message"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "oauth_callback")
def test_every_configured_callback_is_accepted(box: Sandbox) -> None:
    """The app's callbacks, custom schemes included, and oob each start the flow."""
    registered = box.record("apps", "11827")["callback_urls"]

    assert any(url.startswith("harbordesk:") for url in registered)
    for callback in [*registered, "oob"]:
        assert callback == box.record("tokens", str(begun(box, callback).token))["callback"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "The callback URL")
@pytest.mark.parametrize(
    "callback",
    [
        "https://desk.harbor-roasters.example/oauth/callback/",
        "https://desk.harbor-roasters.example/oauth/callback?next=1",
        "HTTPS://desk.harbor-roasters.example/oauth/callback",
        "https://northbike.example/cb",
        "OOB",
        "harbordesk://oauth2",
    ],
)
def test_a_callback_that_is_not_configured_is_refused(box: Sandbox, callback: str) -> None:
    """The callback URL must be configured in the app settings, character by character: code 415."""
    response = box.call(
        "POST", "/oauth/request_token", keys=APP, query_string={"oauth_callback": callback}
    )

    assert (403, 415) == code(response)
    assert (
        "Callback URL not approved for this client application."
        == response.get_json()["errors"][0]["message"]
    )
    assert "callback" == last(box).diagnosis["mistake"]
    assert "/_mock/state/apps/11827" in last(box).diagnosis["explanation"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "The callback URL")
def test_a_near_miss_of_a_callback_is_pointed_out(box: Sandbox) -> None:
    """The journal names the configured callback that comes closest."""
    box.call(
        "POST", "/oauth/request_token", keys=APP, query_string={"oauth_callback": CALLBACK[:-1]}
    )

    assert f"did you mean '{CALLBACK}'?" in last(box).diagnosis["explanation"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "the value oob selects")
def test_out_of_band_mode_needs_a_configured_callback_too(box: Sandbox) -> None:
    """Public fact: also for oob a callback must still be registered."""
    box.change("apps", "11827", callback_urls=[])
    response = box.call(
        "POST", "/oauth/request_token", keys=APP, query_string={"oauth_callback": "oob"}
    )

    assert (403, 415) == code(response)
    assert "needs a registered callback as well" in last(box).diagnosis["explanation"]


# -- request_token: x_auth_access_type -----------------------------------------------------------


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "x_auth_access_type")
@pytest.mark.parametrize(
    ("permissions", "wanted", "access"),
    [
        (["read", "write"], None, "write"),
        (["read", "write"], "write", "write"),
        (["read", "write"], "read", "read"),
        (["read"], None, "read"),
        (["read"], "write", "read"),
        (["read"], "read", "read"),
    ],
)
def test_x_auth_access_type_overrides_the_access_level(
    box: Sandbox, permissions: list[str], wanted: str | None, access: str
) -> None:
    """It narrows what the app's permissions allow, and the access token keeps the result."""
    box.change("apps", "11827", _permissions=permissions)
    keys = begun(box) if wanted is None else begun(box, x_auth_access_type=wanted)
    token = pairs(exchange(box, keys, granted(box, keys)))["oauth_token"]

    assert access == box.record("tokens", str(keys.token))["access"]
    assert access == box.record("tokens", token)["access"]
    assert access == box.record("grants", "11827-2244994945")["access"]


def test_x_auth_access_type_beyond_the_permissions_is_warned_of(box: Sandbox) -> None:
    """An app that may only read learns from the journal that write had no effect."""
    box.change("apps", "11827", _permissions=["read"])
    begun(box, x_auth_access_type="write")

    assert ["app 11827 may only read (_permissions); x_auth_access_type=write ignored"] == last(
        box
    ).warnings


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "x_auth_access_type")
@pytest.mark.parametrize("value", ["", "Read", "direct_messages", "readwrite"])
def test_x_auth_access_type_is_read_or_write(box: Sandbox, value: str) -> None:
    """Any other value is refused, saying which there are."""
    asked = {"oauth_callback": CALLBACK, "x_auth_access_type": value}
    response = box.call("POST", "/oauth/request_token", keys=APP, query_string=asked)

    assert 400 == response.status_code
    assert "a value in read, write" in response.get_json()["errors"][0]["message"]


# -- request_token: signature, nonce, timestamp --------------------------------------------------


def test_the_signature_covers_the_address_that_was_called(box: Sandbox) -> None:
    """A request to a world is right signed with the world's prefix and wrong without."""
    box.platform.worlds.create("w1")

    def call(signed_path: str) -> TestResponse:
        client = Client(HARBOR.key, HARBOR.secret, callback_uri=CALLBACK)
        _, headers, _ = client.sign(f"http://localhost{signed_path}", "POST", None, {})
        return box.client.post("/~w1/oauth/request_token", headers=headers)

    assert "true" == pairs(call("/~w1/oauth/request_token"))["oauth_callback_confirmed"]
    assert (401, 32) == code(call("/oauth/request_token"))
    entry = box.platform.worlds.get("w1").journal.find()[-1]
    assert entry.diagnosis is not None
    assert "address-world-prefix" == entry.diagnosis["mistake"]


@pytest.mark.spec("A, States and transitions", "(none): POST oauth/request_token")
@pytest.mark.parametrize(
    ("keys", "mistake"),
    [
        (Keys(HARBOR.key, "wrong"), "secret"),
        (Keys(HARBOR.key, NORTHBIKE.secret), "other-secret"),
        (Keys("nobody", HARBOR.secret), "consumer_key"),
    ],
)
def test_wrong_keys_are_refused_and_told_apart(box: Sandbox, keys: Keys, mistake: str) -> None:
    """A bad signature and an unknown consumer key are 401 with code 32; the journal says which."""
    response = box.call(
        "POST", "/oauth/request_token", keys=keys, query_string={"oauth_callback": CALLBACK}
    )

    assert (401, 32) == code(response)
    assert mistake == last(box).diagnosis["mistake"]


def test_a_replayed_nonce_is_refused(box: Sandbox) -> None:
    """The very same signed request works once."""
    client = Client(HARBOR.key, HARBOR.secret, callback_uri=CALLBACK)
    _, headers, _ = client.sign("http://localhost/oauth/request_token", "POST", None, {})
    first = box.client.post("/oauth/request_token", headers=headers)
    second = box.client.post("/oauth/request_token", headers=headers)

    assert 200 == first.status_code
    assert (401, 32) == code(second)
    assert "nonce" == last(box).diagnosis["mistake"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "oauth_nonce accepts")
def test_the_nonce_is_ascii(box: Sandbox) -> None:
    """oauth_nonce accepts ASCII values only."""
    client = Client(HARBOR.key, HARBOR.secret, callback_uri=CALLBACK, nonce="nönce")
    _, headers, _ = client.sign("http://localhost/oauth/request_token", "POST", None, {})
    response = box.client.post("/oauth/request_token", headers=headers)

    assert (400, 215) == code(response)
    assert "ASCII characters only" in last(box).diagnosis["explanation"]


@pytest.mark.parametrize(("off", "status"), [(-298, 200), (298, 200), (-303, 401), (303, 401)])
def test_timestamps_may_lie_300_seconds_off_the_machine_clock(off: int, status: int) -> None:
    """They are compared with real time, whatever the world's clock says."""
    box = sandbox()
    box.platform.worlds.default.clock.advance(86_400)
    timestamp = str(int(machine_now().timestamp()) + off)
    client = Client(HARBOR.key, HARBOR.secret, callback_uri=CALLBACK, timestamp=timestamp)
    _, headers, _ = client.sign("http://localhost/oauth/request_token", "POST", None, {})
    response = box.client.post("/oauth/request_token", headers=headers)

    assert status == response.status_code
    assert status == 200 or (401, 135) == code(response)


@pytest.mark.spec("A, Authentication", "Header Authorization")
def test_signatures_other_than_hmac_sha1_are_refused(box: Sandbox) -> None:
    """oauth_signature_method is HMAC-SHA1."""
    client = Client(HARBOR.key, HARBOR.secret, callback_uri=CALLBACK, signature_method="PLAINTEXT")
    _, headers, _ = client.sign("http://localhost/oauth/request_token", "POST", None, {})

    assert (400, 215) == code(box.client.post("/oauth/request_token", headers=headers))


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "Listed as not requiring")
def test_request_token_needs_a_signature(box: Sandbox) -> None:
    """Without OAuth parameters, or with a bearer token, there is no request token."""
    asked = {"oauth_callback": CALLBACK}
    unsigned = box.call("POST", "/oauth/request_token", keys=None, query_string=asked)
    bearer = box.call(
        "POST",
        "/oauth/request_token",
        keys=None,
        query_string=asked,
        headers={"Authorization": f"Bearer {BEARER}"},
    )

    assert (400, 215) == code(unsigned)
    assert (403, 220) == code(bearer)


def test_a_client_may_begin_again_with_the_token_it_holds(box: Sandbox) -> None:
    """Clients that start over send their earlier request or access token; it does no harm."""
    earlier = begun(box)

    assert earlier.token != begun(box, app=earlier).token
    assert HARBOR.token != begun(box, app=HARBOR).token


# -- https, limits, --auth off -------------------------------------------------------------------

STEPS = [
    ("POST", "/oauth/request_token"),
    ("GET", "/oauth/authorize"),
    ("POST", "/oauth/authorize"),
    ("GET", "/oauth/authenticate"),
    ("POST", "/oauth/authenticate"),
    ("POST", "/oauth/access_token"),
    ("POST", "/1.1/oauth/invalidate_token.json"),
    ("POST", "/oauth2/token"),
    ("POST", "/oauth2/invalidate_token"),
]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "HTTPS required")
@pytest.mark.spec("A, Authentication", "All OAuth authorization")
@pytest.mark.parametrize(("method", "path"), STEPS)
def test_require_https_refuses_plain_http(method: str, path: str) -> None:
    """Rule 1: every OAuth step over plain http is 403 with code 92, over https it is not."""
    box = sandbox(require_https=True)
    plain = box.client.open(path, method=method)
    secure = box.client.open(path, method=method, base_url="https://localhost")

    assert 403 == plain.status_code
    assert "SSL is required" in plain.text
    assert "SSL is required" not in secure.text


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "HTTPS required")
@pytest.mark.parametrize(("method", "path"), STEPS)
def test_plain_http_is_a_recorded_assumption_on_loopback_only(method: str, path: str) -> None:
    """By default loopback may be called by http, other hosts may not."""
    box = sandbox()
    near = box.client.open(path, method=method)
    far = box.client.open(path, method=method, base_url="http://sandbox.example")

    assert "SSL is required" not in near.text
    assert "oauth.http-on-loopback" in near.headers["X-Mock-Assumptions"]
    assert (403, True) == (far.status_code, "SSL is required" in far.text)


@pytest.mark.spec("A, Authentication", "Steps: request_token", "All OAuth authorization")
def test_the_flow_runs_over_https_where_it_is_required() -> None:
    """With --require-https all steps succeed over https, signed for the https address."""
    box = sandbox(require_https=True)

    def post(path: str, keys: Keys, **more: str) -> TestResponse:
        client = Client(keys.key, keys.secret, keys.token, keys.token_secret, **more)
        _, headers, _ = client.sign(f"https://localhost{path}", "POST", None, {})
        return box.client.post(path, headers=headers, base_url="https://localhost")

    begun_ = pairs(post("/oauth/request_token", APP, callback_uri=CALLBACK))
    keys = Keys(APP.key, APP.secret, begun_["oauth_token"], begun_["oauth_token_secret"])
    page = visitor(box, "https://localhost").open("/oauth/authorize", oauth_token=str(keys.token))
    verifier = page.log_in().submit("allow").landed_with["oauth_verifier"]
    response = post("/oauth/access_token", keys, verifier=verifier)

    assert "harbor_roasters" == pairs(response)["screen_name"]
    assert "oauth.http-on-loopback" not in response.headers["X-Mock-Assumptions"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "Rate limited")
@pytest.mark.spec("A, Versioning", "Numeric rate limits")
def test_oauth_endpoints_are_not_limited_by_default(box: Sandbox) -> None:
    """The numbers are not shown, so none is enforced and no header is sent."""
    response = box.call(
        "POST", "/oauth/request_token", keys=APP, query_string={"oauth_callback": CALLBACK}
    )

    assert "x-rate-limit-limit" not in response.headers


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "Rate limited")
@pytest.mark.spec("A, POST {base_url}/oauth/access_token", "access_token, Rate")
@pytest.mark.spec("A, POST {base_url}/1.1/oauth/invalidate_token", "invalidate_token")
@pytest.mark.spec("A, POST {base_url}/oauth2/token", "oauth2/token, Rate")
def test_the_oauth_limit_counts_per_endpoint_and_app_on_the_worlds_clock() -> None:
    """Inside the limit 200, beyond it 429 with code 88 and headers; 15 minutes later 200 again."""
    box = sandbox(oauth_limit=2)
    clock = box.platform.worlds.default.clock
    clock.freeze(machine_now().replace(microsecond=0))
    end = int((clock.now() + timedelta(minutes=15)).timestamp())

    def ask(app: Keys, callback: str) -> TestResponse:
        query = {"oauth_callback": callback}
        return box.call("POST", "/oauth/request_token", keys=app, query_string=query)

    statuses = [ask(APP, CALLBACK).status_code for _ in range(2)]
    beyond = ask(APP, CALLBACK)
    other_app = ask(Keys(NORTHBIKE.key, NORTHBIKE.secret), "https://northbike.example/cb")
    other_step = box.call("POST", "/1.1/oauth/invalidate_token", keys=HARBOR)
    clock.advance(899)
    still = ask(APP, CALLBACK)
    clock.advance(1)
    later = ask(APP, CALLBACK)

    assert [200, 200] == statuses
    assert (429, 88) == code(beyond) == code(still)
    assert ["2", "0", str(end)] == [
        beyond.headers[f"x-rate-limit-{name}"] for name in ("limit", "remaining", "reset")
    ]
    assert "oauth.rate-limit" in beyond.headers["X-Mock-Assumptions"]
    assert [200, 200, 200] == [r.status_code for r in (other_app, other_step, later)]
    assert "1" == later.headers["x-rate-limit-remaining"]


def test_auth_off_gives_the_shapes_without_any_credentials() -> None:
    """--auth off: each step answers in its shape for the well-known app and user."""
    box = sandbox(auth="off")
    asked = box.call(
        "POST", "/oauth/request_token", keys=None, query_string={"oauth_callback": "any://where"}
    )
    token = pairs(asked)["oauth_token"]
    page = box.client.get(f"/oauth/authorize?oauth_token={token}")
    allowed = box.client.post("/oauth/authorize", data={"oauth_token": token, "action": "allow"})
    found = pairs(box.client.post(f"/oauth/access_token?oauth_token={token}"))
    without = pairs(box.client.post("/oauth/access_token"))
    ended = box.client.post("/1.1/oauth/invalidate_token.json")

    assert "Allow Harbor Campaign Desk to use your account?" in page.text
    assert allowed.headers["Location"].startswith(f"any://where?oauth_token={token}&")
    assert "harbor_roasters" == found["screen_name"]
    assert list(found) == list(without)
    assert {"access_token": without["oauth_token"]} == ended.get_json()
    assert "auth.off" in asked.headers["X-Mock-Assumptions"]
    assert "assumed: --auth off" == last(box).caller["how"]


def test_auth_off_still_listens_to_credentials() -> None:
    """Credentials, right or wrong, say for whom an unverified request acts."""
    box = sandbox(auth="off")
    keys = Keys(NORTHBIKE.key, "wrong", NORTHBIKE.token, "wrong")
    response = box.call("POST", "/1.1/oauth/invalidate_token.json", keys=keys)

    assert {"access_token": NORTHBIKE.token} == response.get_json()
    assert (401, 89) == code(
        [box.call("POST", "/1.1/oauth/invalidate_token.json", keys=None) for _ in range(2)][1]
    )


def test_strict_serves_the_whole_flow() -> None:
    """--strict refuses what the spec does not show; the three-legged flow is shown."""
    box = sandbox(strict=True)
    keys = begun(box)
    found = pairs(exchange(box, keys, granted(box, keys)))

    assert "harbor_roasters" == found["screen_name"]
