"""Who follows, mutes and blocks whom in the older interface."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.api.older.numbers import invalid, not_authorized, numbers
from tests.refusals import Refusal, refusals
from tests.support import BEARER, Sandbox, body_of
from tests.support import NORTHBIKE as NORTHBIKE_KEYS

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
        "screen_name": "northbike_co,ines_duarte", "user_id": OTHER, "skip_status": "t",
    }  # fmt: skip
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


@pytest.mark.parametrize(("kind", "relation"), [("blocks", "blocking"), ("mutes/users", "muting")])
def test_blocks_and_mutes_are_shared(box: Sandbox, kind: str, relation: str) -> None:
    """Who is blocked or muted here is so in the v2 interface, first of both lists, and no more."""

    def change(verb: str) -> Any:
        return body_of(box.call("POST", f"/1.1/{kind}/{verb}.json", form=NORTHBIKE))["id_str"]

    begun = change("create")
    ids = box.read(f"/1.1/{kind}/ids.json", stringify_ids="true")["ids"]
    users = box.read(f"/1.1/{kind}/list.json", skip_status="1")["users"]
    there = [user["id"] for user in box.read(f"/2/users/{OWN}/{relation}")["data"]]
    ended = change("destroy")

    assert OTHER == begun == ended == ids[0]
    assert ids == [user["id_str"] for user in users] == there
    assert OTHER not in box.read(f"/1.1/{kind}/ids.json", stringify_ids="true")["ids"]


def test_several_friendships(box: Sandbox) -> None:
    """Connections have the words of version 1.1; a user with none has the word none."""
    box.change("users", OTHER, protected=True)
    follow(box)
    shown = box.read("/1.1/friendships/lookup.json", user_id=f"{INES},{OTHER},{OWN}")
    asked = box.read("/1.1/friendships/outgoing.json", stringify_ids="true")
    asks = box.read("/1.1/friendships/incoming.json", keys=NORTHBIKE_KEYS)

    found = {one["id_str"]: sorted(one["connections"]) for one in shown}
    assert ["followed_by", "following"] == found[INES]
    assert {"following_requested", "followed_by"} == set(found[OTHER])
    assert ["none"] == found[OWN]
    assert OTHER in asked["ids"]
    assert [int(OWN)] == asks["ids"]


@pytest.mark.parametrize("end", ["friendships/destroy", "blocks/create"])
def test_reposts_that_nobody_wants(box: Sandbox, end: str) -> None:
    """Without reposts a user's reposts leave the home timeline, until the follow ends."""
    made = body_of(box.call("POST", "/2/posts", json={"text": "Look at this"}), 201)["data"]
    follow(box)
    box.call("POST", f"/1.1/statuses/repost/{made['id']}.json", keys=NORTHBIKE_KEYS)

    def count() -> int:
        home = box.read("/1.1/statuses/home_timeline.json", count="50")
        return sum(post["user"]["id_str"] == OTHER and "reposted_status" in post for post in home)

    before = count()
    shown = update(box, reposts="false")
    hidden, listed = count(), box.read("/1.1/friendships/no_reposts/ids.json")
    again = update(box, reposts="true", device="true")
    wanted = count()
    update(box, reposts="false")
    box.call("POST", f"/1.1/{end}.json", form=NORTHBIKE)

    assert (1, 0, 1) == (before, hidden, wanted)
    assert not shown["relationship"]["source"]["want_reposts"]
    assert again["relationship"]["source"]["want_reposts"]
    assert [int(OTHER)] == listed
    assert [] == box.read("/1.1/friendships/no_reposts/ids.json")
    assert box.world.store.get("hidden_reposts", f"{OWN}:{OTHER}") is None


def update(box: Sandbox, **form: str) -> Any:
    """What two users are to each other after a choice of the first one."""
    return body_of(box.call("POST", "/1.1/friendships/update.json", form=NORTHBIKE | form))


