"""Users of encrypted conversations for tests: their tokens, keys, and what their library makes."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

from mock_platform.api.v2.chat import encoding
from tests.support import HARBOR, Keys, Sandbox, data_of

HARBOR_ID, NORTHBIKE_ID, INES_ID = "2244994945", "3805104374", "2790441185"
PUBLIC = {
    HARBOR_ID: "1771236000000",
    NORTHBIKE_ID: "1769594400000",
    INES_ID: "1770112800000",
}
"""The newest version of the public keys of each user."""
PAIR = f"{HARBOR_ID}-{NORTHBIKE_ID}"
TRIO, DUO, RESERVED = "g1989200000000000001", "g1989250000000000001", "g1989300000000000001"
NORTHBIKE, INES = "northbike-token", "ines-token"
VERSION = "1777136000000"
"""The key version of all conversations of the fixtures."""
SCOPES = ("dm.read", "dm.write", "post.read", "users.read", "media.write")
CHATS = "/2/chat/conversations"


def add_tokens(box: Sandbox) -> None:
    """Let the other two users call with a token of the same app."""
    for token, user_id in ((NORTHBIKE, NORTHBIKE_ID), (INES, INES_ID)):
        box.put("tokens", token, {
            "id": token, "kind": "oauth2", "app_id": "11827", "user_id": user_id,
            "state": "active", "scopes": list(SCOPES), "created_at": "2026-01-12T09:00:00Z",
            "expires_at": None,
        })  # fmt: skip


def post(
    box: Sandbox, path: str, body: Any, *, keys: Keys | str = HARBOR, status: int = 200
) -> Any:
    """The data of a write to a conversation."""
    return data_of(box.call("POST", f"{CHATS}/{path}", keys=keys, json=body), status)


def encode(data: bytes) -> str:
    """Bytes in base64."""
    return b64encode(data).decode()


def make_text(version: str = VERSION, secret: str = "secret") -> str:
    """An encrypted message, as the client's library makes it."""
    return encode(encoding.write_text(100, secret) + encoding.write_text(101, version) + bytes(1))


def make_message(message_id: str, version: str = VERSION) -> dict[str, Any]:
    """The body of a message."""
    signature = encoding.write_signature({
        "signature": "c2ln", "public_key_version": "7", "signature_version": "7",
    }) + bytes(1)  # fmt: skip
    return {
        "message_id": message_id,
        "encoded_message_create_event": make_text(version, message_id),
        "encoded_message_event_signature": encode(signature),
    }


def sign(message_id: str, detail: str = "c2lnbmVk") -> dict[str, Any]:
    """A signed change."""
    return {
        "message_id": message_id,
        "encoded_message_event_detail": detail,
        "message_event_signature": {
            "signature": "c2ln", "public_key_version": "7", "signature_version": "7",
        },
    }  # fmt: skip


def make_keys(ids: Sequence[str], version: str, *signed: dict[str, Any]) -> dict[str, Any]:
    """New keys for some users."""
    return {
        "conversation_key_version": version,
        "conversation_participant_keys": [
            {"user_id": id_, "encrypted_conversation_key": encode(f"{version}/{id_}".encode()),
             "public_key_version": PUBLIC.get(id_, "1")}
            for id_ in ids
        ],
        "action_signatures": list(signed) or [sign(f"keys-{version}")],
    }  # fmt: skip


def make_group(name: str | None = None, **body: Any) -> dict[str, Any]:
    """The body that makes a group of three."""
    members = [HARBOR_ID, NORTHBIKE_ID, INES_ID]
    created = encoding.write_struct(1, encoding.write_text(3, name))
    detail = encoding.write_struct(encoding.GROUP, encoding.write_struct(1, created)) + bytes(1)
    keys = make_keys(members, "1790000000000", sign("keys"), sign("group", encode(detail)))
    named = {} if name is None else {"group_name": name}
    made = {"conversation_id": RESERVED, "group_members": members[1:], **keys, **named}
    return made | body
