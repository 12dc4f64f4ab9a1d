"""Users are read by id, by name and as the caller."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mock_platform.api.v2.objects.answers import USER_FIELDS
from mock_platform.api.v2.objects.relations import BLOCKS
from tests.api.oauth.app_client import messages
from tests.api.v2.posts.support import relate
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Sandbox, body_of

SETTINGS = {"dataset": "small"}
OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
BADGE = {"badge_url": "https://a.example/b.png", "description": "Harbor", "user_id": [OWN]}


def read(box: Sandbox, path: str, status: int = 200) -> Any:
    """The answer to a GET with the bearer token."""
    return body_of(box.call("GET", path, keys=BEARER), status)


def test_the_caller(box: Sandbox) -> None:
    """Without fields: id, name and username of who signs. An app alone has no user."""
    user = {"id": OTHER, "name": "Northbike Co.", "username": "northbike_co"}
    assert {"data": user} == box.read("/2/users/me", keys=NORTHBIKE)
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


def test_several_users(box: Sandbox) -> None:
    """Each is there once, in whichever case it is named; those that are missing are in errors."""
    body = read(box, f"/2/users?ids={INES},1,{OWN}")
    named = read(box, "/2/users/by?usernames=northbike_co,nobody_here,Northbike_Co")

    assert [INES, OWN] == [user["id"] for user in body["data"]]
    assert [("ids", "1")] == [(each["parameter"], each["value"]) for each in body["errors"]]
    assert [OTHER] == [user["id"] for user in named["data"]]
    assert ["usernames"] == [each["parameter"] for each in named["errors"]]


def test_every_field(box: Sandbox) -> None:
    """All fields of a user that has everything; the address only for the user itself."""
    more = {"_confirmed_email": "a@b.example", "withheld_in_countries": ["DE"]}
    box.change("users", OWN, affiliation=BADGE, **more)
    names = ",".join(USER_FIELDS)
    own = box.call("GET", "/2/users/me", query_string={"user.fields": names}).get_json()["data"]
    seen = read(box, f"/2/users/{OWN}?user.fields={names}")["data"]

    assert set(USER_FIELDS) == own.keys()
    assert {"confirmed_email", "connection_status"} == own.keys() - seen.keys()
    assert {"country_codes": ["DE"], "scope": "user"} == seen["withheld"]
    assert {
        "followers_count": 18432, "following_count": 612, "post_count": 7844, "listed_count": 214,
        "like_count": 5031, "media_count": 1290,
    } == seen["public_metrics"]  # fmt: skip
    assert ("business", "Premium") == (seen["verified_type"], seen["subscription_type"])
    assert "harbor-roasters.example" == seen["entities"]["url"]["urls"][0]["display_url"]


@pytest.mark.parametrize(
    ("before", "expected"), [(timedelta(seconds=1), OWN), (timedelta(0), [OWN])]
)
@pytest.mark.spec("A, Release history", "2025-02-18: affiliation.user_id")
def test_affiliation_is_an_array_since_its_date(
    box: Sandbox, before: timedelta, expected: object
) -> None:
    """One id before 2025-02-18, a list of them from then on."""
    box.change("users", INES, affiliation=BADGE)
    box.world.clock.freeze(datetime(2025, 2, 18, tzinfo=UTC) - before)
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
    assert "errors" not in read(box, f"/2/users/{OWN}?expansions=most_recent_post_id")


def test_promoted_only_posts_are_not_the_newest(box: Sandbox) -> None:
    """A post that only ads show is not the most recent one of its author."""
    made = box.call("POST", "/2/posts", json={"text": "For all"}).get_json()["data"]["id"]
    form = {"as_user_id": OWN, "text": "For some", "nullcast": "true"}
    assert 200 == box.call("POST", "/12/accounts/18ce54d4x5t/post", query_string=form).status_code
    shown = read(box, f"/2/users/{OWN}?user.fields=most_recent_post_id")["data"]

    assert made == shown["most_recent_post_id"]


def test_a_pinned_post_that_is_deleted(box: Sandbox) -> None:
    """A deleted post is no longer pinned."""
    made = box.call("POST", "/2/posts", json={"text": "Pinned"}).get_json()["data"]["id"]
    box.change("users", OWN, pinned_post_id=made)
    box.call("DELETE", f"/2/posts/{made}")
    assert "pinned_post_id" not in read(box, f"/2/users/{OWN}?user.fields=pinned_post_id")["data"]


def test_subscribers(box: Sandbox) -> None:
    """Both fields say whether a user subscribes to the one who asks."""
    box.change("users", INES, _subscribes_to=[OWN])
    fields: dict[str, Any] = {"user.fields": "subscribes_to_you,subscription"}
    shown = [
        box.read(f"/2/users/{INES}", keys=keys, **fields)["data"]
        for keys in (HARBOR, NORTHBIKE, BEARER)
    ]

    assert [True, False, False] == [user["subscribes_to_you"] for user in shown]
    assert [True, False, False] == [user["subscription"]["subscribes_to_you"] for user in shown]


SUSPENDED, UNKNOWN = "User has been suspended: [{}].", "Could not find user with {}: [{}]."


@pytest.mark.parametrize("state", ["_suspended", "_deactivated"])
@pytest.mark.parametrize(
    ("path", "parameter", "value"),
    [
        (f"/2/users/{OTHER}", "id", OTHER),
        (f"/2/users?ids={INES},{OTHER}", "ids", OTHER),
        ("/2/users/by/username/northbike_co", "username", "northbike_co"),
        ("/2/users/by?usernames=northbike_co,ines_duarte", "usernames", "northbike_co"),
        (f"/2/users/{INES}?expansions=affiliation.user_id", "affiliation.user_id", OTHER),
    ],
)
def test_absent_users(box: Sandbox, path: str, parameter: str, value: str, state: str) -> None:
    """A suspended user is missing in words of its own, a deactivated one like any other."""
    box.change("users", OTHER, **{state: True})
    box.change("users", INES, affiliation=BADGE | {"user_id": [OTHER]})
    is_single = parameter in {"id", "username"}
    body = read(box, path, 404 if is_single else 200)
    (error,) = body["errors"]

    is_suspended = state == "_suspended"
    expected = SUSPENDED.format(value) if is_suspended else UNKNOWN.format(parameter, value)
    assert expected == error["detail"]
    assert ("Forbidden" if is_suspended else "Not Found Error") == error["title"]
    named = {"resource_type": "user", "parameter": parameter, "value": value}
    assert named.items() <= error.items()
    assert error["type"].endswith("/resource-not-found")
    assert is_single != ("data" in body)


def test_absent_users_beside_posts(box: Sandbox) -> None:
    """A mention and a reply keep their text, and name in errors who is suspended."""
    first = box.call("POST", "/2/posts", json={"text": "Hello"}, keys=NORTHBIKE).get_json()["data"]
    body = {"text": "@northbike_co hello", "reply": {"in_reply_to_post_id": first["id"]}}
    made = box.call("POST", "/2/posts", json=body).get_json()["data"]["id"]
    box.change("users", OTHER, _suspended=True)
    names = "in_reply_to_user_id,entities.mentions.username,author_id"
    shown = read(box, f"/2/posts/{made}?expansions={names}")

    assert [OWN] == [user["id"] for user in shown["includes"]["users"]]
    assert [("in_reply_to_user_id", OTHER), ("entities.mentions.username", "northbike_co")] == [
        (each["parameter"], each["value"]) for each in shown["errors"]
    ]
    hidden = box.call("GET", f"/2/posts/{first['id']}")
    assert hidden.get_json()["type"].endswith("/not-authorized-for-resource")


@pytest.mark.parametrize(
    ("state", "v2", "ads", "older"),
    [
        ("_suspended", (403, 64), (403, "CURRENT_USER_SUSPENDED"), (403, 63)),
        ("_deactivated", (401, None), (401, "UNAUTHORIZED_ACCESS"), (404, 50)),
    ],
)
def test_the_token_of_an_absent_user(
    box: Sandbox, state: str, v2: Any, ads: Any, older: Any
) -> None:
    """Tokens of a suspended user are refused in each dialect, and no longer valid after the end."""
    box.change("users", OWN, **{state: True})
    mine = [box.call("GET", "/2/users/me", keys=keys) for keys in (HARBOR, USER_TOKEN)]
    account = box.call("GET", "/12/accounts")
    shown = box.call("GET", "/1.1/users/show", keys=BEARER, query_string={"user_id": OWN})

    assert [v2, v2] == [(each.status_code, each.get_json().get("code")) for each in mine]
    assert ads == (account.status_code, account.get_json()["errors"][0]["code"])
    assert older == (shown.status_code, shown.get_json()["errors"][0]["code"])
    assert 200 == box.call("GET", "/2/users/me", keys=NORTHBIKE).status_code


def add_users(box: Sandbox, *users: tuple[str, str, str, int]) -> None:
    """Add users with these ids, usernames, names and numbers of followers."""
    for id_, screen_name, name, followers in users:
        user = box.record("users", INES) | {"id": id_, "screen_name": screen_name, "name": name}
        box.put("users", id_, user | {"followers_count": followers})


def find(box: Sandbox, query: str, **more: Any) -> list[str]:
    """The ids of the users whom a search finds."""
    body = box.read("/2/users/search", query=query, **more)
    assert len(body.get("data", ())) == body["meta"]["result_count"]
    return [user["id"] for user in body.get("data", ())]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("northbike_co", [OTHER]), ("NORTH", ["2", OTHER, "1"]), ("wind", ["1", "2"]),
     ("north w", ["2", "1"]), ("n", ["2", OTHER, "1"]), ("o'nor", ["2"]), ("orth", []),
     ("northwind", ["1"]), ("north_wind", ["2", "1"]), ("_' ", [])],
)  # fmt: skip
def test_searching_users(box: Sandbox, query: str, expected: list[str]) -> None:
    """Each word begins one of a user's words; the exact name is first, then most followers."""
    add_users(box, ("1", "wind", "North Windmill", 5), ("2", "jo_north", "Jo O'Windy", 20_000))
    if query == "northwind":
        box.change("users", "1", screen_name="northwind")
    assert expected == find(box, query)


