"""Broadcasts, the messages of their chats, and who is muted there: how they are stored and shown.

A scheduled broadcast is a broadcast with a `scheduled_broadcast_id`: both views have one record.
The shapes are those of the public description.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from mock_platform.core.fields import Choice, Flag, Instant, Integer, Long, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.clock import EARLIEST, LATEST, epoch_millis, parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

SCHEDULED, RUNNING, ENDED = "Scheduled", "Running", "Ended"
STATES = ("Created", SCHEDULED, RUNNING, ENDED)
FREQUENCIES = ("Daily", "Weekly")
BROADCASTS, MESSAGES, MUTES = "broadcasts", "broadcast_chat_messages", "broadcast_chat_mutes"
BROADCAST_FIELDS = (
    "available_for_replay", "broadcast_id", "chat_option", "created_at_ms", "end_ms", "height",
    "id", "image_url", "image_url_medium", "image_url_small", "is_high_latency", "language",
    "media_key", "platform_user_id", "post_id", "scheduled_end_ms", "scheduled_start_ms",
    "share_url", "source_id", "start_ms", "state", "title", "total_watched", "total_watching",
    "updated_at_ms", "width",
)  # fmt: skip
MESSAGE_FIELDS = (
    "author_name", "author_username", "broadcast_id", "created_at_ms", "id", "reply_to", "text",
)  # fmt: skip
SCHEDULED_FIELDS = (
    "available_for_replay", "broadcast_id", "chat_option", "description", "locale",
    "manual_publish", "recurring_schedule_id", "scheduled_broadcast_id", "scheduled_end_ms",
    "scheduled_start_ms", "source_id", "state", "telecast_id", "thumbnail_media_id", "title",
)  # fmt: skip
MOMENTS = {
    "created_at_ms": "created_at",
    "updated_at_ms": "updated_at",
    "start_ms": "started_at",
    "end_ms": "ended_at",
    "scheduled_start_ms": "scheduled_start_at",
    "scheduled_end_ms": "scheduled_end_at",
}
"""The moments that are served as texts of milliseconds, and where records have them."""


class BroadcastRecord(Schema):
    """A broadcast, with a `scheduled_broadcast_id` if it was scheduled.

    Those with `manual_publish` begin by hand, others by the clock at `_starts_at`. Of a series only
    the next broadcast exists, and `_left` are how many come after it.
    """

    id = Text(required=True, pattern="[a-zA-Z0-9]{1,13}")
    state = Choice(STATES, load_default=RUNNING)
    title = Text()
    language = Text()
    source_id = Text()
    media_key = Text()
    post_id = Text()
    available_for_replay = Flag(load_default=False)
    chat_option = Text(pattern="[0-9]{1,19}")
    is_high_latency = Flag(load_default=False)
    height = Integer(low=1, load_default=720)
    width = Integer(low=1, load_default=1280)
    image_url = Text()
    image_url_medium = Text()
    image_url_small = Text()
    total_watched = Text(load_default="0", pattern="[0-9]+")
    total_watching = Text(load_default="0", pattern="[0-9]+")
    started_at = Instant(millis=True)
    ended_at = Instant(millis=True)
    created_at = Instant(millis=True, required=True)
    updated_at = Instant(millis=True, required=True)
    scheduled_broadcast_id = Text(pattern="[0-9]{1,19}")
    scheduled_start_at = Instant(millis=True)
    scheduled_end_at = Instant(millis=True)
    recurring_schedule_id = Text(pattern="[0-9]{1,19}")
    description = Text()
    locale = Text()
    manual_publish = Flag(load_default=False)
    telecast_id = Text()
    thumbnail_media_id = Text()
    _user_id = Text(required=True)
    _is_locked = Flag(load_default=False)
    _frequency = Choice(FREQUENCIES)
    _left = Long(low=0)
    _starts_at = Instant(millis=True)


class MessageRecord(Schema):
    """A message in the chat of a broadcast."""

    _id = Text(required=True)
    id = Text(required=True, pattern="[0-9]{1,19}")
    broadcast_id = Text(required=True)
    author_id = Text(required=True)
    text = Text(required=True, min_length=1, max_length=140)
    reply_to = Text()
    created_at = Instant(millis=True, required=True)


class MuteRecord(Schema):
    """A user who may not write in the chat of a broadcast; without `ends_at` for good."""

    _id = Text(required=True)
    broadcast_id = Text(required=True)
    user_id = Text(required=True)
    message_id = Text()
    ends_at = Instant(millis=True)
    created_at = Instant(millis=True, required=True)


def add_start(record: Record) -> Record:
    """Return a broadcast with the moment at which the clock begins it, if it does."""
    kept = {name: value for name, value in record.items() if name != "_starts_at"}
    if record["manual_publish"] or "scheduled_start_at" not in record:
        return kept
    return kept | {"_starts_at": record["scheduled_start_at"]}


def _read_public_form(record: Record) -> Record:
    """Return a broadcast as it is served with the keys of a record."""
    derived = ("broadcast_id", "share_url", "platform_user_id")
    own = {name: value for name, value in record.items() if name not in derived}
    for served, stored in MOMENTS.items():
        if served in own:
            own[stored] = wire_millis(read_millis(own.pop(served)))
    if isinstance(own.get("chat_option"), int):
        own["chat_option"] = str(own["chat_option"])
    if "platform_user_id" in record:
        own.setdefault("_user_id", record["platform_user_id"])
    return own


def read_millis(text: str) -> datetime:
    """Return the moment that a text of milliseconds names.

    Raises:
        OverflowError: No clock gets there.
        ValueError: It is no number.
    """
    moment = EARLIEST + timedelta(milliseconds=int(text))
    if moment >= LATEST:
        raise OverflowError(text)
    return moment


def show_broadcast(record: Record, fields: Collection[str]) -> Record:
    """Return these fields of a broadcast, as far as it has them."""
    shown = _derive(record)
    if "chat_option" in shown:
        shown["chat_option"] = int(shown["chat_option"])
    return {name: shown[name] for name in BROADCAST_FIELDS if name in fields and name in shown}


def show_scheduled(record: Record) -> Record:
    """Return a broadcast as its schedule shows it."""
    shown = _derive(record)
    return {name: shown[name] for name in SCHEDULED_FIELDS if name in shown}


def _derive(record: Record) -> Record:
    """Return a broadcast with what follows from its other fields."""
    moments = {
        served: epoch_millis(parse_instant(record[stored]))
        for served, stored in MOMENTS.items()
        if record.get(stored)
    }
    return {
        **{name: value for name, value in record.items() if value is not None},
        **moments,
        "broadcast_id": record["id"],
        "platform_user_id": record["_user_id"],
        "share_url": f"https://platform.example/i/broadcasts/{record['id']}",
    }


def show_message(world: World, message: Record, fields: Collection[str]) -> Record:
    """Return these fields of a message, as far as it has them."""
    author = world.store.get("users", message["author_id"]) or {}
    shown = {
        **message,
        "author_name": author.get("name"),
        "author_username": author.get("screen_name"),
        "created_at_ms": epoch_millis(parse_instant(message["created_at"])),
    }
    known = ("author_id", *MESSAGE_FIELDS)
    return {name: shown[name] for name in known if name in fields and shown.get(name)}


_USERS = Reference("user_id", "users")
_BROADCAST = Reference("broadcast_id", BROADCASTS)


def _draw_message(draft: Draft) -> Record:
    id_ = draft.snowflake()
    key = f"{draft.record['broadcast_id']}:{id_}"
    return {"_id": key, "id": id_, "text": draft.sentence()}


TABLES = (
    Table(
        BROADCASTS,
        BroadcastRecord,
        references=(Reference("_user_id", "users"), Reference("post_id", "posts")),
        complete=add_start,
        from_public=_read_public_form,
        shown=Shown(
            ("state", "created_at_ms", "updated_at_ms", "platform_user_id"),
            "broadcast.fields",
            ("broadcasts.get", "broadcasts.list"),
        ),
    ),
    Table(
        MESSAGES,
        MessageRecord,
        key="_id",
        references=(_BROADCAST, Reference("author_id", "users")),
        draw=_draw_message,
    ),
    Table(
        MUTES,
        MuteRecord,
        key="_id",
        references=(_BROADCAST, _USERS),
        once=("broadcast_id", "user_id"),
    ),
)
