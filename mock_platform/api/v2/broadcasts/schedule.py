"""The schedule of broadcasts: what begins when, by hand, or again and again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.v2.broadcasts.changes import (
    BROADCAST_EVENTS,
    START,
    advance_due,
    schedule_next,
    store_scheduled,
)
from mock_platform.api.v2.broadcasts.operations import (
    BROADCAST_DEFAULTS,
    BROADCAST_SHAPES,
    WHOSE_BROADCASTS,
    WRITER,
    DeletedAnswer,
    declare,
    declare_one,
    find_own,
    require_own,
)
from mock_platform.api.v2.broadcasts.records import (
    BROADCASTS,
    FREQUENCIES,
    MUTES,
    RUNNING,
    SCHEDULED,
    SCHEDULED_FIELDS,
    add_start,
    read_millis,
    show_scheduled,
)
from mock_platform.api.v2.conventions import get_user_id, make_id_field, refuse_value
from mock_platform.api.v2.media.uploads import find_own_media, keep_media
from mock_platform.api.v2.pages import PageMeta, TokenPageQuery, show_list, take_page
from mock_platform.core.assumptions import expectation
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.fields import Choice, Flag, ListOf, Nested, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

SCHEDULE_RULES = expectation(
    "broadcasts.schedule",
    "A schedule begins later than now and ends after its beginning. In the path, id is the "
    "broadcast_id; the scheduled_broadcast_id does as well. What has begun is not in the list of "
    "scheduled ones, and is neither changed nor deleted nor begun (400); nor is one begun by hand "
    "that has no manual_publish. An unknown thumbnail is refused with 400.",
)
SERIES_RULES = expectation(
    "broadcasts.series",
    "Of a series only the next broadcast exists; when it begins, the following one is scheduled. "
    "A change or deletion is for the rest of the series; with roll_forward it is for that "
    "broadcast alone, and the following one is scheduled. A series has 1 to 1,000 repeats.",
)
_LONGEST_SERIES = 1000
_SOONEST_FIRST = Order("scheduled_start_at")


def _read_moment(text: str) -> str:
    """Return a moment in milliseconds or ISO 8601 as records have it.

    Raises:
        ValueError: It is neither.
        OverflowError: There is no such moment.
    """
    is_number = text.isascii() and text.isdigit()
    return wire_millis(read_millis(text) if is_number else parse_instant(text))


def _find_moment_faults(
    params: Mapping[str, Any], _call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find moments that cannot be read, or that a schedule cannot have."""
    found = {}
    for name, text in params.items():
        if name.endswith(("_start_ms", "_end_ms", "_start_time")):
            try:
                found[name] = _read_moment(text)
            except (OverflowError, ValueError):
                yield name, f"The `{name}` value [{text}] is not a moment"
    start, end = found.get("scheduled_start_ms"), found.get("scheduled_end_ms")
    if start is not None and start <= wire_millis(world.clock.now()):
        yield "scheduled_start_ms", "scheduled_start_ms must be later than now"
    if start is not None and end is not None and end <= start:
        yield "scheduled_end_ms", "scheduled_end_ms must be later than scheduled_start_ms"
    repeats = params.get("recurrence", {}).get("repeats")
    if repeats is not None and not 1 <= int(repeats) <= _LONGEST_SERIES:
        yield "recurrence.repeats", f"recurrence.repeats must be between 1 and {_LONGEST_SERIES}"


class ScheduledBroadcastsQuery(TokenPageQuery):
    """Which scheduled broadcasts to list: by their beginning, in milliseconds or ISO 8601."""

    find_faults = staticmethod(_find_moment_faults)

    oldest_start_time = Text()
    newest_start_time = Text()
    pagination_token = Text()


class BroadcastRecurrence(Schema):
    """How often a broadcast comes again."""

    frequency = Choice(FREQUENCIES, required=True)
    repeats = make_id_field(required=True)


class _Schedule(Schema):
    find_faults = staticmethod(_find_moment_faults)
    scheduled_start_ms = make_id_field(required=True)
    scheduled_end_ms = make_id_field(required=True)
    title = Text()
    description = Text()
    locale = Text()
    chat_option = make_id_field()
    available_for_replay = Flag(load_default=False)
    is_locked = Flag(load_default=False)
    manual_publish = Flag(load_default=False)
    thumbnail_media_id = make_id_field()


class ChangedBroadcast(_Schedule):
    """All of a scheduled broadcast: what is left out is empty from then on."""

    scheduled_broadcast_id = make_id_field(required=True)
    source_id = Text()
    roll_forward = Flag(load_default=False)


class NewBroadcast(_Schedule):
    """A broadcast to schedule, once or several times."""

    source_id = Text(required=True, min_length=1)
    recurrence = Nested(BroadcastRecurrence)
    telecast_id = make_id_field()


class BroadcastDeletionQuery(Schema):
    """Whether the series goes on."""

    roll_forward = Flag(load_default=False)


