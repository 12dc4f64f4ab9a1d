"""OAuth 1.0a by spec A: request tokens, https, limits, --auth off."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
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
from tests.oauth_steps import (
    APP,
    CALLBACK,
    ask,
    begun,
    code,
    exchange,
    granted,
    last,
    pairs,
    sign_in,
    visitor,
)
from tests.support import (
    BEARER,
    FORM,
    HARBOR,
    NORTHBIKE,
    Keys,
    Sandbox,
    Sandboxes,
    sandbox,
    signed,
)

PATH = "/oauth/request_token"
NO_STORE = "no-cache, no-store, must-revalidate, pre-check=0, post-check=0"


def sign(url: str, **more: Any) -> dict[str, str]:
    """The headers of a request of the well-known app, with the callback among them."""
    return signed("POST", url, APP, callback_uri=CALLBACK, **more)


def send(box: Sandbox, path: str = PATH, **more: Any) -> TestResponse:
    """The answer to such a request."""
    return box.client.post(path, headers=sign(f"http://localhost{path}", **more))


# -- request_token: what it answers --------------------------------------------------------------


@pytest.mark.spec("A, Credential payloads", "Request token: oauth_token", "Request token and")
@pytest.mark.spec(
    "A, POST {base_url}/oauth/request_token", "Listed as not requiring", "Response: the request",
    "Rate limited",
)  # fmt: skip
@pytest.mark.spec("A, States and transitions", "(none): POST oauth/request_token")
@pytest.mark.spec("A, Versioning", "Numeric rate limits")
def test_request_token_answers_with_the_request_token_payload(box: Sandbox) -> None:
    """Credential payloads: name=value pairs joined by &, the last one literally true.

    The numbers of rate limits are not shown, so none is enforced and no header is sent.
    """
    response = ask(box)
    found = pairs(response)

    assert ["oauth_token", "oauth_token_secret", "oauth_callback_confirmed"] == list(found)
    assert "true" == found["oauth_callback_confirmed"]
    assert {
        "content-type": "text/html; charset=utf-8", "cache-control": NO_STORE,
        "pragma": "no-cache", "expires": "Tue, 31 Mar 1981 05:00:00 GMT",
    }.items() <= {name.lower(): value for name, value in response.headers}.items()  # fmt: skip
    assert "x-rate-limit-limit" not in response.headers


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
    form = {"oauth_callback": CALLBACK} if second == "body" else None
    path = PATH if form else f"{PATH}?{urlencode({'oauth_callback': CALLBACK})}"
    headers = signed("POST", f"http://localhost{path}", APP, form, callback_uri=CALLBACK)
    response = box.client.post(path, headers=headers, data=form)

    assert "true" == pairs(response)["oauth_callback_confirmed"]
    assert [] == last(box).warnings
    assert "oauth.parameter-in-two-places" in response.headers["X-Mock-Assumptions"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "oauth_nonce accepts")
@pytest.mark.spec("A, Authentication", "Header Authorization")
@pytest.mark.parametrize(("path", "more", "why"), [
    pytest.param(f"{PATH}?oauth_callback=oob", {}, "differs from the one in the",
                 id="oauth_callback in header and query with two values"),
    pytest.param(PATH, {"nonce": "nönce"}, "ASCII characters only", id="a nonce beyond ASCII"),
    pytest.param(PATH, {"signature_method": "PLAINTEXT"}, "", id="another signature method"),
])  # fmt: skip
def test_bad_authentication_data(box: Sandbox, path: str, more: dict[str, str], why: str) -> None:
    """Values that disagree, a nonce that is not ASCII, and methods other than HMAC-SHA1."""
    response = send(box, path, **more)

    assert (400, 215) == code(response)
    assert why in last(box).diagnosis["explanation"]


# -- request_token: oauth_callback ---------------------------------------------------------------


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "oauth_callback", "Always sent, even")
@pytest.mark.spec("A, States and transitions", "(none): POST oauth/request_token")
@pytest.mark.parametrize("query", [{}, {"oauth_callback": ""}])
def test_oauth_callback_is_required(box: Sandbox, query: dict[str, str]) -> None:
    """Without oauth_callback, or with an empty one, the answer is 403 with code 38."""
    response = box.call("POST", PATH, keys=APP, query_string=query)

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
@pytest.mark.parametrize("callback", [
    "https://desk.harbor-roasters.example/oauth/callback/",
    "https://desk.harbor-roasters.example/oauth/callback?next=1",
    "HTTPS://desk.harbor-roasters.example/oauth/callback", "https://northbike.example/cb", "OOB",
    "harbordesk://oauth2",
])  # fmt: skip
def test_a_callback_that_is_not_configured_is_refused(box: Sandbox, callback: str) -> None:
    """The callback URL must be configured in the app settings, character by character: code 415."""
    response = ask(box, callback)
    (error,) = response.get_json()["errors"]

    assert (403, 415) == code(response)
    assert "Callback URL not approved for this client application." == error["message"]
    assert "callback" == last(box).diagnosis["mistake"]
    assert "/_mock/state/apps/11827" in last(box).diagnosis["explanation"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "The callback URL")
def test_a_near_miss_of_a_callback_is_pointed_out(box: Sandbox) -> None:
    """The journal names the configured callback that comes closest."""
    ask(box, CALLBACK[:-1])

    assert f"did you mean '{CALLBACK}'?" in last(box).diagnosis["explanation"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "the value oob selects")
def test_out_of_band_mode_needs_a_configured_callback_too(box: Sandbox) -> None:
    """Public fact: also for oob a callback must still be registered."""
    box.change("apps", "11827", callback_urls=[])

    assert (403, 415) == code(ask(box, "oob"))
    assert "needs a registered callback as well" in last(box).diagnosis["explanation"]


# -- request_token: x_auth_access_type -----------------------------------------------------------


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "x_auth_access_type")
@pytest.mark.parametrize(("permissions", "asked", "access"), [
    (["read", "write"], {}, "write"),
    (["read", "write"], {"x_auth_access_type": "write"}, "write"),
    (["read", "write"], {"x_auth_access_type": "read"}, "read"),
    (["read"], {}, "read"),
    (["read"], {"x_auth_access_type": "write"}, "read"),
    (["read"], {"x_auth_access_type": "read"}, "read"),
])  # fmt: skip
def test_x_auth_access_type_overrides_the_access_level(
    box: Sandbox, permissions: list[str], asked: Any, access: str
) -> None:
    """It narrows what the app's permissions allow, and the access token keeps the result."""
    box.change("apps", "11827", _permissions=permissions)
    keys = begun(box, **asked)
    token = pairs(exchange(box, keys, granted(box, keys)))["oauth_token"]

    for table, key in (("tokens", keys.token), ("tokens", token), ("grants", "11827-2244994945")):
        assert access == box.record(table, str(key))["access"]


