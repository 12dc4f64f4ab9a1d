"""Users of the older interface: read by id and by name, and found."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.v2.objects.older_forms import UserProfile
from tests.api.older.numbers import numbers
from tests.oauth_steps import begun, code, exchange, pairs, visitor
from tests.refusals import Refusal, refusals
from tests.support import BEARER, HARBOR, USER_TOKEN, Keys, Sandbox, Sandboxes, body_of, sandbox

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
NORTHBIKE: dict[str, Any] = {"screen_name": "northbike_co"}


def test_searched_users(box: Sandbox) -> None:
    """The page of a search, which ends."""
    path = "/1.1/users/search.json"

    assert OWN in [user["id_str"] for user in box.read(path, q="harbor")]
    assert [] == box.read(path, q="harbor", page="9")


@pytest.mark.parametrize("named", [OTHER, "Northbike_Co"])
def test_id_is_a_number_or_a_name(box: Sandbox, named: str) -> None:
    """Older clients name a user with `id`, which is a user_id or a screen_name."""
    user = box.read("/1.1/users/show.json", id=named)
    posts = box.read("/1.1/statuses/user_timeline.json", id=named)
    followed = body_of(box.call("POST", "/1.1/friendships/create.json", form={"id": named}))

    assert OTHER == user["id_str"] == followed["id_str"]
    assert {OTHER} == {post["user"]["id_str"] for post in posts}


REFUSED = [
    Refusal("GET /1.1/users/lookup.json", "no names", 400, shows=numbers(25)),
    Refusal("GET /1.1/users/lookup.json", "unknown names alone", 404,
            query={"screen_name": "none_such"}, shows=numbers(17)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each refusal has the number and the status of the older interface."""
    row.check(box)


VERIFY = "/1.1/account/verify_credentials.json"
SHOW = "/1.1/users/show.json"
KEYS = {*UserProfile().load_fields, "id", "id_str", "created_at"}
"""The 41 keys of a user object."""


def verify(box: Sandbox, **query: Any) -> Any:
    """The answer to a caller who wants to know whose credentials these are."""
    return box.read(VERIFY, **query)


def test_the_caller_in_the_older_form(box: Sandbox) -> None:
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
    assert verify(box) == box.read(VERIFY.removesuffix(".json"))


@pytest.mark.parametrize(("word", "means_yes"), [
    *((word, True) for word in ("true", "t", "1", "TRUE")),
    *((word, False) for word in ("false", "f", "0", "no", "")),
])  # fmt: skip
def test_words_that_mean_yes_and_no(box: Sandbox, word: str, means_yes: bool) -> None:
    """skip_status leaves the status out, include_email adds the address or null."""
    shown = verify(box, skip_status=word, include_email=word)

    assert (means_yes, means_yes) == ("status" not in shown, "email" in shown)
    assert shown.get("email") is None


def test_entities_and_the_confirmed_address(box: Sandbox) -> None:
    """include_entities=false leaves them out; the address is one that the user has confirmed."""
    box.change("users", OWN, _confirmed_email="desk@harbor-roasters.example")

    assert "entities" not in verify(box, include_entities="false")
    assert "entities" in verify(box, include_entities="true")
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
    box.put("users", "77", box.record("users", OWN) | {"id": "77", "screen_name": "n", "url": None})
    shown = box.read(SHOW, user_id="77")

    assert "status" not in shown
    assert {"description": {"urls": []}} == shown["entities"]


def test_other_credentials(box: Sandbox) -> None:
    """Apps without a user and wrong or revoked credentials answer as the platform does."""
    wrong = Keys(HARBOR.key, "wrong", HARBOR.token, HARBOR.token_secret)
    for keys, refused in (
        (BEARER, (403, 220)), (USER_TOKEN, (403, 220)), (None, (400, 215)), (wrong, (401, 32)),
    ):  # fmt: skip
        assert refused == code(box.call("GET", VERIFY, keys=keys))
    box.call("POST", "/1.1/oauth/invalidate_token")
    assert (401, 89) == code(box.call("GET", VERIFY))


