"""Encrypted conversations: who takes part, their keys and events, and what others hear of them.

The shapes are those of the public description 2.167. The server orders and passes on what clients
have encrypted; of an event it reads no more than the version of its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from mock_platform.api.v2.activity.activities import record_activity
from mock_platform.api.v2.chat import encoding
from mock_platform.api.v2.chat.records import (
    CONVERSATIONS,
    DIRECT,
    EVENTS,
    KEY_CHANGE,
    MEMBERS,
    PUBLIC_KEYS,
    key_member,
)
from mock_platform.api.v2.conventions import (
    ANY_USER,
    check_path,
    declare_public,
    forbid,
    get_user_id,
    refuse_value,
    start_on,
)
from mock_platform.api.v2.messages.conversations import (
    NOT_A_RESOURCE_TYPE,
    name_conversation,
    refuse_unknown,
    require_users,
    require_write_permission,
)
from mock_platform.api.v2.objects.relations import is_blocked, is_present
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.operation import Location
from mock_platform.world.clock import epoch_millis, parse_instant, wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

CHAT_SHAPES = public_fact(
    "chat.shapes",
    "Conversations are encrypted by the clients: the sandbox stores, orders and passes on what "
    "they send. A conversation of two has both user ids as its id, the smaller first; the other "
    "user's id alone or a colon between the two leads to it as well. Without a list of fields all "
    "fields are shown. Adding members answers conversation_key_change_sequence_id and "
    "current_member_ids under data.",
    "all of v2, section 19",
    gap=True,
)
CHAT_ENCODING = public_fact(
    "chat.encoding",
    "Events are structs of Thrift's binary protocol in base64, with the fields of the vendor's "
    "chat library. A message that is no such struct is passed on as it was sent, and the version "
    "of its key is not checked.",
    "all of v2, section 19",
)
CHAT_KEYS = expectation(
    "chat.keys",
    "A conversation needs keys before its first message. New keys have a larger version than the "
    "ones before and one key for each participant, made with a version of the public keys that "
    "the participant has. A message with any other version than the newest is refused with 400.",
)
CHAT_RULES = expectation(
    "chat.rules",
    "Whoever does not take part finds no conversation (404). New members see events from their "
    "joining on, and keys are served for those who take part now. A group has at most 100 members, "
    "all of them with public keys; its admins add more. A user deletes own messages for all, an "
    "admin any; what is sent again under the same message_id gets the first answer. There are no "
    "message requests.",
)
CHAT_ACTIVITIES = expectation(
    "chat.activities",
    "A message or its deletion for all is a chat.sent for its sender and a chat.received for each "
    "other member; typing and reading are a chat.received for the others. Joining a group is a "
    "chat.conversation_join for each new member, under the name that the subscriber has written.",
)
MOST_MEMBERS = 100
TOO_MANY = "Too many members: adding these members would exceed the allowed group size."
NOT_ADDABLE = (
    "Cannot add all members: one or more of the requested members cannot be added to this "
    "conversation."
)
NEWEST_FIRST = Order(descending=True)
_ID = re.compile(r"[0-9]{1,19}|[0-9]{1,19}[-:][0-9]{1,19}|g[0-9]{1,19}", re.ASCII)
find_id_faults = check_path("id", _ID, "is not valid")
"""Finds what is wrong with the id of a conversation in the path."""

declare_write = partial(
    declare_public,
    gates=(require_write_permission,),
    location=Location.JSON,
    auth=Auth(ANY_USER, scopes=("dm.write", "post.read", "users.read")),
    since=start_on("2026-03-18"),
    errors=("invalid-request", "93", "about:blank", "resource-not-found"),
    may_assume=(NOT_A_RESOURCE_TYPE,),
)
"""Declares what changes a conversation."""


def normalize_id(value: str, user_id: str) -> str:
    """Return the id of a conversation: of the one with a user if it is the id of a user."""
    pair = value.replace(":", "-").split("-")
    if value.startswith("g"):
        return value
    return name_conversation(*pair) if len(pair) == 2 else name_conversation(user_id, value)


def find_conversation(call: Call, world: World, value: str) -> tuple[Record, Record] | None:
    """Return a conversation with the caller's part in it; `None` if the caller has none."""
    user_id = get_user_id(call)
    found = normalize_id(value, user_id) if _ID.fullmatch(value) else ""
    record = world.store.get(CONVERSATIONS, found)
    member = world.store.get(MEMBERS, key_member(found, user_id))
    return None if record is None or member is None else (record, member)


def require_conversation(call: Call, world: World) -> tuple[Record, Record]:
    """Return the conversation in the path with the caller's part in it.

    Raises:
        ProblemFailure: The caller takes part in no such conversation (404).
    """
    value = call.path_params["id"]
    found = find_conversation(call, world, value)
    if found is None:
        raise refuse_unknown("conversation", "id", value)
    return found


