"""Conversations: direct messages between two users and in groups, sent and listed."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError, validates_schema

from mock_platform.api.v2.conventions import PAGES, declare_named
from mock_platform.api.v2.messages.conversations import (
    ACTIVITIES,
    CONVERSATIONS,
    LONGEST_TEXT,
    NOT_A_RESOURCE_TYPE,
    PERMISSION,
    READ_LIMIT,
    READ_SCOPES,
    REFUSED,
    SHAPES,
    WRITE_LIMIT,
    find_participants,
    get_user,
    name_conversation,
    require_read_permission,
    require_users,
    require_write_permission,
    send_message,
    store_join,
    take_media_key,
)
from mock_platform.api.v2.messages.views import DirectMessagePage, DirectMessageQuery, show_page
from mock_platform.api.v2.objects.answers import PARTIAL, SELECTION
from mock_platform.api.v2.webhooks.validation import get_app
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.example import Example
from mock_platform.core.failures.errors import InvalidParameters
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Choice, ListOf, Nested, Text
from mock_platform.core.operation import Location
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

_SPEC = "Authentication: direct messages"
_READ = Auth(("oauth1", "oauth2"), scopes=READ_SCOPES)
_WRITE = Auth(("oauth1", "oauth2"), scopes=("dm.write", "post.read", "users.read"))


class Attachment(Schema):
    """Uploaded media to send."""

    media_id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")


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
        Text(pattern=r"[0-9]{1,19}", pattern_text="a user id of 1 to 19 digits"),
        least=2,
        most=49,
        required=True,
    )
    message = Nested(NewMessage, required=True)


class _Sent(Schema):
    dm_conversation_id = Text(required=True)
    dm_event_id = Text(required=True)


class SentAnswer(Schema):
    """The conversation and the event that a message became."""

    data = Nested(_Sent, required=True)


def send_to_user(call: Call, world: World) -> dict[str, Any]:
    """Send a message to a user."""
    sender, other = get_user(call)["id"], call.path_params["participant_id"]
    require_users(world, "participant_id", [other], sender)
    return _send(call, world, name_conversation(sender, other), [sender, other], call.params)


def send_to_conversation(call: Call, world: World) -> dict[str, Any]:
    """Send a message to a conversation of the caller's user."""
    sender, conversation = get_user(call)["id"], call.path_params["dm_conversation_id"]
    participants = find_participants(world, conversation, sender)
    if "-" in conversation:
        require_users(world, "dm_conversation_id", participants, sender)
    return _send(call, world, conversation, participants, call.params)


def create_group(call: Call, world: World) -> dict[str, Any]:
    """Begin a conversation of several users with a message."""
    sender = get_user(call)["id"]
    participants = list(dict.fromkeys([sender, *call.params["participant_ids"]]))
    require_users(world, "participant_ids", participants, sender)
    conversation = world.ids.snowflake()
    store_join(world, conversation, participants, sender)
    return _send(call, world, conversation, participants, call.params["message"])


def _send(
    call: Call, world: World, conversation: str, participants: list[str], message: Record
) -> dict[str, Any]:
    content = {"text": message["text"]} if "text" in message else {}
    if "attachments" in message:
        content["_media_keys"] = _find_media(call, world, message["attachments"])
    participants = list(dict.fromkeys(participants))
    sender, app = get_user(call)["id"], get_app(call)
    sent = send_message(world, conversation, participants, sender, content, app_id=app["id"])
    return {"data": {"dm_conversation_id": conversation, "dm_event_id": sent.record["id"]}}


def _find_media(call: Call, world: World, attachments: list[Record]) -> list[str]:
    ids = [each["media_id"] for each in attachments]
    keys = [take_media_key(world, get_user(call)["id"], id_) for id_ in ids]
    unknown = [id_ for id_, key in zip(ids, keys, strict=True) if key is None]
    if unknown:
        text = f"Your media IDs are invalid: {', '.join(unknown)}"
        raise InvalidParameters([("attachments", Fault(text))], call.params)
    return [key for key in keys if key is not None]


