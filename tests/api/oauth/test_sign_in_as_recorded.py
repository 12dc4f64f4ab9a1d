"""Sign-in as programs do it: what only `--wire recorded` takes, each time with a warning."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.api.oauth.oauth2_steps import CHALLENGE, VERIFIER, allowed, basic
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
    visitor,
)
from tests.support import Keys, Sandbox, Sandboxes, sandbox, signed

EXCHANGE = "http://localhost/oauth/access_token"


@pytest.fixture
def recorded(sandboxes: Sandboxes) -> Sandbox:
    """Returns a sandbox that answers as the real service was recorded."""
    return sandboxes.get(wire="recorded")


def test_a_request_token_without_a_callback_is_out_of_band(recorded: Sandbox) -> None:
    """Its user gets a PIN, which exchanges."""
    found = pairs(recorded.call("POST", "/oauth/request_token", keys=APP))

    assert "oauth_callback is required" in last(recorded).warnings[0]
    keys = Keys(APP.key, APP.secret, found["oauth_token"], found["oauth_token_secret"])
    assert exchange(recorded, keys, granted(recorded, keys)).status_code == 200


def test_an_empty_callback_is_refused(recorded: Sandbox) -> None:
    """Who sends the parameter means it."""
    assert (403, 38) == code(ask(recorded, ""))


def test_authenticate_shows_a_pin(recorded: Sandbox) -> None:
    """Both addresses of the pages take out-of-band tokens."""
    token = str(begun(recorded, "oob").token)
    page = visitor(recorded).open("/oauth/authenticate", oauth_token=token).log_in()
    page.submit("allow")

    assert page.pin


def exchange_loosely(box: Sandbox, keys: Keys, verifier: str, *, signs_query: bool) -> int:
    """Returns the status of an exchange with the verifier in the query."""
    query = "?" + urlencode({"oauth_verifier": verifier})
    headers = signed("POST", EXCHANGE + (query if signs_query else ""), keys)
    return box.client.post("/oauth/access_token" + query, headers=headers).status_code


@pytest.mark.parametrize("wire", ["spec", "recorded"])
@pytest.mark.parametrize(("has_secret", "signs_query", "lacks"), [
    (True, False, "the parameters of the query"),
    (False, True, "the secret of the request token"),
    (False, False, "the parameters of the query and the secret of the request token"),
])  # fmt: skip
def test_loosely_signed_exchanges(
    sandboxes: Sandboxes, wire: str, has_secret: bool, signs_query: bool, lacks: str
) -> None:
    """They are taken under `recorded` alone, and the warning names what the signature lacks."""
    box = sandboxes.get(wire=wire)
    keys = begun(box)
    verifier = granted(box, keys)
    used = keys if has_secret else Keys(keys.key, keys.secret, keys.token, "")
    status = exchange_loosely(box, used, verifier, signs_query=signs_query)

    assert status == (200 if wire == "recorded" else 401)
    assert wire == "spec" or last(box).warnings[0].endswith(f"lacks {lacks}")


@pytest.mark.parametrize(("key", "verifier"), [("secret", "another"), ("another", "right")])
def test_verifier_and_consumer_secret_still_decide(
    recorded: Sandbox, key: str, verifier: str
) -> None:
    """A wrong verifier, or a signature by another secret, is refused as before."""
    keys = begun(recorded)
    right = granted(recorded, keys)
    used = Keys(keys.key, keys.secret if key == "secret" else "another", keys.token, "")
    given = right if verifier == "right" else verifier
    assert exchange_loosely(recorded, used, given, signs_query=False) == 401


def test_other_operations_want_the_whole_signature(recorded: Sandbox) -> None:
    """Only the exchange is lenient: a signed read without its query in the signature is refused."""
    headers = signed("GET", "http://localhost/2/users/me")

    assert recorded.client.get("/2/users/me?user.fields=id", headers=headers).status_code == 401


@pytest.mark.parametrize("wire", ["spec", "recorded"])
def test_oauth2_parameters_in_the_query(wire: str) -> None:
    """`oauth2/token` and `revoke` read the query under `recorded`; else it is ignored."""
    box = sandbox(wire=wire)
    query = {
        "grant_type": "authorization_code", "code": allowed(box, code_challenge=CHALLENGE),
        "redirect_uri": CALLBACK, "code_verifier": VERIFIER,
    }  # fmt: skip
    made = box.client.post("/2/oauth2/token", query_string=query, headers=basic())

    assert made.status_code == (200 if wire == "recorded" else 400)
    assert "belong in a form body" in last(box).warnings[0]
    if wire == "recorded":
        ended = {"token": made.get_json()["access_token"]}
        response = box.client.post("/2/oauth2/revoke", query_string=ended, headers=basic())
        assert response.get_json() == {"revoked": True}
