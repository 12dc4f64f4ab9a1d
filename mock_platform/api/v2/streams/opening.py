"""Opens a stream for a request: its slot, its record, and the time that it begins with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from mock_platform.api.v2.streams.lines import StreamEndpoint
from mock_platform.api.v2.streams.open_streams import CONNECTIONS, OpenStreams
from mock_platform.api.v2.streams.stream import Opening, Stream
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem
from mock_platform.core.fields import Instant, Integer
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Order
from mock_platform.world.world import World

# The time that a stream begins with: live, with a backfill, or a window to recover.

BACKFILL = public_fact(
    "streams.backfill",
    "backfill_minutes=n sends what matched in the last n minutes first, oldest first, for every "
    "app, whatever its tier; repeats are not left out.",
    "section 5.5 of the named endpoints",
)
RECOVERY = public_fact(
    "streams.recovery",
    "start_time and end_time send what matched in that window, and then the stream ends; without "
    "end_time the window ends now. It begins at most 24 hours ago, does not reach into the future, "
    "and takes no backfill_minutes. An app has 2 such connections, counted by themselves.",
    "section 5.5 of the named endpoints",
)
RECOVERY_CONNECTIONS = 2
_LONGEST = timedelta(hours=24)
_MOST_MINUTES = 5


class WindowQuery(Schema):
    """The parameters that every stream has."""

    backfill_minutes = Integer(low=0, high=_MOST_MINUTES)
    start_time = Instant()
    end_time = Instant()


def find_window_faults(
    params: Mapping[str, Any], _call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the window of a stream."""
    now = world.clock.now()
    start, end = (
        parse_instant(params[name]) if name in params else None
        for name in ("start_time", "end_time")
    )
    if start is None:
        if end is not None:
            yield "end_time", "end_time needs start_time"
        return
    if params.get("backfill_minutes"):
        yield "backfill_minutes", "backfill_minutes and start_time exclude each other"
    if start < now - _LONGEST:
        yield "start_time", f"start_time must be at most 24 hours before now, {wire_millis(now)}"
    if start > now:
        yield "start_time", f"start_time must not be in the future: now is {wire_millis(now)}"
    if end is None:
        return
    if end > now:
        yield "end_time", f"end_time must not be in the future: now is {wire_millis(now)}"
    if end <= start:
        yield "end_time", "end_time must be after start_time"


def find_past(
    world: World, endpoint: StreamEndpoint, app_id: str, params: Mapping[str, Any]
) -> list[str]:
    """Return the keys of the activities that a stream begins with, oldest first.

    The window includes its first moment, and not its last one.
    """
    now = world.clock.now()
    end: datetime | None = None
    if "start_time" in params:
        start = parse_instant(params["start_time"])
        end = parse_instant(params["end_time"]) if "end_time" in params else None
    elif params.get("backfill_minutes"):
        start = now - timedelta(minutes=params["backfill_minutes"])
    else:
        return []
    last = None if end is None else wire_millis(end)
    order = Order("created_at")
    before = ((2, wire_millis(start)), -1)
    found = world.store.page("activities", order=order, after=before)
    return [
        entry.key
        for entry in found
        if (last is None or entry.record["created_at"] < last)
        and endpoint.concerns(entry.record, app_id)
    ]


SLOTS = settled(
    "streams.slots",
    "One connection too many is refused with streaming-connection, TooManyConnections, and the "
    "open ones stay. Before that, each open stream of the app is checked: one whose client has "
    "left frees its slot. --stream-connections sets another number.",
    "Events and streams",
)


def open_stream(call: Call, world: World, endpoint: StreamEndpoint, settings: Settings) -> Stream:
    """Return a stream for the app that calls; `call.params` holds those of `WindowQuery`.

    Raises:
        ProblemFailure: The app has as many connections as it may have.
    """
    app = call.caller.app
    assert app is not None, "streams are for apps"
    streams = world.find_attachment(OpenStreams)
    ends = "start_time" in call.params
    most = RECOVERY_CONNECTIONS if ends else settings.stream_connections or endpoint.connections
    if streams.count_present(endpoint, app["id"], ends=ends) >= most:
        value = problem("streaming-connection", connection_issue="TooManyConnections")
        raise ProblemFailure(value, SLOTS)
    now = wire_millis(world.clock.now())
    id_, names = world.ids.uuid(), call.names
    opening = Opening(id_, endpoint, app["id"], call.params, call.base_url, now, ends, names)
    past = find_past(world, endpoint, app["id"], call.params)
    stream = streams.open(opening, past)
    record = {
        "id": opening.id,
        "endpoint_name": endpoint.id,
        "connected_at": now,
        "client_ip": call.remote_address or "127.0.0.1",
        "_app_id": app["id"],
    }
    world.store.put(CONNECTIONS, opening.id, record)
    return stream
