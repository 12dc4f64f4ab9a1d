"""Groups: an id is reserved, members begin a conversation under it, admins add more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mock_platform.api.v2.chat import encoding
from mock_platform.api.v2.chat.bodies import (
    NewChatGroup,
    NewChatMembers,
    find_group_faults,
    find_members_faults,
    make_keys_example,
)
from mock_platform.api.v2.chat.conversations import (
    CHAT_ACTIVITIES,
    CHAT_ENCODING,
    CHAT_KEYS,
    CHAT_RULES,
    CHAT_SHAPES,
    add_members,
    begin_conversation,
    check_members,
    declare_write,
    list_member_ids,
    require_conversation,
)
from mock_platform.api.v2.chat.events import (
    add_keys,
    add_signed,
    check_keys,
    find_sent,
    tell_joined,
)
from mock_platform.api.v2.chat.records import CONVERSATIONS, GROUP, GROUP_CHANGE, KEY_CHANGE
from mock_platform.api.v2.conventions import ANY_USER, forbid, get_user_id, refuse_value, wrap_data
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.fields import ListOf, Text
from mock_platform.core.operation import Example
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ReservedGroupAnswer = wrap_data("ReservedGroupAnswer", conversation_id=Text(required=True))
ChatGroupAnswer = wrap_data(
    "ChatGroupAnswer",
    conversation_id=Text(required=True),
    conversation_key_change_sequence_id=Text(required=True),
)
ChatMembersAnswer = wrap_data(
    "ChatMembersAnswer",
    conversation_key_change_sequence_id=Text(required=True),
    current_member_ids=ListOf(Text(), required=True),
)


def initialize_group(call: Call, world: World) -> dict[str, Any]:
    """Reserve the id of a group."""
    id_ = f"g{world.ids.snowflake()}"
    begin_conversation(world, id_, GROUP, get_user_id(call))
    return {"data": {"conversation_id": id_}}


def create_group(call: Call, world: World) -> dict[str, Any]:
    """Make a group under a reserved id.

    Raises:
        ProblemFailure: The id is not reserved, or members, keys or signed parts are wrong (400).
    """
    params, user_id = call.params, get_user_id(call)
    id_ = params["conversation_id"]
    for_keys, for_group = _tell_apart(params["action_signatures"])
    sent = find_sent(world, id_, user_id, for_keys["message_id"], KEY_CHANGE)
    if sent is not None:
        return _answer_group(sent)
    conversation = world.store.get(CONVERSATIONS, id_)
    if conversation is None or conversation["_owner_id"] != user_id:
        text = f"The conversation [{id_}] is not reserved for a new group."
        raise refuse_value(text, CHAT_RULES, name="conversation_id", value=id_)
    members = list(dict.fromkeys([user_id, *params["group_members"]]))
    admins = [user_id, *params.get("group_admins", ())]
    check_members(world, members, members, user_id)
    _check_admins(admins, members)
    named = {3: "group_name", 4: "group_avatar_url"}
    _check_signed(params, for_group, (encoding.GROUP, 1, 1), named)
    check_keys(world, id_, params, members)
    made = {name: params[name] for name in named.values() if name in params}
    if "group_description" in params:
        made["_description"] = params["group_description"]
    if "ttl_msec" in params:
        made["message_ttl_ms"] = int(params["ttl_msec"])
    conversation = conversation | made | {"_owner_id": None}
    world.store.put(CONVERSATIONS, id_, conversation)
    add_members(world, conversation, members, admins=admins)
    keys = add_keys(world, conversation, user_id, params, for_keys)
    joined = add_signed(world, id_, user_id, for_group, GROUP_CHANGE)
    tell_joined(world, joined, members[1:])
    return _answer_group(keys)


def _answer_group(keys: Record) -> dict[str, Any]:
    shown = {"conversation_id": keys["conversation_id"]}
    return {"data": shown | {"conversation_key_change_sequence_id": keys["id"]}}


def _check_admins(admins: Sequence[str], members: Sequence[str]) -> None:
    for id_ in admins:
        if id_ not in members:
            text = f"The admin [{id_}] is not one of the members."
            raise refuse_value(text, CHAT_RULES, name="group_admins", value=id_)


def _tell_apart(signatures: Sequence[Record]) -> tuple[Record, Record]:
    """Return the two signatures of a group's change: that of the keys, and that of the group."""
    first, second = signatures
    detail = encoding.read_fields(encoding.decode(first["encoded_message_event_detail"]))
    return (second, first) if detail and encoding.GROUP in detail else (first, second)


