"""The chat of a broadcast: its messages, and the users who may not write there for a while."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

from mock_platform.api.v2.broadcasts.changes import BROADCAST_EVENTS, advance_due, write_message
from mock_platform.api.v2.broadcasts.operations import (
    BROADCAST_DEFAULTS,
    BROADCAST_SHAPES,
    WHOSE_BROADCASTS,
    WRITER,
    BroadcastPath,
    DeletedAnswer,
    check_ids,
    declare_one,
    require_own,
)
from mock_platform.api.v2.broadcasts.records import (
    BROADCASTS,
    MESSAGE_FIELDS,
    MESSAGES,
    MUTES,
    RUNNING,
    read_millis,
    show_message,
)
from mock_platform.api.v2.conventions import (
    ID,
    forbid,
    get_user,
    make_id_field,
    refuse_value,
    require_record,
    start_on,
    wrap_data,
)
from mock_platform.api.v2.objects.answers import USER_FIELDS, make_names_field, start_answer
from mock_platform.api.v2.objects.object_types import INCLUDES, PARTIAL_ERROR
from mock_platform.api.v2.objects.relations import may_see_posts_of
from mock_platform.api.v2.pages import NUMBERS, PageMeta, TokenPage, show_list, take_page_both_ways
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.core.fields import Flag, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

CHAT_RULES = expectation(
    "broadcasts.chat",
    "A broadcast that does not run takes no messages (400), nor does it take those of a muted "
    "user (403). The history leaves out whoever is muted. A message is answered, deleted or the "
    "reason of a mute if the chat has it; else 404 in the path, 400 in a body.",
)
MUTE_RULES = expectation(
    "broadcasts.mutes",
    "A mute is for one broadcast. It lasts, or until end_at_ms, which is later than now; a second "
    "one replaces it. An unknown user and the caller cannot be muted (400).",
)
_DEFAULTS = ("id", "text")
_EXPANSIONS = ("author_id",)


class BroadcastChatQuery(Schema):
    """The page of a chat, and what to show of its messages."""

    max_results = Integer(low=1, high=200, load_default=100)
    pagination_token = Text()
    message_fields = make_names_field(MESSAGE_FIELDS, data_key="broadcast_chat_message.fields")
    expansions = make_names_field(_EXPANSIONS)
    user_fields = make_names_field(USER_FIELDS, data_key="user.fields")


class NewBroadcastMessage(Schema):
    """A message; it may answer another one."""

    text = Text(required=True, min_length=1, max_length=140)
    reply_to = make_id_field()


def _find_end_faults(
    params: Mapping[str, Any], _call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find an end of a mute that is no moment, or not later than now."""
    text = params.get("end_at_ms")
    if text is None:
        return
    try:
        is_later = read_millis(text) > world.clock.now()
    except OverflowError:
        is_later = False
    if not is_later:
        yield "end_at_ms", "end_at_ms must be a moment later than now"


class NewBroadcastMute(Schema):
    """Whom to mute, until when in milliseconds, and because of which message."""

    find_faults = staticmethod(_find_end_faults)

    user_id = make_id_field(required=True)
    end_at_ms = make_id_field()
    message_id = make_id_field()


ChatMessage = Schema.from_dict(
    {name: Text() for name in (*MESSAGE_FIELDS, "author_id")}, name="BroadcastChatMessage"
)


class BroadcastChatPage(Schema):
    """Messages of a chat with the selected fields, newest first, and their authors."""

    data = ListOf(Nested(ChatMessage))
    includes = INCLUDES.one()
    errors = PARTIAL_ERROR.several()
    meta = Nested(PageMeta, required=True)


class MessagePath(BroadcastPath):
    """A message in the chat of the broadcast in the path."""

    message_id = make_id_field()


class MutePath(BroadcastPath):
    """A user of the chat of the broadcast in the path."""

    user_id = make_id_field()


SentAnswer = wrap_data(
    "SentChatMessageAnswer", success=Flag(required=True), timestamp=Text(required=True)
)
MutedAnswer = wrap_data("MutedInChatAnswer", muted=Flag(required=True))