@pytest.mark.parametrize("query", [
    {"user_id": OTHER}, {"screen_name": "northbike_co"}, {"screen_name": "NorthBike_Co"},
])  # fmt: skip
@pytest.mark.parametrize("keys", [HARBOR, BEARER], ids=["user", "app"])
def test_one_user(box: Sandbox, keys: Keys | str, query: dict[str, Any]) -> None:
    """By id or by name, for a user and for an app; never with an email address."""
    shown = box.read(SHOW, keys=keys, **query)

    assert (OTHER, "northbike_co") == (shown["id_str"], shown["screen_name"])
    assert "email" not in shown
    assert "status" in shown


@pytest.mark.parametrize("end", ["3805104374", "northbike_co.json", "NorthBike_Co"])
def test_one_user_at_the_end_of_the_path(box: Sandbox, end: str) -> None:
    """The id or the name may also end the path, as older clients have it."""
    assert "northbike_co" == box.read(f"/1.1/users/show/{end}")["screen_name"]
    assert 404 == box.call("GET", f"/1.1/users/show/{end[:3]}x").status_code


def test_both_parameters(box: Sandbox) -> None:
    """The id counts, and the journal says so."""
    query = {"user_id": "3805104374", "screen_name": "harbor_roasters"}
    answer = box.call("GET", SHOW, query_string=query)

    assert "northbike_co" == answer.get_json()["screen_name"]
    assert "no-effect" == answer.headers["X-Mock-Warnings"]


@pytest.mark.parametrize("query", [
    {"user_id": "1"}, {"user_id": "harbor"}, {"screen_name": "nobody"}, {"screen_name": ""}, {},
])  # fmt: skip
def test_no_user(box: Sandbox, query: dict[str, str]) -> None:
    """Neither parameter, and users who do not exist."""
    answer = box.call("GET", SHOW, query_string=query)
    error: dict[str, Any] = {"code": 50, "message": "User not found."}
    if not query:
        error = {"code": 25, "message": "Query parameters are missing."}

    assert (404 if query else 400) == answer.status_code
    assert [error] == answer.get_json()["errors"]


@pytest.mark.parametrize(("path", "most"), [(VERIFY, 75), (f"{SHOW}?user_id=3805104374", 900)])
def test_limits(path: str, most: int) -> None:
    """So many calls of a user in 15 minutes, with --limits public."""
    answer = sandbox(limits="public").call("GET", path)

    assert str(most) == answer.headers["x-rate-limit-limit"]


@pytest.mark.parametrize("path", [VERIFY, f"{SHOW}?user_id={OTHER}"])
def test_strict_refuses_both(sandboxes: Sandboxes, path: str) -> None:
    """The specification does not show them."""
    assert 501 == sandboxes.get(strict=True).call("GET", path).status_code


@pytest.mark.parametrize(("scenario", "path", "number", "message"), [
    ("account-suspended", VERIFY, 64,
     "Your account is suspended and is not permitted to access this feature."),
    ("user-suspended", f"{SHOW}?user_id={OTHER}", 63, "User has been suspended."),
])  # fmt: skip
def test_scenarios_of_suspended_users(
    box: Sandbox, scenario: str, path: str, number: int, message: str
) -> None:
    """Code 64 for a caller and code 63 for another user who is suspended."""
    box.client.post(f"/_mock/scenarios/{scenario}/activate")
    refused = box.call("GET", path)

    assert (403, number) == code(refused)
    assert message == refused.get_json()["errors"][0]["message"]


def test_signing_in_as_a_library_does(box: Sandbox) -> None:
    """Request token, the page of the web host, access token, and who that is, by email."""
    request = begun(box)
    page = visitor(box).open("/i/oauth/authenticate", oauth_token=str(request.token))
    page.log_in("northbike_co").submit("allow")
    found = pairs(exchange(box, request, page.landed_with["oauth_verifier"]))
    keys = Keys(request.key, request.secret, found["oauth_token"], found["oauth_token_secret"])
    who = box.read(VERIFY, keys=keys, include_email="true")

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
