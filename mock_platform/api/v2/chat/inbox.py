"""The conversations of a user, and the events in them.

The shapes are those of the public description 2.167, with the fields of 2.166 beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from mock_platform.api.v2.chat.conversations import (
    CHAT_ENCODING,
    CHAT_RULES,
    CHAT_SHAPES,
    find_id_faults,
    list_member_ids,
    list_members,
    require_conversation,
)
from mock_platform.api.v2.chat.events import NEWEST_FIRST, count_millis, encode_keys, is_seen
from mock_platform.api.v2.chat.records import CONVERSATIONS, EVENTS, GROUP, KEY_CHANGE, MEMBERS
from mock_platform.api.v2.conventions import ANY_USER, declare_public, get_user_id, start_on
from mock_platform.api.v2.messages.conversations import (
    NOT_A_RESOURCE_TYPE,
    READ_PERMISSION,
    require_read_permission,
)
from mock_platform.api.v2.objects.answers import (
    FIELD_SELECTION,
    USER_FIELDS,
    PostAnswer,
    make_names_field,
    start_answer,
)
from mock_platform.api.v2.objects.object_types import INCLUDES, PARTIAL_ERROR
from mock_platform.api.v2.pages import RULES, TOKEN_PAGES, make_token_field, show_list, take_page
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag, Instant, Integer, Json, ListOf, Nested, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

ID_FIELDS = ("admin_ids", "member_ids", "participant_ids")
CONVERSATION_FIELDS = (
    "created_at", "group_avatar_url", "group_name", "id", "is_muted", "message_ttl_ms",
    "screen_capture_blocking_enabled", "screen_capture_detection_enabled", "type", "updated_at",
    *ID_FIELDS,
)  # fmt: skip
EVENT_FIELDS = (
    "conversation_id", "conversation_token", "created_at", "encoded_event", "id", "is_trusted",
    "message_event_signature", "previous_id", "sender_id",
)  # fmt: skip


class ConversationQuery(Schema):
    """What to show of conversations and of who takes part."""

    chat_conversation_fields = make_names_field(
        (*CONVERSATION_FIELDS, "message_ttl_msec"), data_key="chat_conversation.fields"
    )
    expansions = make_names_field(ID_FIELDS)
    user_fields = make_names_field(USER_FIELDS, data_key="user.fields")


class ConversationsQuery(ConversationQuery):
    """The page of conversations to return."""

    max_results = Integer(low=1, high=100, load_default=10)
    pagination_token = make_token_field()


class EventsQuery(Schema):
    """The page of events to return, and what to show of them."""

    max_results = Integer(low=1, high=100, load_default=10)
    pagination_token = make_token_field(longest=16)
    chat_message_event_fields = make_names_field(
        (*EVENT_FIELDS, "created_at_msec"), data_key="chat_message_event.fields"
    )


class ChatConversation(Schema):
    """A conversation, with the fields that were asked for."""

    id = Text(required=True)
    type = Text()
    created_at = Instant(millis=True)
    updated_at = Instant(millis=True)
    group_name = Text()
    group_avatar_url = Text()
    is_muted = Flag()
    message_ttl_ms = Integer()
    message_ttl_msec = Text()
    screen_capture_blocking_enabled = Flag()
    screen_capture_detection_enabled = Flag()
    participant_ids = ListOf(Text())
    member_ids = ListOf(Text())
    admin_ids = ListOf(Text())


class ChatMessageEvent(Schema):
    """An event of a conversation, with the fields that were asked for."""

    id = Text(required=True)
    conversation_id = Text()
    conversation_token = Text()
    created_at = Instant(millis=True)
    created_at_msec = Text()
    encoded_event = Text()
    is_trusted = Flag()
    message_event_signature = Json()
    previous_id = Text()
    sender_id = Text()


class _ChatMeta(Schema):
    result_count = Integer(required=True)
    has_more = Flag(required=True)
    next_token = Text()


class ConversationsMeta(_ChatMeta):
    """How many conversations a page has, and whether there are more."""

    has_message_requests = Flag(required=True)


class EventsMeta(_ChatMeta):
    """How many events a page has, and the keys with which they were encrypted."""

    conversation_key_events = ListOf(Text(), required=True)


class ConversationAnswer(Schema):
    """A conversation, and the users that its expansions refer to."""

    data = Nested(ChatConversation, required=True)
    includes = INCLUDES.one()
    errors = PARTIAL_ERROR.several()


class PageOfConversations(Schema):
    """A page of conversations, the one with the latest event first."""

    data = ListOf(Nested(ChatConversation))
    includes = INCLUDES.one()
    errors = PARTIAL_ERROR.several()
    meta = Nested(ConversationsMeta, required=True)


class PageOfEvents(Schema):
    """A page of events, the latest first."""

    data = ListOf(Nested(ChatMessageEvent))
    meta = Nested(EventsMeta, required=True)


def list_all(call: Call, world: World) -> dict[str, Any]:
    """Return the page of the caller's conversations."""
    order = Order("updated_at", descending=True)
    page = take_page(call, world, MEMBERS, {"user_id": get_user_id(call)}, order=order)
    answer, shown = start_answer(call, world), []
    for member in page.records:
        record = world.store.get(CONVERSATIONS, member["conversation_id"])
        if record is not None:
            shown.append(_show_conversation(call, world, record, member, answer))
    meta = page.meta(has_more=page.next_token is not None, has_message_requests=False)
    return show_list(shown, **answer.parts(), meta=meta)


def get(call: Call, world: World) -> dict[str, Any]:
    """Return a conversation of the caller."""
    answer = start_answer(call, world)
    shown = _show_conversation(call, world, *require_conversation(call, world), answer)
    return {"data": shown, **answer.parts()}


