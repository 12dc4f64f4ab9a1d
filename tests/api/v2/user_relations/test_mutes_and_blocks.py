"""Mutes and blocks: private lists, what a block ends, and who hears of it."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.api.v2.objects.relations import (
    BLOCKS,
    FOLLOW_REQUESTS,
    FOLLOWS,
    MUTES,
    Relation,
)
from tests.api.v2.posts.support import ids_of, list_activities
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Keys, Sandbox, body_of
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk

SETTINGS = {"dataset": "small"}
EMPTY = ("follows",)
OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
WORDS = [("muting", "mute", MUTES), ("blocking", "block", BLOCKS)]
BOTH = pytest.mark.parametrize(("path", "verb", "relation"), WORDS, ids=["mute", "block"])


def act(box: Sandbox, path: str, target: str = OTHER) -> Any:
    """Let the caller mute or block somebody, and return the answer."""
    answer = box.call("POST", f"/2/users/{OWN}/{path}", json={"target_user_id": target})
    assert 200 == answer.status_code, answer.text
    return answer.get_json()


def end(box: Sandbox, path: str, target: str = OTHER) -> Any:
    """Let the caller unmute or unblock somebody, and return the answer."""
    return box.call("DELETE", f"/2/users/{OWN}/{path}/{target}").get_json()


def happened(box: Sandbox) -> list[tuple[Any, ...]]:
    """Type, user and direction of all that happened."""
    return list_activities(box, "event_type", "user_id", "direction")


@BOTH
def test_begin_and_end(box: Sandbox, path: str, verb: str, relation: Relation) -> None:
    """It is in the caller's list alone; twice is once, undo is undo; only the actor hears of it."""
    before = happened(box), box.record("users", OWN), box.record("users", OTHER)
    own = f"/2/users/{OWN}/{path}"

    assert [{"data": {path: True}}] * 2 == [act(box, path), act(box, path)]
    act(box, path, INES)
    assert [INES, OTHER] == ids_of(box.read(own)) == ids_of(box.read(own, keys=USER_TOKEN))
    assert [] == ids_of(box.read(f"/2/users/{OTHER}/{path}", keys=NORTHBIKE))
    end(box, path, INES)
    assert [{"data": {path: False}}] * 2 == [end(box, path), end(box, path)]
    assert {"meta": {"result_count": 0}} == box.read(own)
    assert [f"{verb}.{verb}", f"{verb}.{verb}", f"{verb}.un{verb}", f"{verb}.un{verb}"] == [
        name for name, user, direction in happened(box)[len(before[0]) :]
        if (user, direction) == (OWN, None)
    ]  # fmt: skip
    assert before[1:] == (box.record("users", OWN), box.record("users", OTHER))
    assert {"data": {path: False}} == end(box, path, "1"), "an unknown user"


@BOTH
def test_pages(box: Sandbox, path: str, verb: str, relation: Relation) -> None:
    """Pages have the latest first, and fields; suspended users are left out."""
    for number in "12345":
        box.put("users", number, box.record("users", INES) | {"id": number, "screen_name": number})
        act(box, path, number)
    box.change("users", "3", _suspended=True)
    own = f"/2/users/{OWN}/{path}"
    query: dict[str, Any] = {"max_results": 2, "user.fields": "connection_status"}
    first = box.read(own, **query)
    second = box.read(own, pagination_token=first["meta"]["next_token"], **query)
    back = box.read(own, pagination_token=second["meta"]["previous_token"], **query)

    assert (["5", "4"], ["2", "1"]) == (ids_of(first), ids_of(second))
    assert first["data"] == back["data"]
    assert {path} == {each for user in first["data"] for each in user["connection_status"]}
    assert "next_token" not in second["meta"]
    is_number = first["meta"]["next_token"].isdecimal()
    assert is_number == (path == "muting")


@pytest.mark.parametrize("is_pending", [False, True])
@pytest.mark.parametrize(("source", "target"), [(OWN, OTHER), (OTHER, OWN)])
def test_a_block_ends_follows(box: Sandbox, source: str, target: str, *, is_pending: bool) -> None:
    """Follows and requests of both end with their counts, and no unblock brings them back."""
    relation = FOLLOW_REQUESTS if is_pending else FOLLOWS
    counts = [box.record("users", id_) for id_ in (OWN, OTHER)]
    with box.world.work():
        relation.add(box.world, source, target)
    act(box, "blocking")
    end(box, "blocking")

    assert relation.find(box.world, source, target) is None
    assert counts == [box.record("users", id_) for id_ in (OWN, OTHER)]
    assert not [name for name, _, _ in happened(box) if name == "follow.unfollow"]