_SCHEDULED_FLAGS = ("available_for_replay", "manual_publish")
ScheduledBroadcast = Schema.from_dict(
    {name: Flag() if name in _SCHEDULED_FLAGS else Text() for name in SCHEDULED_FIELDS},
    name="ScheduledBroadcast",
)


class ScheduledBroadcastAnswer(Schema):
    """A broadcast as its schedule shows it."""

    data = Nested(ScheduledBroadcast, required=True)


class ScheduledBroadcastList(Schema):
    """Scheduled broadcasts, the next one first."""

    data = ListOf(Nested(ScheduledBroadcast))
    meta = Nested(PageMeta, required=True)


def _find_scheduled(call: Call, world: World, id_: str) -> Record | None:
    record = find_own(call, world, id_)
    if record is None:
        match = {"scheduled_broadcast_id": id_, "_user_id": get_user_id(call)}
        record = next((each.record for each in world.store.page(BROADCASTS, match)), None)
    return None if record is None or "scheduled_broadcast_id" not in record else record


def _require_scheduled(call: Call, world: World, *, waiting: bool = True) -> Record:
    """Return the scheduled broadcast in the path, which has not begun if it is `waiting`.

    Raises:
        ProblemFailure: It does not exist (404), or has begun (400).
    """
    record = require_own(call, world, _find_scheduled, read=not waiting)
    if waiting and record["state"] != SCHEDULED:
        text = f"The broadcast [{record['id']}] is {record['state']}, not {SCHEDULED}."
        raise refuse_value(text, SCHEDULE_RULES)
    return record


def list_scheduled(call: Call, world: World) -> dict[str, Any]:
    """Return the page of broadcasts that the caller has scheduled and that have not begun."""
    advance_due(world, get_user_id(call))
    oldest, newest = (
        _read_moment(call.params[name]) if name in call.params else None
        for name in ("oldest_start_time", "newest_start_time")
    )

    def is_asked_for(record: Record) -> bool:
        start = record.get("scheduled_start_at", "")
        return (oldest is None or oldest <= start) and (newest is None or start <= newest)

    match = {"_user_id": get_user_id(call), "state": SCHEDULED}
    page = take_page(call, world, BROADCASTS, match, order=_SOONEST_FIRST, where=is_asked_for)
    return show_list([show_scheduled(record) for record in page.records], meta=page.meta())


def create(call: Call, world: World) -> dict[str, Any]:
    """Schedule a broadcast, or the first one of a series."""
    fields = _read_schedule(call, world)
    recurrence = call.params.get("recurrence")
    if recurrence is not None:
        fields |= {
            "recurring_schedule_id": world.ids.digits(13),
            "_frequency": recurrence["frequency"],
            "_left": int(recurrence["repeats"]) - 1,
        }
    if "telecast_id" in call.params:
        fields["telecast_id"] = call.params["telecast_id"]
    record = store_scheduled(world, fields | {"_user_id": get_user_id(call)})
    # Its moment is later than now; but where records do not wait (`/_mock/transitions`), it has
    # begun by now.
    advance_due(world, get_user_id(call))
    return {"data": show_scheduled(world.store.get(BROADCASTS, record["id"]) or record)}


def _read_schedule(call: Call, world: World) -> Record:
    """Return what a schedule says of a broadcast.

    Raises:
        ProblemFailure: The caller has no such thumbnail (400).
    """
    sent, names = call.params, ("source_id", "title", "description", "locale", "chat_option")
    fields: Record = {name: sent[name] for name in names if name in sent}
    for name in ("scheduled_start", "scheduled_end"):
        fields[f"{name}_at"] = wire_millis(read_millis(sent[f"{name}_ms"]))
    for name in ("available_for_replay", "manual_publish"):
        fields[name] = sent[name]
    fields["_is_locked"] = sent["is_locked"]
    if "locale" in sent:
        fields["language"] = re.split("[-_]", sent["locale"])[0]
    if "thumbnail_media_id" in sent:
        fields |= _take_thumbnail(call, world, sent["thumbnail_media_id"])
    return fields


def _take_thumbnail(call: Call, world: World, media_id: str) -> Record:
    media = find_own_media(world, get_user_id(call), media_id)
    if media is None:
        text = f"The user has no media with the id [{media_id}]"
        raise refuse_value(text, SCHEDULE_RULES, name="thumbnail_media_id", value=media_id)
    keep_media(world, media)
    names = ("image_url", "image_url_medium", "image_url_small")
    address = media.get("media_url")
    return {"thumbnail_media_id": media_id} | (dict.fromkeys(names, address) if address else {})


def get_scheduled(call: Call, world: World) -> dict[str, Any]:
    """Return a broadcast that the caller scheduled, also when it has begun."""
    return {"data": show_scheduled(_require_scheduled(call, world, waiting=False))}


_KEPT = frozenset({
    "id", "scheduled_broadcast_id", "state", "created_at", "is_high_latency", "height", "width",
    "total_watched", "total_watching", "telecast_id", "recurring_schedule_id", "_user_id",
    "_frequency", "_left",
})  # fmt: skip
"""What a replacement cannot name."""


