"""What an endpoint with streams says of itself: which activities it carries, and as which lines.

A stream begins live, with a backfill, or with a window to recover.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from msgspec import Struct

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Instant, Integer
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

STREAM_PARTITIONS = expectation(
    "streams.partitions",
    "Each line goes to exactly one partition: that of the id of its post, like or user modulo the "
    "number of partitions. An app has the connections of an endpoint in each partition.",
)
Line = dict[str, Any]
"""The JSON object of a line."""


class StreamEndpoint(Struct, frozen=True):
    """An endpoint with streams. Its functions are called under the world's lock."""

    id: str
    """Its name in the interface, such as `filtered_stream`."""
    connections: int
    """How many connections an app may have at a time."""
    concerns: Callable[[Record, str], bool]
    """Whether an activity is for the streams of an app; called once for each activity and app."""
    make_lines: Callable[[World, Record, str, Mapping[str, Any]], Iterable[Line]]
    """Makes an activity's lines for an app, under the parameters of the stream's request.

    A `ProblemFailure` ends the stream with the problem as its last line.
    """
    explain: Callable[[Record, str], str | None] = lambda _activity, _app_id: None
    """Return why the streams of an app do not get an activity, where the endpoint knows."""
    table: str = "activities"
    """The table of what it carries; its records have `id`, `event_type` and `created_at`."""
    find_number: Callable[[Record], int] | None = None
    """Return the number of an activity by which its partition is found, if there are partitions."""
    partitions: int = 1

    def takes(self, activity: Record, params: Mapping[str, Any]) -> bool:
        """Return whether an activity is in the partition that a request asked for."""
        if self.find_number is None:
            return True
        found: bool = self.find_number(activity) % self.partitions + 1 == params["partition"]
        return found


def make_partition_field(partitions: int) -> Integer:
    """Return the parameter that says which partition a client wants."""
    return Integer(low=1, high=partitions, required=True)


STREAM_BACKFILL = public_fact(
    "streams.backfill",
    "backfill_minutes=n sends what matched in the last n minutes first, oldest first, for every "
    "app, whatever its tier; repeats are not left out.",
    "section 5.5 of the named endpoints",
)
STREAM_RECOVERY = public_fact(
    "streams.recovery",
    "start_time and end_time send what matched in that window, and then the stream ends; without "
    "end_time the window ends now. It begins at most 24 hours ago, does not reach into the future, "
    "and takes no backfill_minutes. An app has 2 such connections, counted by themselves.",
    "section 5.5 of the named endpoints",
)
RECOVERY_CONNECTIONS = 2
_LONGEST = timedelta(hours=24)
_MOST_MINUTES = 5


class BackfillQuery(Schema):
    """The parameter that every stream has."""

    backfill_minutes = Integer(low=0, high=_MOST_MINUTES)


class WindowQuery(BackfillQuery):
    """The parameters of a stream that can be recovered."""

    start_time = Instant(full=True)
    end_time = Instant(full=True)


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
    last = None
    if "start_time" in params:
        start = parse_instant(params["start_time"])
        last = wire_millis(parse_instant(params["end_time"])) if "end_time" in params else None
    elif params.get("backfill_minutes"):
        start = now - timedelta(minutes=params["backfill_minutes"])
    else:
        return []
    before = ((2, wire_millis(start)), -1)
    found = world.store.page(endpoint.table, order=Order("created_at"), after=before)
    return [
        entry.key
        for entry in found
        if (last is None or entry.record["created_at"] < last)
        and endpoint.concerns(entry.record, app_id)
        and endpoint.takes(entry.record, params)
    ]
