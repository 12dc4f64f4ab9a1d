"""Direct messages: what was written in conversations, and who joined and left them."""

from __future__ import annotations

from collections.abc import Iterator

from mock_platform.core.fields import Choice, Instant, Json, ListOf, Text
from mock_platform.core.schema import Schema
from mock_platform.records.media import MediaKey
from mock_platform.records.table import Reference, Table
from mock_platform.rules.direct_messages import EVENT_TYPES, MESSAGE, name_conversation
from mock_platform.store.interface import Record

_DIGITS = "1 to 19 digits"


class DirectMessageRecord(Schema):
    """One event of a conversation, in the form of the v2 interface.

    `_participants` are the members of the conversation at that moment, leavers included; `_app_id`
    is the app through which a message was sent.
    """

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text=_DIGITS)
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


DIRECT_MESSAGES = Table(
    "direct_messages",
    DirectMessageRecord,
    references=(
        Reference("sender_id", "users"),
        Reference("_participants", "users"),
        Reference("participant_ids", "users"),
        Reference("_app_id", "apps"),
    ),
    check=_check,
)
TABLES = (DIRECT_MESSAGES,)