def _show_conversation(
    call: Call, world: World, record: Record, member: Record, answer: PostAnswer
) -> dict[str, Any]:
    members = list_members(world, record["id"])
    lists = {"participant_ids": [each["user_id"] for each in members]}
    if record["type"] == GROUP:
        lists["member_ids"] = lists["participant_ids"]
        lists["admin_ids"] = [each["user_id"] for each in members if each["is_admin"]]
    for name in ID_FIELDS:
        if name in answer.selection.expansions:
            for user_id in lists.get(name, ()):
                answer.include_user(name, user_id)
    values = {**record, **lists, "is_muted": member["is_muted"]}
    if "message_ttl_ms" in record:
        values["message_ttl_msec"] = str(record["message_ttl_ms"])
    asked = call.params.get("chat_conversation_fields")
    return _select(values, asked, CONVERSATION_FIELDS, answer.selection.expansions)


def _select(
    values: Mapping[str, Any],
    asked: Sequence[str] | None,
    default: Sequence[str],
    more: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Return the values that were asked for, or the usual ones; always the id, and no null."""
    wanted = {"id", *(asked or default), *more}
    return {name: values[name] for name in values if name in wanted and values[name] is not None}


def list_events(call: Call, world: World) -> dict[str, Any]:
    """Return the page of a conversation's events, and the keys that they need."""
    conversation, member = require_conversation(call, world)
    match = {"conversation_id": conversation["id"]}

    def is_shown(event: Record) -> bool:
        return event["_kind"] != KEY_CHANGE and is_seen(event, member)

    page = take_page(call, world, EVENTS, match, order=NEWEST_FIRST, where=is_shown, form=RULES)
    asked = call.params.get("chat_message_event_fields")
    shown = [
        _select(_show_event(conversation, member, event), asked, EVENT_FIELDS)
        for event in page.records
    ]
    keys = _show_keys(world, conversation, member, page.records)
    meta = page.meta(has_more=page.next_token is not None, conversation_key_events=keys)
    return show_list(shown, meta=meta)


def _show_event(conversation: Record, member: Record, event: Record) -> dict[str, Any]:
    # A member who came later must not learn ids of events from before, which `previous_id` has.
    previous = event["previous_id"]
    is_before = previous is not None and int(previous) < int(member["_first_id"] or 0)
    return {
        **event,
        "conversation_token": conversation["_token"],
        "created_at_msec": count_millis(event),
        "is_trusted": True,
        "message_event_signature": event["message_event_signature"] or None,
        "previous_id": None if is_before else previous,
    }


def _show_keys(
    world: World, conversation: Record, member: Record, events: Sequence[Record]
) -> list[str]:
    """Return the events about keys that a page needs, oldest first: those in force at its events.

    A page without events has the newest.
    """
    match = {"conversation_id": conversation["id"], "_kind": KEY_CHANGE}
    newest = int(events[0]["id"]) if events else None
    oldest = int(events[-1]["id"]) if events else None
    needed: list[Record] = []
    # Going back from the newest change: those after the page are of no use for it, those between
    # its events are all needed, and of the earlier ones only the last, which was in force when the
    # oldest event was sent. A member never gets the keys from before the own entry.
    for entry in world.store.page(EVENTS, match, order=NEWEST_FIRST):
        change, at = entry.record, int(entry.key)
        if not is_seen(change, member):
            break
        if newest is None or at < newest:
            needed.append(change)
        if oldest is None or at < oldest:
            break
    members = list_member_ids(world, conversation["id"])
    return [encode_keys(conversation, change, members) for change in reversed(needed)]


_READ = ("dm.read", "post.read", "users.read")
_ONE = "/2/chat/conversations/:id"
_EXAMPLE = Example(path={"id": "2244994945-3805104374"})
_declare = partial(
    declare_public,
    gates=(require_read_permission,),
    auth=Auth(ANY_USER, scopes=_READ),
    errors=("invalid-request", "93", "resource-not-found"),
    assumptions=(CHAT_SHAPES, CHAT_RULES, READ_PERMISSION),
    may_assume=(NOT_A_RESOURCE_TYPE,),
)
OPERATIONS = (
    _declare(
        "chat_conversations.list",
        "GET /2/chat/conversations",
        list_all,
        "List the encrypted conversations of the user who calls",
        params=ConversationsQuery,
        returns=PageOfConversations,
        auth=Auth(ANY_USER, scopes=("dm.read", "users.read")),
        since=start_on("2026-02-06"),
        errors=("invalid-request", "93"),
        assumptions=(CHAT_SHAPES, CHAT_RULES, READ_PERMISSION, TOKEN_PAGES, FIELD_SELECTION),
        may_assume=(),
    ),
    _declare(
        "chat_conversations.get",
        f"GET {_ONE}",
        get,
        "Read an encrypted conversation",
        params=ConversationQuery,
        rules=find_id_faults,
        returns=ConversationAnswer,
        since=start_on("2026-03-18"),
        assumptions=(CHAT_SHAPES, CHAT_RULES, READ_PERMISSION, FIELD_SELECTION),
        example=_EXAMPLE,
    ),
    _declare(
        "chat_events.list",
        f"GET {_ONE}/events",
        list_events,
        "List the events of an encrypted conversation",
        params=EventsQuery,
        rules=find_id_faults,
        returns=PageOfEvents,
        since=start_on("2026-05-21"),
        assumptions=(CHAT_SHAPES, CHAT_RULES, CHAT_ENCODING, READ_PERMISSION, TOKEN_PAGES),
        example=_EXAMPLE,
    ),
)