def test_what_a_block_hides(box: Sandbox) -> None:
    """Neither sees the posts of the other until the block ends; the muted see everything."""
    path = f"/2/users/{OTHER}/followers"
    post = box.call("POST", "/2/posts", json={"text": "Seen?"}).get_json()["data"]["id"]
    act(box, "muting")
    assert "data" in box.read(f"/2/posts/{post}", keys=NORTHBIKE)
    act(box, "blocking")
    assert 403 == box.call("GET", f"/2/posts/{post}", keys=NORTHBIKE).status_code
    assert ["errors"] == list(box.read(path))
    assert ["errors"] == list(box.read(f"/2/users/{OWN}/followers", keys=NORTHBIKE))
    end(box, "blocking")

    assert "data" in box.read(f"/2/posts/{post}", keys=NORTHBIKE)


def status(box: Sandbox, user: str = OTHER, keys: Keys | str = HARBOR) -> Any:
    """The connection_status of a user, as another one sees it."""
    query: Any = {"user.fields": "connection_status"}
    return box.read(f"/2/users/{user}", keys=keys, **query)["data"].get("connection_status")


def test_all_connections(box: Sandbox) -> None:
    """connection_status has all six values in their order, for users alone, and each by itself."""
    edges = {
        "follow_request_received": (FOLLOW_REQUESTS, OTHER, OWN),
        "follow_request_sent": (FOLLOW_REQUESTS, OWN, OTHER), "blocking": (BLOCKS, OWN, OTHER),
        "followed_by": (FOLLOWS, OTHER, OWN), "following": (FOLLOWS, OWN, OTHER),
        "muting": (MUTES, OWN, OTHER),
    }  # fmt: skip

    assert [] == status(box)
    for name, (relation, source, target) in edges.items():
        with box.world.work():
            relation.add(box.world, source, target)
        assert [name] == status(box)
        with box.world.work():
            relation.remove(box.world, source, target)
    with box.world.work():
        for relation, source, target in edges.values():
            relation.add(box.world, source, target)

    assert list(edges) == status(box)
    assert status(box, keys=BEARER) is None


def test_nobody_learns_of_a_block_or_a_mute(box: Sandbox) -> None:
    """connection_status says them to the one who blocks and mutes, and not to the other."""
    act(box, "blocking")
    act(box, "muting")
    assert ["blocking", "muting"] == status(box)
    assert [] == status(box, OWN, NORTHBIKE)


def test_deprecated() -> None:
    """Blocking and unblocking are marked; they are no longer described."""
    marked = {each.id for each in OPERATIONS if each.deprecated and each.dialect == "v2"}
    assert {"blocking.create", "blocking.delete"} <= marked


REFUSED = [
    refusal
    for path, verb, _ in WORDS
    for create in [partial(Refusal, f"POST /2/users/{OWN}/{path}")]
    for refusal in (
        create(f"{verb} oneself", 400, json={"target_user_id": OWN},
               messages=[f"You cannot {verb} yourself"]),
        Refusal(f"GET /2/users/{OWN}/{path}", f"no token of {path}", 400,
                query={"pagination_token": "1" * 19}, messages=["is not valid"]),
    )
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


@pytest.fixture
def desk(desk: Desk, receiver: Receiver) -> Desk:
    """A sandbox whose webhook hears of all that happens to the caller, in both products."""
    desk.clear("activity_subscriptions", "account_activity_subscriptions")
    key = f"{WEBHOOK}-{OWN}"
    record = {"_id": key, "webhook_id": WEBHOOK, "user_id": OWN, "created_at": "2026-11-20"}
    desk.put("account_activity_subscriptions", key, record)
    return desk


@pytest.mark.parametrize(
    ("path", "verb", "prefix"), [(*pair[:2], un) for pair, un in product(WORDS, ("", "un"))]
)
def test_what_is_delivered(
    desk: Desk, receiver: Receiver, path: str, verb: str, prefix: str
) -> None:
    """A subscription to the type and one to the account get the two users; the other gets none."""
    kind = {"event_type": f"{verb}.{prefix}{verb}", "webhook_id": WEBHOOK}
    asked = kind | {"filter": {"user_id": OWN}}
    body_of(desk.call("POST", "/2/activity/subscriptions", json=asked, keys=USER_TOKEN))
    if prefix:
        with desk.world.work():
            (MUTES if verb == "mute" else BLOCKS).add(desk.world, OWN, OTHER)
    for _ in range(2):
        (end if prefix else act)(desk, path)
    desk.wait()

    bodies = [post.json for post in receiver.received]
    (activity,) = [each["data"]["payload"] for each in bodies if "data" in each]
    (account,) = [each for each in bodies if "for_user_id" in each]
    assert [OWN, OTHER] == [activity[role]["data"]["id"] for role in ("source", "target")]
    ((event,),) = [account[f"{verb}_events"]]
    assert f"{prefix}{verb}" == event["type"]
    assert [OWN, OTHER] == [event[role]["id_str"] for role in ("source", "target")]
