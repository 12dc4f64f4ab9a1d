"""What users of a dataset say to each other: direct messages, encrypted chat, chat of a broadcast.

The main user talks with the first users of the dataset. Their keys and the contents of their
encrypted messages are bytes without meaning, since a server cannot read them either.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha512

from mock_platform.api.datasets.network import MAIN, Network, Tables, date_evenly
from mock_platform.api.v2.chat import encoding
from mock_platform.api.v2.chat.events import encode
from mock_platform.api.v2.chat.records import DIRECT, GROUP, KEY_CHANGE, key_member
from mock_platform.world.store.interface import Record

_FIRST_MESSAGE, _FIRST_EVENT = 1_900_000_000_000_000_000, 1_900_100_000_000_000_000
_DM_GROUP, _CHAT_GROUP = "1900000000000000900", "g1900100000000000900"
_BROADCAST, _FIRST_CHAT_LINE = "1LvHarborRst1", 1_795_255_200_000_001_000
_OWN_KEY = "1771236000000"
"""The newest version of the main user's keys, in the default fixtures."""
_KEYS = (("1765000000000", "1766000000000", "1767000000000"), ("1768000000000",))
"""The versions of the first two users; the third one has no keys."""
_LINES = (
    "Good morning! Is the order ready?", "It is on the shelf by the door.", "Perfect, thank you.",
    "Shall we keep the same blend?", "Yes, and one bag more.", "See you on Friday.",
)  # fmt: skip
_CHAT_EVENTS, _CHAT_LINES = 104, 200


def make_conversations(network: Network) -> Tables:
    """Return all records by table."""
    return {
        "direct_messages": _make_messages(network),
        **_make_chat(network),
        "broadcast_chat_messages": _make_chat_lines(network),
    }


def _make_messages(network: Network) -> list[Record]:
    """Return the messages with the first user, and those of a group of four."""
    friend, group = network.plain[0], [MAIN, *network.plain[:3]]
    pair = [friend, MAIN]
    messages: list[Record] = [
        {
            "dm_conversation_id": f"{friend}-{MAIN}",
            "sender_id": pair[number % 2],
            "text": _LINES[number % len(_LINES)],
            "_participants": pair,
        }
        for number in range(network.sizes.messages)
    ]
    in_group: Record = {"dm_conversation_id": _DM_GROUP, "_participants": group}
    messages += [
        {**in_group, "sender_id": MAIN, "event_type": "ParticipantsJoin", "participant_ids": group},
        *({**in_group, "sender_id": sender, "text": _LINES[0]} for sender in group),
    ]
    messages[-4]["_media_keys"] = ["7_1800000000000000114"]
    for number, message in enumerate(messages):
        message["id"] = str(_FIRST_MESSAGE + (number << 22))
    return date_evenly(messages, network.end - timedelta(days=1), 20)


def _make_chat(network: Network) -> Tables:
    """Return the encrypted conversations with the first user and of a group, and the keys."""
    friend, group = network.plain[0], [MAIN, *network.plain[:2], network.plain[3]]
    versions = dict(zip(network.plain, _KEYS, strict=False)) | {network.plain[3]: _KEYS[1]}
    newest = {MAIN: _OWN_KEY} | {user: own[-1] for user, own in versions.items()}
    tables: Tables = {"chat_conversations": [], "chat_members": [], "chat_events": []}
    for id_, members, count in (
        (f"{friend}-{MAIN}", [MAIN, friend], _CHAT_EVENTS),
        (_CHAT_GROUP, group, 3),
    ):
        begun: Record = {
            "id": id_,
            "type": GROUP if len(members) > 2 else DIRECT,
            "_token": sha512(id_.encode()).hexdigest()[:32],
        }
        events = _make_events(network, begun, {user: newest[user] for user in members}, count)
        moments = {
            "created_at": events[0]["created_at"],
            "updated_at": events[-1]["created_at"],
        }
        begun |= moments | {"_last_id": events[-1]["id"]}
        tables["chat_conversations"].append(begun)
        tables["chat_events"] += events
        tables["chat_members"] += [
            {
                "_id": key_member(id_, user),
                "conversation_id": id_,
                "user_id": user,
                "is_admin": begun["type"] == GROUP and user == MAIN,
                **moments,
            }
            for user in members
        ]
    tables["public_keys"] = [
        {
            "_id": f"{user}:{version}",
            "_user_id": user,
            "public_key_version": version,
            "public_key": _invent(f"key {user} {version}"),
            "signing_public_key": _invent(f"signing {user} {version}"),
            "identity_public_key_signature": _invent(f"identity {user} {version}"),
            "signing_public_key_signature": _invent(f"signature {user} {version}"),
            "registration_method": "custom",
        }
        for user, own in versions.items()
        for version in own
    ]
    return tables


def _make_events(
    network: Network, conversation: Record, keys: dict[str, str], count: int
) -> list[Record]:
    """Return the events of a conversation: its keys, and then this many messages."""
    members: Sequence[str] = list(keys)
    first = _FIRST_EVENT + (len(members) << 40)
    events: list[Record] = [
        {
            "id": str(first + (number << 22)),
            "conversation_id": conversation["id"],
            "sender_id": members[number % len(members)],
            "_message_id": f"{number:06}-event",
        }
        for number in range(count + 1)
    ]
    date_evenly(events, network.end - timedelta(days=10), 20)
    version = f"{_OWN_KEY[:-1]}1"
    events[0] |= {
        "_kind": KEY_CHANGE,
        "_key_version": version,
        "_participant_keys": [
            {
                "user_id": user,
                "encrypted_conversation_key": _invent(f"{conversation['id']} {user}"),
                "public_key_version": own,
            }
            for user, own in keys.items()
        ],
    }
    for number, event in enumerate(events):
        event["message_event_signature"] = {
            "signature": _invent(f"{conversation['id']} {number}"),
            "public_key_version": keys[event["sender_id"]],
            "signature_version": "7",
        }
        if number:
            event["previous_id"] = events[number - 1]["id"]
            secret = encoding.write_text(100, _invent(f"text {number}"))
            detail = encoding.write_struct(
                encoding.MESSAGE, secret + encoding.write_text(101, version)
            )
            event["encoded_event"] = encode(conversation, event, detail)
    return events


def _make_chat_lines(network: Network) -> list[Record]:
    """Return messages in the chat of the running broadcast of the default fixtures."""
    lines: list[Record] = []
    for number in range(_CHAT_LINES):
        id_ = str(_FIRST_CHAT_LINE + number)
        lines.append(
            {
                "_id": f"{_BROADCAST}:{id_}",
                "id": id_,
                "broadcast_id": _BROADCAST,
                "author_id": network.plain[number % 20],
                "text": _LINES[number % len(_LINES)],
            }
        )
    return date_evenly(lines, network.end, 0.002)


def _invent(text: str) -> str:
    """Return bytes without meaning in base64, always the same for a text."""
    return b64encode(sha512(text.encode()).digest()).decode()
