"""What an endpoint with streams says of itself: which activities it carries, and as which lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.core.assumptions import expectation
from mock_platform.core.fields import Integer
from mock_platform.world.store.interface import Record
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
