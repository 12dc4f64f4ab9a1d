"""Believable payloads for activities around direct messages and encrypted chats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_platform.rules.activities import FanOut
from mock_platform.rules.direct_messages import (
    NEWEST_FIRST,
    TABLE,
    name_conversation,
    send_message,
    show_users,
)
from mock_platform.rules.sample_users import Happening, find_other_user
from mock_platform.store.interface import Record
from mock_platform.world.clock import epoch_millis
from mock_platform.world.world import World

_TEXTS = (
    "Are you at the market on Saturday?",
    "The parcel arrived, thank you!",
    "Which roast goes best with milk?",
    "Can you send me the invoice again?",
)
_LISTS = {
    "dm.read": "direct_message_mark_read_events",
    "dm.indicate_typing": "direct_message_indicate_typing_events",
}


def _send(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    return _exchange(world, user, find_other_user(world, user), created_at)


def _receive(world: World, user: Record, created_at: str, _direction: str | None) -> list[FanOut]:
    return _exchange(world, find_other_user(world, user), user, created_at)


def _exchange(world: World, sender: Record, recipient: Record, created_at: str) -> list[FanOut]:
    """Send a message from one user to another."""
    participants = [sender["id"], recipient["id"]]
    text = _TEXTS[int(world.ids.digits(4)) % len(_TEXTS)]
    return send_message(
        world,
        name_conversation(*participants),
        participants,
        sender["id"],
        {"text": text},
        created_at=created_at,
    ).activities


MESSAGE_HAPPENINGS: Mapping[str, Happening] = {"dm.sent": _send, "dm.received": _receive}


def make_message_payload(world: World, name: str, user: Record, other: Record) -> dict[str, Any]:
    """Make up a payload of dm.read or dm.indicate_typing: what the other user does."""
    event = {
        "created_timestamp": epoch_millis(world.clock.now()),
        "sender_id": other["id"],
        "target": {"recipient_id": user["id"]},
    }
    if name == "dm.read":
        event["last_read_event_id"] = _find_last_message(world, user, other)
    return {_LISTS[name]: [event], "users": show_users(world, other["id"], user["id"])}


def _find_last_message(world: World, user: Record, other: Record) -> str:
    """Return the id of the newest message of a user to another, or of one that is unknown."""
    match = {
        "dm_conversation_id": name_conversation(user["id"], other["id"]),
        "sender_id": user["id"],
    }
    found = world.store.page(TABLE, match, order=NEWEST_FIRST, limit=1)
    return found[0].key if found else world.ids.snowflake()


def make_chat_payload(world: World, name: str, user: Record, other: Record) -> dict[str, Any]:
    """Make up a payload of chat.*, whose content is encrypted."""
    sender = user if name == "chat.sent" else other
    return {
        "id": world.ids.snowflake(),
        "conversation_id": name_conversation(user["id"], other["id"]),
        "conversation_token": world.ids.alphanumeric(32),
        "sender_id": sender["id"],
        "created_at_msec": epoch_millis(world.clock.now()),
        "conversation_key_version": epoch_millis(world.clock.now()),
        "conversation_key_change_event": world.ids.alphanumeric(64),
        "encoded_event": world.ids.alphanumeric(64),
        "message_event_signature": {
            "message_id": world.ids.snowflake(),
            "signature": world.ids.alphanumeric(64),
            "public_key_version": epoch_millis(world.clock.now()),
            "signature_version": "1",
        },
    }
