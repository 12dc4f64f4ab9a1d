"""What happens to a subscribed user reaches the webhook, in the body of its kind."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.v2.activity.account_activity_delivery import (
    TABLE,
    NoBody,
    make_account_event,
)
from mock_platform.api.v2.activity.activities import FanOut, make_topic, record_activity
from mock_platform.api.v2.objects.older_forms import make_user_object
from mock_platform.api.v2.objects.relations import BLOCKS
from tests.api.v2.posts.support import relate
from tests.support import HARBOR
from tests.support_receiver import Receiver, sign
from tests.support_replay import WEBHOOK, Desk

EMPTY = ("activity_subscriptions", TABLE)
USER = "2244994945"
OTHER = "3805104374"
NORTHBIKE_HOOK = "1201845037316968449"
POST = {"id": "77", "text": "New roast.", "author_id": OTHER, "created_at": "2026-11-20T11:00:00Z"}


@pytest.fixture
def desk(desk: Desk, receiver: Receiver) -> Desk:
    """A sandbox whose well-known webhook is subscribed to the well-known user."""
    subscribe(desk, USER)
    return desk


def subscribe(desk: Desk, user: str, webhook: str = WEBHOOK) -> None:
    """Subscribe a webhook to a user."""
    key = f"{webhook}-{user}"
    record = {"_id": key, "webhook_id": webhook, "user_id": user, "created_at": "2026-11-20"}
    desk.put(TABLE, key, record)


def happen(desk: Desk, event_type: str, payload: dict[str, Any], **more: Any) -> FanOut:
    """Let something happen to the well-known user, unless given otherwise."""
    with desk.world.work():
        found = record_activity(
            desk.world, event_type, **{"user_id": USER, "payload": payload, **more}
        )
    desk.wait()
    return found


def test_delivered_and_signed(desk: Desk, receiver: Receiver) -> None:
    """The body has for_user_id and the event, and is signed like all others."""
    found = happen(desk, "post.delete", {"id": "77", "author_id": USER})

    (post,) = receiver.received
    assert {
        "for_user_id": USER,
        "post_delete_events": [
            {"status": {"id": "77", "user_id": USER}, "timestamp_ms": "1795176030000"}
        ],
    } == post.json
    assert sign(HARBOR.secret, post.body) == post.headers["x-platform-webhooks-signature"]
    assert [] == found.why_not[1:]


def test_activity_and_account_activity(desk: Desk, receiver: Receiver) -> None:
    """A webhook that is subscribed in both products receives both bodies."""
    desk.put("activity_subscriptions", "1", {
        "subscription_id": "1", "event_type": "post.delete", "filter": {"user_id": USER},
        "webhook_id": WEBHOOK, "_app_id": "11827", "_topic": make_topic("post.delete", USER),
    })  # fmt: skip
    found = happen(desk, "post.delete", {"id": "77", "author_id": USER})

    assert [{"data"}, {"for_user_id", "post_delete_events"}] == [
        set(post.json) for post in receiver.received
    ]
    assert ["activity", "account_activity"] == [event["_product"] for event in found.events]


def test_two_users_of_one_conversation(desk: Desk, receiver: Receiver) -> None:
    """Two subscribed users who take part get a delivery each."""
    subscribe(desk, OTHER)
    happen(desk, "post.create", POST, user_id=OTHER)
    happen(desk, "post.reply.create", POST)
    assert [OTHER, USER] == [post.json["for_user_id"] for post in receiver.received]


def test_one_post_once_for_a_user(desk: Desk, receiver: Receiver) -> None:
    """A reply that mentions is two activities and one delivery; its deletion is another."""
    happen(desk, "post.reply.create", POST)
    found = happen(desk, "post.mention.create", POST)
    happen(desk, "post.delete", {"id": "77", "author_id": OTHER})

    assert ["post_create_events", "post_delete_events"] == [
        list(post.json)[-1] for post in receiver.received
    ]
    assert found.why_not[-1].endswith("it received post 77 for another activity of the same user")


@pytest.mark.parametrize("permissions", [("read", "write"), ("read", "direct_messages")])
@pytest.mark.spec("A, Authentication", "An app needing")
def test_messages_need_permissions(
    desk: Desk, receiver: Receiver, permissions: tuple[str, ...]
) -> None:
    """Without read, write and direct messages the app receives no messages, but all else."""
    desk.change("apps", "11827", _permissions=list(permissions))
    events = [{"created_timestamp": "1", "sender_id": OTHER, "target": {"recipient_id": USER}}]
    found = happen(desk, "dm.read", {"direct_message_mark_read_events": events})
    happen(desk, "post.create", POST)

    assert ["post_create_events"] == [list(post.json)[-1] for post in receiver.received]
    assert "lacks the permissions that message events need" in found.why_not[-1]


def test_an_invalid_webhook(desk: Desk, receiver: Receiver) -> None:
    """The event is kept, and the answer says why it is not delivered."""
    desk.lead_to(receiver.url, valid=False)
    found = happen(desk, "post.create", POST)

    assert [] == receiver.received
    assert [False] == [event["_attempted"] for event in found.events]
    assert "is not valid" in found.why_not[-1]


@pytest.mark.parametrize(
    ("event_type", "user", "reason"),
    [
        ("profile.update.bio", USER, "it has no event for profile.update.bio"),
        ("spaces.start", USER, "it has no event for spaces.start"),
        ("chat.received", USER, "it has no event for chat.received"),
        ("post.create", OTHER, f"no webhook is subscribed to user {OTHER}; POST /2/account_activity"
         "/webhooks/:webhook_id/subscriptions/all does it"),
    ],
)  # fmt: skip
def test_why_not(desk: Desk, receiver: Receiver, event_type: str, user: str, reason: str) -> None:
    """What has no event in account activity, or no subscriber, is not delivered, and it says so."""
    found = happen(desk, event_type, POST, user_id=user)
    assert [] == receiver.received
    assert f"account activity: {reason}" == found.why_not[-1]


def test_revocation(desk: Desk, receiver: Receiver) -> None:
    """The app of which access is taken back hears of it once more, and the subscription ends."""
    subscribe(desk, USER, NORTHBIKE_HOOK)
    payload = {"date_time": "2026-11-20T12:00:30+00:00", "user_id": USER, "app_id": "11827"}
    found = happen(desk, "oauth.revoke", payload)
    happen(desk, "post.create", POST)

    (body,) = [post.json for post in receiver.received]
    assert body["user_event"]["revoke"] == {
        "date_time": "2026-11-20T12:00:30+00:00",
        "target": {"app_id": "11827"},
        "source": {"user_id": USER},
    }
    assert [f"{NORTHBIKE_HOOK}-{USER}"] == [entry.key for entry in desk.world.store.page(TABLE)]
    assert found.why_not[-1].endswith("it belongs to app 20993, not 11827")


def test_replayed_in_the_same_body(desk: Desk, receiver: Receiver) -> None:
    """A replay delivers an event again as it was, whatever the records say by then."""
    desk.remove_events()
    happen(desk, "post.create", POST)
    desk.change("users", OTHER, name="Renamed")
    desk.world.clock.advance(120)
    desk.create(to_date=desk.ago())
    desk.wait()

    first, again = [post.json for post in receiver.received if post.job_status is None]
    assert first == again
    assert USER == first["for_user_id"]


BARE_POST = {"id": "77", "text": "New roast.", "author_id": OTHER}
MILLIS = "1795176030000"
"""The moment of the activities."""


def make(
    desk: Desk, event_type: str, payload: dict[str, Any], direction: str | None = None,
    includes: dict[str, Any] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Make the body of an activity of the well-known user."""
    return make_account_event(desk.world, {
        "event_type": event_type, "user_id": USER, "direction": direction, "payload": payload,
        "includes": includes, "created_at": "2026-11-20T12:00:30.000Z",
    })  # fmt: skip


