"""Campaigns, line items and what they refer to (document B, "Line item" and what follows).

The document shows line items, their curated categories and history entries; campaigns, funding
instruments, promoted posts and targeting criteria are only referenced there, and have the shapes of
the public facts (section 7) so that references hold and rules can be checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from mock_platform.api.ads.accounts.records import PRODUCT_TYPES
from mock_platform.core.fields import (
    Choice,
    FieldOptions,
    Flag,
    Instant,
    Integer,
    ListOf,
    Long,
    Text,
)
from mock_platform.core.schema import Stamped
from mock_platform.core.tables.table import Reference, Table, rename_fields
from mock_platform.world.store.interface import Record

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

OBJECTIVES = (
    "APP_ENGAGEMENTS", "APP_INSTALLS", "ENGAGEMENTS", "FOLLOWERS", "PREROLL_VIEWS", "REACH",
    "VIDEO_VIEWS", "WEBSITE_CLICKS",
)  # fmt: skip
GOALS = (
    "APP_CLICKS", "APP_INSTALLS", "APP_PURCHASES", "ENGAGEMENT", "FOLLOWERS", "LINK_CLICKS",
    "MAX_REACH", "PREROLL", "PREROLL_STARTS", "REACH_WITH_ENGAGEMENT", "VIDEO_VIEW",
    "VIEW_3S_100PCT", "VIEW_6S", "VIEW_15S", "WEBSITE_CONVERSIONS",
)  # fmt: skip
BID_STRATEGIES = ("AUTO", "MAX", "TARGET")
STORED_GOALS = (*GOALS, "SITE_VISITS")
"""The goals that a line item may have; an update takes those of the spec only."""
PAY_BY = ("APP_CLICK", "IMPRESSION", "LINK_CLICK")
STORED_PAY_BY = (
    "APP_CLICK", "APP_INSTALL", "ENGAGEMENT", "FOLLOW", "IMPRESSION", "LEAD", "LINK_CLICK", "VIEW",
)  # fmt: skip
"""The values that a line item may have; most follow from its goal and cannot be set."""
ENTITY_STATUSES = ("ACTIVE", "PAUSED")
STORED_STATUSES = ("ACTIVE", "DRAFT", "PAUSED")
"""The statuses of campaigns and line items; a draft can be created, but not updated back to."""
BUDGET_OPTIMIZATIONS = ("CAMPAIGN", "LINE_ITEM")
FUNDING_TYPES = (
    "AGENCY_CREDIT_LINE",
    "CREDIT_CARD",
    "CREDIT_LINE",
    "INSERTION_ORDER",
    "PARTNER_MANAGED",
)
AUDIENCE_EXPANSIONS = ("BROAD", "DEFINED", "EXPANDED")
DURATIONS = (1, 7, 30)
OPERATORS = ("EQ", "NE", "GTE", "LT")

GOAL_OF = {
    "APP_ENGAGEMENTS": "APP_CLICKS",
    "APP_INSTALLS": "APP_INSTALLS",
    "ENGAGEMENTS": "ENGAGEMENT",
    "FOLLOWERS": "FOLLOWERS",
    "PREROLL_VIEWS": "PREROLL",
    "REACH": "MAX_REACH",
    "VIDEO_VIEWS": "VIDEO_VIEW",
    "WEBSITE_CLICKS": "LINK_CLICKS",
}
_PAY_BY_OF = {
    "APP_CLICKS": "APP_CLICK",
    "ENGAGEMENT": "ENGAGEMENT",
    "FOLLOWERS": "FOLLOW",
    "PREROLL": "VIEW",
    "PREROLL_STARTS": "VIEW",
    "VIDEO_VIEW": "VIEW",
    "VIEW_3S_100PCT": "VIEW",
    "VIEW_6S": "VIEW",
    "VIEW_15S": "VIEW",
}


def derive_pay_by(goal: str | None, objective: str, bid_strategy: str) -> str:
    """Return what a line item pays by if `pay_by` was not set: it follows from the goal.

    Goals that are not paid in a unit of their own pay by impression, or by link click where a
    TARGET bid rules impressions out.
    """
    found = _PAY_BY_OF.get(goal or GOAL_OF[objective])
    if found is None:
        return "LINK_CLICK" if bid_strategy == "TARGET" else "IMPRESSION"
    return found


def derive_standard_delivery(line_item: Record) -> bool | None:
    """Return the default of `standard_delivery`: true with a daily budget, else null."""
    return None if line_item["daily_budget_amount_local_micro"] is None else True


_NULL: FieldOptions = {"load_default": None, "allow_none": True}
"""Options of a field that is null unless it is set."""


class FundingInstrumentRecord(Stamped):
    """A funding instrument, which pays for campaigns.

    Whether it is able to fund follows from other fields and the clock, unless it is stored.
    """

    id = Text(required=True)
    type = Text(load_default="CREDIT_CARD")
    description = Text(**_NULL)
    currency = Text(load_default="USD")
    entity_status = Choice(STORED_STATUSES, load_default="ACTIVE")
    able_to_fund = Flag()
    reasons_not_able_to_fund = ListOf(Text())
    credit_limit_local_micro = Long(**_NULL)
    credit_remaining_local_micro = Long(**_NULL)
    funded_amount_local_micro = Long(**_NULL)
    io_header = Text(**_NULL)
    start_time = Instant(**_NULL)
    end_time = Instant(**_NULL)
    _account_id = Text(required=True)


class FundingInstrument(FundingInstrumentRecord):
    """A funding instrument as it is served: with the account that it belongs to."""

    account_id = Text(required=True)


class Campaign(Stamped):
    """A campaign; `budget_optimization` says whether its line items may have daily budgets.

    Whether it can serve follows from other records and the clock, unless it is stored.
    """

    id = Text(required=True)
    name = Text(required=True)
    funding_instrument_id = Text(required=True)
    budget_optimization = Choice(BUDGET_OPTIMIZATIONS, load_default="LINE_ITEM")
    entity_status = Choice(STORED_STATUSES, load_default="ACTIVE")
    effective_status = Text()
    servable = Flag(allow_none=True)
    reasons_not_servable = ListOf(Text())
    daily_budget_amount_local_micro = Long(**_NULL)
    total_budget_amount_local_micro = Long(**_NULL)
    standard_delivery = Flag(**_NULL)
    frequency_cap = Integer(**_NULL)
    duration_in_days = Integer(**_NULL)
    purchase_order_number = Text(**_NULL)
    currency = Text(load_default="USD")
    _account_id = Text(required=True)


class CampaignRecord(Campaign):
    """A campaign as stored: the times of earlier versions, which history still shows."""

    start_time = Instant(**_NULL)
    end_time = Instant(**_NULL)


class LineItem(Stamped):
    """A line item: what is bought within a campaign. Amounts are micro units of the currency.

    What a record may hold is wider than what an update takes.
    """

    id = Text(required=True)
    name = Text(**_NULL)
    campaign_id = Text(required=True)
    objective = Choice(OBJECTIVES, required=True)
    goal = Choice(STORED_GOALS, allow_none=True)
    product_type = Choice(PRODUCT_TYPES, load_default="PROMOTED_POSTS")
    placements = ListOf(Text(min_length=1), load_default=list)
    entity_status = Choice(STORED_STATUSES, load_default="ACTIVE")
    start_time = Instant(**_NULL)
    end_time = Instant(**_NULL)
    bid_strategy = Choice(BID_STRATEGIES, load_default="AUTO")
    bid_amount_local_micro = Long(low=0, **_NULL)
    pay_by = Choice(STORED_PAY_BY)
    total_budget_amount_local_micro = Long(low=0, **_NULL)
    daily_budget_amount_local_micro = Long(low=0, **_NULL)
    duration_in_days = Integer(low=0, **_NULL)
    frequency_cap = Integer(low=0, **_NULL)
    audience_expansion = Choice(AUDIENCE_EXPANSIONS, allow_none=True)
    categories = ListOf(Text(min_length=1), load_default=list)
    currency = Text(load_default="USD")
    creative_source = Text(load_default="MANUAL")
    advertiser_user_id = Text(**_NULL)
    advertiser_domain = Text(**_NULL)
    android_app_store_identifier = Text(**_NULL)
    ios_app_store_identifier = Text(**_NULL)
    target_cpa_local_micro = Long(**_NULL)
    primary_web_event_tag = Text(**_NULL)
    standard_delivery = Flag(allow_none=True)
    automatic_post_promotion = Flag(**_NULL)
    _account_id = Text(required=True)


class LineItemRecord(LineItem):
    """A line item as stored and read: reads add the funding instrument of its campaign."""

    component_name: ClassVar = "CampaignsLineItem"

    funding_instrument_id = Text()


class _Promoted(Stamped):
    """Fields of whatever a line item promotes."""

    id = Text(required=True)
    line_item_id = Text(required=True)
    approval_status = Text(load_default="ACCEPTED")
    entity_status = Choice(ENTITY_STATUSES, load_default="ACTIVE")
    _account_id = Text(required=True)


class PromotedPostRecord(_Promoted):
    """A post promoted by a line item."""

    post_id = Text(required=True)


class PromotedAccountRecord(_Promoted):
    """A user promoted by a line item, to win followers."""

    user_id = Text(required=True)


class TargetingCriterionRecord(Stamped):
    """Whom a line item targets. `_country_code` is the country behind a location's opaque value."""

    id = Text(required=True)
    line_item_id = Text(required=True)
    name = Text(**_NULL)
    targeting_type = Text(required=True)
    targeting_value = Text(required=True)
    operator_type = Choice(OPERATORS, load_default="EQ")
    location_type = Text(allow_none=True)
    localized_name = Text(dump_only=True)
    _country_code = Text(**_NULL)
    _account_id = Text(required=True)


