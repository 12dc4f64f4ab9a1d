"""Tables of encrypted chat: conversations, who takes part, their events, keys, and media.

The shapes are those of the public description 2.167; keys that begin with `_` are not served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mock_platform.api.v2.conventions import make_id_field
from mock_platform.core.fields import Choice, Flag, Instant, Integer, Json, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record

CONVERSATIONS, MEMBERS, EVENTS = "chat_conversations", "chat_members", "chat_events"
PUBLIC_KEYS, CHAT_MEDIA, CHAT_MEDIA_PARTS = "public_keys", "chat_media", "chat_media_parts"
DIRECT, GROUP = "direct", "group"
MESSAGE, KEY_CHANGE, GROUP_CHANGE, DELETION = "message", "keys", "group", "deletion"
ENCODED = r"[A-Za-z0-9+/=_-]+"
_ENCODED_TEXT = "base64"
_ID = r"[0-9]{1,19}-[0-9]{1,19}|g[0-9]{1,19}"


def make_encoded_field(*, required: bool = False) -> Text:
    """Return the field of a text in base64, of either alphabet."""
    return Text(required=required, pattern=ENCODED, pattern_text=_ENCODED_TEXT)


def make_version_field(*, required: bool = False) -> Text:
    """Return the field of a version, which is a number of milliseconds."""
    return Text(required=required, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")


class ParticipantKey(Schema):
    """The key of a conversation, encrypted for one participant."""

    user_id = make_id_field("a user id of ", required=True)
    encrypted_conversation_key = make_encoded_field(required=True)
    public_key_version = make_version_field(required=True)


class ChatConversationRecord(Schema):
    """An encrypted conversation; a group whose id is only reserved has no members yet."""

    id = Text(required=True, pattern=_ID, pattern_text="two user ids such as 1-2, or g and digits")
    type = Choice((DIRECT, GROUP), required=True)
    created_at = Instant(millis=True, required=True)
    updated_at = Instant(millis=True, required=True)
    group_name = Text()
    group_avatar_url = Text()
    message_ttl_ms = Integer(low=0)
    screen_capture_blocking_enabled = Flag(load_default=False)
    screen_capture_detection_enabled = Flag(load_default=False)
    _description = Text()
    _token = Text(required=True)
    _owner_id = Text(load_default=None, allow_none=True)
    """Who reserved the id of a group that is not made yet."""
    _last_id = Text(load_default=None, allow_none=True)


class ChatMemberRecord(Schema):
    """That a user takes part in a conversation, and what they may and did read.

    `_first_id` is the first event that they see; `updated_at` is that of the conversation.
    """

    _id = Text(required=True)
    conversation_id = Text(required=True)
    user_id = Text(required=True)
    created_at = Instant(millis=True, required=True)
    updated_at = Instant(millis=True, required=True)
    is_admin = Flag(load_default=False)
    is_muted = Flag(load_default=False)
    seen_until_sequence_id = make_id_field(load_default=None, allow_none=True)
    _first_id = make_id_field(load_default=None, allow_none=True)


class ChatEventRecord(Schema):
    """An event of a conversation. Of new keys `encoded_event` is made when it is served."""

    id = make_id_field(required=True)
    conversation_id = Text(required=True)
    sender_id = Text(required=True)
    created_at = Instant(millis=True, required=True)
    encoded_event = Text(load_default="")
    message_event_signature = Json(load_default=dict)
    previous_id = make_id_field(load_default=None, allow_none=True)
    _kind = Choice((MESSAGE, KEY_CHANGE, GROUP_CHANGE, DELETION), load_default=MESSAGE)
    _message_id = Text(required=True)
    _key_version = make_version_field()
    _participant_keys = ListOf(Nested(ParticipantKey))
    _is_deleted = Flag(load_default=False)
    _hidden_from = ListOf(Text(), load_default=list)


class SentKeys(Schema):
    """Public keys with their signatures."""

    public_key = make_encoded_field(required=True)
    signing_public_key = make_encoded_field()
    identity_public_key_signature = make_encoded_field()
    signing_public_key_signature = make_encoded_field()
    public_key_fingerprint = Text()
    registration_method = Text()


class PublicKeyRecord(SentKeys):
    """One version of the public keys of a user."""

    _id = Text(required=True)
    _user_id = Text(required=True)
    public_key_version = make_version_field(required=True)


class ChatMediaRecord(Schema):
    """Encrypted media of a conversation; `segments` has the size of each part by its index."""

    id = make_id_field(required=True)
    conversation_id = Text(required=True)
    media_hash_key = Text(required=True, pattern=r"[a-zA-Z0-9]{1,50}")
    total_bytes = Integer(low=0, required=True)
    segments = Json(load_default=dict)
    expires_at = Instant(millis=True, load_default=None, allow_none=True)
    is_finished = Flag(load_default=False)
    _user_id = Text(required=True)


class ChatMediaPartRecord(Schema):
    """The content of one part of encrypted media, in base64."""

    _id = Text(required=True)
    media_id = Text(required=True)
    content = Text(required=True)


def key_member(conversation_id: str, user_id: str) -> str:
    """Return the key under which it is stored that a user takes part."""
    return f"{conversation_id}:{user_id}"


def _derive_key(*names: str) -> Callable[[Record], Record]:
    """Return what adds the key that two fields make to a record; fixtures leave it out."""

    def add(record: Record) -> Record:
        parts = [record.get(name) for name in names]
        if "_id" in record or not all(isinstance(part, str) for part in parts):
            return dict(record)
        return {"_id": ":".join(map(str, parts)), **record}

    return add


def _check_event(record: Record) -> Iterator[tuple[str, str]]:
    if record["_kind"] == KEY_CHANGE and "_participant_keys" not in record:
        yield "_participant_keys", "an event about keys has the key of each participant"


_IN_CONVERSATION = Reference("conversation_id", CONVERSATIONS)
_BY_USER = Reference("_user_id", "users")
TABLES = (
    Table(
        CONVERSATIONS,
        ChatConversationRecord,
        draw=lambda draft: {
            "id": f"g{draft.snowflake()}",
            "type": "group",
            "group_name": draft.title(),
            "_token": draft.secret(32),
        },
    ),
    Table(
        MEMBERS,
        ChatMemberRecord,
        key="_id",
        references=(_IN_CONVERSATION, Reference("user_id", "users")),
        from_public=_derive_key("conversation_id", "user_id"),
        once=("conversation_id", "user_id"),
    ),
    Table(
        EVENTS,
        ChatEventRecord,
        references=(_IN_CONVERSATION, Reference("sender_id", "users")),
        check=_check_event,
    ),
    Table(
        PUBLIC_KEYS,
        PublicKeyRecord,
        key="_id",
        references=(_BY_USER,),
        from_public=_derive_key("_user_id", "public_key_version"),
        draw=lambda draft: {**draft.model(), "public_key_version": draft.snowflake()},
    ),
    Table(
        CHAT_MEDIA,
        ChatMediaRecord,
        references=(_IN_CONVERSATION, _BY_USER),
        due=("expiry", lambda media: media["expires_at"]),
    ),
    Table(
        CHAT_MEDIA_PARTS,
        ChatMediaPartRecord,
        key="_id",
        references=(Reference("media_id", CHAT_MEDIA),),
    ),
)