@pytest.mark.parametrize("kind", ["create", "reply.create", "quote.create", "repost.create"])
def test_posts(desk: Desk, kind: str) -> None:
    """Posts, replies, quotes and reposts are created posts."""
    body = make(desk, f"post.{kind}", BARE_POST)
    assert ["post_create_events"] == list(body)
    assert (77, "New roast.") == tuple(body["post_create_events"][0][n] for n in ("id", "text"))


def test_mentions(desk: Desk) -> None:
    """A mention says in words whether the user has blocked the author."""
    assert "false" == make(desk, "post.mention.create", BARE_POST)["user_has_blocked"]
    relate(desk, BLOCKS, USER, BARE_POST["author_id"])
    assert "true" == make(desk, "post.mention.create", BARE_POST)["user_has_blocked"]


def test_like(desk: Desk) -> None:
    """A like shows the post and who likes it; its milliseconds are a number."""
    like = {"id": "9" * 32, "liked_post_id": "77", "liked_post_author_id": OTHER}
    (event,) = make(desk, "like.create", like, includes={"posts": [BARE_POST]})["favorite_events"]

    assert ["9" * 32, "Fri Nov 20 12:00:30 +0000 2026", int(MILLIS)] == [
        event[name] for name in ("id", "created_at", "timestamp_ms")
    ]
    post = event["favorited_status"]
    assert ("77", OTHER, USER) == (
        post["id_str"], post["user"]["id_str"], event["user"]["id_str"]
    )  # fmt: skip


