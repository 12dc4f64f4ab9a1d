from __future__ import annotations

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.core.auth.tester_access import environment, environment_text
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from tests.api.oauth.oauth2_steps import CLIENT_ID, CLIENT_SECRET
from tests.support import ACCOUNT, BEARER, HARBOR, Keys, Sandbox


def test_shape(box: Sandbox) -> None:
    """One app, one user, and what hangs on them."""
    found = credentials(box.world)
    app, user = found["app"], found["user"]
    keys_of_app = ["id", "consumer_key", "consumer_secret", "client_id", "client_secret"]
    tokens = ["access_token", "access_token_secret", "oauth2_access_token"]

    assert ["app", "user", "bearer_token", "accounts", "webhook_id"] == list(found)
    assert [*keys_of_app, "callback_urls"] == list(app)
    assert ["id", "screen_name", "password", *tokens] == list(user)
    keys = (app["consumer_key"], app["consumer_secret"])
    assert HARBOR == Keys(*keys, user["access_token"], user["access_token_secret"])
    assert (BEARER, ACCOUNT) == (found["bearer_token"], found["accounts"][0])


def test_they_work(box: Sandbox) -> None:
    """The bearer token opens the v2 interface, the signed account the advertising interface."""
    found = credentials(box.world)
    replay = box.call("POST", "/2/webhooks/replay", keys=found["bearer_token"], json={})
    media = box.call("GET", f"/12/accounts/{found['accounts'][0]}/account_media")

    assert (400, 200) == (replay.status_code, media.status_code)


def test_of_a_world(box: Sandbox) -> None:
    """A world whose bearer token was regenerated has its own."""
    world = box.platform.worlds.create("w1")
    with world.work():
        world.store.put("tokens", BEARER, box.record("tokens", BEARER) | {"state": "invalidated"})

    assert credentials(world)["bearer_token"] is None
    assert BEARER == credentials(box.world)["bearer_token"]


def test_deleted_accounts_are_left_out(box: Sandbox) -> None:
    """An account that was deleted, or is another user's, does not belong to the user."""
    before = credentials(box.world)["accounts"]
    box.change("accounts", before[0], deleted=True)

    assert before[1:] == credentials(box.world)["accounts"]
    assert all("2244994945" in box.record("accounts", key)["_users"] for key in before)


def test_empty_world() -> None:
    """A world without records has no credentials."""
    found = credentials(Platform(Settings(default_fixtures=False)).worlds.default)
    nobody = dict.fromkeys(("app", "user", "bearer_token", "webhook_id"))

    assert nobody | {"accounts": []} == found
    assert {} == environment(found)


def test_environment(box: Sandbox) -> None:
    """The environment names each credential; what is not there is left out."""
    found = credentials(box.world) | {"webhook_id": None}

    assert environment(found) == {
        f"MOCK_PLATFORM_{name}": value
        for name, value in {
            "CONSUMER_KEY": HARBOR.key, "CONSUMER_SECRET": HARBOR.secret,
            "ACCESS_TOKEN": HARBOR.token, "ACCESS_TOKEN_SECRET": HARBOR.token_secret,
            "CLIENT_ID": CLIENT_ID, "CLIENT_SECRET": CLIENT_SECRET,
            "OAUTH2_ACCESS_TOKEN": found["user"]["oauth2_access_token"], "BEARER_TOKEN": BEARER,
            "ACCOUNT_ID": ACCOUNT, "USER_ID": "2244994945",
        }.items()
    }  # fmt: skip


def test_environment_as_text(box: Sandbox) -> None:
    """As text, values that a shell would read otherwise are quoted."""
    lines = environment_text(credentials(box.world) | {"bearer_token": "a b$c'd"}).splitlines()

    assert f"MOCK_PLATFORM_CONSUMER_KEY={HARBOR.key}" == lines[0]
    assert """MOCK_PLATFORM_BEARER_TOKEN='a b$c'"'"'d'""" in lines
