"""Likes: liking and unliking, what it changes elsewhere, and the private lists of both sides."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.api.v2.objects.relations import BLOCKS, FOLLOWS, LIKES
from tests.api.v2.posts.support import add_user, list_activities, read_metrics, relate
from tests.support import BEARER, HARBOR, NORTHBIKE, USER_TOKEN, Sandbox, data_of, sandbox
from tests.walks import walk_both_ways

EMPTY = ("likes", "follows")
OWN, OTHER, INES = "2244994945", "3805104374", "2790441185"
LIKED, OWN_POST = "1789900000000000004", "1789900000000000009"
"""A post of another user, and one of the caller."""
REPOST, EDITED = "1789900000000000005", "1789900000000000007"
"""A repost of the first, and the older version of a post of the caller."""
LIKES_PATH, LIST = f"/2/users/{OWN}/likes", f"/2/users/{OWN}/liked_posts"


def like(box: Sandbox, post_id: str, status: int = 200, keys: Any = HARBOR) -> Any:
    """Let somebody like a post, and return the answer."""
    user = OTHER if keys is NORTHBIKE else OWN
    answer = box.call("POST", f"/2/users/{user}/likes", keys=keys, json={"post_id": post_id})
    assert status == answer.status_code, answer.text
    return answer.get_json()


def unlike(box: Sandbox, post_id: str) -> Any:
    """Let the caller unlike a post, and return the answer."""
    return box.call("DELETE", f"{LIKES_PATH}/{post_id}").get_json()


def list_liked(box: Sandbox) -> list[str]:
    """The ids of the posts that the caller likes."""
    return [post["id"] for post in box.read(LIST).get("data", ())]


def counts(box: Sandbox, post_id: str = LIKED) -> tuple[int, int]:
    """The likes of a post, and of the caller."""
    paths = f"/2/posts/{post_id}", f"/2/users/{OWN}"
    return tuple(read_metrics(box, path)["like_count"] for path in paths)


def sent(box: Sandbox) -> list[tuple[str, ...]]:
    """What became of the likes: the type, the user and the direction of each activity."""
    return list_activities(box, "event_type", "user_id", "direction")


def test_liking_and_unliking(box: Sandbox) -> None:
    """A like is in the list and in both counts; twice is once, undo is undo, and no event."""
    before = counts(box)

    assert {"data": {"liked": True}} == like(box, LIKED) == like(box, LIKED, keys=USER_TOKEN)
    assert [LIKED] == list_liked(box)
    assert (before[0] + 1, before[1] + 1) == counts(box)
    assert [("like.create", OWN, "sent"), ("like.create", OTHER, "received")] == sent(box)
    assert (
        {"data": {"liked": False}} == unlike(box, LIKED) == unlike(box, LIKED) == unlike(box, "5")
    )
    assert before == counts(box)
    assert {"meta": {"result_count": 0}} == box.read(LIST)
    assert 2 == len(sent(box))


def test_both_names_of_the_post(box: Sandbox) -> None:
    """Where a body has the older name as well, that one is ignored with a warning."""
    body = {"tweet_id": OWN_POST, "post_id": LIKED}

    answer = box.call("POST", LIKES_PATH, json=body)

    assert (200, "repeated-key") == (answer.status_code, answer.headers["X-Mock-Warnings"])
    assert [LIKED] == list_liked(box)


def test_events_reach_subscribers(box: Sandbox) -> None:
    """A subscription of the liker gets like.create, account activity the counted post."""
    subscription = {"event_type": "like.create", "filter": {"user_id": OWN}}
    box.call("POST", "/2/activity/subscriptions", json=subscription)
    hook = box.read("/2/webhooks", keys=BEARER)["data"][0]["id"]
    key = box.world.store.page("account_activity_subscriptions")[0].key
    box.change("account_activity_subscriptions", key, user_id=OTHER, webhook_id=hook)
    count = counts(box)[0]
    like(box, LIKED)
    activity = box.world.store.page("activities")[0].record
    bodies = [e.record["payload"] for e in box.world.store.page("events")]
    (event,) = next(body["favorite_events"] for body in bodies if "favorite_events" in body)

    assert 1 == len(activity["_matches"])
    assert {"liked_post_id": LIKED, "liked_post_author_id": OTHER}.items() <= (
        activity["payload"].items()
    )
    assert [OWN, OTHER] == [user["id"] for user in activity["includes"]["users"]]
    assert count + 1 == activity["includes"]["posts"][0]["public_metrics"]["like_count"]
    assert (LIKED, OWN) == (event["favorited_status"]["id_str"], event["user"]["id_str"])


def test_ones_own_and_protected(box: Sandbox) -> None:
    """A like of one's own post is sent alone; one of a protected user's post is no activity."""
    like(box, OWN_POST)
    assert [("like.create", OWN, "sent")] == sent(box)

    box.change("users", OTHER, protected=True)
    assert "not authorized to see the Post" in like(box, LIKED, 403)["detail"]
    relate(box, FOLLOWS, OWN, OTHER)
    like(box, LIKED)
    assert [LIKED, OWN_POST] == list_liked(box)
    assert 1 == len(sent(box))


def test_reposts_and_versions(box: Sandbox) -> None:
    """The id of a repost means its original; of an edited post only the newest version is liked."""
    like(box, REPOST)
    assert [LIKED] == list_liked(box)
    unlike(box, REPOST)
    assert [] == list_liked(box)

    refused = like(box, EDITED, 403)
    assert "You cannot like a Post that has been edited." == refused["detail"]
    like(box, "1789900000000000008")
    unlike(box, EDITED)
    assert [] == list_liked(box)


def test_an_edit_keeps_the_likes(box: Sandbox) -> None:
    """The likes of a post are those of its new version, which is liked only once."""
    old = data_of(box.call("POST", "/2/posts", json={"text": "Helo"}), 201)["id"]
    like(box, old)
    like(box, old, keys=NORTHBIKE)
    edit = {"text": "Hello", "edit_options": {"previous_post_id": old}}
    new = data_of(box.call("POST", "/2/posts", json=edit), 201)["id"]
    like(box, new)

    assert ([new], 2) == (list_liked(box), counts(box, new)[0])
    for post_id in (old, new):
        users = box.read(f"/2/posts/{post_id}/liking_users")["data"]
        assert [OTHER, OWN] == [user["id"] for user in users]


def test_a_deleted_post_is_no_longer_liked(box: Sandbox) -> None:
    """Its like leaves the list and the count of the liker."""
    before = counts(box)[1]
    like(box, LIKED)
    assert 200 == box.call("DELETE", f"/2/posts/{LIKED}", keys=NORTHBIKE).status_code

    assert [] == list_liked(box)
    assert before == counts(box, OWN_POST)[1]


def test_events_on_command_change_the_same_records(box: Sandbox) -> None:
    """A like that happens is in the list and the counts; each one is of another post."""
    before, posts = counts(box)[1], box.world.store.count("posts")
    events = {"event_type": "like.create", "user_id": OWN}
    for _ in range(2):
        assert 201 == box.client.post("/_mock/events", json=events).status_code

    liked = list_liked(box)
    assert (2, before + 2, posts) == (len(liked), counts(box)[1], box.world.store.count("posts"))
    deletion = {"event_type": "post.delete", "user_id": OTHER, "payload": {"id": liked[0]}}
    assert 201 == box.client.post("/_mock/events", json=deletion).status_code
    assert (liked[1:], before + 1) == (list_liked(box), counts(box, OWN_POST)[1])


def test_who_likes_is_for_the_author(box: Sandbox) -> None:
    """Others get an empty list; suspended users are left out."""
    for user in (OTHER, INES):
        relate(box, LIKES, user, OWN_POST)
    path = f"/2/posts/{OWN_POST}/liking_users"

    assert [INES, OTHER] == [user["id"] for user in box.read(path)["data"]]
    assert {"meta": {"result_count": 0}} == box.read(path, keys=NORTHBIKE)
    box.change("users", INES, _suspended=True)
    assert {"result_count": 1} == box.read(path)["meta"]
    asked: Any = {"user.fields": "verified", "expansions": "most_recent_post_id"}
    shown = box.read(path, **asked)
    assert {"id", "name", "username", "verified", "most_recent_post_id"} == set(shown["data"][0])
    assert [LIKED] == [post["id"] for post in shown["includes"]["posts"]]


def test_pages_both_ways(box: Sandbox) -> None:
    """Pages hold each post once, the latest like first, whatever the age of the post."""
    ids = [f"17899000000000000{number:02}" for number in (4, 1, 9, 2, 8, 3, 6)]
    for id_ in ids:
        like(box, id_)
    unlike(box, ids[2])
    like(box, ids[2])
    order = [ids[2], *(id_ for id_ in reversed(ids) if id_ != ids[2])]
    pages, tokens = walk_both_ways(box, LIST, HARBOR, 5)

    assert [order[:5], order[5:]] == pages
    assert [45] == [len(token) for token in tokens]
    wrong = box.ask("GET", f"/2/posts/{OWN_POST}/liking_users", pagination_token=tokens[0])
    assert "is not valid" in wrong.get_json()["errors"][0]["message"]


def test_pages_of_users(box: Sandbox) -> None:
    """Liking users have short tokens, and the latest like first."""
    for number in "1234567":
        add_user(box, number)
        relate(box, LIKES, number, OWN_POST)
    pages, tokens = walk_both_ways(box, f"/2/posts/{OWN_POST}/liking_users", HARBOR, 3)

    assert [["7", "6", "5"], ["4", "3", "2"], ["1"]] == pages
    assert all(len(token) == 16 and token.endswith("ZZZ") for token in tokens)


@pytest.mark.parametrize(("blocker", "blocked"), [(OTHER, OWN), (OWN, OTHER)])
def test_a_block_refuses_likes(box: Sandbox, blocker: str, blocked: str) -> None:
    """Neither of two users can like the posts of the other while one blocks the other."""
    relate(box, BLOCKS, blocker, blocked)
    like(box, LIKED, 403)
    assert [] == sent(box)


def test_the_window_is_shared() -> None:
    """Likes and unlikes together are limited to 50 in 15 minutes."""
    box = sandbox(freeze=datetime(2026, 11, 22, 12, tzinfo=UTC), limits="public")
    for _ in range(25):
        like(box, LIKED)
        unlike(box, LIKED)

    like(box, LIKED, 429)
    box.advance(minutes=15)
    like(box, LIKED)
