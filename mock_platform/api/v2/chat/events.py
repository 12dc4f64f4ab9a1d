"""Keys and events of encrypted conversations, and what others hear of them.

The server orders and passes on what clients have encrypted; of an event it reads no more than the
version of its key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.chat import encoding
from mock_platform.api.v2.chat.conversations import CHAT_KEYS, list_member_ids, list_members
from mock_platform.api.v2.chat.records import (
    CONVERSATIONS,
    EVENTS,
    KEY_CHANGE,
    MEMBERS,
    MESSAGE,
    PUBLIC_KEYS,
)
from mock_platform.api.v2.conventions import refuse_value
from mock_platform.api.v2.messages.conversations import name_conversation
from mock_platform.world.clock import epoch_millis, parse_instant, wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

NEWEST_FIRST = Order(descending=True)


# Keys: each version of a conversation's key is an event with the key of each participant.


def find_latest_keys(world: World, conversation_id: str) -> Record | None:
    """Return the newest event about the keys of a conversation."""
    match = {"conversation_id": conversation_id, "_kind": KEY_CHANGE}
    return world.store.first(EVENTS, match, order=NEWEST_FIRST)


def check_keys(
    world: World, conversation_id: str, sent: Mapping[str, Any], ids: Sequence[str]
) -> None:
    """Require that keys are newer than those before, and that each participant gets one.

    Raises:
        ProblemFailure: They are not (400).
    """
    version, latest = sent["conversation_key_version"], find_latest_keys(world, conversation_id)
    if latest is not None and int(version) <= int(latest["_key_version"]):
        text = f"The key version [{version}] is not newer than [{latest['_key_version']}]."
        raise refuse_value(text, CHAT_KEYS, name="conversation_key_version", value=version)
    keys = {
        key["user_id"]: key["public_key_version"] for key in sent["conversation_participant_keys"]
    }
    name = "conversation_participant_keys"
    for id_ in sorted({*keys, *ids}, key=int):
        if id_ not in keys or id_ not in ids:
            text = "has no key" if id_ in ids else "does not take part"
            text = f"The user [{id_}] {text}; each participant needs a key."
            raise refuse_value(text, CHAT_KEYS, name=name, value=id_)
        if world.store.get(PUBLIC_KEYS, f"{id_}:{keys[id_]}") is None:
            text = f"The user [{id_}] has no public key of version [{keys[id_]}]."
            raise refuse_value(text, CHAT_KEYS, name=name, value=id_)


def add_keys(
    world: World, conversation: Record, sender_id: str, sent: Mapping[str, Any], signed: Record
) -> Record:
    """Store new keys as an event, and return it."""
    return add_event(
        world,
        conversation["id"],
        sender_id,
        signed,
        _kind=KEY_CHANGE,
        _key_version=sent["conversation_key_version"],
        _participant_keys=sent["conversation_participant_keys"],
    )


def encode_keys(conversation: Record, event: Record, member_ids: Sequence[str]) -> str:
    """Return an event about keys as it is served: with the keys of those who take part now."""
    keys = [key for key in event["_participant_keys"] if key["user_id"] in member_ids]
    return encode(conversation, event, encoding.write_keys(event["_key_version"], keys))


# Events: each has a sequence id, which is larger than that of the one before.


def find_sent(
    world: World, conversation_id: str, sender_id: str, message_id: str, kind: str
) -> Record | None:
    """Return the event of a kind that a user has sent under a message id before, if any."""
    match = {
        "conversation_id": conversation_id,
        "sender_id": sender_id,
        "_message_id": message_id,
        "_kind": kind,
    }
    return world.store.first(EVENTS, match)


def add_event(
    world: World, conversation_id: str, sender_id: str, signed: Record, *, detail: bytes = b"",
    text: str = "", **more: Any,
) -> Record:  # fmt: skip
    """Store an event and return it.

    `signed` has its message id and signature. `detail` is what it is about; without it, the event
    is the text that the client sent.
    """
    conversation = world.store.get(CONVERSATIONS, conversation_id)
    assert conversation is not None, "whoever adds an event has found the conversation"
    now = wire_millis(world.clock.now())
    event: Record = {
        "id": world.ids.snowflake(),
        "conversation_id": conversation_id,
        "sender_id": sender_id,
        "created_at": now,
        "encoded_event": text,
        "message_event_signature": signed["message_event_signature"],
        "previous_id": conversation["_last_id"],
        "_message_id": signed["message_id"],
        "_is_deleted": False,
        "_hidden_from": [],
        **more,
    }
    if detail:
        event["encoded_event"] = encode(conversation, event, detail)
    world.store.put(EVENTS, event["id"], event)
    changed = {"updated_at": now, "_last_id": event["id"]}
    world.store.put(CONVERSATIONS, conversation_id, conversation | changed)
    for member in list_members(world, conversation_id):
        world.store.put(MEMBERS, member["_id"], member | {"updated_at": now})
    return event


def add_signed(
    world: World, conversation_id: str, sender_id: str, signed: Record, kind: str
) -> Record:
    """Store an event of which a signature has the detail."""
    text = signed["encoded_message_event_detail"]
    raw = encoding.decode(text)
    detail = b"" if encoding.read_fields(raw) is None else raw[:-1]
    return add_event(
        world, conversation_id, sender_id, signed, detail=detail, text=text, _kind=kind
    )


def encode(conversation: Record, event: Mapping[str, Any], detail: bytes) -> str:
    """Return an event of a conversation in its binary form."""
    token = {"conversation_token": conversation["_token"]}
    return encoding.write_event({**event, **token, "created_at_msec": count_millis(event)}, detail)


def count_millis(event: Mapping[str, Any]) -> str:
    """Return the moment of an event in milliseconds."""
    return epoch_millis(parse_instant(event["created_at"]))


def is_seen(event: Record, member: Record) -> bool:
    """Return whether a member sees an event: not before joining, and nothing that was deleted."""
    first = int(member["_first_id"] or 0)
    gone = event["_is_deleted"] or member["user_id"] in event["_hidden_from"]
    return int(event["id"]) >= first and not gone


def tell_members(world: World, event: Record, *, to_sender: bool = True) -> list[FanOut]:
    """Record what an event is for those who take part: sent by one, received by the others."""
    payload, sender_id = make_payload(world, event), event["sender_id"]
    return [
        record_activity(
            world,
            "chat.sent" if user_id == sender_id else "chat.received",
            user_id=user_id,
            payload=payload,
            created_at=event["created_at"],
        )
        for user_id in list_member_ids(world, event["conversation_id"])
        if to_sender or user_id != sender_id
    ]


def invent_message(
    world: World, sender_id: str, other_id: str, created_at: str
) -> list[FanOut] | None:
    """Let a user send another a made-up message, and return what it is for both.

    `None` if they have no conversation with keys.
    """
    id_ = name_conversation(sender_id, other_id)
    keys = find_latest_keys(world, id_)
    if keys is None or world.store.get(CONVERSATIONS, id_) is None:
        return None
    secret = encoding.write_text(100, world.ids.alphanumeric(40))
    message = encoding.write_struct(
        encoding.MESSAGE, secret + encoding.write_text(101, keys["_key_version"])
    )
    signature = {"signature": world.ids.alphanumeric(40), "signature_version": "7"}
    signed = {"message_id": world.ids.uuid(), "message_event_signature": signature}
    more = {"_kind": MESSAGE, "created_at": created_at}
    return tell_members(world, add_event(world, id_, sender_id, signed, detail=message, **more))


def tell_joined(world: World, event: Record, ids: Iterable[str]) -> None:
    """Record that users have joined a group."""
    payload = make_payload(world, event)
    for user_id in ids:
        record_activity(world, "chat.conversation_join", user_id=user_id, payload=payload)


def tell_passing(world: World, conversation: Record, sender_id: str, detail: bytes) -> None:
    """Tell the other members what is no event of the conversation: that somebody types or reads."""
    event: Record = {
        "conversation_id": conversation["id"],
        "sender_id": sender_id,
        "created_at": wire_millis(world.clock.now()),
    }
    event["encoded_event"] = encode(conversation, event, detail)
    tell_members(world, {"id": world.ids.snowflake(), **event}, to_sender=False)


def make_payload(world: World, event: Record) -> dict[str, Any]:
    """Return the payload of the activities around an event."""
    id_ = event["conversation_id"]
    conversation, keys = world.store.get(CONVERSATIONS, id_) or {}, find_latest_keys(world, id_)
    payload: dict[str, Any] = {
        "id": event["id"],
        "conversation_id": id_,
        "conversation_token": conversation["_token"],
        "sender_id": event["sender_id"],
        "created_at_msec": count_millis(event),
        "encoded_event": event["encoded_event"],
    }
    if keys is not None:
        payload["conversation_key_version"] = keys["_key_version"]
        members = list_member_ids(world, id_)
        payload["conversation_key_change_event"] = encode_keys(conversation, keys, members)
    if event.get("message_event_signature"):
        payload["message_event_signature"] = event["message_event_signature"]
    return payload
