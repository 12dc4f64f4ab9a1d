"""Users are read as the caller, by id and by name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.api.v2.objects.answers import USER_FIELDS
from tests.api.oauth.app_client import messages
from tests.support import BEARER, NORTHBIKE, Sandbox, sandbox

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
BEARER_HEADERS = {"Authorization": f"Bearer {BEARER}"}
BADGE = {"badge_url": "https://a.example/b.png", "description": "Harbor", "user_id": [OWN]}


@pytest.fixture
def box() -> Sandbox:
    """A sandbox of its own."""
    return sandbox(freeze=datetime(2026, 11, 22, 12, tzinfo=UTC))


def read(box: Sandbox, path: str, status: int = 200) -> Any:
    """The answer to a GET with the bearer token."""
    answer = box.client.get(path, headers=BEARER_HEADERS)
    assert answer.status_code == status, answer.get_data(as_text=True)
    return answer.get_json()


def test_the_caller(box: Sandbox) -> None:
    """Without fields: id, name and username of who signs. An app alone has no user."""
    answer = box.call("GET", "/2/users/me", keys=NORTHBIKE)

    assert {"data": {"id": OTHER, "name": "Northbike Co.", "username": "northbike_co"}} == (
        answer.get_json()
    )
    assert read(box, "/2/users/me", 403)["type"].endswith("/unsupported-authentication")


def test_by_id_and_by_name(box: Sandbox) -> None:
    """The same user, whichever way; names in any case."""
    by_id = read(box, f"/2/users/{OWN}")
    by_name = read(box, "/2/users/by/username/Harbor_ROASTERS")

    assert by_id == by_name
    assert "harbor_roasters" == by_id["data"]["username"]


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/2/users/1", "Could not find user with id: [1]."),
        ("/2/users/by/username/nobody_here", "Could not find user with username: [nobody_here]."),
    ],
)
def test_an_unknown_user(box: Sandbox, path: str, detail: str) -> None:
    """404, with the problem at the top and once more in errors."""
    body = read(box, path, 404)

    assert [detail, detail] == [body["detail"], body["errors"][0]["detail"]]
    assert "user" == body["resource_type"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/2/users/abc", "The `id` query parameter value [abc] is not valid"),
        ("/2/users/" + "1" * 20, "is not valid"),
        ("/2/users/by/username/" + "a" * 16, "does not match ^[A-Za-z0-9_]{1,15}$"),
        ("/2/users?ids=abc", "a user id"),
        ("/2/users/by?usernames=a-b", "a name of 1 to 15 letters, digits and _"),
        ("/2/users", '"ids" is a required parameter'),
    ],
)
def test_what_names_no_user(box: Sandbox, path: str, text: str) -> None:
    """An id or name of another form is refused."""
    [found] = messages(box.client.get(path, headers=BEARER_HEADERS))

    assert text in found


def test_several_users(box: Sandbox) -> None:
    """Those that are missing are named in errors; a hundred are taken, one more is not."""
    body = read(box, f"/2/users?ids={INES},1,{OWN}")
    named = read(box, "/2/users/by?usernames=northbike_co,nobody_here")

    assert [INES, OWN] == [user["id"] for user in body["data"]]
    assert [("ids", "1")] == [(each["parameter"], each["value"]) for each in body["errors"]]
    assert [OTHER] == [user["id"] for user in named["data"]]
    assert ["usernames"] == [each["parameter"] for each in named["errors"]]
    ids = ",".join(str(number) for number in range(1, 101))
    assert 100 == len(read(box, f"/2/users?ids={ids}")["errors"])
    [text] = messages(box.client.get(f"/2/users?ids={ids},101", headers=BEARER_HEADERS))
    assert "A maximum of 100 items" in text


def test_every_field(box: Sandbox) -> None:
    """All fields of a user that has everything; the address only for the user itself."""
    box.change("users", OWN, affiliation=BADGE, _confirmed_email="a@b.example")
    names = ",".join(USER_FIELDS)
    own = box.call("GET", "/2/users/me", query_string={"user.fields": names}).get_json()["data"]
    seen = read(box, f"/2/users/{OWN}?user.fields={names}")["data"]

    assert set(USER_FIELDS) - {"withheld"} == own.keys()
    assert {"confirmed_email"} == own.keys() - seen.keys()
    assert {
        "followers_count": 18432, "following_count": 612, "post_count": 7844, "listed_count": 214,
        "like_count": 5031, "media_count": 1290,
    } == seen["public_metrics"]  # fmt: skip
    assert ("business", "Premium") == (seen["verified_type"], seen["subscription_type"])
    assert "harbor-roasters.example" == seen["entities"]["url"]["urls"][0]["display_url"]


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (datetime(2025, 2, 17, 23, 59, 59, tzinfo=UTC), OWN),
        (datetime(2025, 2, 18, tzinfo=UTC), [OWN]),
    ],
)
@pytest.mark.spec("A, Release history", "2025-02-18: affiliation.user_id")
def test_affiliation_is_an_array_since_its_date(
    box: Sandbox, moment: datetime, expected: object
) -> None:
    """One id before 2025-02-18, a list of them from then on."""
    box.change("users", INES, affiliation=BADGE)
    box.platform.worlds.default.clock.freeze(moment)
    body = read(box, f"/2/users/{INES}?user.fields=affiliation&expansions=affiliation.user_id")

    assert expected == body["data"]["affiliation"]["user_id"]
    assert [OWN] == [user["id"] for user in body["includes"]["users"]]


def test_posts_of_a_user(box: Sandbox) -> None:
    """The pinned and the newest post are included; a pinned one that is gone is in errors."""
    made = box.call("POST", "/2/posts", json={"text": "Newest"}).get_json()["data"]["id"]
    box.change("users", OWN, pinned_post_id="5")
    body = read(box, f"/2/users/{OWN}?expansions=most_recent_post_id,pinned_post_id")

    assert (made, "5") == (body["data"]["most_recent_post_id"], body["data"]["pinned_post_id"])
    assert [made] == [post["id"] for post in body["includes"]["posts"]]
    assert ["pinned_post_id"] == [each["parameter"] for each in body["errors"]]
    older = read(box, f"/2/users/{OWN}?user.fields=most_recent_tweet_id")["data"]
    assert made == older["most_recent_post_id"]
