"""Synchronous analytics: figures of entities, which of them were shown, and to how many people.

Neither document shows analytics, but every advertising client asks for figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from marshmallow import ValidationError, validates_schema

from mock_platform.api.ads.analytics.figures import (
    STATS_MADE_UP,
    STATS_PINNED,
    find_activity,
    list_containing,
    measure,
)
from mock_platform.api.ads.analytics.ledger import CAMPAIGN, FUNDING_INSTRUMENT, LINE_ITEM
from mock_platform.api.ads.analytics.mix import IMPRESSIONS
from mock_platform.api.ads.analytics.queries import (
    EXAMPLE_DAY,
    EXAMPLE_QUERY,
    MAX_ENTITIES,
    PINNED_FIGURES,
    STATS_ALONE,
    STATS_CONVERSIONS,
    STATS_PARAMETERS,
    STATS_SHAPE,
    EntityStats,
    StatsQuery,
    TimeWindow,
    answer,
    check_window,
    find_entities,
    make_echo,
    read_question,
    read_time,
    write_time,
)
from mock_platform.api.ads.analytics.versions import HOUR_SECONDS, STATS_PAST
from mock_platform.api.ads.conventions import Data, Typed, ads
from mock_platform.core.assumptions import Assumption, public_fact
from mock_platform.core.call import Call
from mock_platform.core.envelope import Returns
from mock_platform.core.faults import Fault, exclusive
from mock_platform.core.fields import Choice, CommaList, Instant, Integer, ListOf, Number, Text
from mock_platform.core.operation import Example, Handler, Limit, Operation, Origin, Rules
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.world import World

STATS_ACTIVE_ENTITIES = public_fact(
    "stats.active-entities",
    "Entities that were shown in the window, with the hours from the first to the last time; "
    "without a filter those of the whole account. Quarter hours are refused.",
    "adjacent operations, section 10.3",
    gap=True,
)
STATS_REACH = public_fact(
    "stats.reach",
    "How many people saw ads, and how often on average: made up from the impressions. The echo has "
    "no account_id, but that of a refusal has it.",
    "adjacent operations, section 10.3",
    gap=True,
)
LONGEST = timedelta(days=7, hours=1)
"""An hour more than seven days, because a day may have 25 hours."""
_LIMIT = Limit("stats", 250, 900, source="public", category="ads-stats")
_PATH = "/12/stats/accounts/:account_id"
_WITH_ACTIVITY = (CAMPAIGN, FUNDING_INSTRUMENT, LINE_ITEM, "PROMOTED_ACCOUNT", "PROMOTED_POST")
_FILTERS = {
    "campaign_ids": CAMPAIGN,
    "funding_instrument_ids": FUNDING_INSTRUMENT,
    "line_item_ids": LINE_ITEM,
}
_ECHOED = (
    "start_time", "end_time", "entity", "entity_ids", "granularity", "placement", "metric_groups",
)  # fmt: skip
_SEGMENTS = dict.fromkeys(("segmentation_type", "country", "platform"))


class ActiveQuery(TimeWindow):
    """The parameters of active entities: at most one of the filters."""

    entity = Choice(_WITH_ACTIVITY, required=True)
    campaign_ids = CommaList(Text(min_length=1), most=200)
    funding_instrument_ids = CommaList(Text(min_length=1), most=200)
    line_item_ids = CommaList(Text(min_length=1), most=200)

    @validates_schema(skip_on_field_errors=False)
    def check_exclusive(self, data: dict[str, Any], **_: Any) -> None:
        """Require that only one filter is sent."""
        sent = [name for name in _FILTERS if name in data]
        if len(sent) > 1:
            raise ValidationError([exclusive(sent[0], sent[1])], sent[1])


class ActiveEntity(Schema):
    """An entity that was shown, and when."""

    entity_id = Text(required=True)
    activity_start_time = Instant(required=True)
    activity_end_time = Instant(required=True)
    placements = ListOf(Text(), required=True)


class CampaignReachQuery(TimeWindow):
    """The parameters of the reach of campaigns."""

    campaign_ids = CommaList(Text(min_length=1), most=MAX_ENTITIES, required=True)


class FundingReachQuery(TimeWindow):
    """The parameters of the reach of funding instruments."""

    funding_instrument_ids = CommaList(Text(min_length=1), most=MAX_ENTITIES, required=True)


class Reach(Schema):
    """How many people saw an entity's ads, and how often on average."""

    id = Text(required=True)
    total_audience_reach = Integer(required=True)
    average_frequency = Number(required=True)


def check_times(
    params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, Fault]]:
    """Yield the faults of a window of any length."""
    yield from check_window(params, call, world, None)


