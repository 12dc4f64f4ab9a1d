"""Questions about figures: what a client may ask for, and the answer to it.

Synchronous stats and jobs share the parameters; a job may cover a longer time and have segments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from marshmallow import ValidationError, validates_schema
from msgspec import Struct

from mock_platform.api.ads.analytics.figures import measure, split
from mock_platform.api.ads.analytics.ledger import ACCOUNT, TABLE_OF
from mock_platform.api.ads.analytics.metrics import (
    ASKED_ALONE,
    ENTITIES,
    METRIC_GROUPS,
    list_metrics,
)
from mock_platform.api.ads.analytics.serving import PLACEMENTS
from mock_platform.api.ads.analytics.versions import (
    DAY_SECONDS,
    HOUR_SECONDS,
    read_seconds,
    read_timezone,
)
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Choice, CommaList, Instant, Json, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

STATS_PARAMETERS = public_fact(
    "stats.parameters",
    "Times are whole hours, the end is exclusive. A bare date is midnight in the account's time "
    "zone; days begin and end there, at today's offset from UTC. placement is one of "
    "ALL_ON_PLATFORM, SPOTLIGHT, TREND and PUBLISHER_NETWORK; organic posts are not asked for.",
    "adjacent operations, section 10.1",
    gap=True,
)
STATS_SHAPE = public_fact(
    "stats.shape",
    "A metric is an array with a number for each hour, day or the whole, or null if there was "
    "nothing of it. Unknown ids, and those of other accounts, are left out. The echo has no "
    "account_id, but that of a refusal has it, as in the public sample of a refusal.",
    "adjacent operations, section 10.1",
    gap=True,
)
GRANULARITIES = {"HOUR": HOUR_SECONDS, "DAY": DAY_SECONDS, "TOTAL": 0}
"""Length of the buckets in seconds; one bucket for TOTAL."""
MAX_ENTITIES = 20
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_TIMES = ("start_time", "end_time")


class HourOrDate(Instant):
    """An ISO 8601 moment, or a bare date, which stays as it was sent."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        # Whether an hour is whole is checked where the account is known, so nothing may be lost.
        return str(value) if _DATE.fullmatch(value) else text if _is_whole(value) else str(value)


def _is_whole(value: str) -> bool:
    return "." not in value and "," not in value


class TimeWindow(Schema):
    """The window of all questions of analytics."""

    start_time = HourOrDate(required=True)
    end_time = HourOrDate(required=True)


class StatsQuery(TimeWindow):
    """The parameters of stats."""

    entity = Choice(ENTITIES, required=True)
    entity_ids = CommaList(Text(min_length=1), most=MAX_ENTITIES, required=True)
    granularity = Choice(tuple(GRANULARITIES), required=True)
    metric_groups = CommaList(Choice(tuple(METRIC_GROUPS)), required=True)
    placement = Choice(PLACEMENTS, required=True)

    @validates_schema(skip_on_field_errors=False)
    def check_groups(self, data: dict[str, Any], **_: Any) -> None:
        """Require that conversions of mobile apps are asked for alone."""
        groups = data.get("metric_groups", ())
        if ASKED_ALONE in groups and len(set(groups)) > 1:
            text = f"{ASKED_ALONE} cannot be requested with other metric groups"
            raise ValidationError([Fault(text)], "metric_groups")


class _IdData(Schema):
    segment = Json(required=True, allow_none=True)
    metrics = Json(required=True)


class EntityStats(Schema):
    """The figures of one entity."""

    id = Text(required=True)
    id_data = ListOf(Nested(_IdData), required=True)


# -- times -------------------------------------------------------------------------------------


def read_time(text: str, call: Call, world: World) -> int:
    """Return a time of a question in seconds since 1970.

    A bare date is midnight in the account's time zone, at its present offset from UTC.
    """
    seconds = read_seconds(text)
    if _DATE.fullmatch(text):
        seconds -= int(_find_offset(call, world).total_seconds())
    return seconds


def _find_offset(call: Call, world: World) -> timedelta:
    assert call.account is not None
    return world.clock.now().astimezone(read_timezone(call.account)).utcoffset() or timedelta()