def test_x_auth_access_type_beyond_the_permissions_is_warned_of(box: Sandbox) -> None:
    """An app that may only read learns from the journal that write had no effect."""
    box.change("apps", "11827", _permissions=["read"])
    begun(box, x_auth_access_type="write")
    warning = "app 11827 may only read (_permissions); x_auth_access_type=write ignored"

    assert [warning] == last(box).warnings


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "x_auth_access_type")
@pytest.mark.parametrize("value", ["", "Read", "direct_messages", "readwrite"])
def test_x_auth_access_type_is_read_or_write(box: Sandbox, value: str) -> None:
    """Any other value is refused, saying which there are."""
    response = ask(box, x_auth_access_type=value)

    assert 400 == response.status_code
    assert "a value in read, write" in response.get_json()["errors"][0]["message"]


@pytest.mark.parametrize(("second", "warned"), [("read", None), ("write", "repeated-parameter")])
def test_two_values_of_x_auth_access_type_are_warned_of(
    box: Sandbox, second: str, warned: str | None
) -> None:
    """The first value counts; a second one that says something else is lost, and warned of."""
    query = [("oauth_callback", CALLBACK), ("x_auth_access_type", "read")]
    query.append(("x_auth_access_type", second))
    answer = box.call("POST", "/oauth/request_token", keys=APP, query_string=urlencode(query))
    token = pairs(answer)["oauth_token"]

    assert "read" == box.record("tokens", token)["access"]
    assert warned == answer.headers.get("X-Mock-Warnings")


