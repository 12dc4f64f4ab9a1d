"""Direct messages: the records, who may write, and what a message is for each participant.

The shapes are public facts (named endpoints, section 7.5). Document A fixes the permission and
when `participant_ids` is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mock_platform.api.v2.activity.account_activity_delivery import MESSAGE_LISTS
from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.conventions import (
    MediaKey,
    find_nothing,
    forbid,
    get_app,
    get_user_id,
    make_id_field,
    refuse_value,
)
from mock_platform.api.v2.media.uploads import explain_unusable, find_own_media, keep_media
from mock_platform.api.v2.objects.post_text import find_entities
from mock_platform.api.v2.objects.posts import read_entities
from mock_platform.api.v2.objects.relations import is_present, takes_messages_of
from mock_platform.api.v2.objects.users import show_user
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.codes import could_not_find
from mock_platform.core.failures.errors import NumericFailure, ProblemFailure
from mock_platform.core.fields import Choice, Instant, Json, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.clock import epoch_millis, parse_instant, wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

TABLE = "direct_messages"
MESSAGE = "MessageCreate"
JOIN = "ParticipantsJoin"
LEAVE = "ParticipantsLeave"
EVENT_TYPES = (MESSAGE, JOIN, LEAVE)
NEWEST_FIRST = Order("created_at", descending=True)
LONGEST_TEXT = 10_000
MESSAGE_SHAPES = public_fact(
    "direct-messages.shapes",
    "The endpoints of direct messages have their public shapes; the spec names the permission and "
    "the events alone. Lists begin with the newest.",
    "section 7.5 of the named endpoints",
    gap=True,
)
MESSAGE_ACTIVITIES = public_fact(
    "direct-messages.activities",
    "A message is a dm.sent for its sender and a dm.received for each other participant.",
    "section 7.5 of the named endpoints",
)
READ_PERMISSION = expectation(
    "direct-messages.permission",
    "Reading direct messages needs the app's permissions read and direct messages; without them it "
    "is refused as creating is, with code 93 in an errors array.",
)
CONVERSATION_RULES = expectation(
    "direct-messages.conversations",
    "A conversation of two has the ids of both users as its id, the smaller first; a group has an "
    "id of its own. Whoever does not take part finds no conversation and no event (404). Events "
    "are shown to those who took part at that moment. A text has 1 to 10,000 characters, a message "
    "one attachment, a group 2 to 49 others; one with an unknown user is refused with 400. A "
    "message refers to the posts whose addresses (https://x.com/NAME/status/ID) are in its text.",
)
TAKES_NO_MESSAGES = expectation(
    "direct-messages.refused",
    "A user whose receives_your_dm is false takes no messages: 403 about:blank. It is false for "
    "everybody if the record says so, for whom the user blocks messages of, and between two of "
    "whom one blocks the other. Who is suspended or deactivated takes none either. Messages to a "
    "group that exists reach all its members.",
)
NOT_A_RESOURCE_TYPE = expectation(
    "direct-messages.resource-type",
    "The resource_type of an unknown conversation or event is user, because the enumeration has no "
    "value for them; rely on 'parameter' instead.",
)


def require_permission(call: Call, *needed: str) -> None:
    """Require that the caller's app has these permissions.

    Raises:
        NumericFailure: It lacks some (code 93).
    """
    app = get_app(call)
    lacking = [name for name in needed if name not in app["_permissions"]]
    if lacking:
        why = f"_permissions of app {app['id']} lacks {', '.join(lacking)}"
        call.diagnosis = {"mistake": "permissions", "explanation": why}
        raise NumericFailure(93)


def require_write_permission(call: Call, _world: World) -> None:
    """Require the permissions that document A demands of an app that creates direct messages."""
    require_permission(call, "read", "write", "direct_messages")


def require_read_permission(call: Call, _world: World) -> None:
    """Require the permissions to read direct messages (`direct-messages.permission`)."""
    require_permission(call, "read", "direct_messages")


def name_conversation(one: str, other: str) -> str:
    """Return the id of the conversation of two users."""
    return "-".join(sorted((one, other), key=int))


def find_participants(world: World, conversation_id: str, user_id: str) -> list[str]:
    """Return the members of a conversation to which a user belongs, in the order of the record.

    Raises:
        ProblemFailure: There is no such conversation, or the user does not take part (404).
    """
    latest = world.store.page(
        TABLE, {"dm_conversation_id": conversation_id}, order=NEWEST_FIRST, limit=1
    )
    if latest:
        event = latest[0].record
        left = event["participant_ids"] if event["event_type"] == LEAVE else ()
        members = [id_ for id_ in event["_participants"] if id_ not in left]
    else:
        pair = conversation_id.split("-")
        known = len(pair) == 2 and all(world.store.get("users", id_) for id_ in pair)
        members = pair if known and conversation_id == name_conversation(*pair) else []
    if user_id not in members:
        raise refuse_unknown("conversation", "dm_conversation_id", conversation_id)
    return members


def take_media_key(world: World, user_id: str, media_id: str) -> str | None:
    """Return the key of media that a user sends, which are kept from then on.

    `None` if the user has no such media, or they are not processed.
    """
    media = find_own_media(world, user_id, media_id)
    if media is None or explain_unusable(world, media) is not None:
        return None
    keep_media(world, media)
    key: str = media["media_key"]
    return key


def require_users(
    world: World, parameter: str, ids: Sequence[str], sender_id: str, *, in_body: bool = False
) -> None:
    """Require that these users exist and take messages of the sender.

    Raises:
        ProblemFailure: One does not exist (404, and 400 where a body names it), or takes none
            (403).
    """
    for id_ in ids:
        user = world.store.get("users", id_)
        if user is None and in_body:
            raise refuse_value(could_not_find("user", "id", id_), name=parameter, value=id_)
        if user is None:
            raise refuse_unknown("user", parameter, id_)
        if not is_present(user) or not takes_messages_of(world, user, sender_id):
            raise forbid(
                "You do not have permission to DM one or more participants.", TAKES_NO_MESSAGES
            )


def require_event(call: Call, world: World, parameter: str = "event_id") -> Record:
    """Return the event in the path, of a conversation in which the caller's user took part.

    Raises:
        ProblemFailure: There is no such event (404).
    """
    event_id = call.path_params[parameter]
    event = world.store.get(TABLE, event_id)
    if event is None or get_user_id(call) not in event["_participants"]:
        raise refuse_unknown("event", parameter, event_id)
    return event


def refuse_unknown(kind: str, parameter: str, value: str) -> ProblemFailure:
    """Return the 404 for a user, conversation or event that is not found."""
    found = find_nothing(kind, parameter, value, repeated=True, resource_type="user")
    return ProblemFailure(found, *(() if kind == "user" else (NOT_A_RESOURCE_TYPE,)))


class SentMessage(Struct, frozen=True):
    """A message as it is stored, and what it is for each participant, the sender first."""

    record: Record
    activities: list[FanOut]


def send_message(
    world: World,
    conversation_id: str,
    participants: Sequence[str],
    sender_id: str,
    content: Record,
    *,
    app_id: str | None = None,
    created_at: str | None = None,
) -> SentMessage:
    """Store a message, and record what it is for each participant.

    `content` has `text`, `_media_keys` or both; `created_at` is now if not given.
    """
    content = {
        **content,
        "created_at": created_at or wire_millis(world.clock.now()),
        "entities": find_entities(world, content.get("text", "")),
        "_app_id": app_id,
    }
    message = _store_event(world, MESSAGE, conversation_id, participants, sender_id, content)
    # The sender gets one dm.sent, which names one recipient also in a group; each other participant
    # gets a dm.received of the own. Who writes to nobody else receives the own message.
    others = [id_ for id_ in participants if id_ != sender_id]
    target = others[0] if others else sender_id
    parts = [("dm.sent", sender_id, target)]
    parts += [("dm.received", id_, id_) for id_ in others or [sender_id]]
    activities = [
        record_activity(
            world,
            event_type,
            user_id=user_id,
            payload=make_payload(world, message, recipient_id),
            created_at=message["created_at"],
        )
        for event_type, user_id, recipient_id in parts
    ]
    return SentMessage(message, activities)


def store_join(
    world: World, conversation_id: str, participants: Sequence[str], sender_id: str
) -> None:
    """Store that all participants joined a new group."""
    joined = {"participant_ids": list(participants), "created_at": wire_millis(world.clock.now())}
    _store_event(world, JOIN, conversation_id, participants, sender_id, joined)


def _store_event(
    world: World,
    event_type: str,
    conversation_id: str,
    participants: Sequence[str],
    sender_id: str,
    content: Record,
) -> Record:
    event: Record = {
        "id": world.ids.snowflake(world.clock.now()),
        "event_type": event_type,
        "dm_conversation_id": conversation_id,
        "sender_id": sender_id,
        "entities": {},
        "_media_keys": [],
        "_participants": list(participants),
        "_app_id": None,
        **content,
    }
    world.store.put(TABLE, event["id"], event)
    return event


def make_payload(world: World, message: Record, recipient_id: str) -> dict[str, Any]:
    """Return the payload of dm.sent and dm.received (named endpoints, section 3.3)."""
    created = {
        "target": {"recipient_id": recipient_id},
        "sender_id": message["sender_id"],
        "message_data": {"text": message.get("text", ""), "entities": message["entities"]},
    }
    event = {
        "type": "message_create",
        "id": message["id"],
        "created_timestamp": epoch_millis(parse_instant(message["created_at"])),
        "message_create": created,
    }
    users = show_users(world, message["sender_id"], recipient_id)
    return {"direct_message_events": [event], "users": users}


def make_notice(
    world: World, name: str, sender_id: str, recipient_id: str, *, read: str | None = None
) -> dict[str, Any]:
    """Return the payload of dm.read, with the last message that was `read`, or of typing."""
    event = {
        "created_timestamp": epoch_millis(world.clock.now()),
        "sender_id": sender_id,
        "target": {"recipient_id": recipient_id},
    }
    event |= {} if read is None else {"last_read_event_id": read}
    return {MESSAGE_LISTS[name]: [event], "users": show_users(world, sender_id, recipient_id)}


def show_users(world: World, *ids: str) -> dict[str, Any]:
    """Return the users of a payload about messages, by id."""
    found = {id_: world.store.get("users", id_) for id_ in ids}
    return {
        id_: {"data": show_user(world, user)} for id_, user in found.items() if user is not None
    }


# Direct messages: what was written in conversations, and who joined and left them.


class DirectMessageRecord(Schema):
    """One event of a conversation, in the form of the v2 interface.

    `_participants` are the members of the conversation at that moment, leavers included; `_app_id`
    is the app through which a message was sent.
    """

    id = make_id_field(required=True)
    event_type = Choice(EVENT_TYPES, load_default=MESSAGE)
    dm_conversation_id = Text(
        required=True,
        pattern=r"[0-9]{1,19}(?:-[0-9]{1,19})?",
        pattern_text="the two user ids of a conversation, such as 1-2, or the id of a group",
    )
    sender_id = Text(required=True)
    text = Text(min_length=1)
    created_at = Instant(millis=True, required=True)
    participant_ids = ListOf(Text(), least=1)
    entities = Json(load_default=dict)
    _media_keys = ListOf(MediaKey(), load_default=list)
    _participants = ListOf(Text(), least=1, required=True)
    _app_id = Text(load_default=None, allow_none=True)


def _check(record: Record) -> Iterator[tuple[str, str]]:
    is_message = record["event_type"] == MESSAGE
    if is_message and "text" not in record and not record["_media_keys"]:
        yield "text", "a message has text or media"
    if is_message and "participant_ids" in record:
        yield "participant_ids", "only ParticipantsJoin and ParticipantsLeave have participant_ids"
    if not is_message and "participant_ids" not in record:
        yield "participant_ids", "ParticipantsJoin and ParticipantsLeave name who joined or left"
    if record["sender_id"] not in record["_participants"]:
        yield "_participants", "the sender is one of the participants"
    conversation = record["dm_conversation_id"]
    if "-" in conversation and conversation != name_conversation(*conversation.split("-")):
        yield "dm_conversation_id", "the smaller of the two user ids comes first"


def _draw_message(draft: Draft) -> Record:
    sender = draft.record["sender_id"]
    others = [user["id"] for user in draft.usable("users") if user["id"] != sender] or [sender]
    other = draft.pick(others)
    return {
        "id": draft.id(dated=True),
        "dm_conversation_id": name_conversation(sender, other),
        "_participants": [sender, other],
        "text": draft.sentence(),
    }


def _add_participants(message: Record) -> Record | str:
    """Return a recorded message with those who see it; of a group, an answer has to name them."""
    pair = message["dm_conversation_id"].split("-")
    found = pair if len(pair) == 2 and all(map(str.isdecimal, pair)) else None
    found = found or message.get("_participants") or message.get("participant_ids")
    if not found:
        return "it is of a group whose members no answer shows"
    return {**message, "_participants": list(dict.fromkeys([*found, message["sender_id"]]))}


def _read_v2_object(message: Record) -> Record:
    """Return a message of a v2 answer as it is stored; a stored one passes unchanged."""
    own = {name: value for name, value in message.items() if value is not None}
    if isinstance(own.get("attachments"), dict):
        own["_media_keys"] = own.pop("attachments").get("media_keys") or []
    if own.get("entities"):
        own["entities"] = read_entities(own["entities"])
    return own


TABLES = (
    Table(
        TABLE,
        DirectMessageRecord,
        from_public=_read_v2_object,
        references=(
            Reference("sender_id", "users"),
            Reference("_participants", "users"),
            Reference("participant_ids", "users"),
            Reference("_app_id", "apps"),
        ),
        check=_check,
        draw=_draw_message,
        shown=Shown(
            ("event_type", "dm_conversation_id", "sender_id", "created_at"),
            "dm_event.fields",
            (
                "dm_events.list",
                "dm_events.get",
                "dm_conversations.list",
                "dm_conversations.list_with_user",
            ),
            kept=("referenced_posts",),
            complete=_add_participants,
        ),
    ),
)