def update(call: Call, world: World) -> dict[str, Any]:
    """Replace a scheduled broadcast that has not begun."""
    before = _require_scheduled(call, world)
    named, known = call.params["scheduled_broadcast_id"], before["scheduled_broadcast_id"]
    if named != known:
        text = f"The scheduled_broadcast_id [{named}] is not that of the broadcast in the path"
        raise refuse_value(text, SCHEDULE_RULES, name="scheduled_broadcast_id", value=named)
    kept = {name: value for name, value in before.items() if name in _KEPT}
    after = {**kept, **_read_schedule(call, world), "updated_at": wire_millis(world.clock.now())}
    if call.params["roll_forward"]:
        # The rest of the series goes on from the broadcast as it was. This one leaves it: with
        # repeats of its own left, its beginning would schedule a second series.
        schedule_next(world, before)
        after["_left"] = 0
    world.store.put(BROADCASTS, after["id"], add_start(after))
    advance_due(world, get_user_id(call))
    return {"data": show_scheduled(world.store.get(BROADCASTS, after["id"]) or after)}


def delete(call: Call, world: World) -> dict[str, Any]:
    """Delete a scheduled broadcast that has not begun."""
    record = _require_scheduled(call, world)
    if call.params["roll_forward"]:
        schedule_next(world, record)
    world.store.remove(BROADCASTS, record["id"])
    for entry in world.store.page(MUTES, {"broadcast_id": record["id"]}):
        world.store.remove(MUTES, entry.key)
    return {"data": {"deleted": True}}


def go_live(call: Call, world: World) -> dict[str, Any]:
    """Begin a scheduled broadcast that waits for it."""
    record = _require_scheduled(call, world)
    if not record["manual_publish"]:
        text = f"The broadcast [{record['id']}] has no manual_publish: it begins by itself."
        raise refuse_value(text, SCHEDULE_RULES)
    world.transitions.move(START.name, record["id"], RUNNING)
    return {"data": show_scheduled(world.store.get(BROADCASTS, record["id"]) or record)}


_RULES = (BROADCAST_SHAPES, SCHEDULE_RULES, SERIES_RULES)
_declare_write = partial(
    declare_one, auth=WRITER, assumptions=_RULES, may_assume=(WHOSE_BROADCASTS, BROADCAST_EVENTS)
)
_TIMES = {"scheduled_start_ms": "1827360000000", "scheduled_end_ms": "1827363600000"}
_SCHEDULE, _MANUAL = "/2/broadcasts/scheduled", {"id": "1LvHandCup001"}
OPERATIONS = (
    declare(
        "scheduled_broadcasts.list",
        f"GET {_SCHEDULE}",
        list_scheduled,
        "List the caller's scheduled broadcasts",
        params=ScheduledBroadcastsQuery,
        returns=ScheduledBroadcastList,
        errors=("invalid-request",),
        assumptions=(BROADCAST_SHAPES, BROADCAST_DEFAULTS, SCHEDULE_RULES),
        may_assume=(),
    ),
    declare(
        "scheduled_broadcasts.create",
        f"POST {_SCHEDULE}",
        create,
        "Schedule a broadcast",
        auth=WRITER,
        params=NewBroadcast,
        returns=Flat(ScheduledBroadcastAnswer, status=201),
        errors=("invalid-request",),
        assumptions=_RULES,
        may_assume=(BROADCAST_EVENTS,),
        example=Example(json={"source_id": "cup-desk", "title": "Cupping at noon"} | _TIMES),
    ),
    declare_one(
        "scheduled_broadcasts.get",
        f"GET {_SCHEDULE}/:id",
        get_scheduled,
        "Read a scheduled broadcast",
        returns=ScheduledBroadcastAnswer,
        assumptions=(BROADCAST_SHAPES, SCHEDULE_RULES),
        example=Example(path=_MANUAL),
    ),
    _declare_write(
        "scheduled_broadcasts.update",
        f"PUT {_SCHEDULE}/:id",
        update,
        "Replace a scheduled broadcast",
        params=ChangedBroadcast,
        returns=ScheduledBroadcastAnswer,
        example=Example(path=_MANUAL, json={"scheduled_broadcast_id": "1990400000001"} | _TIMES),
    ),
    _declare_write(
        "scheduled_broadcasts.delete",
        f"DELETE {_SCHEDULE}/:id",
        delete,
        "Delete a scheduled broadcast",
        params=BroadcastDeletionQuery,
        returns=DeletedAnswer,
        example=Example(path=_MANUAL),
    ),
    _declare_write(
        "scheduled_broadcasts.start",
        f"POST {_SCHEDULE}/:id/live",
        go_live,
        "Begin a scheduled broadcast",
        returns=ScheduledBroadcastAnswer,
        example=Example(path=_MANUAL),
    ),
)
