"""The conditional rules of the table by which line items are updated (document B, "Line items").

They hold for creations too, which have some rules of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.api.ads.campaigns.records import DURATIONS, derive_pay_by
from mock_platform.core.failures.errors import AdsError
from mock_platform.core.faults import INVALID, missing, not_allowed, unlisted
from mock_platform.world.store.interface import Record

CAPPED_OBJECTIVES = ("REACH", "ENGAGEMENTS", "VIDEO_VIEWS", "PREROLL_VIEWS")
APP_OBJECTIVES = ("APP_INSTALLS", "APP_ENGAGEMENTS")


class Write(Struct, frozen=True):
    """One update or creation: what was sent, the record before, and the record after it."""

    sent: Mapping[str, Any]
    before: Record | None
    """The record before an update; `None` for a creation."""
    after: Record
    campaign: Record
    allowlist: Collection[str]
    """The names on the allowlist of the client application."""

    @property
    def objective(self) -> str:
        """The objective, which no update changes."""
        return str(self.after["objective"])

    def concerns(self, *names: str) -> bool:
        """Return whether the request can change one of these: a creation sets all."""
        return self.before is None or not self.sent.keys().isdisjoint(names)

    def sets(self, name: str) -> bool:
        """Return whether the request sends another value than the stored one, and not null."""
        value = self.sent.get(name)
        return value is not None and (self.before is None or value != self.before.get(name))

    def derive_pay_by(self) -> str:
        """Return the pay_by that follows from the goal and the bid strategy after the write."""
        return derive_pay_by(self.after["goal"], self.objective, self.after["bid_strategy"])


ConditionalRule = Callable[[Write], Iterator[AdsError]]


def _check_bid(u: Write) -> Iterator[AdsError]:
    """MAX and TARGET require an amount, and are for some objectives only."""
    if not u.concerns("bid_strategy", "bid_amount_local_micro"):
        return
    strategy, objective = u.after["bid_strategy"], u.objective
    if strategy in {"MAX", "TARGET"} and u.after["bid_amount_local_micro"] is None:
        name = "bid_amount_local_micro"
        yield AdsError.from_fault(name, missing(name, f"when bid_strategy is {strategy}"))
    if strategy == "MAX" and objective in {"REACH", "FOLLOWERS"}:
        text = f"bid_strategy MAX is not available for the objective {objective}"
        yield AdsError(INVALID, text, "bid_strategy")
    allowed = ("REACH", "WEBSITE_CLICKS") if u.before else ("REACH", "FOLLOWERS", "WEBSITE_CLICKS")
    kept = u.before is not None and u.before["bid_strategy"] == "TARGET"
    if strategy == "TARGET" and objective not in allowed and not kept:
        text = f"bid_strategy TARGET is for {' or '.join(allowed)}, not {objective}"
        yield AdsError(INVALID, text, "bid_strategy")


def _check_pay_by(u: Write) -> Iterator[AdsError]:
    """pay_by can change for APP_INSTALLS only, or as it follows; IMPRESSION excludes TARGET."""
    if (
        u.before is not None
        and u.sets("pay_by")
        and u.objective != "APP_INSTALLS"
        and not (
            (u.sets("goal") or u.sets("bid_strategy")) and u.sent["pay_by"] == u.derive_pay_by()
        )
    ):
        text = f"pay_by can only be changed for the objective APP_INSTALLS, not {u.objective}"
        yield AdsError(INVALID, text, "pay_by")
    both = u.after["pay_by"] == "IMPRESSION" and u.after["bid_strategy"] == "TARGET"
    if both and u.concerns("pay_by", "bid_strategy"):
        name = "pay_by" if "pay_by" in u.sent else "bid_strategy"
        text = (
            "pay_by IMPRESSION is not supported with bid_strategy TARGET; leave pay_by out, and it "
            "follows from the bid strategy"
        )
        yield AdsError(INVALID, text, name)


def _check_frequency(u: Write) -> Iterator[AdsError]:
    """A cap is for some objectives only; its window is 1, 7 or 30 days."""
    if u.sent.get("frequency_cap") is not None and u.objective not in CAPPED_OBJECTIVES:
        allowed = ", ".join(CAPPED_OBJECTIVES)
        text = f"frequency_cap is for the objectives {allowed} only, not {u.objective}"
        yield AdsError(INVALID, text, "frequency_cap")
    days = u.sent.get("duration_in_days")
    if days is not None and days not in DURATIONS:
        name = "duration_in_days"
        yield AdsError.from_fault(name, unlisted(DURATIONS, str(days)).naming(name))


def _check_budget(u: Write) -> Iterator[AdsError]:
    """A daily budget is at most the total, and only under LINE_ITEM budget optimization."""
    daily = u.after["daily_budget_amount_local_micro"]
    total = u.after["total_budget_amount_local_micro"]
    if u.sent.get("daily_budget_amount_local_micro") is not None:
        optimization = u.campaign.get("budget_optimization")
        if optimization != "LINE_ITEM":
            text = (
                "daily_budget_amount_local_micro is available only when the campaign's "
                f"budget_optimization is LINE_ITEM; it is {optimization}"
            )
            yield AdsError(INVALID, text, "daily_budget_amount_local_micro")
    names = ("daily_budget_amount_local_micro", "total_budget_amount_local_micro")
    if u.concerns(*names) and daily is not None and total is not None and daily > total:
        name = names[0] if names[0] in u.sent else names[1]
        text = (
            f"daily_budget_amount_local_micro ({daily}) may not be larger than "
            f"total_budget_amount_local_micro ({total})"
        )
        yield AdsError(INVALID, text, name)
    most = u.campaign.get(names[1])
    if u.sets(names[1]) and most is not None and total is not None and total > most:
        text = f"{names[1]} ({total}) may not be larger than that of the campaign ({most})"
        yield AdsError(INVALID, text, names[1])


def _check_publisher_network(u: Write) -> Iterator[AdsError]:
    """The placement PUBLISHER_NETWORK requires a domain and categories."""
    if "PUBLISHER_NETWORK" not in u.after["placements"]:
        return
    for name in ("advertiser_domain", "categories"):
        if u.concerns(name) and not u.after[name]:
            yield AdsError.from_fault(name, missing(name, "for the placement PUBLISHER_NETWORK"))


def _check_app_identifiers(u: Write) -> Iterator[AdsError]:
    """App objectives require an app of at least one store."""
    names = ("android_app_store_identifier", "ios_app_store_identifier")
    if u.objective not in APP_OBJECTIVES or not u.concerns(*names):
        return
    if not any(u.after[name] for name in names):
        name, other = names if names[0] in u.sent else reversed(names)
        condition = f"for the objective {u.objective} unless {other} is given"
        yield AdsError.from_fault(name, missing(name, condition))


def _check_times(u: Write) -> Iterator[AdsError]:
    """The end must be after the start."""
    start, end = u.after["start_time"], u.after["end_time"]
    if u.concerns("start_time", "end_time") and start and end and end <= start:
        name = "end_time" if "end_time" in u.sent else "start_time"
        text = f"end_time ({end}) must be later than start_time ({start})"
        yield AdsError("INVALID_TIME_WINDOW", text, name)


def _check_advertiser_user(u: Write) -> Iterator[AdsError]:
    """advertiser_user_id is for PREROLL_VIEWS and some client applications."""
    name = "advertiser_user_id"
    stored = u.after[name] if u.before is None else u.before[name]
    if u.sent.get(name) is None or u.sent[name] == stored:
        return
    if name not in u.allowlist:
        why = f"This client application has not {name} on its _allowlist"
        yield AdsError.from_fault(name, not_allowed(name, why))
    elif u.objective != "PREROLL_VIEWS":
        why = f"It is for the objective PREROLL_VIEWS, not {u.objective}"
        yield AdsError.from_fault(name, not_allowed(name, why))


RULES: tuple[ConditionalRule, ...] = (
    _check_bid, _check_pay_by, _check_frequency, _check_budget, _check_publisher_network,
    _check_app_identifiers, _check_times, _check_advertiser_user,
)  # fmt: skip
"""The conditional rules of the update table, all checked before anything is refused."""

PAY_BY_OF_CREATION = {
    "APP_INSTALLS": ("APP_CLICK", "IMPRESSION", "LINK_CLICK"),
    "LINK_CLICKS": ("IMPRESSION", "LINK_CLICK"),
}
"""The values of pay_by that a creation may choose, by objective APP_INSTALLS or by goal."""


def _check_new_placements(u: Write) -> Iterator[AdsError]:
    """A profile is not enough by itself; REACH needs the whole platform or the timeline."""
    placements = set(u.after["placements"])
    if placements == {"PLATFORM_PROFILE"}:
        text = "PLATFORM_PROFILE needs another placement beside it"
        yield AdsError("INVALID_PLACEMENT_TYPE", text, "placements")
    if u.objective == "REACH" and not placements & {"ALL_ON_PLATFORM", "PLATFORM_TIMELINE"}:
        text = "the objective REACH needs the placement ALL_ON_PLATFORM or PLATFORM_TIMELINE"
        yield AdsError("INVALID_PLACEMENT_TYPE", text, "placements")


def _check_new_pay_by(u: Write) -> Iterator[AdsError]:
    """pay_by follows from the goal, and can be chosen for app installs and link clicks only."""
    chosen = u.sent.get("pay_by")
    derived = u.derive_pay_by()
    key = "APP_INSTALLS" if u.objective == "APP_INSTALLS" else u.after["goal"]
    if chosen is not None and chosen != derived and chosen not in PAY_BY_OF_CREATION.get(key, ()):
        text = f"pay_by of a line item with the goal {u.after['goal']} is {derived}, not {chosen}"
        yield AdsError(INVALID, text, "pay_by")


def _check_new_goal(u: Write) -> Iterator[AdsError]:
    """SITE_VISITS is for website clicks; conversions need the tag that reports them."""
    goal, tag = u.after["goal"], "primary_web_event_tag"
    if goal == "SITE_VISITS" and u.objective != "WEBSITE_CLICKS":
        text = f"the goal SITE_VISITS is for the objective WEBSITE_CLICKS, not {u.objective}"
        yield AdsError(INVALID, text, "goal")
    if goal == "WEBSITE_CONVERSIONS" and not u.after[tag]:
        yield AdsError.from_fault(tag, missing(tag, "when goal is WEBSITE_CONVERSIONS"))


def _check_new_delivery(u: Write) -> Iterator[AdsError]:
    """A total budget and standard_delivery go with budgets of line items, as a daily one does."""
    optimization = u.campaign["budget_optimization"]
    for name in ("total_budget_amount_local_micro", "standard_delivery"):
        if u.sent.get(name) is not None and optimization != "LINE_ITEM":
            text = (
                f"{name} is available only when the campaign's budget_optimization is LINE_ITEM; "
                f"it is {optimization}"
            )
            yield AdsError(INVALID, text, name)


CREATION_RULES: tuple[ConditionalRule, ...] = (
    *RULES,
    _check_new_placements,
    _check_new_pay_by,
    _check_new_goal,
    _check_new_delivery,
)
"""The conditional rules of creations, all checked before anything is refused."""