def test_who_is_not_found(box: Sandbox) -> None:
    """Suspended and deactivated users, and those whom a block separates from the caller."""
    found = [(str(number), f"oak_{number}", "Oak", number) for number in range(1, 6)]
    add_users(box, *found)
    box.change("users", "1", _suspended=True)
    box.change("users", "2", _deactivated=True)
    relate(box, BLOCKS, OWN, "3")
    relate(box, BLOCKS, "4", OWN)

    assert ["5"] == find(box, "oak")
    assert ["5", "4", "3"] == find(box, "oak", keys=NORTHBIKE)


def test_pages_of_a_search(box: Sandbox) -> None:
    """Pages hold each user once, and lead back; a token is good for its query alone."""
    add_users(box, *((str(number), f"elm_{number}", "Elm", number) for number in range(1, 6)))
    pages: list[Any] = [box.read("/2/users/search", query="elm", max_results=2)]
    while token := pages[-1]["meta"].get("next_token"):
        pages.append(box.read("/2/users/search", query="elm", max_results=2, next_token=token))
    back = pages[-1]["meta"]["previous_token"]
    again = box.read("/2/users/search", query="elm", max_results=2, next_token=back)
    [text] = messages(box.ask("GET", "/2/users/search", query="oak", next_token=back))

    assert [["5", "4"], ["3", "2"], ["1"]] == [[user["id"] for user in p["data"]] for p in pages]
    assert pages[1] == again
    assert "previous_token" not in pages[0]["meta"]
    assert f"The `next_token` query parameter value [{back}] is not valid" == text