# -- request_token: signature, nonce, timestamp --------------------------------------------------


def test_the_signature_covers_the_address_that_was_called(box: Sandbox) -> None:
    """A request to a world is right signed with the world's prefix and wrong without."""
    world = box.platform.worlds.create("w1")
    right, wrong = (
        box.client.post(f"/~w1{PATH}", headers=sign(f"http://localhost{path}"))
        for path in (f"/~w1{PATH}", PATH)
    )

    assert "true" == pairs(right)["oauth_callback_confirmed"]
    assert (401, 32) == code(wrong)
    diagnosis = world.journal.find()[-1].diagnosis
    assert diagnosis is not None
    assert "address-world-prefix" == diagnosis["mistake"]


@pytest.mark.spec("A, States and transitions", "(none): POST oauth/request_token")
@pytest.mark.parametrize(("keys", "mistake"), [
    (Keys(HARBOR.key, "wrong"), "secret"), (Keys(HARBOR.key, NORTHBIKE.secret), "other-secret"),
    (Keys("nobody", HARBOR.secret), "consumer_key"),
])  # fmt: skip
def test_wrong_keys_are_refused_and_told_apart(box: Sandbox, keys: Keys, mistake: str) -> None:
    """A bad signature and an unknown consumer key are 401 with code 32; the journal says which."""
    assert (401, 32) == code(ask(box, app=keys))
    assert mistake == last(box).diagnosis["mistake"]


def test_a_replayed_nonce_is_refused(box: Sandbox) -> None:
    """The very same signed request works once."""
    headers = sign(f"http://localhost{PATH}")
    first, second = (box.client.post(PATH, headers=headers) for _ in range(2))

    assert 200 == first.status_code
    assert (401, 32) == code(second)
    assert "nonce" == last(box).diagnosis["mistake"]


@pytest.mark.parametrize(("off", "status"), [(-298, 200), (298, 200), (-303, 401), (303, 401)])
def test_timestamps_may_lie_300_seconds_off_the_machine_clock(
    box: Sandbox, off: int, status: int
) -> None:
    """They are compared with real time, whatever the world's clock says."""
    box.world.clock.advance(86_400)
    response = send(box, timestamp=str(int(machine_now().timestamp()) + off))

    assert status == response.status_code
    assert status == 200 or (401, 135) == code(response)


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "Listed as not requiring")
def test_request_token_needs_a_signature(box: Sandbox) -> None:
    """Without OAuth parameters, or with a bearer token, there is no request token."""
    assert (400, 215) == code(ask(box, app=None))
    assert (403, 220) == code(ask(box, app=BEARER))


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
def test_require_https_refuses_plain_http(sandboxes: Sandboxes, method: str, path: str) -> None:
    """Rule 1: every OAuth step over plain http is 403 with code 92, over https it is not."""
    client = sandboxes.get(require_https=True).client
    plain = client.open(path, method=method)
    secure = client.open(path, method=method, base_url="https://localhost")

    assert 403 == plain.status_code
    assert "SSL is required" in plain.text
    assert "SSL is required" not in secure.text


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "HTTPS required")
@pytest.mark.parametrize(("method", "path"), STEPS)
def test_plain_http_is_a_recorded_assumption_on_loopback_only(
    box: Sandbox, method: str, path: str
) -> None:
    """By default loopback may be called by http, other hosts may not."""
    near = box.client.open(path, method=method)
    far = box.client.open(path, method=method, base_url="http://sandbox.example")

    assert "SSL is required" not in near.text
    assert "oauth.http-on-loopback" in near.headers["X-Mock-Assumptions"]
    assert (403, True) == (far.status_code, "SSL is required" in far.text)


