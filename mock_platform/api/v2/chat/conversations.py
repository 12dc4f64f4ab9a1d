"""Encrypted conversations: their ids, who takes part, and who may.

The shapes are those of the public description 2.167.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial

from mock_platform.api.v2.chat.records import (
    CONVERSATIONS,
    DIRECT,
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
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
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
BLOCKED = "You cannot send messages to this user."
TOO_MANY = "Too many members: adding these members would exceed the allowed group size."
NOT_ADDABLE = (
    "Cannot add all members: one or more of the requested members cannot be added to this "
    "conversation."
)
CONVERSATION_ID = re.compile(r"[0-9]{1,19}|[0-9]{1,19}[-:][0-9]{1,19}|g[0-9]{1,19}", re.ASCII)
find_id_faults = check_path(id=CONVERSATION_ID)
"""Finds what is wrong with the id of a conversation in the path."""

declare_write = partial(
    declare_public,
    gates=(require_write_permission,),
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
    found = normalize_id(value, user_id) if CONVERSATION_ID.fullmatch(value) else ""
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
        raise forbid(BLOCKED, CHAT_RULES)
    return other


def check_block(world: World, conversation: Record, user_id: str) -> None:
    """Require that neither of the two users of a conversation blocks the other.

    Raises:
        ProblemFailure: One does (403).
    """
    if conversation["type"] == DIRECT:
        for other in conversation["id"].split("-"):
            if is_blocked(world, other, user_id):
                raise forbid(BLOCKED, CHAT_RULES)


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