def list_(call: Call, world: World) -> dict[str, Any]:
    """Return the page of messages in the chat of one of the caller's broadcasts."""
    broadcast = require_own(call, world)

    @cache
    def is_heard(user_id: str) -> bool:
        return find_mute(world, broadcast["id"], user_id) is None

    page = take_page_both_ways(
        call,
        world,
        MESSAGES,
        {"broadcast_id": broadcast["id"]},
        form=NUMBERS,
        where=lambda message: is_heard(message["author_id"]),
    )
    answer = start_answer(call, world)
    fields = {*_DEFAULTS, *(call.params.get("message_fields") or ())}
    if "author_id" in (call.params.get("expansions") or ()):
        fields.add("author_id")
        for message in page.records:
            answer.include_user("author_id", message["author_id"])
    shown = [show_message(world, message, fields) for message in page.records]
    meta = TokenPage(page.records, page.next_token).meta()  # which has no way back
    return show_list(shown, **answer.parts(), meta=meta)


def send(call: Call, world: World) -> dict[str, Any]:
    """Write in the chat of a running broadcast.

    Raises:
        ProblemFailure: There is no such broadcast (404), it does not run, has no message to answer
            (400), or its owner has muted the caller (403).
    """
    broadcast, author = _require_visible(call, world), get_user(call)
    if broadcast["state"] != RUNNING:
        text = f"The broadcast [{broadcast['id']}] is {broadcast['state']}: its chat is closed."
        raise refuse_value(text, CHAT_RULES)
    if find_mute(world, broadcast["id"], author["id"]) is not None:
        raise forbid("You are muted in the chat of this broadcast.", CHAT_RULES)
    _check_message(call, world, broadcast["id"], "reply_to")
    message, _ = write_message(world, broadcast, author, call.params, _now(world))
    return {"data": {"success": True, "timestamp": message["id"]}}


def _require_visible(call: Call, world: World) -> Record:
    """Return the broadcast in the path, whose owner lets the caller see it."""
    viewer_id = get_user(call)["id"]

    def find(id_: str) -> Record | None:
        record = world.store.get(BROADCASTS, id_)
        owner = None if record is None else world.store.get("users", record["_user_id"])
        if owner is None or not may_see_posts_of(world, owner, viewer_id):
            return None
        advance_due(world, owner["id"])
        return world.store.get(BROADCASTS, id_)

    return require_record(
        call, world, BROADCASTS, "broadcast", WHOSE_BROADCASTS, find=find, resource_type="space"
    )


def _check_message(call: Call, world: World, broadcast_id: str, name: str) -> None:
    """Require that the chat has the message that a body names.

    Raises:
        ProblemFailure: It does not (400).
    """
    named = call.params.get(name)
    if named is not None and world.store.get(MESSAGES, f"{broadcast_id}:{named}") is None:
        text = f"The chat has no message with the id [{named}]."
        raise refuse_value(text, CHAT_RULES, name=name, value=named)


def delete(call: Call, world: World) -> dict[str, Any]:
    """Delete a message from the chat of one of the caller's broadcasts."""
    broadcast = require_own(call, world)
    message = require_record(
        call,
        world,
        MESSAGES,
        "message",
        CHAT_RULES,
        parameter="message_id",
        find=lambda id_: world.store.get(MESSAGES, f"{broadcast['id']}:{id_}"),
        resource_type="space",
    )
    world.store.remove(MESSAGES, message["_id"])
    return {"data": {"deleted": True}}


def find_mute(world: World, broadcast_id: str, user_id: str) -> Record | None:
    """Return the mute of a user in a chat, if it has not ended."""
    mute = world.store.get(MUTES, f"{broadcast_id}:{user_id}")
    if mute is not None and mute.get("ends_at") and mute["ends_at"] <= _now(world):
        return None
    return mute


def _now(world: World) -> str:
    return wire_millis(world.clock.now())


