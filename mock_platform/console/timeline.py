"""The picture of a replay job: its events in the window, and what came of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from mock_platform.rules.replay_jobs import parse_minute
from mock_platform.store.interface import Record

WIDTH = 1000
"""Width of the picture in its own units; the window fills it."""
_OK = range(200, 300)


class Mark(Struct, frozen=True):
    """One event in the picture."""

    x: float
    event_id: str
    event_type: str
    at: str
    result: str
    """`delivered`, `failed`, or `waiting`: not attempted so far."""


class Timeline(Struct, frozen=True):
    """The marks of a window, oldest first, and how many there are of each result."""

    marks: Sequence[Mark]
    counts: Mapping[str, int]
    width: int = WIDTH


def draw_timeline(
    job: Record, events: Sequence[Record], deliveries: Sequence[Mapping[str, Any]]
) -> Timeline:
    """Returns the picture of a job from its events and its deliveries."""
    start, end = parse_minute(job["from_date"]), parse_minute(job["to_date"])
    length = (end - start).total_seconds() or 1.0
    results: dict[str, str] = {}
    for each in deliveries:  # the last attempt counts
        if each["event_id"] is not None:
            results[each["event_id"]] = "delivered" if each["status"] in _OK else "failed"
    marks = []
    for event in events:
        at = datetime.fromisoformat(event["created_at"])
        x = round((at - start).total_seconds() / length * WIDTH, 1)
        result = results.get(event["id"], "waiting")
        marks.append(Mark(x, event["id"], event["event_type"], event["created_at"], result))
    counts = dict.fromkeys(("delivered", "failed", "waiting"), 0)
    for mark in marks:
        counts[mark.result] += 1
    return Timeline(marks, counts)
