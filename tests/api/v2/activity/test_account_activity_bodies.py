"""Each kind of activity has its own key and shape in account activity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mock_platform.api.v2.activity.account_activity_delivery import NoBody, make_account_event
from tests.support_replay import Desk

USER = "2244994945"
OTHER = "3805104374"
POST = {"id": "77", "text": "New roast.", "author_id": OTHER}
MILLIS = "1795176030000"
"""The moment of the activities."""


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A sandbox."""
    with Desk() as found:
        yield found


def make(
    desk: Desk,
    event_type: str,
    payload: dict[str, Any],
    direction: str | None = None,
    includes: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Make the body of an activity of the well-known user."""
    activity = {
        "event_type": event_type,
        "user_id": USER,
        "direction": direction,
        "payload": payload,
        "includes": includes,
        "created_at": "2026-11-20T12:00:30.000Z",
    }
    return make_account_event(desk.world, activity)


@pytest.mark.parametrize("kind", ["create", "reply.create", "quote.create", "repost.create"])
def test_posts(desk: Desk, kind: str) -> None:
    """Posts, replies, quotes and reposts are created posts."""
    body = make(desk, f"post.{kind}", POST)

    assert ["post_create_events"] == list(body)
    assert (77, "New roast.") == tuple(body["post_create_events"][0][n] for n in ("id", "text"))


def test_mentions(desk: Desk) -> None:
    """A mention says in words whether the user has blocked the author."""
    assert "false" == make(desk, "post.mention.create", POST)["user_has_blocked"]


def test_like(desk: Desk) -> None:
    """A like shows the post and who likes it; its milliseconds are a number."""
    like = {"id": "9" * 32, "liked_post_id": "77", "liked_post_author_id": OTHER}
    (event,) = make(desk, "like.create", like, includes={"posts": [POST]})["favorite_events"]

    assert ("9" * 32, "Fri Nov 20 12:00:30 +0000 2026", int(MILLIS)) == (
        event["id"],
        event["created_at"],
        event["timestamp_ms"],
    )
    assert ("77", OTHER) == (
        event["favorited_status"]["id_str"],
        event["favorited_status"]["user"]["id_str"],
    )
    assert USER == event["user"]["id_str"]


def test_like_of_the_user_s_own_post(desk: Desk) -> None:
    """If the user is liked, somebody else likes."""
    like = {"liked_post_id": "77", "liked_post_author_id": USER}
    includes = {"users": [{"id": USER}, {"id": OTHER}]}
    (event,) = make(desk, "like.create", like, "received", includes)["favorite_events"]

    assert (USER, OTHER) == (
        event["favorited_status"]["user"]["id_str"],
        event["user"]["id_str"],
    )


@pytest.mark.parametrize(
    ("event_type", "key", "kind"),
    [
        ("follow.follow", "follow_events", "follow"),
        ("follow.unfollow", "follow_events", "unfollow"),
        ("block.block", "block_events", "block"),
        ("block.unblock", "block_events", "unblock"),
        ("mute.mute", "mute_events", "mute"),
        ("mute.unmute", "mute_events", "unmute"),
    ],
)
def test_between_users(desk: Desk, event_type: str, key: str, kind: str) -> None:
    """Follows, blocks and mutes have the two users, whole."""
    payload = {"source": {"data": {"id": USER}}, "target": {"data": {"id": OTHER}}}
    body = make(desk, event_type, payload)

    (event,) = body[key]
    assert (kind, MILLIS) == (event["type"], event["created_timestamp"])
    assert ("harbor_roasters", "northbike_co") == (
        event["source"]["screen_name"],
        event["target"]["screen_name"],
    )
    assert 41 == len(event["source"])


def test_a_user_who_is_not_in_the_world(desk: Desk) -> None:
    """Of an unknown user the body has what the payload has."""
    unknown = {"id": "5", "name": "Ada", "username": "ada"}
    payload = {"source": {"data": {"id": USER}}, "target": {"data": unknown}}
    (event,) = make(desk, "follow.follow", payload)["follow_events"]

    assert {"id": 5, "id_str": "5", "name": "Ada", "screen_name": "ada"} == event["target"]


def test_message(desk: Desk) -> None:
    """A message has its app and the users, who have thirteen keys and ids that are texts."""
    message = {
        "type": "message_create",
        "id": "8",
        "created_timestamp": MILLIS,
        "message_create": {
            "target": {"recipient_id": USER},
            "sender_id": OTHER,
            "source_app_id": "11827",
            "message_data": {"text": "Hello", "entities": {}},
        },
    }
    body = make(desk, "dm.received", {"direct_message_events": [message], "users": {}})

    assert [message] == body["direct_message_events"]
    assert {
        "11827": {
            "id": "11827",
            "name": "Harbor Campaign Desk",
            "url": "https://desk.harbor-roasters.example",
        }
    } == body["apps"]
    assert {USER, OTHER} == set(body["users"])
    assert {
        "id", "created_timestamp", "name", "screen_name", "location", "description", "url",
        "protected", "verified", "followers_count", "friends_count", "statuses_count",
        "profile_image_url", "profile_image_url_https",
    } == set(body["users"][USER])  # fmt: skip
    assert (USER, "1386995755000") == (
        body["users"][USER]["id"],
        body["users"][USER]["created_timestamp"],
    )


@pytest.mark.parametrize(
    ("event_type", "key"),
    [
        ("dm.read", "direct_message_mark_read_events"),
        ("dm.indicate_typing", "direct_message_indicate_typing_events"),
    ],
)
def test_reading_and_typing(desk: Desk, event_type: str, key: str) -> None:
    """Reading and typing have the users, and no apps."""
    events = [{"created_timestamp": MILLIS, "sender_id": OTHER, "target": {"recipient_id": USER}}]
    body = make(desk, event_type, {key: events})

    assert ([key, "users"], events) == (list(body), body[key])
    assert {USER, OTHER} == set(body["users"])


@pytest.mark.parametrize(
    ("event_type", "payload", "reason"),
    [
        ("post.create", {"id": "x", "author_id": USER}, "the payload has no id of digits"),
        ("post.create", {"id": "7"}, "the payload has no author_id of digits"),
        ("post.delete", {}, "the payload has no id of digits"),
        ("like.create", {}, "the payload has no liked_post_id of digits"),
        ("like.create", {"liked_post_id": "7"}, "the payload has no author_id of digits"),
        ("follow.follow", {"source": 5}, "the payload has no id of digits"),
        ("dm.sent", {"direct_message_events": {}}, "the payload has no direct_message_events"),
        ("oauth.revoke", {"user_id": USER}, "the payload has no app_id of digits"),
        ("news.new", {}, "it has no event for news.new"),
    ],
)
def test_other_payloads(desk: Desk, event_type: str, payload: dict[str, Any], reason: str) -> None:
    """A payload of another form has no body, and the reason says what is missing."""
    with pytest.raises(NoBody, match=f"^{reason}$"):
        make(desk, event_type, payload)


def test_a_like_by_nobody(desk: Desk) -> None:
    """A post that is liked needs somebody who likes it."""
    like = {"liked_post_id": "77", "liked_post_author_id": USER}

    with pytest.raises(NoBody, match=r"^includes\.users does not have the user who likes$"):
        make(desk, "like.create", like, "received")
