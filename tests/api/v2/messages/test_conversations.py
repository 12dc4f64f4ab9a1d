"""One message is an activity for each participant; what belongs to which kind of event."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.v2.activity.account_activity_delivery import TABLE
from mock_platform.api.v2.activity.activities import make_topic
from mock_platform.api.v2.messages.conversations import TABLES, name_conversation
from tests.support import USER_TOKEN, data_of
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk

USER = "2244994945"
OTHER = "3805104374"
THIRD = "2790441185"
EMPTY = ("activity_subscriptions", TABLE)
pytestmark = pytest.mark.usefixtures("receiver")


def send(desk: Desk, path: str, body: dict[str, Any]) -> str:
    """Send a message as the well-known user; its id."""
    answer = desk.call("POST", f"/2/dm_conversations{path}", json=body, keys=USER_TOKEN)
    desk.wait()
    return str(data_of(answer, 201)["dm_event_id"])


def subscribe(desk: Desk, *users: str) -> None:
    """Subscribe the webhook to these users."""
    for user in users:
        record = {"webhook_id": WEBHOOK, "user_id": user, "created_at": "2026-11-20"}
        desk.put(TABLE, f"{WEBHOOK}-{user}", record | {"_id": f"{WEBHOOK}-{user}"})


@pytest.mark.parametrize(("one", "other"), [("9", "10"), ("10", "9"), ("2244994945", "3805104374")])
def test_name(one: str, other: str) -> None:
    """The smaller number comes first."""
    assert sorted([int(one), int(other)]) == [
        int(each) for each in name_conversation(one, other).split("-")
    ]


def test_activities(desk: Desk) -> None:
    """The sender sent it, and the other received it."""
    message = send(desk, f"/with/{OTHER}/messages", {"text": "Hello #harbour"})

    found = [entry.record for entry in desk.world.store.page("activities")][-2:]
    assert [("dm.sent", USER, "sent"), ("dm.received", OTHER, "received")] == [
        (each["event_type"], each["user_id"], each["direction"]) for each in found
    ]
    (event,) = found[0]["payload"]["direct_message_events"]
    tags = [{"text": "harbour", "indices": [6, 14]}]
    entities = {"hashtags": tags, "symbols": [], "user_mentions": [], "urls": []}
    assert event == {
        "type": "message_create",
        "id": message,
        "created_timestamp": "1795176030000",
        "message_create": {
            "target": {"recipient_id": OTHER},
            "sender_id": USER,
            "message_data": {"text": "Hello #harbour", "entities": entities},
        },
    }
    assert {USER, OTHER} == set(found[0]["payload"]["users"])


def test_two_subscribed_users(desk: Desk, receiver: Receiver) -> None:
    """Two subscribed users of one conversation get a delivery each, with the app."""
    subscribe(desk, USER, OTHER)
    message = send(desk, f"/with/{OTHER}/messages", {"text": "Hello"})

    bodies = [post.json for post in receiver.received]
    assert [USER, OTHER] == [body["for_user_id"] for body in bodies]
    assert [message] * 2 == [body["direct_message_events"][0]["id"] for body in bodies]
    assert ["11827"] == list(bodies[0]["apps"])
    created = bodies[1]["direct_message_events"][0]["message_create"]
    assert ("11827", USER, OTHER) == (
        created["source_app_id"], created["sender_id"], created["target"]["recipient_id"],
    )  # fmt: skip


def test_group(desk: Desk, receiver: Receiver) -> None:
    """In a group each other participant receives the message."""
    subscribe(desk, USER, OTHER, THIRD)
    body = {"conversation_type": "Group", "participant_ids": [OTHER, THIRD]}
    send(desk, "", body | {"message": {"text": "Who comes?"}})
    assert [USER, OTHER, THIRD] == [post.json["for_user_id"] for post in receiver.received]


@pytest.mark.parametrize(
    ("event_type", "direction", "delivered"),
    [("dm.sent", None, True), ("dm.sent", "outbound", True), ("dm.sent", "received", False),
     ("dm.received", None, False)],
)  # fmt: skip
def test_direction(
    desk: Desk, receiver: Receiver, event_type: str, direction: str | None, delivered: bool
) -> None:
    """A subscription to the sender's messages hears of them in the matching direction."""
    wanted = {"user_id": USER} | ({} if direction is None else {"direction": direction})
    record = {
        "subscription_id": "1", "event_type": event_type, "filter": wanted,
        "webhook_id": WEBHOOK, "_app_id": "11827", "_topic": make_topic(event_type, USER),
    }  # fmt: skip
    desk.put("activity_subscriptions", "1", record)
    send(desk, f"/with/{OTHER}/messages", {"text": "Hello"})

    assert delivered == bool(receiver.received)


MESSAGE: dict[str, Any] = {
    "id": "7", "dm_conversation_id": "1-2", "sender_id": "1", "text": "Hello",
    "created_at": "2026-11-20T12:00:00.000Z", "_participants": ["1", "2"],
}  # fmt: skip
JOIN = {"event_type": "ParticipantsJoin", "text": None, "participant_ids": ["2"]}


def load(**changes: Any) -> list[str]:
    """The fields of a changed message that have faults; None leaves a field out."""
    record = {name: value for name, value in (MESSAGE | changes).items() if value is not None}
    return [name for name, _ in TABLES[0].load(record)[1]]


@pytest.mark.parametrize(
    ("changes", "faults"),
    [({}, []), (JOIN, []), ({"text": None, "_media_keys": ["3_1"]}, []),
     ({"dm_conversation_id": "99"}, []), ({"text": None}, ["text"]),
     ({"participant_ids": ["2"]}, ["participant_ids"]),
     (JOIN | {"participant_ids": None}, ["participant_ids"]),
     ({"sender_id": "3"}, ["_participants"]),
     ({"dm_conversation_id": "2-1"}, ["dm_conversation_id"]),
     ({"dm_conversation_id": "x"}, ["dm_conversation_id"]),
     ({"event_type": "MessageEdit"}, ["event_type"])],
)  # fmt: skip
def test_records(changes: dict[str, Any], faults: list[str]) -> None:
    """Messages with text or media, joins and groups are taken; what does not fit is named."""
    assert faults == load(**changes)