class LineItemCuratedCategoryRecord(Stamped):
    """A link between a line item and the curated category that it runs within."""

    id = Text(required=True)
    line_item_id = Text(required=True)
    curated_category_id = Text(required=True)
    _account_id = Text(required=True)


def _complete_line_item(record: Record) -> Record:
    """Fill in what follows from a line item's objective, goal and budget."""
    # What is missing follows from what is there, in this order: the goal from the objective, how it
    # is paid from the goal. Values that were stored are never replaced, even if they contradict.
    goal = record.get("goal", GOAL_OF[record["objective"]])
    filled = {
        "goal": goal,
        "pay_by": derive_pay_by(goal, record["objective"], record["bid_strategy"]),
        "standard_delivery": derive_standard_delivery(record),
    }
    whole = record | {name: value for name, value in filled.items() if name not in record}
    if "audience_expansion" in whole and whole["audience_expansion"] is None:
        del whole["audience_expansion"]  # served only where it was set
    return whole


_PRODUCT_OF = {"FOLLOWERS": "PROMOTED_ACCOUNT", "PREROLL_VIEWS": "MEDIA"}
_CURRENCY = "currency"


def _draw_instrument(draft: Draft) -> Record:
    return {"description": f"Card ending in {draft.draw_between(1000, 9999)}"}


