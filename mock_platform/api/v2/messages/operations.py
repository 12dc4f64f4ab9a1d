"""Direct messages: sent to users and in groups, listed, blocked, what is shown of each event."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from marshmallow import ValidationError, validates_schema

from mock_platform.api.v2.conventions import (
    ANY_USER,
    Rates,
    check_path,
    declare_named,
    declare_public,
    find_id_faults,
    get_app,
    get_user_id,
    make_id_field,
    refuse_value,
    require_record,
    wrap_data,
)
from mock_platform.api.v2.messages.conversations import (
    CONVERSATION_RULES,
    EVENT_TYPES,
    LONGEST_TEXT,
    MESSAGE_ACTIVITIES,
    MESSAGE_SHAPES,
    NOT_A_RESOURCE_TYPE,
    READ_PERMISSION,
    TABLE,
    TAKES_NO_MESSAGES,
    find_participants,
    name_conversation,
    refuse_unknown,
    require_event,
    require_read_permission,
    require_users,
    require_write_permission,
    send_message,
    store_join,
    take_media_key,
)
from mock_platform.api.v2.objects.answers import (
    DATED_FIELDS,
    FIELD_SELECTION,
    MEDIA_FIELDS,
    PARTIAL_ERRORS,
    POST_FIELDS,
    USER_FIELDS,
    ObjectAnswer,
    PostAnswer,
    find_early_fields,
    make_names_field,
    start_answer,
)
from mock_platform.api.v2.objects.object_types import DM_EVENT_OBJECT
from mock_platform.api.v2.objects.post_text import find_post_ids, show_entities
from mock_platform.api.v2.objects.relations import DM_BLOCKS
from mock_platform.api.v2.pages import (
    MESSAGES,
    TOKEN_FORMS,
    TOKEN_PAGES,
    PageMeta,
    TokenPage,
    TokenPageQuery,
    show_list,
    take_page_both_ways,
)
from mock_platform.api.v2.prices import MESSAGE_CREATE, MESSAGE_READ, PRIVACY_UPDATE
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Choice, CommaList, Flag, ListOf, Nested, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

FIELDS = tuple(DM_EVENT_OBJECT.keys)
_EXPANSIONS = (
    "attachments.media_keys", "participant_ids", "referenced_posts", "referenced_posts.id",
    "sender_id",
)  # fmt: skip
_DEFAULTS = {"id", "event_type", "text"}


class DirectMessageSelectionQuery(Schema):
    """What a client wants to see of events, and of what they refer to."""

    find_faults, dated = staticmethod(find_early_fields), DATED_FIELDS
    dm_event_fields = make_names_field(FIELDS, data_key="dm_event.fields")
    expansions = make_names_field(_EXPANSIONS)
    post_fields = make_names_field(POST_FIELDS, data_key="post.fields")
    older_post_fields = make_names_field(POST_FIELDS, data_key="tweet.fields")
    user_fields = make_names_field(USER_FIELDS, data_key="user.fields")
    media_fields = make_names_field(MEDIA_FIELDS, data_key="media.fields")


class DirectMessageQuery(TokenPageQuery, DirectMessageSelectionQuery):
    """Which events to list."""

    event_types = CommaList(Choice(EVENT_TYPES))


class DirectMessagePage(ObjectAnswer):
    """A page of events."""

    data = DM_EVENT_OBJECT.several()
    meta = Nested(PageMeta, required=True)


class DirectMessageAnswer(ObjectAnswer):
    """A single event, with what its expansions refer to."""

    data = DM_EVENT_OBJECT.one()


class Attachment(Schema):
    """Uploaded media to send."""

    media_id = make_id_field(required=True)


class NewMessage(Schema):
    """A message: text, an attachment, or both."""

    text = Text(min_length=1, max_length=LONGEST_TEXT)
    attachments = ListOf(Nested(Attachment), least=1, most=1)

    @validates_schema(pass_original=True, skip_on_field_errors=False)
    def check_content(self, _data: Record, original: Any, **_: Any) -> None:
        """Require text or an attachment."""
        if "text" not in original and "attachments" not in original:
            raise ValidationError({"text": [Fault("text or attachments is required")]})


class NewGroup(Schema):
    """A group conversation with its first message."""

    conversation_type = Choice(("Group",), required=True)
    participant_ids = ListOf(
        make_id_field("a user id of "),
        least=2,
        most=49,
        required=True,
    )
    message = Nested(NewMessage, required=True)


SentAnswer = wrap_data(
    "SentAnswer", dm_conversation_id=Text(required=True), dm_event_id=Text(required=True)
)
"""The conversation and the event that a message became."""


def send_to_user(call: Call, world: World) -> dict[str, Any]:
    """Send a message to a user."""
    sender, other = get_user_id(call), call.path_params["participant_id"]
    require_users(world, "participant_id", [other], sender)
    return _send(call, world, name_conversation(sender, other), [sender, other], call.params)


def send_to_conversation(call: Call, world: World) -> dict[str, Any]:
    """Send a message to a conversation of the caller's user."""
    sender, conversation = get_user_id(call), call.path_params["dm_conversation_id"]
    participants = find_participants(world, conversation, sender)
    if "-" in conversation:
        require_users(world, "dm_conversation_id", participants, sender)
    return _send(call, world, conversation, participants, call.params)


