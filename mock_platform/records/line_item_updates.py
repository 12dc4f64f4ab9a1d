"""The conditional rules of the table by which line items are updated (document B, "Line items")."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mock_platform.core.failures.errors import AdsError
from mock_platform.core.faults import INVALID, missing, not_allowed, unlisted
from mock_platform.records.campaigns import DURATIONS
from mock_platform.store.interface import Record

CAPPED_OBJECTIVES = ("REACH", "ENGAGEMENTS", "VIDEO_VIEWS", "PREROLL_VIEWS")
APP_OBJECTIVES = ("APP_INSTALLS", "APP_ENGAGEMENTS")


@dataclass(frozen=True, slots=True)
class Update:
    """One update: what was sent, the record before, and the record after it."""

    sent: Mapping[str, Any]
    before: Record
    after: Record
    campaign: Record
    allowlist: Collection[str]
    """The names on the allowlist of the client application."""

    def includes_any(self, *names: str) -> bool:
        """Return whether the request sends one of these parameters."""
        return any(name in self.sent for name in names)


ConditionalRule = Callable[[Update], Iterator[AdsError]]


def _check_bid(u: Update) -> Iterator[AdsError]:
    """MAX and TARGET require an amount, and are for some objectives only."""
    if not u.includes_any("bid_strategy", "bid_amount_local_micro"):
        return
    strategy, objective = u.after["bid_strategy"], u.after["objective"]
    if strategy in {"MAX", "TARGET"} and u.after["bid_amount_local_micro"] is None:
        name = "bid_amount_local_micro"
        yield AdsError.from_fault(name, missing(name, f"when bid_strategy is {strategy}"))
    if strategy == "MAX" and objective in {"REACH", "FOLLOWERS"}:
        text = f"bid_strategy MAX is not available for the objective {objective}"
        yield AdsError(INVALID, text, "bid_strategy")
    if strategy == "TARGET" and objective not in {"REACH", "WEBSITE_CLICKS"}:
        text = f"bid_strategy TARGET is for REACH or WEBSITE_CLICKS, not {objective}"
        yield AdsError(INVALID, text, "bid_strategy")


def _check_pay_by(u: Update) -> Iterator[AdsError]:
    """pay_by can change for APP_INSTALLS only; IMPRESSION excludes TARGET."""
    if "pay_by" in u.sent and u.sent["pay_by"] != u.before["pay_by"]:
        objective = u.before["objective"]
        if objective != "APP_INSTALLS":
            text = f"pay_by can only be changed for the objective APP_INSTALLS, not {objective}"
            yield AdsError(INVALID, text, "pay_by")
    both = u.after["pay_by"] == "IMPRESSION" and u.after["bid_strategy"] == "TARGET"
    if both and u.includes_any("pay_by", "bid_strategy"):
        name = "pay_by" if "pay_by" in u.sent else "bid_strategy"
        text = "pay_by IMPRESSION is not supported with bid_strategy TARGET"
        yield AdsError(INVALID, text, name)


def _check_frequency(u: Update) -> Iterator[AdsError]:
    """A cap is for some objectives only; its window is 1, 7 or 30 days."""
    objective = u.before["objective"]
    if u.sent.get("frequency_cap") is not None and objective not in CAPPED_OBJECTIVES:
        allowed = ", ".join(CAPPED_OBJECTIVES)
        text = f"frequency_cap is for the objectives {allowed} only, not {objective}"
        yield AdsError(INVALID, text, "frequency_cap")
    days = u.sent.get("duration_in_days")
    if days is not None and days not in DURATIONS:
        name = "duration_in_days"
        yield AdsError.from_fault(name, unlisted(DURATIONS, str(days)).naming(name))


def _check_budget(u: Update) -> Iterator[AdsError]:
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
    if u.includes_any(*names) and daily is not None and total is not None and daily > total:
        name = names[0] if names[0] in u.sent else names[1]
        text = (
            f"daily_budget_amount_local_micro ({daily}) may not be larger than "
            f"total_budget_amount_local_micro ({total})"
        )
        yield AdsError(INVALID, text, name)


def _check_publisher_network(u: Update) -> Iterator[AdsError]:
    """The placement PUBLISHER_NETWORK requires a domain and categories."""
    if "PUBLISHER_NETWORK" not in u.after["placements"]:
        return
    for name in ("advertiser_domain", "categories"):
        if name in u.sent and not u.after[name]:
            yield AdsError.from_fault(name, missing(name, "for the placement PUBLISHER_NETWORK"))


def _check_app_identifiers(u: Update) -> Iterator[AdsError]:
    """App objectives require an app of at least one store."""
    names = ("android_app_store_identifier", "ios_app_store_identifier")
    objective = u.before["objective"]
    if objective not in APP_OBJECTIVES or not u.includes_any(*names):
        return
    if not any(u.after[name] for name in names):
        name, other = names if names[0] in u.sent else reversed(names)
        condition = f"for the objective {objective} unless {other} is given"
        yield AdsError.from_fault(name, missing(name, condition))


def _check_times(u: Update) -> Iterator[AdsError]:
    """The end must be after the start."""
    start, end = u.after["start_time"], u.after["end_time"]
    if u.includes_any("start_time", "end_time") and start and end and end <= start:
        name = "end_time" if "end_time" in u.sent else "start_time"
        text = f"end_time ({end}) must be later than start_time ({start})"
        yield AdsError("INVALID_TIME_WINDOW", text, name)


def _check_advertiser_user(u: Update) -> Iterator[AdsError]:
    """advertiser_user_id is for PREROLL_VIEWS and some client applications."""
    name = "advertiser_user_id"
    if u.sent.get(name) is None or u.sent[name] == u.before[name]:
        return
    objective = u.before["objective"]
    if name not in u.allowlist:
        why = f"This client application has not {name} on its _allowlist"
        yield AdsError.from_fault(name, not_allowed(name, why))
    elif objective != "PREROLL_VIEWS":
        why = f"It is for the objective PREROLL_VIEWS, not {objective}"
        yield AdsError.from_fault(name, not_allowed(name, why))


RULES: tuple[ConditionalRule, ...] = (
    _check_bid,
    _check_pay_by,
    _check_frequency,
    _check_budget,
    _check_publisher_network,
    _check_app_identifiers,
    _check_times,
    _check_advertiser_user,
)
"""The conditional rules of the update table, all checked before anything is refused."""