def _draw_campaign(draft: Draft) -> Record:
    daily = draft.money(100, 900)
    return {
        "name": f"{draft.title()}, {draft.city()}",
        _CURRENCY: draft.target("funding_instrument_id").get(_CURRENCY, "USD"),
        "daily_budget_amount_local_micro": daily,
        "total_budget_amount_local_micro": daily * draft.draw_between(40, 90),
        "start_time": draft.after(most_hours=24),
        "end_time": draft.after(least_hours=60 * 24, most_hours=90 * 24),
    }


def _draw_line_item(draft: Draft) -> Record:
    objective = draft.record.get("objective") or draft.as_sibling(
        "campaign_id", "objective", OBJECTIVES
    )
    product = draft.as_sibling(
        "campaign_id", "product_type", (_PRODUCT_OF.get(objective, "PROMOTED_POSTS"),)
    )
    is_bid = draft.draw_below(3) == 0
    daily = draft.money(20, 90)
    return {
        "name": f"{draft.title()}, {draft.city()}",
        "objective": objective,
        "product_type": product,
        "placements": ["ALL_ON_PLATFORM"],
        "bid_strategy": "MAX" if is_bid else "AUTO",
        "bid_amount_local_micro": draft.draw_between(20, 600) * 10_000 if is_bid else None,
        "daily_budget_amount_local_micro": daily,
        "total_budget_amount_local_micro": daily * draft.draw_between(14, 42),
        _CURRENCY: draft.target("campaign_id").get(_CURRENCY, "USD"),
        "start_time": draft.after(least_hours=1, most_hours=72),
        "end_time": draft.after(least_hours=14 * 24, most_hours=50 * 24),
    }


_ACCOUNT = Reference("_account_id", "accounts")
_LINE_ITEM = Reference("line_item_id", "line_items")

FUNDING_INSTRUMENTS = Table(
    "funding_instruments",
    FundingInstrumentRecord,
    references=(_ACCOUNT,),
    from_public=rename_fields(("account_id", "_account_id")),
    made_up=("description", "Funding instrument"),
    draw=_draw_instrument,
)
CAMPAIGNS = Table(
    "campaigns",
    CampaignRecord,
    references=(_ACCOUNT, Reference("funding_instrument_id", "funding_instruments")),
    made_up=("name", "Campaign"),
    draw=_draw_campaign,
)
LINE_ITEMS = Table(
    "line_items",
    LineItemRecord,
    references=(
        _ACCOUNT,
        Reference("campaign_id", "campaigns", share=20),
        Reference("funding_instrument_id", "funding_instruments"),
    ),
    complete=_complete_line_item,
    draw=_draw_line_item,
)
PROMOTED_POSTS = Table(
    "promoted_posts",
    PromotedPostRecord,
    references=(_ACCOUNT, _LINE_ITEM, Reference("post_id", "posts")),
)
PROMOTED_ACCOUNTS = Table(
    "promoted_accounts",
    PromotedAccountRecord,
    references=(_ACCOUNT, _LINE_ITEM, Reference("user_id", "users")),
)
TARGETING_CRITERIA = Table(
    "targeting_criteria", TargetingCriterionRecord, references=(_ACCOUNT, _LINE_ITEM)
)
LINE_ITEM_CURATED_CATEGORIES = Table(
    "line_item_curated_categories",
    LineItemCuratedCategoryRecord,
    references=(_ACCOUNT, _LINE_ITEM, Reference("curated_category_id", "curated_categories")),
)
TABLES = (
    FUNDING_INSTRUMENTS,
    CAMPAIGNS,
    LINE_ITEMS,
    PROMOTED_POSTS,
    PROMOTED_ACCOUNTS,
    TARGETING_CRITERIA,
    LINE_ITEM_CURATED_CATEGORIES,
)
