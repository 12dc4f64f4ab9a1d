"""Follows: lists of both sides, following and unfollowing, requests to protected users."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from mock_platform.api.v2.objects.relations import BLOCKS, FOLLOW_REQUESTS, FOLLOWS
from mock_platform.api.v2.user_relations.changes import (
    RelationChange,
    accept_request,
    deny_request,
)
from tests.api.v2.posts.support import add_user, read_metrics, relate
from tests.refusals import Refusal, make_refusal_test
from tests.support import BEARER, NORTHBIKE, Sandbox
from tests.walks import walk_both_ways

SETTINGS = {"dataset": "small"}
EMPTY = ("follows", "follow_requests")
OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
FOLLOWING = f"/2/users/{OWN}/following"


def follow(box: Sandbox, target: str, status: int = 200) -> Any:
    """Let the caller follow somebody, and return the answer."""
    answer = box.call("POST", FOLLOWING, json={"target_user_id": target})
    assert status == answer.status_code, answer.text
    return answer.get_json()


def read(box: Sandbox, path: str, **query: Any) -> Any:
    """Read something with the bearer token."""
    return box.ask("GET", path, keys=BEARER, **query).get_json()


def count(box: Sandbox, user: str, name: str) -> int:
    """A count of a user."""
    return int(read_metrics(box, f"/2/users/{user}")[name])


def test_following_and_unfollowing(box: Sandbox) -> None:
    """A follow is in the lists and the counts of both sides; twice is once, undo is undo."""

    def counts() -> list[int]:
        return [count(box, OWN, "following_count"), count(box, OTHER, "followers_count")]

    before = counts()
    assert {"data": {"following": True, "pending_follow": False}} == follow(box, OTHER)
    assert follow(box, OTHER) == follow(box, OTHER)
    assert [OTHER] == [user["id"] for user in read(box, FOLLOWING)["data"]]
    assert [OWN] == [user["id"] for user in read(box, f"/2/users/{OTHER}/followers")["data"]]
    assert [number + 1 for number in before] == counts()
    for _ in range(2):
        answer = box.call("DELETE", f"{FOLLOWING}/{OTHER}")
        assert {"data": {"following": False}} == answer.get_json()
    assert before == counts()
    assert {"meta": {"result_count": 0}} == read(box, FOLLOWING)


def test_a_protected_user_is_asked(box: Sandbox) -> None:
    """A follow of a protected user waits, and changes no count; its withdrawal leaves no trace."""
    box.change("users", OTHER, protected=True)
    before = count(box, OTHER, "followers_count")
    asked = follow(box, OTHER)["data"]
    fields: Any = {"user.fields": "connection_status"}
    sent = box.read(f"/2/users/{OTHER}", **fields)["data"]
    got = box.read(f"/2/users/{OWN}", keys=NORTHBIKE, **fields)["data"]

    assert {"following": False, "pending_follow": True} == asked
    assert ["follow_request_sent"] == sent["connection_status"]
    assert ["follow_request_received"] == got["connection_status"]
    assert before == count(box, OTHER, "followers_count")
    box.call("DELETE", f"{FOLLOWING}/{OTHER}")
    assert FOLLOW_REQUESTS.find(box.world, OWN, OTHER) is None


def ask(box: Sandbox) -> None:
    """Let the caller ask to follow a protected user."""
    box.change("users", OTHER, protected=True)
    follow(box, OTHER)


@pytest.mark.parametrize("answer", [accept_request, deny_request])
def test_a_request_is_answered(box: Sandbox, answer: RelationChange) -> None:
    """An accepted request is a follow, a denied one nothing; a second answer changes nothing."""
    ask(box)
    before = count(box, OTHER, "followers_count")
    users = [box.record("users", id_) for id_ in (OWN, OTHER)]
    with box.world.work():
        heard = [len(answer(box.world, *users)) for _ in range(2)]
    is_accepted = answer is accept_request

    assert [2 if is_accepted else 0, 0] == heard
    assert is_accepted == (FOLLOWS.find(box.world, OWN, OTHER) is not None)
    assert before + is_accepted == count(box, OTHER, "followers_count")
    assert FOLLOW_REQUESTS.find(box.world, OWN, OTHER) is None
    assert is_accepted != follow(box, OTHER)["data"]["pending_follow"]


def test_the_end_of_a_protection(box: Sandbox) -> None:
    """Who has asked follows a user who is no longer protected, and both hear of it."""
    ask(box)
    box.change("users", OTHER, protected=False)
    heard = box.world.store.page("activities", {"event_type": "follow.follow"})

    assert [(OWN, "sent"), (OTHER, "received")] == [
        (each.record["user_id"], each.record["direction"]) for each in heard
    ]
    assert not box.record("users", OTHER)["protected"]
    assert [OTHER] == [user["id"] for user in read(box, FOLLOWING)["data"]]


def test_a_follower_stays_when_the_user_protects_the_posts(box: Sandbox) -> None:
    """Who follows already need not ask again."""
    follow(box, OTHER)
    box.change("users", OTHER, protected=True)
    assert {"data": {"following": True, "pending_follow": False}} == follow(box, OTHER)


def test_absent_users_are_in_no_list(box: Sandbox) -> None:
    """A suspended user is left out of lists; the followers of one are not found."""
    follow(box, OTHER)
    box.change("users", OTHER, _suspended=True)
    missing = box.call("GET", f"/2/users/{OTHER}/followers")

    assert {"meta": {"result_count": 0}} == read(box, FOLLOWING)
    assert (404, "Forbidden") == (missing.status_code, missing.get_json()["title"])


def test_pages_both_ways(box: Sandbox) -> None:
    """Pages hold each follower once, the latest first; back they are the same."""
    for number in "1234567":
        add_user(box, number)
        relate(box, FOLLOWS, number, OWN)
    pages, tokens = walk_both_ways(box, f"/2/users/{OWN}/followers", BEARER, 3)

    assert [["7", "6", "5"], ["4", "3", "2"], ["1"]] == pages
    assert all(len(token) == 16 and token.endswith("ZZZ") for token in tokens)
    refused = read(box, FOLLOWING, pagination_token=tokens[0])
    assert "is not valid" in refused["errors"][0]["message"]


def test_who_is_hidden(box: Sandbox) -> None:
    """The followers of a protected user are for accepted followers; others get errors alone."""
    box.change("users", OTHER, protected=True)
    path = f"/2/users/{OTHER}/followers"
    hidden = read(box, path)
    relate(box, FOLLOWS, OWN, OTHER)

    assert ["errors"] == list(hidden)
    text = f"Sorry, you are not authorized to see the user with id: [{OTHER}]."
    assert text == hidden["errors"][0]["detail"]
    assert [OWN] == [user["id"] for user in box.call("GET", path).get_json()["data"]]


create = partial(Refusal, f"POST {FOLLOWING}")
REFUSED = [
    create("oneself", 400, json={"target_user_id": OWN}, messages=["follow yourself"]),
    create("a deactivated user", 400, json={"target_user_id": INES},
           given={("users", INES): {"_deactivated": True}},
           messages=[f"Could not find user with id: [{INES}]."]),
]  # fmt: skip
test_what_is_refused = make_refusal_test(REFUSED)


@pytest.mark.parametrize(
    ("blocker", "blocked", "text"),
    [(OTHER, OWN, "that is blocking you"), (OWN, OTHER, "that you are blocking")],
)
def test_a_block_refuses_follows(box: Sandbox, blocker: str, blocked: str, text: str) -> None:
    """Neither of two users can follow the other while one blocks the other."""
    relate(box, BLOCKS, blocker, blocked)
    assert text in follow(box, OTHER, 400)["errors"][0]["message"]
