"""Users of the older interface: found, followed and listed, settings and trends."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.older.numbers import numbers
from tests.refusals import Refusal, refusals
from tests.support import BEARER, Sandbox, body_of

OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
NORTHBIKE: dict[str, Any] = {"screen_name": "northbike_co"}


def follow(box: Sandbox, kind: str = "create", **form: str) -> Any:
    """The user whom a follow is about."""
    return body_of(box.call("POST", f"/1.1/friendships/{kind}.json", form=form or NORTHBIKE))


def test_follows_are_shared(box: Sandbox) -> None:
    """A follow is counted, is in the lists of both interfaces and an activity, and ends."""
    before = box.read("/1.1/users/show.json", **NORTHBIKE)
    followed, again = follow(box), follow(box)
    there = [user["id"] for user in box.read(f"/2/users/{OWN}/following")["data"]]
    ids = box.read("/1.1/friends/ids.json", stringify_ids="true")["ids"]
    events = [each.record["event_type"] for each in box.world.store.page("activities")]
    ended = follow(box, "destroy")

    assert (True, True, False) == tuple(one["following"] for one in (followed, again, ended))
    assert before["followers_count"] + 1 == followed["followers_count"]
    assert OTHER in there
    assert there == ids
    assert 2 == events.count("follow.follow")


def test_a_protected_user_is_asked(box: Sandbox) -> None:
    """The first request waits; a second one is refused."""
    box.change("users", OTHER, protected=True)
    asked = follow(box)
    again = box.call("POST", "/1.1/friendships/create.json", form=NORTHBIKE)

    assert (False, True) == (asked["following"], asked["follow_request_sent"])
    assert numbers(160)["errors"][0]["code"] == body_of(again, 403)["errors"][0]["code"]


@pytest.mark.parametrize("kind", ["ids", "list"])
def test_cursors(box: Sandbox, kind: str) -> None:
    """Pages are walked forwards and back; 0 says that there is no further page."""
    for number in range(1, 6):
        user = box.record("users", OTHER) | {"id": str(number), "screen_name": f"rider_{number}"}
        box.put("users", user["id"], user)
        edge = {"user_id": user["id"], "target_user_id": OWN, "id": f"{number}:{OWN}"}
        box.put("follows", edge["id"], edge | {"created_at": "2026-01-01T00:00:00.000Z"})
    read = partial(box.read, f"/1.1/followers/{kind}.json", user_id=OWN, count="3")
    name = "users" if kind == "list" else "ids"
    first = read(cursor="-1")
    second = read(cursor=first["next_cursor_str"])
    back = read(cursor=second["previous_cursor_str"])
    whole = box.read(f"/1.1/followers/{kind}.json", user_id=OWN, count="200")

    assert (3, first[name]) == (len(first[name]), back[name])
    assert whole[name][3:6] == second[name]
    assert (0, 0) == (first["previous_cursor"], whole["next_cursor"])
    assert int(first["next_cursor_str"]) == first["next_cursor"] > 0 > second["previous_cursor"]


def test_an_app_without_a_user_sees_no_relations(box: Sandbox) -> None:
    """For a bearer token following is null; parts can be left out."""
    query: dict[str, Any] = {
        "screen_name": "northbike_co,ines_duarte",
        "user_id": OTHER,
        "skip_status": "t",
    }
    found = box.read("/1.1/users/lookup.json", keys=BEARER, **query)

    assert [OTHER, INES] == [user["id_str"] for user in found]
    assert {None} == {user["following"] for user in found}
    assert not any("status" in user for user in found)


def test_friendships(box: Sandbox) -> None:
    """Both sides of a relation, for two users or for the caller."""
    follow(box)
    path = "/1.1/friendships/show.json"
    shown = box.read(path, target_screen_name="northbike_co")["relationship"]
    turned = box.read(path, source_id=OTHER, target_id=OWN)["relationship"]

    assert (True, OWN) == (shown["source"]["following"], shown["source"]["id_str"])
    assert shown["target"]["followed_by"]
    assert shown["source"]["following"] == turned["source"]["followed_by"]


def test_searched_users(box: Sandbox) -> None:
    """The page of a search, which ends."""
    path = "/1.1/users/search.json"

    assert OWN in [user["id_str"] for user in box.read(path, q="harbor")]
    assert [] == box.read(path, q="harbor", page="9")


def test_settings_and_trends(box: Sandbox) -> None:
    """Settings of the caller; trends of a place with and without hashtags."""
    (place,) = box.read("/1.1/trends/place.json", id="1")
    (bare,) = box.read("/1.1/trends/place.json", id="1", exclude="hashtags")

    assert "harbor_roasters" == box.read("/1.1/account/settings.json")["screen_name"]
    assert [{"name": "Worldwide", "woeid": 1}] == place["locations"]
    assert 0 < len(bare["trends"]) < len(place["trends"])


create = partial(Refusal, "POST /1.1/friendships/create.json")
REFUSED = [
    create("no user", 403, shows=numbers(108)),
    create("an unknown user", 403, form={"user_id": "99"}, shows=numbers(108)),
    create("oneself", 403, form={"user_id": OWN}, shows=numbers(158)),
    create("a user who blocks the caller", 403, form={"user_id": OTHER}, shows=numbers(162)),
    Refusal("POST /1.1/friendships/destroy.json", "to unfollow an unknown user", 404,
            form={"user_id": "99"}, shows=numbers(50)),
    Refusal("GET /1.1/friendships/show.json", "no target", 400, shows=numbers(25)),
    Refusal("GET /1.1/users/lookup.json", "no names", 400, shows=numbers(25)),
    Refusal("GET /1.1/users/lookup.json", "unknown names alone", 404,
            query={"screen_name": "none_such"}, shows=numbers(17)),
    Refusal("GET /1.1/followers/list.json", "a cursor of another list", 400,
            query={"user_id": OWN, "cursor": "12345"}, shows=numbers(44)),
    Refusal("GET /1.1/followers/ids.json", "followers of a protected user", 403, keys=BEARER,
            query={"user_id": OTHER}, shows=numbers(179),
            given={("users", OTHER): {"protected": True}}),
    Refusal("GET /1.1/trends/place.json", "an unknown place", 404, query={"id": "99"},
            shows=numbers(34)),
    Refusal("GET /1.1/trends/place.json", "a place that is no number", 400, query={"id": "here"},
            shows=numbers(38)),
    Refusal("GET /1.1/account/settings.json", "the settings of an app", 403, keys=BEARER,
            shows=numbers(220)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each refusal has the number and the status of the older interface."""
    if row.holds == "a user who blocks the caller":
        edge = {"user_id": OTHER, "target_user_id": OWN, "id": f"{OTHER}:{OWN}"}
        box.put("blocks", edge["id"], edge | {"created_at": "2026-01-01T00:00:00.000Z"})
    row.check(box)