def _check_signed(
    params: Mapping[str, Any], signed: Record, path: Sequence[int], names: Mapping[int, str]
) -> None:
    """Require that name and picture of a group are those that were signed, if that can be read."""
    fields = encoding.read_path(encoding.decode(signed["encoded_message_event_detail"]), *path)
    for number, name in names.items():
        sent = params.get(name)
        expected = None if sent is None else sent.encode()
        if fields is not None and fields.get(number) != expected:
            text = f"{name} is not the one that was signed."
            raise refuse_value(text, CHAT_RULES, name=name, value=sent or "")


def extend_group(call: Call, world: World) -> dict[str, Any]:
    """Add members to a group; the keys change, so that they cannot read what was before.

    Raises:
        ProblemFailure: The caller is no admin of a group (403), or members, keys or what was signed
            do not fit (400).
    """
    params, user_id = call.params, get_user_id(call)
    conversation, member = require_conversation(call, world)
    if conversation["type"] != GROUP:
        raise refuse_value("A conversation of two takes no more members.", CHAT_RULES)
    for_keys, for_group = _tell_apart(params["action_signatures"])
    sent = find_sent(world, conversation["id"], user_id, for_keys["message_id"], KEY_CHANGE)
    old = list_member_ids(world, conversation["id"])
    if sent is not None:
        return _answer_members(sent, old)
    if not member["is_admin"]:
        raise forbid("Only an admin of the group can add members.", CHAT_RULES)
    new = [id_ for id_ in dict.fromkeys(params["user_ids"]) if id_ not in old]
    if not new:
        raise refuse_value("All of these users take part already.", CHAT_RULES, name="user_ids")
    check_members(world, [*old, *new], new, user_id)
    named = {4: "encrypted_title", 5: "encrypted_avatar_url"}
    _check_signed(params, for_group, (encoding.GROUP, 1, 5), named)
    check_keys(world, conversation["id"], params, [*old, *new])
    stored = {"encrypted_title": "group_name", "encrypted_avatar_url": "group_avatar_url"}
    renamed = {stored[name]: params[name] for name in stored if name in params}
    world.store.put(CONVERSATIONS, conversation["id"], conversation | renamed)
    keys = add_keys(world, conversation, user_id, params, for_keys)
    add_members(world, conversation, new, first_id=keys["id"])
    joined = add_signed(world, conversation["id"], user_id, for_group, GROUP_CHANGE)
    tell_joined(world, joined, new)
    return _answer_members(keys, [*old, *new])


def _answer_members(keys: Record, ids: Sequence[str]) -> dict[str, Any]:
    shown = {"conversation_key_change_sequence_id": keys["id"]}
    return {"data": {**shown, "current_member_ids": list(ids)}}


_GROUP = "/2/chat/conversations/group"
_KEYS = make_keys_example(*["BGtleSBmb3IgYSBncm91cA=="] * 3, signatures=2)
OPERATIONS = (
    declare_write(
        "chat_groups.initialize",
        f"POST {_GROUP}/initialize",
        initialize_group,
        "Reserve the id of an encrypted group",
        returns=ReservedGroupAnswer,
        auth=Auth(ANY_USER, scopes=("dm.write",)),
        errors=("93",),
        assumptions=(CHAT_SHAPES,),
        may_assume=(),
    ),
    declare_write(
        "chat_groups.create",
        f"POST {_GROUP}",
        create_group,
        "Make an encrypted group",
        params=NewChatGroup,
        rules=find_group_faults,
        returns=Flat(ChatGroupAnswer, status=201),
        errors=("invalid-request", "93"),
        assumptions=(CHAT_SHAPES, CHAT_RULES, CHAT_KEYS, CHAT_ENCODING, CHAT_ACTIVITIES),
        may_assume=(),
        example=Example(
            json={
                "conversation_id": "g1989300000000000001",
                "group_members": ["3805104374", "2790441185"],
                **_KEYS,
            }
        ),
    ),
    declare_write(
        "chat_members.create",
        "POST /2/chat/conversations/:id/members",
        extend_group,
        "Add members to an encrypted group",
        params=NewChatMembers,
        rules=find_members_faults,
        returns=ChatMembersAnswer,
        assumptions=(CHAT_SHAPES, CHAT_RULES, CHAT_KEYS, CHAT_ENCODING, CHAT_ACTIVITIES),
        example=Example(
            path={"id": "g1989250000000000001"},
            json={"user_ids": ["2790441185"], **_KEYS},
        ),
    ),
)