@pytest.mark.parametrize("blocks", [True, False])
def test_a_report_blocks(box: Sandbox, *, blocks: bool) -> None:
    """Who is reported is blocked, unless that is excluded."""
    form = NORTHBIKE if blocks else NORTHBIKE | {"perform_block": "false"}
    shown = body_of(box.call("POST", "/1.1/users/report_spam.json", form=form))

    assert OTHER == shown["id_str"]
    ids = box.read("/1.1/blocks/ids.json", stringify_ids="true")["ids"]
    assert blocks == (OTHER in ids)


create = partial(Refusal, "POST /1.1/friendships/create.json")
REFUSED = [
    create("no user", 403, shows=numbers(108)),
    create("an unknown user", 403, form={"user_id": "99"}, shows=numbers(108)),
    create("oneself", 403, form={"user_id": OWN}, shows=numbers(158)),
    create("a user who blocks the caller", 403, form={"user_id": OTHER}, shows=numbers(162)),
    Refusal("POST /1.1/friendships/destroy.json", "to unfollow an unknown user", 404,
            form={"user_id": "99"}, shows=numbers(50)),
    Refusal("POST /1.1/mutes/users/create.json", "to mute oneself", 403, form={"user_id": OWN},
            shows=numbers(271, "You can't mute yourself.")),
    Refusal("POST /1.1/mutes/users/destroy.json", "to unmute who is not muted", 403,
            form={"user_id": INES}, shows=numbers(272, "You are not muting the specified user.")),
    Refusal("POST /1.1/blocks/create.json", "to block oneself", 403, form={"user_id": OWN},
            shows=numbers(87, "You cannot block yourself")),
    Refusal("POST /1.1/blocks/create.json", "to block nobody", 403, shows=numbers(108)),
    Refusal("POST /1.1/blocks/create.json", "to block an unknown user", 404,
            form={"user_id": "99"}, shows=numbers(50)),
    Refusal("GET /1.1/blocks/ids.json", "the blocks of an app", 403, keys=BEARER,
            shows=numbers(220)),
    Refusal("GET /1.1/friends/list.json", "friends of an unknown user", 404,
            query={"user_id": "99"}, shows=numbers(34)),
    Refusal("GET /1.1/friendships/show.json", "no target", 400, shows=numbers(25)),
    Refusal("GET /1.1/followers/list.json", "a cursor of another list", 400,
            query={"user_id": OWN, "cursor": "12345"}, shows=invalid("cursor")),
    Refusal("GET /1.1/followers/list.json", "a cursor that is no number", 400,
            query={"user_id": OWN, "cursor": "x"}, shows=invalid("cursor")),
    Refusal("GET /1.1/followers/ids.json", "followers of a protected user", 401, keys=BEARER,
            query={"user_id": OTHER}, shows=not_authorized("/1.1/followers/ids.json"),
            given={("users", OTHER): {"protected": True}}),
    Refusal("POST /1.1/friendships/update.json", "reposts of a user who is not followed", 403,
            form={"user_id": OTHER, "reposts": "false"}, shows=numbers(87)),
    Refusal("POST /1.1/friendships/update.json", "reposts of nobody", 403, shows=numbers(108)),
    Refusal("GET /1.1/friendships/lookup.json", "connections with nobody", 400, shows=numbers(25)),
    Refusal("GET /1.1/friendships/lookup.json", "connections of an app", 403, keys=BEARER,
            query={"user_id": OTHER}, shows=numbers(220)),
    Refusal("GET /1.1/friendships/incoming.json", "a cursor of no list", 400,
            query={"cursor": "12345"}, shows=invalid("cursor")),
    Refusal("POST /1.1/users/report_spam.json", "to report an unknown user", 404,
            form={"user_id": "99"}, shows=numbers(50)),
]  # fmt: skip


@refusals(REFUSED)
def test_what_is_refused(box: Sandbox, row: Refusal) -> None:
    """Each refusal has the number and the status of the older interface."""
    if row.holds == "a user who blocks the caller":
        edge = {"user_id": OTHER, "target_user_id": OWN, "id": f"{OTHER}:{OWN}"}
        box.put("blocks", edge["id"], edge | {"created_at": "2026-01-01T00:00:00.000Z"})
    row.check(box)