def create_group(call: Call, world: World) -> dict[str, Any]:
    """Begin a conversation of several users with a message."""
    sender = get_user_id(call)
    participants = list(dict.fromkeys([sender, *call.params["participant_ids"]]))
    require_users(world, "participant_ids", participants, sender, in_body=True)
    conversation = world.ids.snowflake(world.clock.now())
    store_join(world, conversation, participants, sender)
    return _send(call, world, conversation, participants, call.params["message"])


def _send(
    call: Call, world: World, conversation: str, participants: list[str], message: Record
) -> dict[str, Any]:
    content = {"text": message["text"]} if "text" in message else {}
    if "attachments" in message:
        content["_media_keys"] = _find_media(call, world, message["attachments"])
    participants = list(dict.fromkeys(participants))
    sender, app = get_user_id(call), get_app(call)
    sent = send_message(world, conversation, participants, sender, content, app_id=app["id"])
    return {"data": {"dm_conversation_id": conversation, "dm_event_id": sent.record["id"]}}


def _find_media(call: Call, world: World, attachments: list[Record]) -> list[str]:
    ids = [each["media_id"] for each in attachments]
    keys = [take_media_key(world, get_user_id(call), id_) for id_ in ids]
    unknown = [id_ for id_, key in zip(ids, keys, strict=True) if key is None]
    if unknown:
        hint = f"The user has no media {', '.join(unknown)}"
        wrong = Fault("Your media IDs are invalid.", hint=hint)
        raise InvalidParameters([("attachments", wrong)], call.params)
    return [key for key in keys if key is not None]


def list_with_user(call: Call, world: World) -> dict[str, Any]:
    """List the events of the conversation with a user."""
    own, other = get_user_id(call), call.path_params["participant_id"]
    if world.store.get("users", other) is None:
        raise refuse_unknown("user", "participant_id", other)
    return show_page(call, world, name_conversation(own, other))


def list_of_conversation(call: Call, world: World) -> dict[str, Any]:
    """List the events of a conversation of the caller's user."""
    conversation = call.path_params["dm_conversation_id"]
    find_participants(world, conversation, get_user_id(call))
    return show_page(call, world, conversation)


def list_all(call: Call, world: World) -> dict[str, Any]:
    """List the events of all conversations of the caller's user."""
    return show_page(call, world, None)


def get(call: Call, world: World) -> dict[str, Any]:
    """Show an event of a conversation of the caller's user."""
    event = require_event(call, world)
    answer = start_answer(call, world)
    return {"data": show_event(call, event, answer), **answer.parts()}