@pytest.mark.spec("A, Authentication", "Steps: request_token", "All OAuth authorization")
def test_the_flow_runs_over_https_where_it_is_required(sandboxes: Sandboxes) -> None:
    """With --require-https all steps succeed over https, signed for the https address."""
    box, base = sandboxes.get(require_https=True), "https://localhost"

    def post(path: str, keys: Keys, **more: Any) -> TestResponse:
        headers = signed("POST", base + path, keys, **more)
        return box.client.post(path, headers=headers, base_url=base)

    begun_ = pairs(post(PATH, APP, callback_uri=CALLBACK))
    keys = Keys(APP.key, APP.secret, begun_["oauth_token"], begun_["oauth_token_secret"])
    page = visitor(box, base).open("/oauth/authorize", oauth_token=str(keys.token))
    verifier = page.log_in().submit("allow").landed_with["oauth_verifier"]
    response = post("/oauth/access_token", keys, verifier=verifier)

    assert "harbor_roasters" == pairs(response)["screen_name"]
    assert "oauth.http-on-loopback" not in response.headers["X-Mock-Assumptions"]


@pytest.mark.spec("A, POST {base_url}/oauth/request_token", "Rate limited")
@pytest.mark.spec("A, POST {base_url}/oauth/access_token", "access_token, Rate")
@pytest.mark.spec("A, POST {base_url}/1.1/oauth/invalidate_token", "invalidate_token")
@pytest.mark.spec("A, POST {base_url}/oauth2/token", "oauth2/token, Rate")
def test_the_oauth_limit_counts_per_endpoint_and_app_on_the_worlds_clock() -> None:
    """Inside the limit 200, beyond it 429 with code 88 and headers; 15 minutes later 200 again."""
    box = sandbox(oauth_limit=2)
    clock = box.world.clock
    clock.freeze(machine_now().replace(microsecond=0))
    end = int((clock.now() + timedelta(minutes=15)).timestamp())
    first, second, beyond = (ask(box) for _ in range(3))
    other_app = ask(box, "https://northbike.example/cb", Keys(NORTHBIKE.key, NORTHBIKE.secret))
    other_step = box.call("POST", "/1.1/oauth/invalidate_token", keys=HARBOR)
    clock.advance(899)
    still = ask(box)
    clock.advance(1)
    later = ask(box)

    for answer in (first, second, other_app, other_step, later):
        assert 200 == answer.status_code
    assert (429, 88) == code(beyond) == code(still)
    assert ["2", "0", str(end)] == [
        beyond.headers[f"x-rate-limit-{name}"] for name in ("limit", "remaining", "reset")
    ]
    assert "oauth.rate-limit" in beyond.headers["X-Mock-Assumptions"]
    assert "1" == later.headers["x-rate-limit-remaining"]


def test_auth_off_gives_the_shapes_without_any_credentials() -> None:
    """--auth off: each step answers in its shape for the well-known app and user."""
    box = sandbox(auth="off")
    asked = ask(box, "any://where", None)
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
    box, path = sandbox(auth="off"), "/1.1/oauth/invalidate_token.json"
    keys = Keys(NORTHBIKE.key, "wrong", NORTHBIKE.token, "wrong")

    assert {"access_token": NORTHBIKE.token} == box.call("POST", path, keys=keys).get_json()
    _, second = (box.call("POST", path, keys=None) for _ in range(2))
    assert (401, 89) == code(second)


def test_strict_serves_the_whole_flow(sandboxes: Sandboxes) -> None:
    """--strict refuses what the spec does not show; the three-legged flow is shown."""
    assert "harbor_roasters" == pairs(sign_in(sandboxes.get(strict=True)))["screen_name"]
