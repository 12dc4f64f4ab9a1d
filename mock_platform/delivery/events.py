"""Adds events to a webhook's log from outside, as `POST /_mock/events` does."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from msgspec import Struct

from mock_platform.api.oauth.tester_access import find_tester
from mock_platform.api.sample_events import (
    CannotHappen,
    happen,
    is_happening,
    make_payload,
)
from mock_platform.api.v2.activity.activities import ACTIVITIES, STREAM, FanOut, record_activity
from mock_platform.api.v2.objects.posts import POSTS
from mock_platform.api.v2.posts.changes import remove_version
from mock_platform.api.v2.release_history import (
    DIRECTED_SINCE,
    canonicalize_name,
    explain_not_in_force,
    find_event_name,
    find_name_warnings,
)
from mock_platform.api.v2.streams.open_streams import OpenStreams
from mock_platform.api.v2.streams.stream import Stream
from mock_platform.api.v2.webhooks.event_log import EVENTS, request_delivery
from mock_platform.core.errors import MAX_FAULTS, BadEvent, describe_unknown_field, did_you_mean
from mock_platform.core.tables.table import Table, find_missing_references
from mock_platform.delivery.sender import Receiver, find_receiver
from mock_platform.world.clock import parse_instant, parse_relative, wire_millis
from mock_platform.world.store.interface import Record, remove_internal_keys
from mock_platform.world.world import World

GIVEN = frozenset(EVENTS.fields) - {"id", "_product", "_attempted", "_filter", "_event_uuid"}
"""The fields that an event to add to a webhook's log may have."""
HAPPENED = ("event_type", "user_id", "direction", "payload", "includes", "created_at")
"""The fields of an activity that is to happen."""
_LATER = "give a later created_at, move the clock, or serve with --releases all"


class LoggedEvent(Struct, frozen=True):
    """An event as stored in the log, and whether it is being delivered.

    `why_not` says why it is not.
    """

    record: Record
    delivering: bool
    why_not: str | None
    warnings: tuple[str, ...]


def add_event(world: World, given: Mapping[str, Any]) -> LoggedEvent:
    """Add an event to a webhook's log, and deliver it if the webhook is valid.

    `given` holds `webhook_id`, `event_type`, `payload`, and optionally `created_at` (an instant, or
    one that counts from now, such as `now-2h`), `_user_id`, `_tag`, `_direction` and
    `_includes`. An event whose webhook is not valid is kept but was never attempted, so no replay
    delivers it.

    Raises:
        BadEvent: Fields are missing, unknown or wrong; nothing is added.
    """
    with world.work():
        now = world.clock.now()
        names = [field for field in EVENTS.fields if field in GIVEN]
        faults = [
            (name, describe_unknown_field(name, "an event to add", names))
            for name in islice((name for name in given if name not in GIVEN), MAX_FAULTS)
        ]
        record = {name: value for name, value in given.items() if name in GIVEN}
        record["created_at"] = _fill_moment(record.get("created_at"), now)
        loaded = _load(world, EVENTS, record | {"id": "0"}, faults, now)
        to = find_receiver(world, loaded["webhook_id"])
        # Whether it was attempted is decided at this moment and stored: a replay sends only what
        # was attempted once, as the real one does.
        live = isinstance(to, Receiver)
        event = loaded | {"id": world.ids.snowflake(), "_attempted": live}
        world.store.put("events", event["id"], event)
        if live:
            request_delivery(world, event)
    name = find_event_name(event["event_type"])
    assert name is not None
    happened = parse_instant(event["created_at"])
    return LoggedEvent(
        event,
        live,
        None if isinstance(to, Receiver) else to,
        tuple(find_name_warnings(name, world.as_of or happened)),
    )


