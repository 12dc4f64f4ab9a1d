"""What makes a stream of one endpoint different from those of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.store.interface import Record
from mock_platform.world.world import World

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
    """Returns why the streams of an app do not get an activity, where the endpoint knows."""
