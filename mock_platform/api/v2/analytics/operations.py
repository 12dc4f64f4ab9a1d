"""Analytics of the v2 interface: figures of own posts and own media by hour, day or week.

The reference (all of v2, section 10) has names and parameters; `objects.figures` has the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from mock_platform.api.v2.conventions import (
    ANY_USER,
    ENTERPRISE_ONLY,
    MediaKey,
    Rates,
    declare_public,
    find_nothing,
    get_user_id,
    make_id_field,
    make_moment_field,
    make_schema,
    require_enterprise,
    start_on,
)
from mock_platform.api.v2.media.uploads import is_expired
from mock_platform.api.v2.objects.answers import PARTIAL_ERRORS, hide_record, make_names_field
from mock_platform.api.v2.objects.figures import (
    MEDIA_METRICS,
    POST_METRICS,
    add_engagements,
    find_media_history,
    find_post_history,
)
from mock_platform.api.v2.objects.media_view import find_any_media, may_use
from mock_platform.api.v2.objects.object_types import PARTIAL_ERROR
from mock_platform.api.v2.pages import show_list
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import Auth
from mock_platform.core.call import Call
from mock_platform.core.failures.problems import Problem
from mock_platform.core.fields import Choice, CommaList, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Example
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ANALYTICS_SHAPES = public_fact(
    "analytics.shapes",
    "Each post has timestamped_metrics: a timestamp and metrics for each hour, day, week or the "
    "whole of the window. analytics.fields and media_analytics.fields choose the metrics.",
    "all of v2, section 10",
    gap=True,
)
ANALYTICS_RULES = expectation(
    "analytics.figures",
    "Hours, days and weeks (from Monday) are those of UTC, the first and the last cut to the "
    "window, with zeros where nothing happened. Likes, replies, reposts, quotes, bookmarks and "
    "impressions add up to public_metrics over the whole life of a post: single records count at "
    "their moment, the rest is spread over the first week. All other metrics are a part of the "
    "impressions, or of the views of a video. Without fields all metrics are shown.",
)
OWN_ANALYTICS = expectation(
    "analytics.own",
    "Figures are for one's own posts and media: others are named in errors as "
    "not-authorized-for-resource, missing ones as resource-not-found. An answer has at most 20,000 "
    "rows; more are refused with 400.",
)
MOST_ROWS = 20_000
_STEPS = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(days=7),
}
_MONDAY = datetime.fromisoformat("2001-01-01T00:00:00+00:00")
_FURTHER = ("timestamp", "timestamped_metrics")


class _Window(Schema):
    start_time = make_moment_field(required=True)
    end_time = make_moment_field(required=True)


class PostAnalyticsQuery(_Window):
    """Of which posts, and for which time, to show figures."""

    ids = CommaList(make_id_field("a post id of "), most=100, required=True)
    granularity = Choice((*_STEPS, "total"), load_default="total")
    analytics_fields = make_names_field(
        ("id", *_FURTHER, *POST_METRICS), data_key="analytics.fields"
    )


class MediaAnalyticsQuery(_Window):
    """Of which media, and for which time, to show figures."""

    media_keys = CommaList(MediaKey(), most=100, required=True)
    granularity = Choice(("hourly", "daily", "total"), load_default="daily")
    media_analytics_fields = make_names_field(
        ("media_key", *_FURTHER, *MEDIA_METRICS), data_key="media_analytics.fields"
    )


def _make_answer(kind: str, key: str, metrics: Sequence[str]) -> type[Schema]:
    """Return the schema of figures: of which thing, and a row for each moment."""
    counts = make_schema(f"{kind}Metrics", **{name: Integer() for name in metrics})
    row = make_schema(
        f"{kind}MetricsRow",
        timestamp=Text(required=True),
        metrics=Nested(counts, required=True),
    )
    rows = ListOf(Nested(row), required=True)
    item = make_schema(f"{kind}Analytics", timestamped_metrics=rows, **{key: Text(required=True)})
    return make_schema(
        f"{kind}AnalyticsAnswer", data=ListOf(Nested(item)), errors=PARTIAL_ERROR.several()
    )


def find_window_faults(
    params: Mapping[str, Any], _call: Call, _world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find a window that ends before it starts, or has too many rows."""
    if "start_time" not in params or "end_time" not in params:
        return
    start, end = (parse_instant(params[name]) for name in ("start_time", "end_time"))
    if start >= end:
        yield "end_time", "end_time must be after start_time"
        return
    number = len(dict.fromkeys(params.get("ids") or params.get("media_keys") or ()))
    step = _STEPS.get(params.get("granularity", ""), end - start)
    if number * ((end - start) // step) > MOST_ROWS:
        yield "end_time", f"an answer has at most {MOST_ROWS} rows; ask for a shorter window"


def cut_window(start: datetime, end: datetime, granularity: str) -> list[datetime]:
    """Return the moments at which a window is cut, its start and its end included.

    Example:
        >>> from datetime import UTC
        >>> start, end = (datetime(2026, 3, 2, hour, 30, tzinfo=UTC) for hour in (8, 10))
        >>> [moment.strftime("%H:%M") for moment in cut_window(start, end, "hourly")]
        ['08:30', '09:00', '10:00', '10:30']
    """
    step = _STEPS.get(granularity)
    if step is None:
        return [start, end]
    # A Monday at midnight is where an hour, a day and a week begin.
    rest = step - (start - _MONDAY) % step
    if rest >= end - start:  # the next cut may lie behind the last day of the calendar
        return [start, end]
    first = start + rest
    count = -((first - end) // step)
    return [start, *(first + number * step for number in range(count)), end]


def list_of_posts(call: Call, world: World) -> dict[str, Any]:
    """Return the figures of the caller's posts."""

    def find(id_: str) -> Record | Problem:
        post = world.store.get("posts", id_)
        if post is None:
            return find_nothing("post", "ids", id_)
        return post if post["_user_id"] == get_user_id(call) else hide_record("ids", id_)

    def count(post: Record, edges: Sequence[datetime]) -> list[dict[str, int]]:
        return [add_engagements(row) for row in find_post_history(world, post).count(edges)]

    return _list(call, "id", call.params["ids"], POST_METRICS, find, count)


def list_of_media(call: Call, world: World) -> dict[str, Any]:
    """Return the figures of the caller's media."""

    def find(key: str) -> Record | Problem:
        media = find_any_media(world, key)
        if media is None or is_expired(world, media):
            return find_nothing("media", "media_keys", key)
        own = may_use(world, get_user_id(call), media)
        return media if own else hide_record("media_keys", key, "media")

    def count(media: Record, edges: Sequence[datetime]) -> list[dict[str, int]]:
        return find_media_history(world, media).count(edges)

    return _list(call, "media_key", call.params["media_keys"], MEDIA_METRICS, find, count)


def _list(
    call: Call,
    key: str,
    asked: Sequence[str],
    metrics: Sequence[str],
    find: Callable[[str], Record | Problem],
    count: Callable[[Record, Sequence[datetime]], list[dict[str, int]]],
) -> dict[str, Any]:
    """Return a row for each part of the window, of everything that was asked for and found."""
    params = call.params
    fields = params.get("analytics_fields") or params.get("media_analytics_fields") or ()
    shown = [name for name in metrics if name in fields] or metrics
    start, end = parse_instant(params["start_time"]), parse_instant(params["end_time"])
    edges = cut_window(start, end, params["granularity"])
    data, errors = [], []
    for value in dict.fromkeys(asked):
        found = find(value)
        if isinstance(found, Problem):
            call.assume(PARTIAL_ERRORS)
            errors.append(found.as_item(call.base_url))
            continue
        rows = [
            {"timestamp": wire_millis(moment), "metrics": {name: row[name] for name in shown}}
            for moment, row in zip(edges, count(found, edges), strict=False)
        ]
        data.append({key: value, "timestamped_metrics": rows})
    return show_list(data, **({"errors": errors} if errors else {}))


_declare = partial(
    declare_public,
    rules=find_window_faults,
    tier_gate=require_enterprise,
    assumptions=(ANALYTICS_SHAPES, ANALYTICS_RULES, OWN_ANALYTICS),
    may_assume=(PARTIAL_ERRORS, ENTERPRISE_ONLY),
)
_WEEK = {"start_time": "2026-04-01T00:00:00Z", "end_time": "2026-04-08T00:00:00Z"}
OPERATIONS = (
    _declare(
        "analytics.posts",
        "GET /2/posts/analytics",
        list_of_posts,
        "List figures of posts over time",
        params=PostAnalyticsQuery,
        returns=_make_answer("Post", "id", POST_METRICS),
        auth=Auth(ANY_USER, scopes=("post.read", "users.read")),
        since=start_on("2025-04-15"),
        limit=Rates(app=300, user=300),
        example=Example(query={"ids": "1712850617439551491", **_WEEK, "granularity": "daily"}),
    ),
    _declare(
        "analytics.media",
        "GET /2/media/analytics",
        list_of_media,
        "List figures of media over time",
        params=MediaAnalyticsQuery,
        returns=_make_answer("Media", "media_key", MEDIA_METRICS),
        auth=Auth(ANY_USER, scopes=("post.read",)),
        since=start_on("2025-04-25"),
        example=Example(query={"media_keys": "7_1712850617439550009", **_WEEK}),
    ),
)