def mute(call: Call, world: World) -> dict[str, Any]:
    """Mute a user in the chat of one of the caller's broadcasts.

    Raises:
        ProblemFailure: The user is unknown or the caller, the end is over, or the chat does not
            have the message (400).
    """
    broadcast, sent = require_own(call, world), call.params
    user_id, own_id = sent["user_id"], get_user(call)["id"]
    if user_id == own_id:
        raise refuse_value("You cannot mute yourself", MUTE_RULES, name="user_id", value=user_id)
    if world.store.get("users", user_id) is None:
        text = f"Could not find user with id: [{user_id}]."
        raise refuse_value(text, MUTE_RULES, name="user_id", value=user_id)
    _check_message(call, world, broadcast["id"], "message_id")
    record = {
        "_id": f"{broadcast['id']}:{user_id}",
        "broadcast_id": broadcast["id"],
        "user_id": user_id,
        "created_at": _now(world),
    }
    if "message_id" in sent:
        record["message_id"] = sent["message_id"]
    if "end_at_ms" in sent:
        record["ends_at"] = wire_millis(read_millis(sent["end_at_ms"]))
    world.store.put(MUTES, record["_id"], record)
    return {"data": {"muted": True}}


def unmute(call: Call, world: World) -> dict[str, Any]:
    """Let a user write in a chat again."""
    broadcast = require_own(call, world)
    world.store.remove(MUTES, f"{broadcast['id']}:{call.path_params['user_id']}")
    return {"data": {"muted": False}}


_CHAT, _RUNNING = "/2/broadcasts/:id/chat", "1LvHarborRst1"
_declare_write = partial(
    declare_one,
    auth=WRITER,
    assumptions=(BROADCAST_SHAPES, CHAT_RULES),
    may_assume=(WHOSE_BROADCASTS,),
)
OPERATIONS = (
    declare_one(
        "broadcast_chat.list",
        f"GET {_CHAT}",
        list_,
        "List the messages in the chat of a broadcast",
        since=start_on("2026-08-13"),
        params=BroadcastChatQuery,
        returns=BroadcastChatPage,
        assumptions=(BROADCAST_SHAPES, BROADCAST_DEFAULTS, CHAT_RULES),
    ),
    _declare_write(
        "broadcast_chat.send",
        f"POST {_CHAT}",
        send,
        "Write in the chat of a broadcast",
        params=NewBroadcastMessage,
        returns=SentAnswer,
        errors=("invalid-request", "resource-not-found", "about:blank"),
        assumptions=(BROADCAST_SHAPES, CHAT_RULES, BROADCAST_EVENTS),
        example=Example(path={"id": _RUNNING}, json={"text": "Which roast is this?"}),
    ),
    _declare_write(
        "broadcast_chat.delete",
        f"DELETE {_CHAT}/:message_id",
        delete,
        "Delete a message from the chat of a broadcast",
        path_form=MessagePath,
        rules=check_ids(message_id=ID),
        returns=DeletedAnswer,
        example=Example(path={"id": _RUNNING, "message_id": "1795255200000000001"}),
    ),
    _declare_write(
        "broadcast_chat_mutes.create",
        f"POST {_CHAT}/mutes",
        mute,
        "Mute a user in the chat of a broadcast",
        params=NewBroadcastMute,
        returns=MutedAnswer,
        assumptions=(BROADCAST_SHAPES, MUTE_RULES),
        may_assume=(WHOSE_BROADCASTS, CHAT_RULES),
        example=Example(path={"id": _RUNNING}, json={"user_id": "3805104374"}),
    ),
    _declare_write(
        "broadcast_chat_mutes.delete",
        f"DELETE {_CHAT}/mutes/:user_id",
        unmute,
        "Unmute a user in the chat of a broadcast",
        path_form=MutePath,
        rules=check_ids(user_id=ID),
        returns=MutedAnswer,
        assumptions=(BROADCAST_SHAPES, MUTE_RULES),
        example=Example(path={"id": _RUNNING, "user_id": "2790441185"}),
    ),
)
