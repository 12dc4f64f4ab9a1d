"""What happens to a subscribed user reaches the webhook, in the body of account activity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mock_platform.api.v2.activity.account_activity_delivery import TABLE
from mock_platform.api.v2.activity.activities import FanOut, make_topic, record_activity
from tests.support import HARBOR
from tests.support_receiver import Receiver, sign
from tests.support_replay import WEBHOOK, Desk

USER = "2244994945"
OTHER = "3805104374"
NORTHBIKE_HOOK = "1201845037316968449"
POST = {"id": "77", "text": "New roast.", "author_id": OTHER, "created_at": "2026-11-20T11:00:00Z"}


@pytest.fixture
def desk(receiver: Receiver) -> Iterator[Desk]:
    """A sandbox whose well-known webhook is subscribed to the well-known user."""
    with Desk(receiver.url) as found:
        clear(found, "activity_subscriptions")
        clear(found, TABLE)
        subscribe(found, USER)
        yield found
        assert [] == found.platform.errors


def clear(desk: Desk, table: str) -> None:
    """Empty a table."""
    with desk.world.work():
        for entry in desk.world.store.page(table):
            desk.world.store.remove(table, entry.key)


def subscribe(desk: Desk, user: str, webhook: str = WEBHOOK) -> None:
    """Subscribe a webhook to a user."""
    key = f"{webhook}-{user}"
    record = {"_id": key, "webhook_id": webhook, "user_id": user, "created_at": "2026-11-20"}
    with desk.world.work():
        desk.world.store.put(TABLE, key, record)


def permit(desk: Desk, *permissions: str) -> None:
    """Set the permissions of the well-known app."""
    with desk.world.work():
        app = desk.record("apps", "11827")
        desk.world.store.put("apps", "11827", app | {"_permissions": list(permissions)})


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
    with desk.world.work():
        record = {
            "subscription_id": "1", "event_type": "post.delete", "filter": {"user_id": USER},
            "webhook_id": WEBHOOK, "_app_id": "11827", "_topic": make_topic("post.delete", USER),
        }  # fmt: skip
        desk.world.store.put("activity_subscriptions", "1", record)
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
    permit(desk, *permissions)
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


@pytest.mark.parametrize("event_type", ["profile.update.bio", "spaces.start", "chat.received"])
def test_other_activities(desk: Desk, receiver: Receiver, event_type: str) -> None:
    """What account activity has no event for is not delivered, with the reason."""
    found = happen(desk, event_type, {})

    assert [] == receiver.received
    assert f"account activity: it has no event for {event_type}" == found.why_not[-1]


def test_nobody_subscribed(desk: Desk) -> None:
    """The answer names the endpoint that subscribes."""
    found = happen(desk, "post.create", POST, user_id=OTHER)

    assert (
        f"account activity: no webhook is subscribed to user {OTHER}; "
        "POST /2/account_activity/webhooks/:webhook_id/subscriptions/all does it"
    ) == found.why_not[-1]


def test_revocation(desk: Desk, receiver: Receiver) -> None:
    """The app of which access is taken back hears of it once more, and the subscription ends."""
    subscribe(desk, USER, NORTHBIKE_HOOK)
    payload = {"date_time": "2026-11-20T12:00:30+00:00", "user_id": USER, "app_id": "11827"}
    found = happen(desk, "oauth.revoke", payload)
    happen(desk, "post.create", POST)

    assert [
        {
            "user_event": {
                "revoke": {
                    "date_time": "2026-11-20T12:00:30+00:00",
                    "target": {"app_id": "11827"},
                    "source": {"user_id": USER},
                }
            }
        }
    ] == [post.json for post in receiver.received]
    assert [NORTHBIKE_HOOK] == [
        entry.record["webhook_id"] for entry in desk.world.store.page(TABLE)
    ]
    assert found.why_not[-1].endswith("it belongs to app 20993, not 11827")


def test_replayed_in_the_same_body(desk: Desk, receiver: Receiver) -> None:
    """A replay delivers an event again as it was, whatever the records say by then."""
    desk.remove_events()
    happen(desk, "post.create", POST)
    with desk.world.work():
        desk.world.store.put("users", OTHER, desk.record("users", OTHER) | {"name": "Renamed"})
        desk.world.clock.advance(120)
    desk.create(to_date=desk.ago())
    desk.wait()

    first, again = [post.json for post in receiver.received if post.job_status is None]
    assert first == again
    assert USER == first["for_user_id"]