def check_window(
    params: Mapping[str, Any], call: Call, world: World, longest: timedelta | None, limit: str = ""
) -> Iterator[tuple[str, Fault]]:
    """Yield the faults of a window; `limit` describes the longest one."""
    found = {}
    for name in _TIMES:
        if name in params:
            found[name] = read_time(params[name], call, world)
            call.echo[name] = write_time(found[name])
            if not _is_hour(params[name], found[name], call, world):
                yield name, Fault("Time cannot be fractional hours")
    if len(found) < len(_TIMES):
        return
    start, end = (found[name] for name in _TIMES)
    if end <= start:
        shown = f"({write_time(end)}) must be later than start_time ({write_time(start)})"
        yield "end_time", Fault(f"end_time {shown}", "INVALID_TIME_WINDOW")
    elif longest is not None and end - start > longest.total_seconds():
        text = f"The end_time can be a maximum of {limit} after the start_time"
        yield "end_time", Fault(text, "INVALID_TIME_WINDOW")
    if params.get("granularity") == "DAY":
        offset = int(_find_offset(call, world).total_seconds())
        for seconds in (start, end):
            if (seconds + offset) % DAY_SECONDS:
                yield "", Fault(_NOT_MIDNIGHT, "INVALID_TIME_WINDOW")


_NOT_MIDNIGHT = "Expect time to be midnight in the account's local timezone for day granularity"


def _is_hour(text: str, seconds: int, call: Call, world: World) -> bool:
    """Whether a time is a whole hour, in UTC or in the account's time zone."""
    if not _is_whole(text):
        return False
    local = seconds + int(_find_offset(call, world).total_seconds())
    return not (seconds % HOUR_SECONDS and local % HOUR_SECONDS)


def write_time(seconds: int) -> str:
    """Return seconds since 1970 as the interface writes a moment."""
    return wire_seconds(datetime.fromtimestamp(seconds, UTC))


def read_question(call: Call, world: World) -> Question:
    """Return what a call asks for."""
    params = call.params
    return Question(
        entity=params["entity"],
        entity_ids=params["entity_ids"],
        start=read_time(params["start_time"], call, world),
        end=read_time(params["end_time"], call, world),
        granularity=params["granularity"],
        metric_groups=params["metric_groups"],
        placement=params["placement"],
        segmentation_type=params.get("segmentation_type"),
    )


# -- answers -----------------------------------------------------------------------------------


def make_echo(call: Call, *names: str) -> dict[str, Any]:
    """Return what was sent, in the order of the interface."""
    return {name: call.echo[name] for name in names if name in call.echo}


def make_edges(start: int, end: int, granularity: str) -> list[int]:
    """Return the ends of the buckets of a window."""
    size = GRANULARITIES[granularity] or end - start
    return [*range(start, end, size), end]


def find_entities(world: World, account_id: str, entity: str, keys: Sequence[str]) -> list[Record]:
    """Return the entities of an account with these ids, each once, in this order."""
    found = []
    for key in dict.fromkeys(keys):
        record = world.store.get(TABLE_OF[entity], key)
        owner = None if record is None else record["id" if entity == ACCOUNT else "_account_id"]
        if record is not None and owner == account_id:
            found.append(record)
    return found


class Question(Struct, frozen=True):
    """What is asked for; `start`, `end` and `now` are in seconds since 1970."""

    entity: str
    entity_ids: Sequence[str]
    start: int
    end: int
    granularity: str
    metric_groups: Sequence[str]
    placement: str
    segmentation_type: str | None = None
    now: int | None = None
    """Nothing happens from then on; by default the world's present time."""


def answer(world: World, account_id: str, question: Question) -> dict[str, Any]:
    """Return the figures that a question asks for."""
    entity, kind = question.entity, question.segmentation_type
    edges = make_edges(question.start, question.end, question.granularity)
    names = list_metrics(entity, question.metric_groups)
    nothing: dict[str, list[int] | None] = dict.fromkeys(names)
    data = []
    for record in find_entities(world, account_id, entity, question.entity_ids):
        key, placement = record["id"], question.placement
        found = measure(world, entity, key, edges, names, placement, now=question.now)
        parts = [(None, found)] if kind is None else split(world.ids, key, kind, found)
        rows = [{"segment": segment, "metrics": nothing | part} for segment, part in parts]
        data.append({"id": key, "id_data": rows})
    return {"time_series_length": len(edges) - 1, "data": data}


EXAMPLE_DAY = {"start_time": "2026-11-16T08:00:00Z", "end_time": "2026-11-17T08:00:00Z"}
EXAMPLE_QUERY = {
    "entity": "LINE_ITEM",
    "entity_ids": "itttx",
    "granularity": "TOTAL",
    "placement": "ALL_ON_PLATFORM",
    "metric_groups": "ENGAGEMENT,BILLING",
    **EXAMPLE_DAY,
}
