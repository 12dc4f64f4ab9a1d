"""OAuth 2.0 user tokens: who calls, what they may do, and when they end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.world.clock import wire_seconds
from tests.support import BEARER, HARBOR, Keys, Sandbox, sandbox

TOKEN = "aGJyRGVza1VzZXJUb2tlbjR1ak9lSHdkRmNBZWZBWmhuTTZKeThjMXJpaHQ6MToxOmF0OjE"
"""The OAuth 2.0 user token of the well-known user."""
LIST = "/2/activity/subscriptions"
ONE = f"{LIST}/1"
START = datetime(2026, 11, 20, 12, tzinfo=UTC)
SETTINGS = {"freeze": START}


def call(box: Sandbox, token: str = TOKEN, method: str = "GET", path: str = LIST) -> TestResponse:
    """A call with a bearer header."""
    return box.call(method, path, keys=None, headers={"Authorization": f"Bearer {token}"})


def entry(box: Sandbox) -> dict[str, Any]:
    """The journal's newest entry."""
    newest = box.client.get("/_mock/requests?limit=1").get_json()["requests"][0]
    found: dict[str, Any] = box.client.get(f"/_mock/requests/{newest['id']}").get_json()
    return found


def test_the_caller_is_the_user(box: Sandbox) -> None:
    """The journal shows the user, the app, and that an OAuth 2.0 token said so."""
    assert 200 == call(box).status_code

    caller = entry(box)["caller"]
    assert ("oauth2", "11827", "2244994945") == (caller["scheme"], caller["app"], caller["user"])


def test_it_ends_on_the_clock_of_the_world(box: Sandbox) -> None:
    """Just before its end it is taken, from then on refused like an unknown one, with the time."""
    end = box.world.clock.now() + timedelta(hours=2)
    box.change("tokens", TOKEN, expires_at=wire_seconds(end))

    box.world.clock.advance(7199)
    before = call(box)
    box.world.clock.advance(1)
    after = call(box)
    unknown = call(box, "never-issued")

    assert (200, 401) == (before.status_code, after.status_code)
    assert unknown.get_json() == after.get_json()
    assert "about:blank" == after.get_json()["type"]
    call(box)
    assert "expired at 2026-11-20T14:00:00Z" in entry(box)["diagnosis"]["explanation"]


@pytest.mark.parametrize(("table", "key"), [("apps", "11827"), ("users", "2244994945")])
def test_without_its_app_or_user_it_is_refused(box: Sandbox, table: str, key: str) -> None:
    """Records removed behind the interface refuse, and the journal says which."""
    with box.world.work():
        box.world.store.remove(table, key)

    assert 401 == call(box).status_code
    assert f"the {table[:-1]} of this" in entry(box)["diagnosis"]["explanation"]


def test_where_only_apps_may_call_it_is_unsupported(box: Sandbox) -> None:
    """The detail names the kind that was sent and the kinds that are taken."""
    answer = call(box, method="DELETE", path=ONE)

    assert 403 == answer.status_code
    assert (
        "Authenticating with OAuth 2.0 User Context is forbidden for this endpoint.  Supported "
        "authentication types are [OAuth 2.0 Application-Only]."
    ) == answer.get_json()["detail"]


def test_a_missing_scope_is_named(box: Sandbox) -> None:
    """All needed scopes are enough, one less is not; the older words count as the newer ones."""
    box.change("tokens", TOKEN, scopes=["tweet.read", "like.read"])
    assert 200 == call(box).status_code
    box.change("tokens", TOKEN, scopes=["like.write", "users.read", "like.read"])
    one = call(box)
    box.change("tokens", TOKEN, scopes=[])
    none = call(box)

    assert (403, "about:blank", "Forbidden") == (
        one.status_code,
        one.get_json()["type"],
        one.get_json()["title"],
    )
    assert (
        "This endpoint needs the scope post.read, which the token does not have. The user "
        "allowed: like.write, users.read, like.read. Ask the user again, with the missing scope."
    ) == one.get_json()["detail"]
    assert "the scope post.read and like.read" in none.get_json()["detail"]
    assert "The user allowed: none." in none.get_json()["detail"]
    assert "oauth2.missing-scope" in none.headers["X-Mock-Assumptions"]


def test_a_bearer_token_of_an_app_needs_no_scopes(box: Sandbox) -> None:
    """Scopes are what a user allowed, so they do not restrict an app on its own or OAuth 1.0a."""
    assert 200 == call(box, BEARER).status_code
    assert 200 == box.call("GET", LIST).status_code


@pytest.mark.parametrize(("changes", "reason"), [
    ({"state": "invalidated"}, "this OAuth 2.0 user token was revoked"),
    ({"kind": "refresh"}, "this is a refresh token; exchange it at POST /2/oauth2/token first"),
    ({"kind": "code"}, "this is an authorization code; exchange it at POST /2/oauth2/token first"),
    ({"kind": "access"}, "this is an OAuth 1.0a access token"),
    ({"kind": "request"}, "this is an OAuth 1.0a request token"),
])  # fmt: skip
def test_what_a_refused_token_is_stands_in_the_journal(
    box: Sandbox, changes: dict[str, str], reason: str
) -> None:
    """The client learns no more than of an unknown token; the journal says what it sent."""
    box.change("tokens", TOKEN, **changes)

    assert 401 == call(box).status_code
    assert reason in entry(box)["diagnosis"]["explanation"]


def test_it_does_not_sign(box: Sandbox) -> None:
    """As the token of an OAuth 1.0a signature it is unknown."""
    keys = Keys(HARBOR.key, HARBOR.secret, TOKEN, "x")

    assert 401 == box.call("GET", LIST, keys=keys).status_code
    assert "was never issued" in entry(box)["diagnosis"]["explanation"]


def test_without_verification_it_names_the_user() -> None:
    """With --auth off a token that is there decides who calls."""
    box = sandbox(auth="off")

    assert 200 == call(box).status_code
    assert "2244994945" == entry(box)["caller"]["user"]
