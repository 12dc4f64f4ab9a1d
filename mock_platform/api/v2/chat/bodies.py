"""What clients send about encrypted conversations: keys, messages, and signatures of both.

Signatures are checked in their form alone; only clients can verify them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.v2.chat.conversations import find_id_faults
from mock_platform.api.v2.chat.records import ParticipantKey, make_encoded_field, make_version_field
from mock_platform.api.v2.conventions import make_id_field
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, ListOf, Nested, Text
from mock_platform.core.operation import Rules
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.world import World

DELETE_FOR_ALL = "delete_for_all"
SIGNATURE_EXAMPLE: Mapping[str, Any] = {
    "message_id": "5b0c1d-1",
    "encoded_message_event_detail": "c2lnbmVkIGRldGFpbA==",
    "message_event_signature": {
        "signature": "c2lnbmF0dXJl",
        "public_key_version": "1771236000000",
        "signature_version": "7",
    },
}
"""A signed change, for examples."""
_PUBLIC_VERSIONS = {
    "2244994945": "1771236000000",
    "3805104374": "1769594400000",
    "2790441185": "1770112800000",
}


def make_keys_example(*keys: str, signatures: int = 1) -> dict[str, Any]:
    """Return new keys of a conversation for examples: one for each of the first users."""
    return {
        "conversation_key_version": "1790000000000",
        "conversation_participant_keys": [
            {"user_id": user_id, "encrypted_conversation_key": key, "public_key_version": version}
            for (user_id, version), key in zip(_PUBLIC_VERSIONS.items(), keys, strict=False)
        ],
        "action_signatures": [
            {**SIGNATURE_EXAMPLE, "message_id": f"5b0c1d-{number}"}
            for number in range(1, signatures + 1)
        ],
    }


class SigningKey(Schema):
    """With which key a member signs."""

    member_id = Text()
    public_key_version = Text()
    signing_public_key = Text()


class ChatSignature(Schema):
    """A signature of an event."""

    signature = make_encoded_field(required=True)
    public_key_version = make_version_field(required=True)
    signature_version = make_version_field(required=True)
    signing_public_key = Text()
    message_signing_key_info_list = ListOf(Nested(SigningKey))


class ActionSignature(Schema):
    """A change of a conversation, and its signature."""

    message_id = Text(required=True, min_length=1)
    encoded_message_event_detail = make_encoded_field(required=True)
    message_event_signature = Nested(ChatSignature, required=True)
    signature_payload = Text()


class NewChatKeys(Schema):
    """Keys of a conversation."""

    conversation_key_version = make_version_field(required=True)
    conversation_participant_keys = ListOf(Nested(ParticipantKey), required=True)
    action_signatures = ListOf(Nested(ActionSignature))
    base64_encoded_key_rotation = make_encoded_field()


class NewChatGroup(NewChatKeys):
    """A group, with its members and first keys."""

    conversation_id = Text(required=True, pattern=r"g[0-9]{1,19}", pattern_text="g and digits")
    group_members = ListOf(make_id_field("a user id of "), least=1, required=True)
    group_admins = ListOf(make_id_field("a user id of "))
    group_name = Text()
    group_avatar_url = Text()
    group_description = Text()
    ttl_msec = make_version_field()


class NewChatMembers(Schema):
    """Members to add, with new keys for all."""

    user_ids = ListOf(make_id_field("a user id of "), least=1, required=True)
    conversation_key_version = make_version_field()
    conversation_participant_keys = ListOf(Nested(ParticipantKey))
    action_signatures = ListOf(Nested(ActionSignature))
    encrypted_title = Text()
    encrypted_avatar_url = Text()


class NewChatMessage(Schema):
    """An encrypted message, as the client's library made it."""

    message_id = Text(required=True, min_length=1)
    encoded_message_create_event = make_encoded_field(required=True)
    encoded_message_event_signature = make_encoded_field()
    conversation_token = Text()


class ChatDeletion(Schema):
    """Messages to delete, and for whom."""

    sequence_ids = ListOf(make_id_field("a sequence id of "), least=1, required=True)
    delete_message_action = Choice((DELETE_FOR_ALL, "delete_for_self"), required=True)
    action_signatures = ListOf(Nested(ActionSignature), least=1, required=True)
    media_hash_keys = ListOf(Text())


class ChatReadMark(Schema):
    """Up to which event a conversation was read."""

    seen_until_sequence_id = make_id_field(required=True)


def _find_faults(
    params: Mapping[str, Any],
    call: Call,
    _world: World,
    _settings: Settings,
    *,
    signatures: int,
    needed: tuple[str, ...] = (),
) -> Iterator[tuple[str, str]]:
    """Find what is missing although the description calls it optional."""
    for name in needed:
        if name not in call.sent:
            yield name, f"{name} is required"
    given = params.get("action_signatures")
    if "action_signatures" not in call.sent:
        yield "action_signatures", "action_signatures is required"
    elif given is not None and not signatures <= len(given) <= 2:
        yield "action_signatures", f"action_signatures needs {signatures}, got {len(given)}"


find_keys_faults = find_id_faults.continue_with(partial(_find_faults, signatures=1))
find_group_faults: Rules = partial(_find_faults, signatures=2)
find_members_faults = find_id_faults.continue_with(
    partial(
        _find_faults,
        signatures=2,
        needed=("conversation_key_version", "conversation_participant_keys"),
    )
)