def show_page(call: Call, world: World, conversation_id: str | None) -> dict[str, Any]:
    """Return a page of the events that the caller's user took part in.

    With `conversation_id`, only those of that conversation.
    """
    types = set(call.params.get("event_types") or EVENT_TYPES)
    match = {} if conversation_id is None else {"dm_conversation_id": conversation_id}
    page = take_events(
        call,
        world,
        match,
        lambda event: event["event_type"] in types,
        endless=call.wire == "recorded",
    )
    answer = start_answer(call, world)
    data = [show_event(call, event, answer) for event in page.records]
    return show_list(data, **answer.parts(), meta=page.meta())


def take_events(
    call: Call,
    world: World,
    match: Record,
    where: Callable[[Record], bool],
    *,
    since: str | None = None,
    endless: bool = False,
) -> TokenPage:
    """Return a page of those events that the caller's user took part in, since a moment.

    Pages of an `endless` list always have both tokens.
    """
    user_id = get_user_id(call)
    return take_page_both_ways(
        call,
        world,
        TABLE,
        match,
        form=MESSAGES,
        where=lambda event: user_id in event["_participants"] and where(event),
        end=None if since is None else ((2, since), -1),
        scope=user_id,
        endless=endless,
    )


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
        "referenced_posts": event.get("referenced_posts") or _find_references(event, answer.world),
    }
    if "sender_id" in expansions:
        answer.include_user("sender_id", event["sender_id"])
    if "participant_ids" in expansions:
        for user_id in event.get("participant_ids", ()):
            answer.include_user("participant_ids", user_id)
    if "attachments.media_keys" in expansions:
        answer.include_media(event)
    if expansions & {"referenced_posts", "referenced_posts.id"}:
        for each in values["referenced_posts"] or ():
            answer.include_post("referenced_posts.id", each["id"])
    return {name: value for name, value in values.items() if name in wanted and value is not None}


def _find_references(event: Record, world: World) -> list[dict[str, str]] | None:
    found = dict.fromkeys(find_post_ids(event.get("text") or ""))
    return [{"id": id_} for id_ in found if world.store.get("posts", id_)] or None


_SPEC = "Authentication: direct messages"
_WITH = "/2/dm_conversations/with/:participant_id"
BLOCK_SHAPES = public_fact(
    "direct-messages.blocks",
    "A block of direct messages refuses those of one user; follows, likes and lists stay as they "
    "are, and no list shows it. The id in the path is that of the other user.",
    "all of v2, section 17",
    gap=True,
)
BLOCK_RULES = expectation(
    "direct-messages.block-refusals",
    "To block or unblock twice changes nothing. An unknown user answers 404, oneself 400.",
)
BlockAnswer = wrap_data("DirectMessageBlockAnswer", blocked=Flag(required=True))


def block(call: Call, world: World) -> dict[str, Any]:
    """Take no messages of a user any more."""
    DM_BLOCKS.add(world, get_user_id(call), _require_other(call, world)["id"])
    return {"data": {"blocked": True}}


def unblock(call: Call, world: World) -> dict[str, Any]:
    """Take messages of a user again."""
    DM_BLOCKS.remove(world, get_user_id(call), _require_other(call, world)["id"])
    return {"data": {"blocked": False}}


def _require_other(call: Call, world: World) -> Record:
    """Return the user in the path, who is not the caller.

    Raises:
        ProblemFailure: There is no such user (404), or it is the caller (400).
    """
    user = require_record(call, world, "users", "user", PARTIAL_ERRORS)
    if user["id"] == get_user_id(call):
        text = "You cannot block your own direct messages"
        raise refuse_value(text, BLOCK_RULES, name="id", value=user["id"])
    return user


