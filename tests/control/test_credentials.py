from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.auth.oauth2 import SCOPES
from tests.api.oauth.oauth2_steps import use
from tests.control.support import call, detail
from tests.support import HARBOR, NORTHBIKE, Keys, Sandbox, sandbox

ROUTE = "/credentials/regenerate"


def keys_of(made: dict[str, Any], app: Keys) -> Keys:
    """What signs with a new pair."""
    return Keys(app.key, app.secret, made["access_token"], made["access_token_secret"])


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"app": "11827"},
        {"app": HARBOR.key, "user": "harbor_roasters"},
        {"user": "2244994945"},
    ],
)
def test_regenerate_the_well_known_pair(box: Sandbox, body: dict[str, str] | None) -> None:
    """Named by id or by name, or not at all; the credentials are the new ones from then on."""
    made = call(box, "POST", ROUTE, json=body).get_json()

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
    made = call(box, "POST", ROUTE, json={"user": "northbike_co"}).get_json()

    assert ([], "write") == (
        made["invalidated"], box.record("tokens", made["access_token"])["access"],
    )  # fmt: skip
    assert 200 == box.call("GET", "/12/accounts", keys=keys_of(made, HARBOR)).status_code
    assert 200 == box.call("GET", "/12/accounts", keys=NORTHBIKE).status_code


def test_a_pair_that_may_only_read_is_replaced_by_one(box: Sandbox) -> None:
    """Regenerating changes the pair, not what it allows."""
    box.change("tokens", str(HARBOR.token), access="read")

    made = call(box, "POST", ROUTE).get_json()

    assert "read" == box.record("tokens", made["access_token"])["access"]


def test_worlds_have_pairs_of_their_own(box: Sandbox) -> None:
    """What is regenerated in one world stays valid in the others."""
    box.platform.worlds.create("w1")

    assert 200 == call(box, "POST", ROUTE, world="w1").status_code
    assert 200 == box.call("GET", "/~default/12/accounts").status_code
    assert 401 == box.call("GET", "/~w1/12/accounts").status_code


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        ({"app": "1182"}, 404, "No app has the id or consumer key '1182'. Did you mean '11827'?"),
        ({"user": "harbour_roasters"}, 404, "Did you mean 'harbor_roasters'?"),
        (
            {"usr": "1"},
            422,
            "'usr' is unknown here; known: kind, scopes, app, user. Did you mean 'user'?",
        ),
        ({"user": 7}, 422, "user"),
        ({"kind": "oauth"}, 422, "oauth1"),
        ({"kind": "oauth2", "scopes": ["post.reed"]}, 422, "Did you mean 'post.read'?"),
        ({"scopes": ["post.read"]}, 422, 'send "kind": "oauth2" with them'),
        ([], 422, "the body must be a JSON object"),
    ],
)
def test_unknown_names_are_refused(box: Sandbox, body: Any, status: int, text: str) -> None:
    """With the nearest one; nothing is invalidated."""
    answer = call(box, "POST", ROUTE, json=body)

    assert text in detail(answer, status)
    assert 200 == box.call("GET", "/12/accounts").status_code


@pytest.mark.parametrize("scopes", [["post.read", "like.read"], ["tweet.read", "offline.access"]])
def test_tokens_of_oauth2(box: Sandbox, scopes: list[str]) -> None:
    """Another kind of token with chosen scopes; it replaces those of its kind alone."""
    before = call(box, "GET", "/credentials").get_json()["user"]
    made = call(box, "POST", ROUTE, json={"kind": "oauth2", "scopes": scopes}).get_json()
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
    made = call(box, "POST", ROUTE, json={"kind": "oauth2", "user": "northbike_co"}).get_json()

    assert list(SCOPES) == made["scopes"]
    assert ([], "3805104374") == (made["invalidated"], made["user_id"])
    assert 200 == use(box, made["access_token"])


def test_a_world_without_apps(box: Sandbox) -> None:
    """What is missing is named."""
    empty = sandbox(default_fixtures=False)

    answer = call(empty, "POST", ROUTE)

    assert "This world has no app; first add one to its table apps." == detail(answer)
