from __future__ import annotations

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.core.auth.tester_access import environment, environment_text
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from tests.support import ACCOUNT, BEARER, HARBOR, sandbox


def test_shape() -> None:
    """One app, one user, and what hangs on them."""
    found = credentials(Platform().worlds.default)

    assert ["app", "user", "bearer_token", "accounts", "webhook_id"] == list(found)
    assert [
        "id",
        "consumer_key",
        "consumer_secret",
        "client_id",
        "client_secret",
        "callback_urls",
    ] == list(found["app"])
    assert [
        "id",
        "screen_name",
        "password",
        "access_token",
        "access_token_secret",
        "oauth2_access_token",
    ] == list(found["user"])
    assert (HARBOR.key, HARBOR.secret) == (
        found["app"]["consumer_key"],
        found["app"]["consumer_secret"],
    )
    assert (HARBOR.token, HARBOR.token_secret, BEARER) == (
        found["user"]["access_token"],
        found["user"]["access_token_secret"],
        found["bearer_token"],
    )
    assert ACCOUNT == found["accounts"][0]


def test_they_work() -> None:
    """The bearer token opens the v2 interface, the signed account the advertising interface."""
    box = sandbox()
    found = credentials(box.platform.worlds.default)
    bearer = {"Authorization": f"Bearer {found['bearer_token']}"}

    replay = box.call("POST", "/2/webhooks/replay", keys=None, headers=bearer, json={})
    media = box.call("GET", f"/12/accounts/{found['accounts'][0]}/account_media")

    assert (400, 200) == (replay.status_code, media.status_code)


def test_of_a_world() -> None:
    """A world whose bearer token was regenerated has its own."""
    box = sandbox()
    world = box.platform.worlds.create("w1")
    with world.work():
        world.store.put("tokens", BEARER, box.record("tokens", BEARER) | {"state": "invalidated"})

    assert credentials(world)["bearer_token"] is None
    assert BEARER == credentials(box.platform.worlds.default)["bearer_token"]


def test_deleted_accounts_are_left_out() -> None:
    """An account that was deleted, or is another user's, does not belong to the user."""
    box = sandbox()
    before = credentials(box.platform.worlds.default)["accounts"]

    box.change("accounts", before[0], deleted=True)

    assert before[1:] == credentials(box.platform.worlds.default)["accounts"]
    assert all("2244994945" in box.record("accounts", key)["_users"] for key in before)


def test_empty_world() -> None:
    """A world without records has no credentials."""
    found = credentials(Platform(Settings(default_fixtures=False)).worlds.default)

    assert {
        "app": None,
        "user": None,
        "bearer_token": None,
        "accounts": [],
        "webhook_id": None,
    } == found
    assert {} == environment(found)


def test_environment() -> None:
    """The environment names each credential; what is not there is left out."""
    found = credentials(Platform().worlds.default)
    found["webhook_id"] = None

    assert {
        "MOCK_PLATFORM_CONSUMER_KEY": HARBOR.key,
        "MOCK_PLATFORM_CONSUMER_SECRET": HARBOR.secret,
        "MOCK_PLATFORM_ACCESS_TOKEN": HARBOR.token,
        "MOCK_PLATFORM_ACCESS_TOKEN_SECRET": HARBOR.token_secret,
        "MOCK_PLATFORM_CLIENT_ID": "aGJyRGVza0NsaWVudDRWcTh4VzI6MTpjaQ",
        "MOCK_PLATFORM_CLIENT_SECRET": "hbrDeskClientSecret2tGf7NwYq4RmZ8xKc1VbJ6sLdP3uH9eT",
        "MOCK_PLATFORM_OAUTH2_ACCESS_TOKEN": found["user"]["oauth2_access_token"],
        "MOCK_PLATFORM_BEARER_TOKEN": BEARER,
        "MOCK_PLATFORM_ACCOUNT_ID": ACCOUNT,
        "MOCK_PLATFORM_USER_ID": "2244994945",
    } == environment(found)


def test_environment_as_text() -> None:
    """As text, values that a shell would read otherwise are quoted."""
    found = credentials(Platform().worlds.default) | {"bearer_token": "a b$c'd"}

    lines = environment_text(found).splitlines()

    assert f"MOCK_PLATFORM_CONSUMER_KEY={HARBOR.key}" == lines[0]
    assert """MOCK_PLATFORM_BEARER_TOKEN='a b$c'"'"'d'""" in lines