_ONE = "/2/dm_conversations/:dm_conversation_id"
_CONVERSATION = re.compile(r"[0-9]{1,19}-[0-9]{1,19}|[0-9]{15,19}", re.ASCII)
_check_participant = check_path("participant_id")
_check_conversation = check_path(dm_conversation_id=_CONVERSATION)
_declare_send = partial(
    declare_named,
    spec=_SPEC,
    gates=(require_write_permission,),
    returns=Flat(SentAnswer, status=201),
    auth=Auth(ANY_USER, scopes=("dm.write", "post.read", "users.read")),
    limit=Rates(user=15, app_daily=1440, user_daily=1440),
    errors=("invalid-request", "93", "about:blank", "resource-not-found"),
    assumptions=(MESSAGE_SHAPES, CONVERSATION_RULES, MESSAGE_ACTIVITIES),
    may_assume=(TAKES_NO_MESSAGES,),
    price=MESSAGE_CREATE,
)
_declare_read = partial(
    declare_named,
    spec=_SPEC,
    params=DirectMessageQuery,
    gates=(require_read_permission,),
    returns=DirectMessagePage,
    auth=Auth(ANY_USER, scopes=("dm.read", "post.read", "users.read")),
    limit=Rates(user=15),
    errors=("invalid-request", "93", "resource-not-found"),
    assumptions=(
        MESSAGE_SHAPES,
        READ_PERMISSION,
        CONVERSATION_RULES,
        TOKEN_PAGES,
        TOKEN_FORMS,
        FIELD_SELECTION,
    ),
    may_assume=(PARTIAL_ERRORS,),
    price=MESSAGE_READ,
)
_declare_block = partial(
    declare_public,
    gates=(require_write_permission,),
    rules=find_id_faults,
    returns=BlockAnswer,
    auth=Auth(ANY_USER, scopes=("dm.write", "post.read", "users.read")),
    limit=Rates(app=25, user=10, app_daily=1000, user_daily=400),
    errors=("invalid-request", "93", "resource-not-found"),
    assumptions=(BLOCK_SHAPES, TAKES_NO_MESSAGES),
    may_assume=(BLOCK_RULES, PARTIAL_ERRORS),
    example=Example(path={"id": "3805104374"}),
    price=PRIVACY_UPDATE,
)
OPERATIONS = (
    _declare_send(
        "dm_conversations.send_to_user",
        f"POST {_WITH}/messages",
        send_to_user,
        "Send a direct message to a user",
        params=NewMessage,
        rules=_check_participant,
        example=Example(json={"text": "The beans are ready."}),
    ),
    _declare_send(
        "dm_conversations.send",
        f"POST {_ONE}/messages",
        send_to_conversation,
        "Send a direct message to a conversation",
        params=NewMessage,
        rules=_check_conversation,
        may_assume=(TAKES_NO_MESSAGES, NOT_A_RESOURCE_TYPE),
        example=Example(json={"text": "The beans are ready."}),
    ),
    _declare_send(
        "dm_conversations.create",
        "POST /2/dm_conversations",
        create_group,
        "Begin a group conversation with a message",
        params=NewGroup,
        example=Example(
            json={
                "conversation_type": "Group",
                "participant_ids": ["3805104374", "2244994945"],
                "message": {"text": "The beans are ready."},
            }
        ),
    ),
    _declare_read(
        "dm_conversations.list_with_user",
        f"GET {_WITH}/dm_events",
        list_with_user,
        "List the direct messages with a user",
        rules=_check_participant,
    ),
    _declare_read(
        "dm_conversations.list",
        f"GET {_ONE}/dm_events",
        list_of_conversation,
        "List the direct messages of a conversation",
        rules=_check_conversation,
        may_assume=(PARTIAL_ERRORS, NOT_A_RESOURCE_TYPE),
    ),
    _declare_read(
        "dm_events.list",
        "GET /2/dm_events",
        list_all,
        "List the direct messages of a user",
        errors=("invalid-request", "93"),
    ),
    _declare_read(
        "dm_events.get",
        "GET /2/dm_events/:event_id",
        get,
        "Show an event of a conversation",
        params=DirectMessageSelectionQuery,
        rules=check_path("event_id"),
        returns=DirectMessageAnswer,
        assumptions=(MESSAGE_SHAPES, READ_PERMISSION, CONVERSATION_RULES, FIELD_SELECTION),
        may_assume=(PARTIAL_ERRORS, NOT_A_RESOURCE_TYPE),
    ),
    _declare_block(
        "dm_blocks.create",
        "POST /2/users/:id/dm/block",
        block,
        "Block the direct messages of a user",
    ),
    _declare_block(
        "dm_blocks.delete",
        "POST /2/users/:id/dm/unblock",
        unblock,
        "Take direct messages of a user again",
    ),
)
