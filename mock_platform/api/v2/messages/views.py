"""Events of direct messages as the v2 interface shows them: fields, expansions, pages."""

from __future__ import annotations

from typing import Any

from mock_platform.api.v2.conventions import make_token_field, take_page
from mock_platform.api.v2.messages.conversations import EVENT_TYPES, NEWEST_FIRST, TABLE, get_user
from mock_platform.api.v2.objects.answers import (
    MEDIA_FIELDS,
    POST_FIELDS,
    USER_FIELDS,
    PostAnswer,
    find_early_fields,
    make_names_field,
    read_selection,
    start_answer,
)
from mock_platform.api.v2.objects.post_view import show_entities
from mock_platform.core.call import Call
from mock_platform.core.fields import (
    Choice,
    CommaList,
    Instant,
    Integer,
    Json,
    ListOf,
    Nested,
    Text,
)
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FIELDS = (
    "attachments", "created_at", "dm_conversation_id", "entities", "event_type", "id",
    "participant_ids", "referenced_posts", "sender_id", "text",
)  # fmt: skip
_EXPANSIONS = ("attachments.media_keys", "participant_ids", "referenced_posts.id", "sender_id")
_DEFAULTS = {"id", "event_type", "text"}


class DirectMessageSelectionQuery(Schema):
    """What a client wants to see of events, and of what they refer to."""

    find_faults = staticmethod(find_early_fields)
    dm_event_fields = make_names_field(FIELDS, data_key="dm_event.fields")
    expansions = make_names_field(_EXPANSIONS)
    post_fields = make_names_field(POST_FIELDS, data_key="post.fields")
    older_post_fields = make_names_field(POST_FIELDS, data_key="tweet.fields")
    user_fields = make_names_field(USER_FIELDS, data_key="user.fields")
    media_fields = make_names_field(MEDIA_FIELDS, data_key="media.fields")


class DirectMessageQuery(DirectMessageSelectionQuery):
    """Which events to list."""

    max_results = Integer(low=1, high=100, load_default=100)
    pagination_token = make_token_field()
    event_types = CommaList(Choice(EVENT_TYPES))


class DirectMessageEvent(Schema):
    """An event of a conversation; `participant_ids` only in joins and leaves."""

    id = Text(required=True)
    event_type = Choice(EVENT_TYPES)
    text = Text()
    sender_id = Text()
    dm_conversation_id = Text()
    created_at = Instant(millis=True)
    participant_ids = ListOf(Text())
    attachments = Json()
    entities = Json()
    referenced_posts = Json()


class _PageMeta(Schema):
    result_count = Integer(required=True)
    next_token = Text()


class DirectMessagePage(Schema):
    """A page of events."""

    data = ListOf(Nested(DirectMessageEvent))
    includes = Json()
    errors = ListOf(Json())
    meta = Nested(_PageMeta, required=True)


class DirectMessageAnswer(Schema):
    """A single event, with what its expansions refer to."""

    data = Nested(DirectMessageEvent, required=True)
    includes = Json()
    errors = ListOf(Json())


def show_page(call: Call, world: World, conversation_id: str | None) -> dict[str, Any]:
    """Return a page of the events that the caller's user took part in.

    With `conversation_id`, only those of that conversation.
    """
    user_id = get_user(call)["id"]
    types = set(call.params.get("event_types") or EVENT_TYPES)
    match = {} if conversation_id is None else {"dm_conversation_id": conversation_id}
    page = take_page(
        call,
        world,
        TABLE,
        match,
        order=NEWEST_FIRST,
        where=lambda event: event["event_type"] in types and user_id in event["_participants"],
    )
    answer = _start(call, world)
    data = [show_event(call, event, answer) for event in page.records]
    return {**({"data": data} if data else {}), **answer.parts(), "meta": page.meta()}


def show_one(call: Call, world: World, event: Record) -> dict[str, Any]:
    """Return the answer for one event."""
    answer = _start(call, world)
    return {"data": show_event(call, event, answer), **answer.parts()}


def show_event(call: Call, event: Record, answer: PostAnswer) -> dict[str, Any]:
    """Return an event with the fields that the call asks for; add to `answer` what it refers to."""
    expansions = answer.selection.expansions
    wanted = _DEFAULTS | set(call.params.get("dm_event_fields") or ())
    wanted |= {name.partition(".")[0] for name in expansions}
    values = {
        "id": event["id"],
        "event_type": event["event_type"],
        "text": event.get("text"),
        "sender_id": event["sender_id"],
        "dm_conversation_id": event["dm_conversation_id"],
        "created_at": event["created_at"],
        "participant_ids": event.get("participant_ids"),
        "attachments": {"media_keys": keys} if (keys := event["_media_keys"]) else None,
        "entities": show_entities(event["entities"]),
    }
    if "sender_id" in expansions:
        answer.include_user("sender_id", event["sender_id"])
    if "participant_ids" in expansions:
        for user_id in event.get("participant_ids", ()):
            answer.include_user("participant_ids", user_id)
    if "attachments.media_keys" in expansions:
        answer.include_media(event)
    return {name: value for name, value in values.items() if name in wanted and value is not None}


def _start(call: Call, world: World) -> PostAnswer:
    return start_answer(call, world, read_selection(call.params))
