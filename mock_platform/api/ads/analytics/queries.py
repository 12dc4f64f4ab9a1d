"""Questions about figures: which metrics there are, what a client may ask for, and the answer.

Synchronous stats and jobs share the parameters; a job may cover a longer time and have segments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mock_platform.api.ads.analytics.figures import measure, split
from mock_platform.api.ads.analytics.ledger import (
    ACCOUNT,
    CAMPAIGN,
    CREATIVES,
    FUNDING_INSTRUMENT,
    LINE_ITEM,
    TABLE_OF,
)
from mock_platform.api.ads.analytics.serving import ON_PLATFORM, PLACEMENTS
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
from mock_platform.core.tables.table import Table
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

# Which metrics there are, by group and entity.

STATS_CONVERSIONS = public_fact(
    "stats.conversions",
    "Metrics of conversions are objects whose keys are not known: they are null. A group that an "
    "entity does not have adds no metrics.",
    "adjacent operations, section 10.1",
    gap=True,
)
ENTITIES = (ACCOUNT, CAMPAIGN, FUNDING_INSTRUMENT, LINE_ITEM, *CREATIVES)

_OF_ALL = ("engagements", "impressions", "reposts", "replies", "likes", "follows")
_CONVERSION = "mobile_conversion_"
METRIC_GROUPS: Mapping[str, tuple[str, ...]] = {
    "ENGAGEMENT": (
        *_OF_ALL,
        "card_engagements", "clicks", "app_clicks", "url_clicks", "link_clicks",
        "qualified_impressions", "carousel_swipes", "posts_send", "poll_card_vote", "unfollows",
    ),
    "BILLING": ("billed_engagements", "billed_charge_local_micro"),
    "VIDEO": (
        "video_total_views", "video_views_25", "video_views_50", "video_views_75",
        "video_views_100", "video_cta_clicks", "video_content_starts", "video_3s100pct_views",
        "video_6s_views", "video_15s_views",
    ),
    "MEDIA": ("media_views", "media_engagements"),
    "WEB_CONVERSION": tuple(
        f"conversion_{name}"
        for name in (
            "purchases", "sign_ups", "site_visits", "downloads", "custom", "add_to_carts",
            "checkouts_initiated", "content_views", "payment_info_additions", "add_to_wishlists",
            "searches", "landing_page_views", "subscriptions",
        )
    ),
    "MOBILE_CONVERSION": tuple(
        _CONVERSION + name
        for name in (
            "spent_credits", "installs", "content_views", "add_to_wishlists",
            "checkouts_initiated", "reservations", "tutorials_completed",
            "achievements_unlocked", "searches", "add_to_carts", "payment_info_additions",
            "re_engages", "shares", "rates", "logins", "updates", "levels_achieved", "invites",
            "key_page_views", "downloads", "purchases", "sign_ups", "site_visits",
        )
    ),
    "LIFE_TIME_VALUE_MOBILE_CONVERSION": tuple(
        f"{_CONVERSION}lifetime_value_{name}"
        for name in (
            "purchases", "sign_ups", "updates", "tutorials_completed", "reservations",
            "add_to_carts", "add_to_wishlists", "checkouts_initiated", "levels_achieved",
            "achievements_unlocked", "shares", "invites", "payment_info_additions",
            "spent_credits", "rates",
        )
    ),
}  # fmt: skip
"""The metrics of each group, in the order of an answer."""
ASKED_ALONE = "MOBILE_CONVERSION"
NUMBERS = tuple(
    name for group in ("ENGAGEMENT", "BILLING", "VIDEO", "MEDIA") for name in METRIC_GROUPS[group]
)
"""The metrics that are plain numbers; those of conversions are objects."""


def list_metrics(entity: str, groups: Iterable[str]) -> list[str]:
    """Return the metrics of some groups that an entity has, in the order of an answer."""
    found = [name for group in dict.fromkeys(groups) for name in METRIC_GROUPS[group]]
    if entity == ACCOUNT:
        return [name for name in found if name in _OF_ALL]
    if entity == FUNDING_INSTRUMENT:
        return [name for name in found if name in {*_OF_ALL, *METRIC_GROUPS["BILLING"]}]
    return found


# Figures of ads that a test sets itself, in place of those that the sandbox makes up.


class PinnedFiguresRecord(Schema):
    """Metrics of one entity in all the hours from `start_time` up to `end_time` together."""

    id = Text(required=True)
    entity = Choice(ENTITIES, required=True)
    entity_id = Text(required=True)
    start_time = Instant(required=True)
    end_time = Instant(required=True)
    placement = Choice(PLACEMENTS, load_default=ON_PLATFORM)
    metrics = Json(required=True)


def _check(record: Record) -> Iterator[tuple[str, str]]:
    moments = {name: read_seconds(record[name]) for name in ("start_time", "end_time")}
    for name, seconds in moments.items():
        if seconds % HOUR_SECONDS:
            yield name, f"must be a whole hour, got {record[name]}"
    if moments["end_time"] <= moments["start_time"]:
        yield "end_time", f"must be later than start_time ({record['start_time']})"
    for name, value in record["metrics"].items():
        if name not in NUMBERS:
            yield f"metrics.{name}", f"is not a metric; there are: {', '.join(NUMBERS)}"
        elif type(value) is not int or value < 0:
            yield f"metrics.{name}", f"must be a whole number from 0 up, got {value!r}"


def _draw(draft: Draft) -> Record:
    item = draft.first("line_items") or {"id": "itttx"}
    start = draft.moment.replace(minute=0, second=0, microsecond=0)
    impressions = draft.draw_between(1000, 90_000)
    return {
        "entity": "LINE_ITEM",
        "entity_id": item["id"],
        "start_time": start - timedelta(hours=draft.draw_between(1, 48)),
        "end_time": start,
        "metrics": {
            "impressions": impressions,
            "clicks": impressions // draft.draw_between(40, 200),
        },
    }


PINNED_FIGURES = Table("pinned_figures", PinnedFiguresRecord, check=_check, draw=_draw)


# Which parameters a question has, and how it is answered.

STATS_PARAMETERS = public_fact(
    "stats.parameters",
    "Times are whole hours, the end is exclusive. A bare date is midnight in the account's time "
    "zone; days begin and end there, at today's offset from UTC. placement is one of "
    "ALL_ON_PLATFORM, SPOTLIGHT, TREND and PUBLISHER_NETWORK; organic posts are not asked for.",
    "adjacent operations, section 10.1",
    gap=True,
)
STATS_ALONE = public_fact(
    "stats.mobile-conversions-alone",
    "MOBILE_CONVERSION should be asked for without other metric groups, the public page says: "
    "otherwise the journal warns.",
    "adjacent operations, section 10.1",
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
    if ASKED_ALONE in params["metric_groups"] and len(set(params["metric_groups"])) > 1:
        call.warn(f"{ASKED_ALONE} should be requested separately from other metric groups")
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