def find_other(call: Call, world: World) -> str | None:
    """Return the other user of a conversation of two in the path that is not begun yet.

    Raises:
        ProblemFailure: There can be no such conversation (404), or the other user takes no
            messages of the caller (403).
    """
    value, user_id = call.path_params["id"], get_user_id(call)
    if find_conversation(call, world, value) is not None:
        return None
    pair = normalize_id(value, user_id).split("-")
    if user_id not in pair or len(set(pair)) == 1:
        raise refuse_unknown("conversation", "id", value)
    other = pair[1 - pair.index(user_id)]
    require_users(world, "id", [other], user_id)
    if is_blocked(world, other, user_id):
        raise forbid("You cannot send messages to this user.", CHAT_RULES)
    return other


def begin_conversation(world: World, id_: str, type_: str, owner_id: str | None = None) -> Record:
    """Store and return a conversation without members."""
    now = wire_millis(world.clock.now())
    record: Record = {
        "id": id_,
        "type": type_,
        "created_at": now,
        "updated_at": now,
        "screen_capture_blocking_enabled": False,
        "screen_capture_detection_enabled": False,
        "_token": world.ids.alphanumeric(32),
        "_owner_id": owner_id,
        "_last_id": None,
    }
    world.store.put(CONVERSATIONS, id_, record)
    return record


def begin_direct(world: World, user_id: str, other_id: str) -> Record:
    """Store and return a conversation of two."""
    record = begin_conversation(world, name_conversation(user_id, other_id), DIRECT)
    add_members(world, record, [user_id, other_id])
    return record


def add_members(
    world: World, conversation: Record, ids: Iterable[str], *, first_id: str | None = None,
    admins: Sequence[str] = (),
) -> None:  # fmt: skip
    """Let users take part in a conversation; they see its events from `first_id` on."""
    now = wire_millis(world.clock.now())
    for user_id in ids:
        key = key_member(conversation["id"], user_id)
        member: Record = {
            "_id": key,
            "conversation_id": conversation["id"],
            "user_id": user_id,
            "created_at": now,
            "updated_at": now,
            "is_admin": user_id in admins,
            "is_muted": False,
            "seen_until_sequence_id": None,
            "_first_id": first_id,
        }
        world.store.put(MEMBERS, key, member)


def list_members(world: World, conversation_id: str) -> list[Record]:
    """Return who takes part in a conversation, in the order of joining."""
    found = world.store.page(MEMBERS, {"conversation_id": conversation_id})
    return [entry.record for entry in found]


def list_member_ids(world: World, conversation_id: str) -> list[str]:
    """Return the ids of those who take part in a conversation."""
    return [member["user_id"] for member in list_members(world, conversation_id)]


def check_members(world: World, ids: Sequence[str], new: Sequence[str], inviter_id: str) -> None:
    """Require that a group can have these members, of whom some are new.

    Raises:
        ProblemFailure: They are too many, or one of the new cannot be added (400).
    """
    if len(ids) > MOST_MEMBERS:
        raise refuse_value(TOO_MANY, CHAT_RULES)
    for id_ in new:
        user = world.store.get("users", id_)
        if (
            user is None
            or not is_present(user)
            or is_blocked(world, id_, inviter_id)
            or not world.store.count(PUBLIC_KEYS, {"_user_id": id_})
        ):
            raise refuse_value(NOT_ADDABLE, CHAT_RULES)


# Keys: each version of a conversation's key is an event with the key of each participant.


def find_latest_keys(world: World, conversation_id: str) -> Record | None:
    """Return the newest event about the keys of a conversation."""
    match = {"conversation_id": conversation_id, "_kind": KEY_CHANGE}
    found = world.store.page(EVENTS, match, order=NEWEST_FIRST, limit=1)
    return found[0].record if found else None


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


def find_sent(world: World, conversation_id: str, sender_id: str, message_id: str) -> Record | None:
    """Return the event that a user has sent under a message id before, if any."""
    match = {"conversation_id": conversation_id, "sender_id": sender_id, "_message_id": message_id}
    found = world.store.page(EVENTS, match, limit=1)
    return found[0].record if found else None


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


def tell_members(world: World, event: Record, *, to_sender: bool = True) -> None:
    """Record what an event is for those who take part: sent by one, received by the others."""
    payload = make_payload(world, event)
    for user_id in list_member_ids(world, event["conversation_id"]):
        is_sender = user_id == event["sender_id"]
        if to_sender or not is_sender:
            name = "chat.sent" if is_sender else "chat.received"
            record_activity(world, name, user_id=user_id, payload=payload)


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
