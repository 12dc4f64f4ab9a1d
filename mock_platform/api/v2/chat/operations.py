"""Messages of encrypted conversations and their keys: sent, deleted, read."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.chat import encoding
from mock_platform.api.v2.chat.bodies import (
    DELETE_FOR_ALL,
    SIGNATURE_EXAMPLE,
    ChatDeletion,
    ChatReadMark,
    NewChatKeys,
    NewChatMessage,
    find_keys_faults,
    make_keys_example,
)
from mock_platform.api.v2.chat.conversations import (
    CHAT_ACTIVITIES,
    CHAT_ENCODING,
    CHAT_KEYS,
    CHAT_RULES,
    CHAT_SHAPES,
    begin_direct,
    check_block,
    declare_write,
    find_id_faults,
    find_other,
    list_member_ids,
    require_conversation,
)
from mock_platform.api.v2.chat.events import (
    add_event,
    add_keys,
    add_signed,
    check_keys,
    find_latest_keys,
    find_sent,
    is_seen,
    tell_members,
    tell_passing,
)
from mock_platform.api.v2.chat.media import remove_media
from mock_platform.api.v2.chat.records import DELETION, EVENTS, GROUP, KEY_CHANGE, MEMBERS, MESSAGE
from mock_platform.api.v2.conventions import forbid, get_user_id, refuse_value, start_on, wrap_data
from mock_platform.api.v2.messages.conversations import NOT_A_RESOURCE_TYPE, TAKES_NO_MESSAGES
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Flag, Text
from mock_platform.core.operation import Example
from mock_platform.world.clock import epoch_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ChatKeysAnswer = wrap_data(
    "ChatKeysAnswer", conversation_id=Text(required=True), sequence_id=Text(required=True)
)
SentChatAnswer = wrap_data("SentChatAnswer", encoded_message_event=Text(required=True))
DeletedChatAnswer = wrap_data("DeletedChatAnswer", deleted=Flag(required=True))
ChatSuccessAnswer = wrap_data("ChatSuccessAnswer", success=Flag(required=True))


def add_conversation_keys(call: Call, world: World) -> dict[str, Any]:
    """Add keys to a conversation; that of two begins with its first keys."""
    params, user_id = call.params, get_user_id(call)
    other = find_other(call, world)
    signed: Record = params["action_signatures"][0]
    if other is None:
        conversation, _ = require_conversation(call, world)
        sent = find_sent(world, conversation["id"], user_id, signed["message_id"], KEY_CHANGE)
        if sent is not None:
            return _answer_keys(sent)
        check_keys(world, conversation["id"], params, list_member_ids(world, conversation["id"]))
    else:
        check_keys(world, "", params, [user_id, other])
        conversation = begin_direct(world, user_id, other)
    return _answer_keys(add_keys(world, conversation, user_id, params, signed))


def _answer_keys(event: Record) -> dict[str, Any]:
    return {"data": {"conversation_id": event["conversation_id"], "sequence_id": event["id"]}}


def send(call: Call, world: World) -> dict[str, Any]:
    """Send an encrypted message; sent again under its message id, it gets the first answer.

    Raises:
        ProblemFailure: The conversation has no keys yet, or the message was encrypted with others
            than the newest (400).
    """
    params, user_id = call.params, get_user_id(call)
    if find_other(call, world) is not None:
        raise _refuse_keyless()
    conversation, _ = require_conversation(call, world)
    event = find_sent(world, conversation["id"], user_id, params["message_id"], MESSAGE)
    if event is None:
        check_block(world, conversation, user_id)
        keys, text = (
            find_latest_keys(world, conversation["id"]),
            params["encoded_message_create_event"],
        )
        if keys is None:
            raise _refuse_keyless()
        raw = encoding.decode(text)
        fields = encoding.read_fields(raw)
        if fields is None:
            call.warn("the message is not in the public form, so its key's version is not checked")
        elif fields.get(101) != keys["_key_version"].encode():
            said = fields.get(101, b"").decode(errors="replace")
            wrong = f"The message was encrypted with the key version [{said}]; "
            wrong += f"the newest of the conversation is [{keys['_key_version']}]."
            raise refuse_value(wrong, CHAT_KEYS)
        detail = b"" if fields is None else encoding.write_struct(encoding.MESSAGE, raw[:-1])
        signature = params.get("encoded_message_event_signature")
        signed = {
            "message_id": params["message_id"],
            "message_event_signature": encoding.read_signature(signature) if signature else {},
        }
        event = add_event(
            world, conversation["id"], user_id, signed, detail=detail, text=text, _kind=MESSAGE
        )
        tell_members(world, event)
    return {"data": {"encoded_message_event": event["encoded_event"]}}


def _refuse_keyless() -> ProblemFailure:
    return refuse_value("The conversation has no keys yet; add them before a message.", CHAT_KEYS)


def delete_messages(call: Call, world: World) -> dict[str, Any]:
    """Delete messages for the caller alone or for all.

    Raises:
        ProblemFailure: One is no message of the conversation (400), or not the caller's, who is
            no admin of a group (403).
    """
    params, user_id = call.params, get_user_id(call)
    conversation, member = require_conversation(call, world)
    found = [
        _find_event(world, member, id_, "sequence_ids")
        for id_ in dict.fromkeys(params["sequence_ids"])
    ]
    for event in found:
        if event["_kind"] != MESSAGE:
            raise _refuse_sequence_id(event["id"], "sequence_ids")
    left = [event for event in found if is_seen(event, member)]
    if params["delete_message_action"] != DELETE_FOR_ALL:
        for event in left:
            hidden = {"_hidden_from": [*event["_hidden_from"], user_id]}
            world.store.put(EVENTS, event["id"], event | hidden)
        return {"data": {"deleted": True}}
    is_any = conversation["type"] == GROUP and member["is_admin"]
    if not is_any and any(event["sender_id"] != user_id for event in found):
        raise forbid("You can delete your own messages for all only.", CHAT_RULES)
    left = [event for event in found if not event["_is_deleted"]]
    for event in left:
        world.store.put(EVENTS, event["id"], event | {"_is_deleted": True})
    if left:
        for key in params.get("media_hash_keys", ()):
            remove_media(world, conversation["id"], key)
        signed = params["action_signatures"][0]
        tell_members(world, add_signed(world, conversation["id"], user_id, signed, DELETION))
    return {"data": {"deleted": True}}


def _find_event(world: World, member: Record, id_: str, name: str) -> Record:
    """Return an event of a conversation, also one that was deleted.

    Raises:
        ProblemFailure: The member could have seen no such event (400).
    """
    event = world.store.get(EVENTS, id_)
    if (
        event is None
        or event["conversation_id"] != member["conversation_id"]
        or int(id_) < int(member["_first_id"] or 0)
    ):
        raise _refuse_sequence_id(id_, name)
    return event


def _refuse_sequence_id(id_: str, name: str) -> ProblemFailure:
    text = f"The conversation has no message with the sequence id [{id_}]."
    return refuse_value(text, CHAT_RULES, name=name, value=id_)


def mark_read(call: Call, world: World) -> dict[str, Any]:
    """Mark a conversation as read up to an event; the mark never goes back.

    Raises:
        ProblemFailure: The conversation has no such event (400).
    """
    conversation, member = require_conversation(call, world)
    seen = call.params["seen_until_sequence_id"]
    _find_event(world, member, seen, "seen_until_sequence_id")
    if int(seen) > int(member["seen_until_sequence_id"] or 0):
        world.store.put(MEMBERS, member["_id"], member | {"seen_until_sequence_id": seen})
        moment = int(epoch_millis(world.clock.now()))
        read = encoding.write_text(1, seen) + encoding.write_long(2, moment)
        detail = encoding.write_struct(encoding.READ, read)
        tell_passing(world, conversation, get_user_id(call), detail)
    return {"data": {"success": True}}


def show_typing(call: Call, world: World) -> dict[str, Any]:
    """Tell the others that the caller is writing."""
    conversation, _ = require_conversation(call, world)
    detail = encoding.write_struct(encoding.TYPING, encoding.write_text(1, conversation["id"]))
    tell_passing(world, conversation, get_user_id(call), detail)
    return {"data": {"success": True}}


_ONE = "/2/chat/conversations/:id"
_WITH_NORTHBIKE = {"id": "2244994945-3805104374"}
OPERATIONS = (
    declare_write(
        "chat_keys.create",
        f"POST {_ONE}/keys",
        add_conversation_keys,
        "Add keys to an encrypted conversation, or begin one",
        params=NewChatKeys,
        rules=find_keys_faults,
        returns=ChatKeysAnswer,
        assumptions=(CHAT_SHAPES, CHAT_RULES, CHAT_KEYS),
        may_assume=(NOT_A_RESOURCE_TYPE, TAKES_NO_MESSAGES),
        example=Example(
            path={"id": "3805104374"},
            json=make_keys_example("BGtleSBmb3IgaGFyYm9y", "BGtleSBmb3Igbm9ydGg="),
        ),
    ),
    declare_write(
        "chat_messages.create",
        f"POST {_ONE}/messages",
        send,
        "Send an encrypted message",
        params=NewChatMessage,
        rules=find_id_faults,
        returns=Flat(SentChatAnswer, status=201),
        assumptions=(CHAT_SHAPES, CHAT_RULES, CHAT_KEYS, CHAT_ENCODING, CHAT_ACTIVITIES),
        may_assume=(NOT_A_RESOURCE_TYPE, TAKES_NO_MESSAGES),
        example=Example(
            path=_WITH_NORTHBIKE,
            json={
                "message_id": "7d1f0a52-1",
                "encoded_message_create_event": "CwBkAAAAB3NlY3JldCELAGUAAAANMTc3NzEzNjAwMDAwMAA=",
            },
        ),
    ),
    declare_write(
        "chat_messages.delete",
        f"POST {_ONE}/messages/delete",
        delete_messages,
        "Delete encrypted messages",
        params=ChatDeletion,
        rules=find_id_faults,
        returns=DeletedChatAnswer,
        since=start_on("2026-08-07"),
        assumptions=(CHAT_SHAPES, CHAT_RULES, CHAT_ENCODING, CHAT_ACTIVITIES),
        example=Example(
            path=_WITH_NORTHBIKE,
            json={
                "sequence_ids": ["1989100000000000003"],
                "delete_message_action": DELETE_FOR_ALL,
                "action_signatures": [SIGNATURE_EXAMPLE],
            },
        ),
    ),
    declare_write(
        "chat_conversations.mark_read",
        f"POST {_ONE}/read",
        mark_read,
        "Mark an encrypted conversation as read",
        params=ChatReadMark,
        rules=find_id_faults,
        returns=ChatSuccessAnswer,
        assumptions=(CHAT_SHAPES, CHAT_RULES, CHAT_ACTIVITIES),
        example=Example(
            path=_WITH_NORTHBIKE, json={"seen_until_sequence_id": "1989100000000000004"}
        ),
    ),
    declare_write(
        "chat_conversations.show_typing",
        f"POST {_ONE}/typing",
        show_typing,
        "Show that the user is writing",
        rules=find_id_faults,
        returns=ChatSuccessAnswer,
        assumptions=(CHAT_SHAPES, CHAT_RULES, CHAT_ACTIVITIES),
        example=Example(path=_WITH_NORTHBIKE),
    ),
)
