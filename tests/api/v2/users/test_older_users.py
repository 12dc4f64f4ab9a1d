"""Users of the 1.1 interface: who signs in, and one by id or by name."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.v2.objects.older_forms import UserProfile
from tests.oauth_steps import begun, code, exchange, pairs, visitor
from tests.support import BEARER, HARBOR, USER_TOKEN, Keys, Sandbox, sandbox

VERIFY = "/1.1/account/verify_credentials.json"
SHOW = "/1.1/users/show.json"
KEYS = {*UserProfile().load_fields, "id", "id_str", "created_at"}
"""The 41 keys of a user object."""


@pytest.fixture
def box() -> Sandbox:
    """A sandbox of its own."""
    return sandbox()


def verify(box: Sandbox, **query: str) -> dict[str, Any]:
    """The answer to a caller who wants to know whose credentials these are."""
    answer = box.call("GET", VERIFY, query_string=query)
    assert 200 == answer.status_code, answer.text
    found: dict[str, Any] = answer.get_json()
    return found


def test_the_caller(box: Sandbox) -> None:
    """The user object of 41 keys, with the entities of the profile and the last public post."""
    shown = verify(box)

    assert 41 == len(KEYS)
    assert KEYS | {"entities", "status"} == set(shown)
    assert (2244994945, "harbor_roasters") == (shown["id"], shown["screen_name"])
    assert "https://harbor-roasters.example" == shown["entities"]["url"]["urls"][0]["url"]
    assert isinstance(shown["status"]["text"], str)
    assert not {"user", "full_text", "nullcast"} & set(shown["status"])


def test_without_json_in_the_path(box: Sandbox) -> None:
    """The ending may be missing."""
    assert verify(box) == box.call("GET", VERIFY.removesuffix(".json")).get_json()


@pytest.mark.parametrize("word", ["true", "t", "1", "TRUE"])
def test_words_that_mean_yes(box: Sandbox, word: str) -> None:
    """skip_status leaves the status out, include_email adds the address or null."""
    shown = verify(box, skip_status=word, include_email=word)

    assert "status" not in shown
    assert shown["email"] is None


@pytest.mark.parametrize("word", ["false", "f", "0", "no", ""])
def test_words_that_mean_no(box: Sandbox, word: str) -> None:
    """Other words change nothing."""
    shown = verify(box, skip_status=word, include_email=word)

    assert "status" in shown
    assert "email" not in shown


def test_entities_are_left_out(box: Sandbox) -> None:
    """include_entities=false leaves them out."""
    assert "entities" not in verify(box, include_entities="false")
    assert "entities" in verify(box, include_entities="true")


def test_the_confirmed_address(box: Sandbox) -> None:
    """The address that the user has confirmed."""
    box.change("users", "2244994945", _confirmed_email="desk@harbor-roasters.example")

    assert "desk@harbor-roasters.example" == verify(box, include_email="true")["email"]


def test_promoted_posts_are_no_status(box: Sandbox) -> None:
    """The last post is one that everybody can see; the newest one, whoever made it."""
    path = "/12/accounts/18ce54d4x5t/post"
    for text, nullcast in (("For all", "false"), ("For some", "true")):
        form = {"as_user_id": "2244994945", "text": text, "nullcast": nullcast}
        assert 200 == box.call("POST", path, query_string=form).status_code
        box.world.clock.advance(seconds=1)

    assert "For all" == verify(box)["status"]["text"]


def test_a_user_without_posts(box: Sandbox) -> None:
    """No status for one who has posted nothing, and no address for one without a website."""
    box.put(
        "users",
        "77",
        box.record("users", "2244994945") | {"id": "77", "screen_name": "new", "url": None},
    )
    shown = box.call("GET", SHOW, query_string={"user_id": "77"}).get_json()

    assert "status" not in shown
    assert {"description": {"urls": []}} == shown["entities"]


def test_other_credentials(box: Sandbox) -> None:
    """Apps without a user and wrong or revoked credentials answer as the platform does."""
    wrong = Keys(HARBOR.key, "wrong", HARBOR.token, HARBOR.token_secret)
    refused = {
        "bearer": code(box.call("GET", VERIFY, keys=BEARER)),
        "oauth2": code(box.call("GET", VERIFY, keys=USER_TOKEN)),
        "none": code(box.call("GET", VERIFY, keys=None)),
        "wrong": code(box.call("GET", VERIFY, keys=wrong)),
    }
    box.call("POST", "/1.1/oauth/invalidate_token")

    assert {
        "bearer": (403, 220),
        "oauth2": (403, 220),
        "none": (400, 215),
        "wrong": (401, 32),
    } == refused
    assert (401, 89) == code(box.call("GET", VERIFY))


@pytest.mark.parametrize(
    "query",
    [{"user_id": "3805104374"}, {"screen_name": "northbike_co"}, {"screen_name": "NorthBike_Co"}],
)
@pytest.mark.parametrize("keys", [HARBOR, BEARER], ids=["user", "app"])
def test_one_user(box: Sandbox, keys: Keys | str, query: dict[str, str]) -> None:
    """By id or by name, for a user and for an app; never with an email address."""
    shown = box.call("GET", SHOW, keys=keys, query_string=query).get_json()

    assert ("3805104374", "northbike_co") == (shown["id_str"], shown["screen_name"])
    assert "email" not in shown
    assert "status" in shown


def test_both_parameters(box: Sandbox) -> None:
    """The id counts, and the journal says so."""
    query = {"user_id": "3805104374", "screen_name": "harbor_roasters"}
    answer = box.call("GET", SHOW, query_string=query)

    assert "northbike_co" == answer.get_json()["screen_name"]
    assert "no-effect" == answer.headers["X-Mock-Warnings"]


@pytest.mark.parametrize(
    ("query", "status", "error"),
    [
        ({}, 400, {"code": 25, "message": "Query parameters are missing."}),
        ({"user_id": "1"}, 404, {"code": 50, "message": "User not found."}),
        ({"user_id": "harbor"}, 404, {"code": 50, "message": "User not found."}),
        ({"screen_name": "nobody_here"}, 404, {"code": 50, "message": "User not found."}),
        ({"screen_name": ""}, 404, {"code": 50, "message": "User not found."}),
    ],
)
def test_no_user(box: Sandbox, query: dict[str, str], status: int, error: dict[str, Any]) -> None:
    """Neither parameter, and users who do not exist."""
    answer = box.call("GET", SHOW, query_string=query)

    assert (status, [error]) == (answer.status_code, answer.get_json()["errors"])


@pytest.mark.parametrize(("path", "most"), [(VERIFY, 75), (f"{SHOW}?user_id=3805104374", 900)])
def test_limits(path: str, most: int) -> None:
    """So many calls of a user in 15 minutes, with --limits public."""
    answer = sandbox(limits="public").call("GET", path)

    assert str(most) == answer.headers["x-rate-limit-limit"]


def test_strict_refuses_both() -> None:
    """The specification does not show them."""
    box = sandbox(strict=True)

    assert [501, 501] == [
        box.call("GET", path).status_code for path in (VERIFY, f"{SHOW}?user_id=3805104374")
    ]


def test_scenarios_of_suspended_users(box: Sandbox) -> None:
    """Code 64 for a caller and code 63 for another user who is suspended."""
    box.client.post("/_mock/scenarios/account-suspended/activate")
    box.client.post("/_mock/scenarios/user-suspended/activate")
    refused = box.call("GET", VERIFY), box.call("GET", f"{SHOW}?user_id=3805104374")

    assert [(403, 64), (403, 63)] == [code(answer) for answer in refused]
    assert [
        "Your account is suspended and is not permitted to access this feature.",
        "User has been suspended.",
    ] == [answer.get_json()["errors"][0]["message"] for answer in refused]


def test_signing_in_as_a_library_does(box: Sandbox) -> None:
    """Request token, the page of the web host, access token, and who that is, by email."""
    request = begun(box)
    page = visitor(box).open("/i/oauth/authenticate", oauth_token=str(request.token))
    page = page.log_in("northbike_co")
    page.submit("allow")
    found = pairs(exchange(box, request, page.landed_with["oauth_verifier"]))
    keys = Keys(request.key, request.secret, found["oauth_token"], found["oauth_token_secret"])
    who = box.call("GET", f"{VERIFY}?include_email=true", keys=keys).get_json()

    assert ("northbike_co", None) == (who["screen_name"], who["email"])


@pytest.mark.parametrize("step", ["authorize", "authenticate"])
def test_pages_of_the_web_host(box: Sandbox, step: str) -> None:
    """The consent pages answer below /i/ as well, and say that nothing shows this."""
    token = str(begun(box).token)
    answer = box.client.get(f"/i/oauth/{step}", query_string={"oauth_token": token})
    plain = box.client.get(f"/oauth/{step}", query_string={"oauth_token": token})

    assert [200, 200] == [answer.status_code, plain.status_code]
    assert "oauth.web-paths" in answer.headers["X-Mock-Assumptions"]
    assert "oauth.web-paths" not in plain.headers["X-Mock-Assumptions"]