def list_with_user(call: Call, world: World) -> dict[str, Any]:
    """List the events of the conversation with a user."""
    own, other = get_user(call)["id"], call.path_params["participant_id"]
    require_users(world, "participant_id", [other], other)
    return show_page(call, world, name_conversation(own, other))


def list_of_conversation(call: Call, world: World) -> dict[str, Any]:
    """List the events of a conversation of the caller's user."""
    conversation = call.path_params["dm_conversation_id"]
    find_participants(world, conversation, get_user(call)["id"])
    return show_page(call, world, conversation)


_MAY_REFUSE = ("invalid-request", "93", "about:blank", "resource-not-found")
_SENDS = (SHAPES, CONVERSATIONS, ACTIVITIES)
_LISTS = (SHAPES, PERMISSION, CONVERSATIONS, PAGES, SELECTION)
_GROUPS = "/2/dm_conversations"
_WITH = "/2/dm_conversations/with/:participant_id"
_ONE = "/2/dm_conversations/:dm_conversation_id"
OPERATIONS = (
    declare_named(
        "dm_conversations.send_to_user",
        "POST",
        f"{_WITH}/messages",
        send_to_user,
        summary="Send a direct message to a user",
        spec=_SPEC,
        params=NewMessage,
        location=Location.JSON,
        gates=(require_write_permission,),
        since=None,
        returns=Flat(SentAnswer, status=201),
        auth=_WRITE,
        limit=WRITE_LIMIT,
        errors=_MAY_REFUSE,
        statuses=(400, 403, 404),
        assumptions=_SENDS,
        may_assume=(REFUSED,),
        example=Example(json={"text": "The beans are ready."}),
    ),
    declare_named(
        "dm_conversations.send",
        "POST",
        f"{_ONE}/messages",
        send_to_conversation,
        summary="Send a direct message to a conversation",
        spec=_SPEC,
        params=NewMessage,
        location=Location.JSON,
        gates=(require_write_permission,),
        since=None,
        returns=Flat(SentAnswer, status=201),
        auth=_WRITE,
        limit=WRITE_LIMIT,
        errors=_MAY_REFUSE,
        statuses=(400, 403, 404),
        assumptions=_SENDS,
        may_assume=(REFUSED, NOT_A_RESOURCE_TYPE),
        example=Example(json={"text": "The beans are ready."}),
    ),
    declare_named(
        "dm_conversations.create",
        "POST",
        _GROUPS,
        create_group,
        summary="Begin a group conversation with a message",
        spec=_SPEC,
        params=NewGroup,
        location=Location.JSON,
        gates=(require_write_permission,),
        since=None,
        returns=Flat(SentAnswer, status=201),
        auth=_WRITE,
        limit=WRITE_LIMIT,
        errors=_MAY_REFUSE,
        statuses=(400, 403, 404),
        assumptions=_SENDS,
        may_assume=(REFUSED,),
        example=Example(
            json={
                "conversation_type": "Group",
                "participant_ids": ["3805104374", "2244994945"],
                "message": {"text": "The beans are ready."},
            }
        ),
    ),
    declare_named(
        "dm_conversations.list_with_user",
        "GET",
        f"{_WITH}/dm_events",
        list_with_user,
        summary="List the direct messages with a user",
        spec=_SPEC,
        params=DirectMessageQuery,
        gates=(require_read_permission,),
        since=None,
        returns=Flat(DirectMessagePage),
        auth=_READ,
        limit=READ_LIMIT,
        errors=("invalid-request", "93", "resource-not-found"),
        statuses=(400, 403, 404),
        assumptions=_LISTS,
        may_assume=(PARTIAL,),
    ),
    declare_named(
        "dm_conversations.list",
        "GET",
        f"{_ONE}/dm_events",
        list_of_conversation,
        summary="List the direct messages of a conversation",
        spec=_SPEC,
        params=DirectMessageQuery,
        gates=(require_read_permission,),
        since=None,
        returns=Flat(DirectMessagePage),
        auth=_READ,
        limit=READ_LIMIT,
        errors=("invalid-request", "93", "resource-not-found"),
        statuses=(400, 403, 404),
        assumptions=_LISTS,
        may_assume=(PARTIAL, NOT_A_RESOURCE_TYPE),
    ),
)
