"""Line items as they are created and listed: parameters, defaults, what a campaign asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_platform.api.ads.accounts.records import PRODUCT_TYPES
from mock_platform.api.ads.accounts.users_and_apps import find_full_user
from mock_platform.api.ads.campaigns.records import (
    AUDIENCE_EXPANSIONS,
    BID_STRATEGIES,
    GOAL_OF,
    OBJECTIVES,
    STORED_GOALS,
    STORED_PAY_BY,
    STORED_STATUSES,
    derive_pay_by,
    derive_standard_delivery,
)
from mock_platform.api.ads.conventions import not_found
from mock_platform.api.ads.resource import draw_unused_id, find_own, make_timestamps
from mock_platform.api.ads.targeting.criteria import TABLE, Target, add_criterion
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError
from mock_platform.core.faults import INVALID
from mock_platform.core.fields import Choice, CommaList, Flag, Instant, Integer, Long, Text
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record, Within
from mock_platform.world.world import World

PLACEMENTS = (
    "ALL_ON_PLATFORM", "PUBLISHER_NETWORK", "TAP_BANNER", "TAP_FULL", "TAP_FULL_LANDSCAPE",
    "TAP_NATIVE", "TAP_MRECT", "PLATFORM_PROFILE", "PLATFORM_REPLIES", "PLATFORM_SEARCH",
    "PLATFORM_TIMELINE",
)  # fmt: skip
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
DOMAIN = rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})+"
DOMAIN_TEXT = "a domain without protocol such as example.com"
USER_ID, USER_ID_TEXT = r"[0-9]{1,19}", "a user id of 1 to 19 digits"
_OPTIONAL = (
    "name", "start_time", "end_time", "bid_amount_local_micro", "total_budget_amount_local_micro",
    "daily_budget_amount_local_micro", "duration_in_days", "frequency_cap", "advertiser_domain",
    "android_app_store_identifier", "ios_app_store_identifier", "primary_web_event_tag",
)  # fmt: skip


class LineItemCreate(Schema):
    """Parameters of the creation."""

    campaign_id = Text(required=True, min_length=1)
    objective = Choice(OBJECTIVES, required=True)
    product_type = Choice(PRODUCT_TYPES, required=True)
    placements = CommaList(Choice(PLACEMENTS), required=True)
    advertiser_domain = Text(pattern=DOMAIN, pattern_text=DOMAIN_TEXT)
    advertiser_user_id = Text(pattern=USER_ID, pattern_text=USER_ID_TEXT)
    android_app_store_identifier = Text(min_length=1)
    ios_app_store_identifier = Text(min_length=1)
    audience_expansion = Choice(AUDIENCE_EXPANSIONS)
    bid_amount_local_micro = Long(low=1)
    bid_strategy = Choice(BID_STRATEGIES)
    categories = CommaList(Text(min_length=1))
    daily_budget_amount_local_micro = Long(low=1)
    duration_in_days = Integer()
    end_time = Instant()
    entity_status = Choice(STORED_STATUSES)
    frequency_cap = Integer(low=1)
    goal = Choice(STORED_GOALS)
    name = Text(min_length=1, max_length=255)
    pay_by = Choice(STORED_PAY_BY)
    primary_web_event_tag = Text(min_length=1)
    standard_delivery = Flag()
    start_time = Instant()
    total_budget_amount_local_micro = Long(low=1)


def find_campaign(call: Call, world: World) -> Record:
    """Return the campaign of a new line item.

    Raises:
        AdsFailure: CAMPAIGN_NOT_FOUND (404): unknown, deleted, or of another account.
    """
    key = call.params["campaign_id"]
    found = find_own(call, world, "campaigns", key)
    if found is None:
        raise not_found("CAMPAIGN_NOT_FOUND", "campaign", "campaign_id", key)
    return found


def make_line_item(call: Call, world: World, campaign: Record) -> Record:
    """Return a new line item with its defaults; it is neither checked nor stored."""
    sent, account_id = call.params, call.path_params["account_id"]
    objective = sent["objective"]
    strategy = sent.get("bid_strategy") or _choose_strategy(sent)
    goal = sent.get("goal", GOAL_OF[objective])
    record = {
        "id": draw_unused_id(world, "line_items", 5),
        "campaign_id": campaign["id"],
        "objective": objective,
        "goal": goal,
        "product_type": sent["product_type"],
        "placements": sent["placements"],
        "entity_status": sent.get("entity_status", "ACTIVE"),
        "bid_strategy": strategy,
        "pay_by": sent.get("pay_by") or derive_pay_by(goal, objective, strategy),
        "categories": sent.get("categories", []),
        "currency": campaign["currency"],
        "creative_source": "MANUAL",
        "advertiser_user_id": find_full_user(world, account_id),
        "target_cpa_local_micro": None,
        "automatic_post_promotion": None,
        **{name: sent.get(name) for name in _OPTIONAL},
        **make_timestamps(world),
        "_account_id": account_id,
    }
    if "audience_expansion" in sent:
        record["audience_expansion"] = sent["audience_expansion"]
    record["standard_delivery"] = sent.get("standard_delivery", derive_standard_delivery(record))
    return record


def _choose_strategy(sent: dict[str, Any]) -> str:
    """Return the default strategy: AUTO without a bid, else MAX where the objective has it."""
    if sent.get("bid_amount_local_micro") is None:
        return "AUTO"
    return "TARGET" if sent["objective"] in {"REACH", "FOLLOWERS"} else "MAX"


def check_siblings(world: World, record: Record) -> Iterator[AdsError]:
    """Yield what differs from the other line items of the campaign and may not.

    Records that were stored otherwise may differ among themselves; then a new line item has to be
    like one of them.
    """
    match = {"campaign_id": record["campaign_id"], "deleted": False}
    first = world.store.page("line_items", match, limit=1)
    for name in ("objective", "product_type"):
        # Mostly the first one is alike, so nothing has to be counted, nor an index kept for it.
        if not first or first[0].record[name] == record[name]:
            continue
        if not world.store.count("line_items", {**match, name: record[name]}):
            text = (
                f"All line items of a campaign have the same {name}, which is "
                f"{first[0].record[name]} in this one, not {record[name]}"
            )
            yield AdsError(INVALID, text, name)


def check_combination(world: World, record: Record) -> Iterator[AdsError]:
    """Yield a fault if a product type is not shown in this combination of placements."""
    known = world.store.get("placements", record["product_type"])
    combinations = [] if known is None else known["placements"]
    sent = sorted(set(record["placements"]))
    if combinations and not any(sorted(each) == sent for each in combinations):
        text = (
            f"{record['product_type']} is not available in the placements {', '.join(sent)}; GET "
            "line_items/placements lists the combinations"
        )
        yield AdsError("INVALID_PLACEMENT_TYPE", text, "placements")


# The platform that a line item targets because of its app.

APP_PLATFORM = public_fact(
    "line-items.app-platform",
    "Setting the app store identifier of a line item adds a PLATFORM targeting criterion for that "
    "system, unless it has one.",
    "adjacent operations, section 4",
)
_SYSTEMS = {
    "ios_app_store_identifier": "0",
    "android_app_store_identifier": "1",
}


def target_app_platforms(call: Call, world: World, before: Record, after: Record) -> None:
    """Add the criteria for those stores whose identifier a line item did not have before."""
    for name, value in _SYSTEMS.items():
        if not after.get(name) or before.get(name):
            continue
        call.assume(APP_PLATFORM)
        match = {
            "line_item_id": after["id"],
            "targeting_type": "PLATFORM",
            "targeting_value": value,
            "deleted": False,
        }
        if world.store.count(TABLE, match):
            continue
        add_criterion(call, world, after["id"], Target("PLATFORM", value, "EQ"))


# Which line items a list has: those of campaigns with a funding instrument, and how many.


def find_campaigns(call: Call, world: World, instruments: Sequence[str]) -> list[str]:
    """Return the ids of the account's campaigns that these funding instruments pay for."""
    match = {"_account_id": call.path_params["account_id"]}
    paid_by = Within("funding_instrument_id", instruments)
    return [entry.key for entry in world.store.page("campaigns", match, within=paid_by)]


def count_line_items(
    call: Call, world: World, match: Mapping[str, Any], within: Within | None
) -> int:
    """Return how many line items a list has: without drafts and those of deleted campaigns."""

    def count_shown(where: Mapping[str, Any], within: Within | None) -> int:
        found = world.store.count("line_items", where, within=within)
        if not call.params["with_draft"]:
            drafts = {**where, "entity_status": "DRAFT"}
            found -= world.store.count("line_items", drafts, within=within)
        return found

    total = count_shown(match, within)
    if call.params["with_deleted"]:
        return total
    gone = world.store.page("campaigns", {"_account_id": match["_account_id"], "deleted": True})
    wanted = None if within is None else set(within.values)
    hidden = [entry.key for entry in gone if wanted is None or entry.key in wanted]
    return total - count_shown(match, Within("campaign_id", hidden))