REFUSED = [
    *(
        Refusal(f"GET /2/users{path}", f"no user at {path}", 400, keys=BEARER, messages=[text])
        for path, text in (
            ("/abc", "The `id` query parameter value [abc] is not valid"),
            ("/" + "1" * 20, "is not valid"),
            ("/by/username/" + "a" * 16, "does not match ^[A-Za-z0-9_]{1,15}$"),
                        ("", "field is required"),
        )
    ),
    Refusal("GET /2/users/by", "a name with signs", 400, query={"usernames": "a-b"}, keys=BEARER,
            messages=["parameter value [a-b] does not match ^[A-Za-z0-9_]{1,15}$"]),
    Refusal("GET /2/users/search", "a search with signs", 400, query={"query": "a-b"},
            messages=["The `query` query parameter value [a-b] does not match ^["]),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


def test_affiliates(box: Sandbox) -> None:
    """The users who name the organization, the last first, page by page; none for a person."""
    add_users(box, *((str(number), f"barista_{number}", "Bar", 1) for number in range(1, 5)))
    box.change("users", "2", _suspended=True)
    box.change("users", "3", affiliation={})
    path = f"/2/users/{OWN}/affiliates"
    first = read(box, f"{path}?max_results=2&user.fields=affiliation")
    token = first["meta"]["next_token"]
    second = read(box, f"{path}?max_results=2&pagination_token={token}")

    assert token.isdecimal()
    assert (["4", "1"], [INES]) == tuple(
        [user["id"] for user in page["data"]] for page in (first, second)
    )
    assert [OWN] == first["data"][0]["affiliation"]["user_id"]
    assert {"meta": {"result_count": 0}} == read(box, f"/2/users/{INES}/affiliates")