def check(
    params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, Fault]]:
    """Yield the faults of the window."""
    yield from check_window(params, call, world, LONGEST, "7.days+1.hours")


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the figures of some entities."""
    question = read_question(call, world)
    call.echo = make_echo(call, *_ECHOED) | _SEGMENTS
    return answer(world, call.path_params["account_id"], question)


def list_active(call: Call, world: World) -> list[dict[str, Any]]:
    """Return the entities of a kind that were shown in a window, in the order of their ids."""
    params = call.params
    start, end = (read_time(params[name], call, world) for name in ("start_time", "end_time"))
    found = find_activity(world, params["entity"], call.path_params["account_id"], start, end)
    inside = _choose_filter(params)
    rows = []
    for key, by_placement in sorted(found.items()):
        if inside is not None and inside.isdisjoint(list_containing(world, params["entity"], key)):
            continue
        first = min(begun for begun, _ in by_placement.values())
        last = max(over for _, over in by_placement.values())
        row = {
            "entity_id": key,
            "activity_start_time": write_time(first // HOUR_SECONDS * HOUR_SECONDS),
            "activity_end_time": write_time(-(-last // HOUR_SECONDS) * HOUR_SECONDS),
            "placements": sorted(by_placement),
        }
        rows.append(row)
    return rows


def _choose_filter(params: Mapping[str, Any]) -> set[tuple[str, str]] | None:
    """Return the entities of which one must contain what is listed; `None`: any."""
    for name, entity in _FILTERS.items():
        if name in params:
            return {(entity, key) for key in params[name]}
    return None


def get_campaign_reach(call: Call, world: World) -> dict[str, Any]:
    """Return the reach of some campaigns."""
    return _measure_reach(call, world, CAMPAIGN, "campaign_ids")


def get_funding_reach(call: Call, world: World) -> dict[str, Any]:
    """Return the reach of some funding instruments."""
    return _measure_reach(call, world, FUNDING_INSTRUMENT, "funding_instrument_ids")


def _measure_reach(call: Call, world: World, entity: str, name: str) -> dict[str, Any]:
    params = call.params
    call.echo = make_echo(call, name, "start_time", "end_time")
    edges = [read_time(params[each], call, world) for each in ("start_time", "end_time")]
    account_id = call.path_params["account_id"]
    rows = []
    for record in find_entities(world, account_id, entity, params[name]):
        shown = measure(world, entity, record["id"], edges, [IMPRESSIONS]).get(IMPRESSIONS, [0])[0]
        # The more often ads are shown, the more often the same people see them.
        people = int(shown ** (0.92 + 0.06 * world.ids.fraction("reach", record["id"])))
        row = {
            "id": record["id"],
            "total_audience_reach": people,
            "average_frequency": round(shown / people, 2) if people else 0.0,
        }
        rows.append(row)
    return {"data": rows}


def _declare(
    name: str,
    handler: Handler,
    summary: str,
    returns: Returns,
    params: type[Schema],
    assumptions: tuple[Assumption, ...],
    query: dict[str, str],
    rules: Rules = check_times,
) -> Operation:
    path = {"get": ""}.get(name, "/" + name.replace(".", "/"))
    return ads(
        f"stats.{name}",
        "GET",
        f"{_PATH}{path}",
        handler,
        summary=summary,
        spec="next to it: analytics",
        returns=returns,
        params=params,
        rules=rules,
        origin=Origin.ADJACENT,
        public_limits=False,
        limits=(_LIMIT,),
        assumptions=assumptions,
        errors=("INVALID_TIME_WINDOW",),
        example=Example(query=query),
    )


TABLES = (PINNED_FIGURES,)
OPERATIONS: tuple[Operation, ...] = (
    _declare(
        "get",
        get,
        "Read figures of entities",
        Typed(EntityStats, "stats", members=("time_series_length", "data")),
        StatsQuery,
        (
            STATS_PARAMETERS,
            STATS_SHAPE,
            STATS_ALONE,
            STATS_MADE_UP,
            STATS_PINNED,
            STATS_PAST,
            STATS_CONVERSIONS,
        ),
        EXAMPLE_QUERY,
        rules=check,
    ),
    _declare(
        "active_entities",
        list_active,
        "List entities that were shown",
        Data(ActiveEntity, many=True),
        ActiveQuery,
        (STATS_ACTIVE_ENTITIES, STATS_MADE_UP, STATS_PAST),
        {"entity": "LINE_ITEM", **EXAMPLE_DAY},
    ),
    *(
        _declare(
            f"reach.{noun}",
            handler,
            f"Read how many people saw {noun.replace('_', ' ')}",
            Typed(Reach, "reach"),
            params,
            (STATS_REACH, STATS_MADE_UP, STATS_PINNED, STATS_PAST),
            {f"{noun[:-1]}_ids": key, **EXAMPLE_DAY},
        )
        for noun, handler, params, key in (
            ("campaigns", get_campaign_reach, CampaignReachQuery, "8wku2"),
            ("funding_instruments", get_funding_reach, FundingReachQuery, "m2k8s"),
        )
    ),
)
