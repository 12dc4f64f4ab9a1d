"""What broadcasts do: they begin and end, by the clock or by hand, and make activities."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.api.v2.broadcasts.records import (
    BROADCASTS,
    ENDED,
    MESSAGES,
    RUNNING,
    SCHEDULED,
    add_start,
)
from mock_platform.api.v2.objects.post_view import add_texts
from mock_platform.api.v2.objects.users import show_user
from mock_platform.core.assumptions import public_fact
from mock_platform.world.clock import EARLIEST, epoch_millis, parse_instant, wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

BROADCAST_EVENTS = public_fact(
    "broadcasts.events",
    "broadcast.start and broadcast.end are public events with the owner, the titles and the "
    "moments of a broadcast; broadcast.chat is one of the owner alone, with the message and its "
    "author. Numbers have a twin as text.",
    "all of v2, section 18",
)
_LATEST, _MICROSECOND = Order(descending=True), timedelta(microseconds=1)
_STEPS = {"Daily": timedelta(days=1), "Weekly": timedelta(days=7)}


def _start(world: World, broadcast: Mapping[str, Any], to: str) -> str:
    """Begin a broadcast at the moment that it is due, or now."""
    begin(world, dict(broadcast), _find_moment(world, broadcast.get("_starts_at")))
    return to


def _end(world: World, broadcast: Mapping[str, Any], to: str) -> str:
    """End a broadcast at the moment that it is due, or now."""
    end(world, dict(broadcast), _find_moment(world, broadcast.get("scheduled_end_at")))
    return to


def _find_moment(world: World, due: str | None) -> str:
    """Return when something happens that is due; a clock that jumped has passed that moment."""
    now = world.clock.now()
    return wire_millis(now if due is None else min(now, parse_instant(due)))


def begin(world: World, broadcast: Record, moment: str) -> list[FanOut]:
    """Begin a broadcast, schedule the next one of a series, and return the activities."""
    started = {**broadcast, "state": RUNNING, "started_at": moment, "updated_at": moment}
    started.setdefault("media_key", world.ids.media_key(28))
    world.store.put(BROADCASTS, started["id"], started)
    found = _record(world, started, "broadcast.start", moment)
    schedule_next(world, started)
    return found


def begin_new(world: World, user_id: str, title: str, moment: str) -> list[FanOut]:
    """Begin a broadcast without a schedule, and return the activities."""
    flags = {"available_for_replay": False, "manual_publish": True, "_is_locked": False}
    made = store_scheduled(world, {"title": title, "_user_id": user_id, **flags})
    return begin(world, made, moment)


def find_running(world: World, user_id: str) -> Record | None:
    """Return the latest broadcast of a user that runs, or `None`."""
    match = {"_user_id": user_id, "state": RUNNING}
    return world.store.first(BROADCASTS, match, order=_LATEST)


def end(world: World, broadcast: Record, moment: str) -> list[FanOut]:
    """End a broadcast, and return the activities."""
    over = {"state": ENDED, "ended_at": moment, "updated_at": moment, "total_watching": "0"}
    world.store.put(BROADCASTS, broadcast["id"], broadcast | over)
    return _record(world, broadcast | over, "broadcast.end", moment)


def _record(world: World, broadcast: Record, event_type: str, moment: str) -> list[FanOut]:
    """Record the activity that a broadcast begins or ends."""
    user = world.store.get("users", broadcast["_user_id"])
    if user is None:
        return []
    named = {
        "title": broadcast.get("title"),
        "broadcast_state": broadcast["state"],
        "language": broadcast.get("language"),
        "thumbnail_url": broadcast.get("image_url"),
        "available_for_replay": broadcast["available_for_replay"],
    }
    numbers = {
        "event_timestamp_ms": _read_millis(moment),
        "created_timestamp_ms": _read_millis(broadcast["created_at"]),
        "updated_timestamp_ms": _read_millis(broadcast["updated_at"]),
    }
    if broadcast["state"] == ENDED and broadcast.get("started_at"):
        numbers["duration_ms"] = _read_millis(moment) - _read_millis(broadcast["started_at"])
    payload = {
        "user": {"data": show_user(world, user)},
        "broadcast_id": broadcast["id"],
        **{name: value for name, value in named.items() if value is not None},
        **add_texts(numbers),
    }
    return [
        record_activity(world, event_type, user_id=user["id"], payload=payload, created_at=moment)
    ]


def write_message(
    world: World, broadcast: Record, author: Record, sent: Record, moment: str
) -> tuple[Record, list[FanOut]]:
    """Store a message in a chat, and return it with the activities; later ones have higher ids."""
    # The id is the moment in nanoseconds, or the next number if the clock was stopped.
    newest = world.store.page(MESSAGES, {"broadcast_id": broadcast["id"]}, order=_LATEST, limit=1)
    after = int(newest[0].record["id"]) + 1 if newest else 0
    id_ = str(max((parse_instant(moment) - EARLIEST) // _MICROSECOND * 1000, after))
    message = {
        "_id": f"{broadcast['id']}:{id_}",
        "id": id_,
        "broadcast_id": broadcast["id"],
        "author_id": author["id"],
        **sent,
        "created_at": moment,
    }
    world.store.put(MESSAGES, message["_id"], message)
    payload = {
        "broadcast_id": broadcast["id"],
        "message_id": id_,
        "message": message["text"],
        "author": {"data": show_user(world, author)},
    }
    owner = broadcast["_user_id"]
    activity = record_activity(
        world, "broadcast.chat", user_id=owner, payload=payload, created_at=moment
    )
    return message, [activity]


def _read_millis(moment: str) -> int:
    return int(epoch_millis(parse_instant(moment)))


START = TransitionKind(
    name="broadcast_start",
    table=BROADCASTS,
    field="state",
    first=SCHEDULED,
    ends=(RUNNING,),
    pace=Pace("time", seconds=0.0),
    act=_start,
    since="_starts_at",
)
END = TransitionKind(
    name="broadcast_end",
    table=BROADCASTS,
    field="state",
    first=RUNNING,
    ends=(ENDED,),
    pace=Pace("time", seconds=0.0),
    act=_end,
    since="scheduled_end_at",
)
KINDS = (START, END)


def advance_due(world: World, user_id: str, *, read: str | None = None) -> None:
    """Begin and end the broadcasts of a user that are due, a series as often as it is.

    `read` is the one that is being read, where that counts.
    """
    moved = True
    while moved:
        moved = False
        for kind in KINDS:
            match = {"_user_id": user_id, "state": kind.first}
            for entry in world.store.page(BROADCASTS, match):
                moved |= world.transitions.evaluate(kind.name, entry.key, poll=entry.key == read)
        read = None


def store_scheduled(world: World, fields: Record) -> Record:
    """Store a new scheduled broadcast, and return it."""
    now = wire_millis(world.clock.now())
    record = {
        "id": world.ids.alphanumeric(13),
        "scheduled_broadcast_id": world.ids.digits(13),
        "state": SCHEDULED,
        "created_at": now,
        "updated_at": now,
        "is_high_latency": False,
        "height": 720,
        "width": 1280,
        "total_watched": "0",
        "total_watching": "0",
        **fields,
    }
    world.store.put(BROADCASTS, record["id"], add_start(record))
    return record


_OF_ONE = frozenset({
    "id", "scheduled_broadcast_id", "state", "created_at", "updated_at", "started_at", "ended_at",
    "media_key", "post_id", "total_watched", "total_watching",
})  # fmt: skip
"""What the broadcasts of a series do not share."""


def schedule_next(world: World, broadcast: Record) -> None:
    """Schedule the next broadcast of a series, if one is left."""
    left = broadcast.get("_left") or 0
    if not left:
        return
    step = _STEPS[broadcast["_frequency"]]
    moved = {
        name: wire_millis(parse_instant(broadcast[name]) + step)
        for name in ("scheduled_start_at", "scheduled_end_at")
    }
    shared = {name: value for name, value in broadcast.items() if name not in _OF_ONE}
    store_scheduled(world, shared | moved | {"_left": left - 1})