def add_activity(world: World, given: Mapping[str, Any]) -> tuple[FanOut, tuple[str, ...]]:
    """Let something happen to a user; return what became of it, and what to know of the type.

    `given` holds `event_type`, and optionally `user_id` (an id or a screen name; else the first
    user, as where a user answers an app), `payload` (else a believable one is made, and the record
    changes with it), `includes`, `direction` and `created_at`.

    Raises:
        BadEvent: Fields are missing, unknown or wrong; nothing happened.
    """
    with world.work():
        now = world.clock.now()
        webhook = "; with webhook_id, an event goes straight to that webhook"
        faults = [
            (name, describe_unknown_field(name, "an activity", HAPPENED) + webhook)
            for name in islice((name for name in given if name not in HAPPENED), MAX_FAULTS)
        ]
        record = {name: value for name, value in given.items() if name in HAPPENED}
        record["created_at"] = _fill_moment(record.get("created_at"), now)
        if record.get("event_type") != "news.new":  # which happens to nobody
            record |= _name_user(world, record, faults)
        made_up = "payload" not in record and _is_happening(record)
        if made_up:
            record["payload"] = {}
        elif "payload" not in record:
            # One that can be made is not asked for beside another fault.
            record["payload"], faults = ({}, faults) if faults else _make_payload(world, record)
        loaded = _load(world, ACTIVITIES, record | {"id": "0", "event_uuid": "0"}, faults, now)
        happened = {name: loaded[name] for name in HAPPENED}
        warnings: list[str] = []
        if made_up:
            fan_out = _let_happen(world, happened)
        else:
            warnings += _change_posts(world, happened)
            fan_out = record_activity(world, happened.pop("event_type"), **happened)
    name = find_event_name(fan_out.activity["event_type"])
    assert name is not None
    warnings += find_name_warnings(name, world.as_of or parse_instant(loaded["created_at"]))
    return fan_out, tuple(warnings)


_MOST_COMPARED = 1000
"""Users of a world whose names are compared with one that nobody has."""


def _name_user(
    world: World, given: Mapping[str, Any], faults: list[tuple[str, str]]
) -> dict[str, Any]:
    """Return the id of the user of an activity; what cannot be one is left to the checks.

    A user that does not exist is a fault.
    """
    name = given.get("user_id")
    if not isinstance(given.get("user_id", ""), str):
        return {}
    found = find_tester(world, name)
    if found is None and name is not None:
        users = world.store.page("users", limit=_MOST_COMPARED)
        hint = did_you_mean(name, [str(each.record["screen_name"]) for each in users])
        text = f"no user has the id or screen name {name!r}.{hint}"
        faults.append(("user_id", text.removesuffix(".")))
    return {} if found is None else {"user_id": found["id"]}


def _is_happening(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("event_type"), str) and is_happening(record["event_type"])


def _let_happen(world: World, happened: Record) -> FanOut:
    """Let something happen that is not described further.

    Raises:
        BadEvent: It cannot happen.
    """
    user = world.store.get("users", happened["user_id"] or "")
    if user is None:
        text = f"user_id is required for {happened['event_type']} without a payload"
        raise BadEvent([("user_id", text)])
    try:
        return happen(
            world,
            happened["event_type"],
            user,
            created_at=happened["created_at"],
            direction=happened["direction"],
        )
    except CannotHappen as error:
        raise BadEvent([("user_id", str(error))]) from error


def _change_posts(world: World, happened: Record) -> list[str]:
    """Store or delete the post of a payload, so that it can be read; return what to warn of."""
    name, payload = canonicalize_name(happened["event_type"]), happened["payload"]
    post_id = payload.get("id")
    if not isinstance(post_id, str):
        return []
    if name == "post.delete":
        remove_version(world, post_id)
    if name != "post.create" or world.store.get("posts", post_id) is not None:
        return []
    moment = {"created_at": happened["created_at"], "author_id": happened["user_id"]}
    loaded, faults = POSTS.load(moment | payload)
    if not faults:
        faults = find_missing_references(
            POSTS, loaded, lambda table, key: world.store.get(table, key) is not None
        )
    if faults:
        texts = "; ".join(text for _, text in faults)
        return [f"the payload was not stored as a post, so it cannot be read: {texts}"]
    world.store.put("posts", post_id, loaded)
    return []


