"""Which metrics analytics answers with, by group and entity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mock_platform.api.ads.analytics.ledger import (
    ACCOUNT,
    CAMPAIGN,
    CREATIVES,
    FUNDING_INSTRUMENT,
    LINE_ITEM,
)
from mock_platform.api.ads.analytics.serving import ON_PLATFORM, PLACEMENTS
from mock_platform.api.ads.analytics.versions import HOUR_SECONDS, read_seconds
from mock_platform.core.assumptions import public_fact
from mock_platform.core.fields import Choice, Instant, Json, Text
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Table
from mock_platform.world.store.interface import Record

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


PINNED_FIGURES = Table("pinned_figures", PinnedFiguresRecord, check=_check)
