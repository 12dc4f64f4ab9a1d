"""What people do with an ad that they see: each metric is counted from the impressions.

A step counts a part of another metric. Every count grows with the impressions and never shrinks, so
the figures of a window are the difference between its ends, and those of its parts add up to them.
A part never exceeds its whole: there are no more clicks than engagements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from mock_platform.world.store.interface import Record

IMPRESSIONS = "impressions"
_ONE = 1 << 16
"""A rate of 1."""


class _Step(NamedTuple):
    """`name` is a part of `of`; `rest` is the name of what is left of it."""

    name: str
    of: str
    rest: str = ""


_STEPS = (
    _Step("qualified_impressions", IMPRESSIONS),
    _Step("engagements", IMPRESSIONS),
    _Step("clicks", "engagements", rest="not clicks"),
    _Step("url_clicks", "clicks", rest="other clicks"),
    _Step("app_clicks", "other clicks"),
    _Step("installs", "app_clicks"),
    _Step("card_engagements", "clicks"),
    _Step("likes", "not clicks", rest="not likes"),
    _Step("reposts", "not likes", rest="not reposts"),
    _Step("replies", "not reposts", rest="not replies"),
    _Step("follows", "not replies"),
    _Step("video_content_starts", IMPRESSIONS),
    _Step("video_total_views", "video_content_starts"),
    _Step("video_3s100pct_views", "video_content_starts"),
    _Step("video_6s_views", "video_total_views"),
    _Step("video_15s_views", "video_6s_views"),
    _Step("video_cta_clicks", "video_total_views"),
    _Step("video_views_25", "video_content_starts"),
    _Step("video_views_50", "video_views_25"),
    _Step("video_views_75", "video_views_50"),
    _Step("video_views_100", "video_views_75"),
)
_STEP_OF = {name: number for number, step in enumerate(_STEPS) for name in (step.name, step.rest)}

_USUAL = {
    "qualified_impressions": 0.8,
    "engagements": 0.018,
    "clicks": 0.45,
    "url_clicks": 0.4,
    "card_engagements": 0.3,
    "likes": 0.55,
    "reposts": 0.35,
    "replies": 0.35,
    "follows": 0.15,
}
_APP = {"clicks": 0.7, "url_clicks": 0.1, "app_clicks": 0.8, "installs": 0.25}
_VIDEO = {
    "video_content_starts": 0.6,
    "video_total_views": 0.55,
    "video_3s100pct_views": 0.7,
    "video_6s_views": 0.5,
    "video_15s_views": 0.5,
    "video_cta_clicks": 0.01,
    "video_views_25": 0.65,
    "video_views_50": 0.65,
    "video_views_75": 0.7,
    "video_views_100": 0.75,
}
_RATES: Mapping[str, Mapping[str, float]] = {
    "APP_ENGAGEMENTS": _USUAL | _APP,
    "APP_INSTALLS": _USUAL | _APP,
    "ENGAGEMENTS": _USUAL | {"engagements": 0.03},
    "FOLLOWERS": _USUAL | {"clicks": 0.3, "likes": 0.15, "reposts": 0.05, "follows": 0.6},
    "PREROLL_VIEWS": _USUAL | _VIDEO | {"video_content_starts": 0.8, "engagements": 0.004},
    "REACH": _USUAL | {"engagements": 0.009},
    "VIDEO_VIEWS": _USUAL | _VIDEO,
    "WEBSITE_CLICKS": _USUAL | {"clicks": 0.75, "url_clicks": 0.75},
}
"""Which part of its whole each metric is, by the objective; metrics that are not named are zero."""

_UNITS = {
    "APP_CLICK": "app_clicks",
    "APP_INSTALL": "installs",
    "ENGAGEMENT": "engagements",
    "FOLLOW": "follows",
    "LEAD": "url_clicks",
    "LINK_CLICK": "url_clicks",
    "VIEW": "video_total_views",
}
_UNIT_OF_GOAL = {
    "VIEW_3S_100PCT": "video_3s100pct_views",
    "VIEW_6S": "video_6s_views",
    "VIEW_15S": "video_15s_views",
}
_BID_ON = {
    "APP_ENGAGEMENTS": "app_clicks",
    "APP_INSTALLS": "installs",
    "WEBSITE_CLICKS": "url_clicks",
}
"""What a bid is for, where impressions are billed."""
_PRICES = {
    IMPRESSIONS: 5_500_000,
    "app_clicks": 900_000_000,
    "engagements": 350_000_000,
    "follows": 2_200_000_000,
    "installs": 3_000_000_000,
    "url_clicks": 900_000_000,
}
_PRICE_OF_VIEW = 20_000_000
"""What a thousand of each cost without a bid, in micro units of the currency."""


class Mix(Struct, frozen=True):
    """How people react to one ad: the rate of each step, and from where it is rounded."""

    rates: tuple[int, ...]
    offsets: tuple[int, ...]

    def count(self, name: str, impressions: int) -> int:
        """Return a metric after so many impressions."""
        if name == IMPRESSIONS:
            return impressions
        number = _STEP_OF[name]
        step = _STEPS[number]
        # A part is the whole times a rate, in whole numbers, rounded at a place that differs from
        # ad to ad (`offset`). It grows with the whole and never faster, so no part can exceed its
        # whole; what is left over is the difference, and not a rate of its own, so that both always
        # add up.
        whole = self.count(step.of, impressions)
        part = (whole * self.rates[number] + self.offsets[number]) >> 16
        return whole - part if name == step.rest else part

    def count_all(self, names: Iterable[str], impressions: list[int]) -> dict[str, list[int]]:
        """Return those metrics that are not zero after each of these numbers of impressions."""
        found = {IMPRESSIONS: impressions}
        for number in _list_steps(frozenset(names)):
            rate, offset, step = self.rates[number], self.offsets[number], _STEPS[number]
            if rate and step.of in found:
                whole = found[step.of]
                part = [(count * rate + offset) >> 16 for count in whole]
                found[step.name] = part
                if step.rest:
                    found[step.rest] = [a - b for a, b in zip(whole, part, strict=True)]
            elif step.rest and step.of in found:
                found[step.rest] = found[step.of]
        return found

    def find_rate(self, name: str) -> float:
        """Return how many of a metric come with one impression, on average."""
        if name == IMPRESSIONS:
            return 1.0
        number = _STEP_OF[name]
        step = _STEPS[number]
        rate = self.rates[number] / _ONE
        return self.find_rate(step.of) * (1 - rate if name == step.rest else rate)


@lru_cache(64)
def _list_steps(names: frozenset[str]) -> tuple[int, ...]:
    """Return the steps that lead to these metrics, in the order in which they are counted."""
    wanted: set[int] = set()
    waiting = [name for name in names if name in _STEP_OF]
    while waiting:
        number = _STEP_OF[waiting.pop()]
        if number not in wanted:
            wanted.add(number)
            if _STEPS[number].of != IMPRESSIONS:
                waiting.append(_STEPS[number].of)
    return tuple(sorted(wanted))


def make_mix(objective: str, noise: bytes) -> Mix:
    """Return how people react to an ad with this objective; `noise` is the ad's own."""
    usual = _RATES[objective]
    rates, offsets = [], []
    for number, step in enumerate(_STEPS):
        # No two ads are alike: each rate is between three quarters and five quarters of the usual
        # one.
        changed = usual.get(step.name, 0.0) * (0.75 + noise[number] / 510)
        rates.append(min(int(changed * _ONE), _ONE))
        offsets.append(noise[-1 - number] << 8)
    return Mix(tuple(rates), tuple(offsets))


def choose_unit(line_item: Record, mix: Mix) -> str:
    """Return the metric that a line item pays for."""
    paid_by_view = line_item["pay_by"] == "VIEW"
    unit = _UNITS.get(line_item["pay_by"], IMPRESSIONS)
    if paid_by_view:
        unit = _UNIT_OF_GOAL.get(line_item["goal"] or "", unit)
    return unit if mix.find_rate(unit) else IMPRESSIONS


def find_price(line_item: Record, mix: Mix, unit: str, noise: int) -> int:
    """Return what a thousand of `unit` cost, in micro units of the currency; never above the bid.

    `noise` is a byte.
    """
    bid = line_item["bid_amount_local_micro"]
    part = 0.7 + 0.3 * noise / 255
    if not bid:
        return max(1, int(_PRICES.get(unit, _PRICE_OF_VIEW) * part))
    if unit != IMPRESSIONS:
        return max(1, int(bid * 1000 * part))
    events = _BID_ON.get(line_item["objective"])
    per_impression = 1e-3 if events is None else mix.find_rate(events)
    return max(1, int(bid * 1000 * per_impression * part))