def emit(world: World, given: Mapping[str, Any]) -> dict[str, Any]:
    """Let something happen to a user; return the activity, its outlets, and why it has no others.

    Raises:
        BadEvent: As from `add_activity`.
    """
    fan_out, warnings = add_activity(world, given)
    outlets: list[dict[str, Any]] = [
        {"kind": "webhook", "id": event["webhook_id"], "event_id": event["id"],
         "product": event["_product"], "delivering": event["_attempted"]}
        for event in fan_out.events
    ]  # fmt: skip
    with world.lock:
        streams, why_not = _find_streams(world, fan_out.activity)
        why_not += fan_out.why_not
    outlets += [
        {"kind": "stream", "id": stream.opening.id, "endpoint": stream.opening.endpoint.id}
        for stream in streams
    ]
    return {
        "activity": remove_internal_keys(fan_out.activity),
        "outlets": outlets,
        "why_not": why_not,
        "warnings": list(warnings),
    }


def _find_streams(world: World, activity: Record) -> tuple[list[Stream], list[str]]:
    """Return the open streams that get an activity, and why others do not. Needs the lock."""
    open_streams = world.find_attachment(OpenStreams)
    concerned = open_streams.find_concerned(activity)
    why_not = [
        f"stream {stream.opening.id}: {reason}"
        for stream in open_streams
        if (reason := stream.opening.endpoint.explain(activity, stream.opening.app_id))
    ]
    listening = {
        stream.opening.app_id for stream in concerned if stream.opening.endpoint.id == STREAM
    }
    idle = [
        f"subscription {match['subscription_id']}: it names no webhook, and app "
        f"{match['app_id']} has no open activity stream"
        for match in activity["_matches"]
        if match["webhook_id"] is None and match["app_id"] not in listening
    ]
    return concerned, [*idle, *why_not]


def _load(
    world: World, table: Table, record: Record, faults: list[tuple[str, str]], now: datetime
) -> Record:
    """Return a new record with its defaults, after all checks of its table and of its moment.

    Raises:
        BadEvent: It has faults, or some were found before.
    """
    loaded, wrong = table.load(record)
    faults = [*faults, *wrong]
    if not faults:
        faults += find_missing_references(
            table, loaded, lambda name, key: world.store.get(name, key) is not None
        )
    if not faults:
        faults += _find_time_faults(world, loaded, now)
    if faults:
        raise BadEvent(faults)
    return loaded


def _make_payload(
    world: World, record: Mapping[str, Any]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Make up a payload; return it and what is wrong instead."""
    given = record.get("event_type")
    if not isinstance(given, str) or find_event_name(given) is None:
        return {}, []  # the checks of the record say what is wrong
    user = world.store.get("users", str(record.get("user_id")))
    try:
        return make_payload(world, record["event_type"], user), []
    except CannotHappen as error:
        return {}, [("payload", str(error))]


def _fill_moment(given: Any, now: datetime) -> Any:
    """Return the wire form of a moment that is missing or counts from now; others unchanged."""
    if given is None:
        return wire_millis(now)
    since = parse_relative(given) if isinstance(given, str) else None
    return given if since is None else wire_millis(now + since)


def _find_time_faults(world: World, event: Record, now: datetime) -> list[tuple[str, str]]:
    happened = parse_instant(event["created_at"])
    if happened > now:
        text = f"created_at must not be in the future: the world's clock reads {wire_millis(now)}"
        return [("created_at", text)]
    if world.has_all_releases:
        return []
    name = find_event_name(event["event_type"])
    assert name is not None
    faults = []
    moment = world.as_of or happened
    later = _LATER if world.as_of is None else world.explain_too_early()
    early = explain_not_in_force(name, moment)
    if early is not None:
        faults.append(("event_type", f"{early}. {later}"))
    field = "direction" if "direction" in event else "_direction"
    if event[field] is not None and moment < DIRECTED_SINCE:
        text = (
            f"subscriptions have a direction since {DIRECTED_SINCE:%Y-%m-%d}, not before. {later}"
        )
        faults.append((field, text))
    return faults