def test_like_of_the_user_s_own_post(desk: Desk) -> None:
    """If the user is liked, somebody else likes."""
    like = {"liked_post_id": "77", "liked_post_author_id": USER}
    includes = {"users": [{"id": USER}, {"id": OTHER}]}
    (event,) = make(desk, "like.create", like, "received", includes)["favorite_events"]

    liked = event["favorited_status"]["user"]
    assert (USER, OTHER) == (liked["id_str"], event["user"]["id_str"])


@pytest.mark.parametrize(
    ("event_type", "key", "kind"),
    [("follow.follow", "follow_events", "follow"), ("follow.unfollow", "follow_events", "unfollow"),
     ("block.block", "block_events", "block"), ("block.unblock", "block_events", "unblock"),
     ("mute.mute", "mute_events", "mute"), ("mute.unmute", "mute_events", "unmute")],
)  # fmt: skip
def test_between_users(desk: Desk, event_type: str, key: str, kind: str) -> None:
    """Follows, blocks and mutes have the two users, whole."""
    payload = {"source": {"data": {"id": USER}}, "target": {"data": {"id": OTHER}}}
    body = make(desk, event_type, payload)

    (event,) = body[key]
    assert (kind, MILLIS) == (event["type"], event["created_timestamp"])
    names = [event[role]["screen_name"] for role in ("source", "target")]
    assert ["harbor_roasters", "northbike_co"] == names
    assert make_user_object(desk.record("users", USER)) == event["source"]


def test_a_user_who_is_not_in_the_world(desk: Desk) -> None:
    """Of an unknown user the body has what the payload has."""
    unknown = {"id": "5", "name": "Ada", "username": "ada"}
    payload = {"source": {"data": {"id": USER}}, "target": {"data": unknown}}
    (event,) = make(desk, "follow.follow", payload)["follow_events"]
    assert {"id": 5, "id_str": "5", "name": "Ada", "screen_name": "ada"} == event["target"]


def test_message(desk: Desk) -> None:
    """A message has its app and the users, who have some keys alone and ids that are texts."""
    message = {
        "type": "message_create", "id": "8", "created_timestamp": MILLIS,
        "message_create": {
            "target": {"recipient_id": USER}, "sender_id": OTHER, "source_app_id": "11827",
            "message_data": {"text": "Hello", "entities": {}},
        },
    }  # fmt: skip
    body = make(desk, "dm.received", {"direct_message_events": [message], "users": {}})

    assert [message] == body["direct_message_events"]
    url = "https://desk.harbor-roasters.example"
    assert {"11827": {"id": "11827", "name": "Harbor Campaign Desk", "url": url}} == body["apps"]
    assert {USER, OTHER} == set(body["users"])
    assert {
        "id", "created_timestamp", "name", "screen_name", "location", "description", "url",
        "protected", "verified", "followers_count", "friends_count", "statuses_count",
        "profile_image_url", "profile_image_url_https",
    } == set(body["users"][USER])  # fmt: skip
    user = body["users"][USER]
    assert (USER, "1386995755000") == (user["id"], user["created_timestamp"])


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
        (
            "like.create",
            {"liked_post_id": "77", "liked_post_author_id": USER},
            r"includes\.users does not have the user who likes",
        ),
    ],
)
def test_other_payloads(desk: Desk, event_type: str, payload: dict[str, Any], reason: str) -> None:
    """A payload of another form has no body, and the reason says what is missing."""
    with pytest.raises(NoBody, match=f"^{reason}$"):
        make(desk, event_type, payload, "received")
