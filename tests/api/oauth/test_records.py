"""Records of apps, users, grants and tokens: what a fixture or the control plane may write."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.oauth.records import APPS, TOKENS

TOKEN = {"id": "t", "app_id": "1", "created_at": "2026-01-01T00:00:00Z"}
APP = {"id": "1", "name": "App", "consumer_key": "key", "consumer_secret": "secret"}


def faults(fields: dict[str, Any]) -> list[str]:
    """The fields of a token record that are refused."""
    return [name for name, _ in TOKENS.load(TOKEN | fields)[1]]


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "bearer"},
        {"kind": "bearer", "state": "invalidated"},
        {"kind": "access", "secret": "s", "user_id": "7"},
        {"kind": "oauth2", "user_id": "7", "scopes": ["post.read", "tweet.write"]},
        {"kind": "refresh", "state": "used", "user_id": "7", "authorization_id": "1"},
        {"kind": "request", "state": "pending", "secret": "s", "callback": "oob"},
        {
            "kind": "request", "state": "granted", "secret": "s", "callback": "oob",
            "user_id": "7", "verifier": "1234567",
        },
    ],
)  # fmt: skip
def test_sound_tokens_are_taken(fields: dict[str, Any]) -> None:
    """Each kind with what it needs in its state."""
    assert [] == faults(fields)


@pytest.mark.parametrize(("fields", "refused"), [
    ({"kind": "access"}, ["secret", "user_id"]),
    ({"kind": "access", "secret": "s"}, ["user_id"]),
    ({"kind": "request", "state": "pending"}, ["secret", "callback"]),
    ({"kind": "request", "state": "granted", "secret": "s", "callback": "oob"},
     ["user_id", "verifier"]),
    ({"kind": "request", "secret": "s", "callback": "oob"}, ["state"]),
    ({"kind": "bearer", "state": "used"}, ["state"]),
    ({"kind": "access", "state": "granted", "secret": "s", "user_id": "7"}, ["verifier", "state"]),
    ({"kind": "other"}, ["kind"]),
    ({"kind": "oauth2"}, ["user_id"]),
    ({"kind": "oauth2", "user_id": "7", "state": "used"}, ["state"]),
    ({"kind": "oauth2", "user_id": "7", "scopes": ["post.reed"]}, ["scopes"]),
    ({"kind": "refresh"}, ["user_id", "authorization_id"]),
    ({"kind": "code"}, ["user_id", "authorization_id", "callback", "expires_at"]),
])  # fmt: skip
def test_tokens_that_no_request_could_use_are_refused(fields: Any, refused: list[str]) -> None:
    """A token without its secret, user, callback or verifier, or in a state of another kind."""
    assert refused == faults(fields)


def test_a_refused_state_says_which_there_are() -> None:
    """The complaint names the states of the kind."""
    _, found = TOKENS.load(TOKEN | {"kind": "bearer", "state": "used"})

    assert [("state", "a token of kind bearer is one of active, invalidated, not used")] == found


def test_an_unknown_scope_is_refused_with_the_nearest_one() -> None:
    """The complaint names what was meant and all there are."""
    _, found = TOKENS.load(TOKEN | {"kind": "oauth2", "user_id": "7", "scopes": ["post.reed"]})
    ((name, text),) = found
    assert "scopes" == name
    assert text.startswith(
        "'post.reed' is not a scope. Did you mean 'post.read'? The scopes: post.read, post.write, "
    )


def test_an_app_may_read_and_write_unless_said_otherwise() -> None:
    """Defaults of an app record."""
    loaded, found = APPS.load(APP)
    usual = {"_permissions": ["read", "write"], "_sign_in_enabled": False, "callback_urls": []}

    assert [] == found
    assert usual.items() <= loaded.items()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8090/cb", "https://a.example/cb?x=1#y", "myapp://", "com.a.b:/x"]
)
def test_absolute_callbacks_of_every_scheme_are_taken(url: str) -> None:
    """Web addresses and custom schemes."""
    assert [] == APPS.load(APP | {"callback_urls": [url]})[1]


@pytest.mark.parametrize("url", ["oob", "/relative", "no scheme", "https://ä.example", "a:b c", ""])
def test_other_callbacks_are_refused(url: str) -> None:
    """What could never be called back, and oob, which needs no entry."""
    _, found = APPS.load(APP | {"callback_urls": [url]})

    assert ["callback_urls[0]"] == [name for name, _ in found]
    assert "an absolute address in printable ASCII" in found[0][1]
