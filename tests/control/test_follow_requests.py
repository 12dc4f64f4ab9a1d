"""Requests to follow are answered, and records take their relations along, through the plane."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control.support import call, detail
from tests.support import HARBOR, Sandbox, body_of

OWN, OTHER, THIRD = "2244994945", "3805104374", "2790441185"
ROASTERS = "1715300000000000101"
HARVEST = "1789900000000000001"


def ask_to_follow(box: Sandbox) -> str:
    """Let the main user ask a protected one to be followed; return the id of the request."""
    box.change("users", OTHER, protected=True)
    path = f"/2/users/{OWN}/following"
    answer = box.call("POST", path, keys=HARBOR, json={"target_user_id": OTHER})
    assert body_of(answer)["data"]["pending_follow"]
    return f"{OWN}:{OTHER}"


def list_own(box: Sandbox) -> list[str]:
    """The ids of the requests of the main user to the protected one."""
    found = body_of(call(box, "GET", "/follow-requests"))["follow_requests"]
    return [each["id"] for each in found if each["target_user_id"] == OTHER]


def count(box: Sandbox, table: str, **match: str) -> int:
    """How many records of a table match."""
    return box.world.store.count(table, match)


def get_metrics(box: Sandbox, path: str) -> Any:
    """The counts of a user."""
    query: Any = {"user.fields": "public_metrics"}
    return box.read(path, **query)["data"]["public_metrics"]


@pytest.mark.parametrize(("verb", "follows"), [("accept", True), ("deny", False)])
def test_request_is_answered(box: Sandbox, verb: str, follows: bool) -> None:
    """An accepted request becomes a follow with its activities, a denied one just ends."""
    key = ask_to_follow(box)
    before = count(box, "activities")
    assert list_own(box) == [key]
    answered = body_of(call(box, "POST", f"/follow-requests/{key}/{verb}"))

    assert (answered["user_id"], answered["target_user_id"]) == (OWN, OTHER)
    assert list_own(box) == []
    assert (box.world.store.get("follows", key) is not None) == follows
    assert count(box, "activities") - before == (2 if follows else 0)
    again = call(box, "POST", f"/follow-requests/{key}/{verb}")
    assert "No request to follow is called" in detail(again, 404)


@pytest.mark.parametrize("protected", [True, False])
def test_public_posts_accept_all(box: Sandbox, protected: bool) -> None:
    """Who asked follows as soon as the other is no longer protected, whatever changes that."""
    key = ask_to_follow(box)
    before = count(box, "activities")
    body_of(call(box, "PATCH", f"/state/users/{OTHER}", json={"protected": protected}))

    assert list_own(box) == ([key] if protected else [])
    assert (box.world.store.get("follows", key) is None) == protected
    assert count(box, "activities") - before == (0 if protected else 2)


def test_deleted_user(box: Sandbox) -> None:
    """Follows, likes and memberships of a deleted user end, and so do their counts elsewhere."""
    followers = get_metrics(box, f"/2/users/{OWN}")["followers_count"]
    likes = box.record("posts", HARVEST)["favorite_count"]
    members = box.record("lists", ROASTERS)["member_count"]
    assert call(box, "DELETE", f"/state/users/{THIRD}").status_code == 204

    assert get_metrics(box, f"/2/users/{OWN}")["followers_count"] == followers - 1
    assert box.record("posts", HARVEST)["favorite_count"] == likes - 1
    assert box.record("lists", ROASTERS)["member_count"] == max(0, members - 1)
    for table in ("follows", "likes", "list_members", "list_followers", "space_buyers"):
        assert count(box, table, user_id=THIRD) == 0
    assert count(box, "follows", target_user_id=THIRD) == 0


def test_deleted_list(box: Sandbox) -> None:
    """Nobody is a member of a deleted public list, and listed_count falls."""
    listed = box.record("users", THIRD)["listed_count"]
    assert call(box, "DELETE", f"/state/lists/{ROASTERS}").status_code == 204

    assert box.record("users", THIRD)["listed_count"] == listed - 1
    for table in ("list_members", "list_followers", "list_pins"):
        assert count(box, table, list_id=ROASTERS) == 0


def test_deleted_space_and_folder(box: Sandbox) -> None:
    """Whoever bought a ticket has none any more, and a bookmark in a deleted folder stays."""
    marked = count(box, "bookmarks", user_id=OWN)
    for path in ("spaces/1HarborTicket", "bookmark_folders/1990100000000000001"):
        assert call(box, "DELETE", f"/state/{path}").status_code == 204

    assert count(box, "space_buyers", space_id="1HarborTicket") == 0
    assert count(box, "bookmark_folder_posts", folder_id="1990100000000000001") == 0
    assert count(box, "bookmarks", user_id=OWN) == marked


def test_deleted_post(box: Sandbox) -> None:
    """Likes and bookmarks of a deleted post end."""
    liked = get_metrics(box, f"/2/users/{OTHER}")["like_count"]
    assert call(box, "DELETE", f"/state/posts/{HARVEST}").status_code == 204

    assert get_metrics(box, f"/2/users/{OTHER}")["like_count"] == liked - 1
    for table in ("likes", "bookmarks", "bookmark_folder_posts", "space_posts"):
        assert count(box, table, post_id=HARVEST) == 0
