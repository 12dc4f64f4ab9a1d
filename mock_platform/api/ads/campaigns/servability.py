"""Whether campaigns and line items can serve, and whether funding instruments can fund them.

Nothing of it is stored: it follows from records, their children and the clock. A record that has
one of these fields itself, from fixtures or `/_mock/state`, shows its own value.
"""

from __future__ import annotations

from mock_platform.api.ads.campaigns.creatives import has_any_creative, match_children
from mock_platform.api.ads.campaigns.spend import (
    find_funding_spend,
    is_campaign_budget_used_up,
    is_funding_used_up,
)
from mock_platform.core.assumptions import public_fact
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

SERVABILITY = public_fact(
    "campaigns.servability",
    "servable, reasons_not_servable and effective_status follow from the campaign, its line items, "
    "their promoted posts, promoted accounts and media creatives, the funding instrument, the "
    "account, spending and the clock. effective_status is UNKNOWN if INCOMPLETE, else PAUSED if "
    "paused, else RUNNING if servable, else UNKNOWN. A stored value of one of the three is served "
    "as it is.",
    "adjacent operations, section 3.2",
)
ABILITY = public_fact(
    "funding-instruments.able-to-fund",
    "able_to_fund and its reasons follow from the instrument and the clock: DELETED, EXPIRED, "
    "STARTS_IN_FUTURE, PAUSED, BUDGET_EXHAUSTED. Stored values are served as they are.",
    "adjacent operations, section 2",
)
_CREDIT_LINES = frozenset({"CREDIT_LINE", "AGENCY_CREDIT_LINE"})


# -- funding instruments -----------------------------------------------------------------------


def list_funding_reasons(world: World, instrument: Record, *, spending: bool = True) -> list[str]:
    """Return why a funding instrument is not able to fund; empty if it is.

    `spending` looks at what it paid already, too, which takes longer.
    """
    stored: list[str] | None = instrument.get("reasons_not_able_to_fund")
    if stored is not None:
        return stored
    if instrument["deleted"]:
        return ["DELETED"]
    now, start = wire_seconds(world.clock.now()), instrument.get("start_time")
    conditions = {
        "EXPIRED": _is_over(instrument.get("end_time"), now),
        "STARTS_IN_FUTURE": start is not None and start > now,
        "PAUSED": instrument["entity_status"] != "ACTIVE",
    }
    reasons = [reason for reason, holds in conditions.items() if holds]
    if spending and not reasons and is_funding_used_up(world, instrument):
        return ["BUDGET_EXHAUSTED"]
    return reasons


def is_able_to_fund(world: World, instrument: Record, *, spending: bool = True) -> bool:
    """Return whether a funding instrument pays for campaigns now."""
    stored: bool | None = instrument.get("able_to_fund")
    if stored is not None:
        return stored
    return not list_funding_reasons(world, instrument, spending=spending)


def complete_funding_instrument(world: World, record: Record) -> Record:
    """Return a funding instrument as it is served, with what follows from the clock."""
    shown = record | {
        "account_id": record["_account_id"],
        "able_to_fund": is_able_to_fund(world, record),
        "reasons_not_able_to_fund": list_funding_reasons(world, record),
    }
    limit, remaining = record["credit_limit_local_micro"], record["credit_remaining_local_micro"]
    if record["type"] in _CREDIT_LINES and remaining is None and limit is not None:
        spent = find_funding_spend(world, record)
        shown["credit_remaining_local_micro"] = max(0, limit - spent)
    return shown


# -- campaigns ---------------------------------------------------------------------------------


def list_campaign_reasons(world: World, campaign: Record) -> list[str]:
    """Return why a campaign does not serve; empty if it does."""
    stored: list[str] | None = campaign.get("reasons_not_servable")
    if stored is not None:
        return stored
    if campaign["deleted"]:
        return ["DELETED"]
    now = wire_seconds(world.clock.now())
    account = world.store.get("accounts", campaign["_account_id"]) or {}
    status = account.get("approval_status")
    first = _find_first_to_end(world, campaign)
    # All reasons that hold are listed, and none hides another. What was spent is asked for last:
    # it lets the ads of the campaign be shown up to now.
    conditions = {
        "EXPIRED": _has_ended(world, campaign, first, now),
        "STARTS_IN_FUTURE": first is not None and _starts_later(world, campaign, now),
        "PAUSED_BY_ADVERTISER": campaign["entity_status"] != "ACTIVE",
        "INCOMPLETE": first is None or not has_any_creative(world, campaign),
        "FUNDING_PROBLEM": not _is_funded(world, campaign, spending=False),
        "ACCOUNT_UNDER_REVIEW": status == "UNDER_REVIEW",
        "ACCOUNT_REJECTED": status == "REJECTED",
    }
    reasons = [reason for reason, holds in conditions.items() if holds]
    if reasons:
        return reasons
    # What was spent takes longer to find out, and only changes for campaigns that serve.
    if not _is_funded(world, campaign, spending=True):
        return ["FUNDING_PROBLEM"]
    return ["BUDGET_EXHAUSTED"] if is_campaign_budget_used_up(world, campaign) else []


def is_campaign_servable(world: World, campaign: Record) -> bool | None:
    """Return whether a campaign serves now; a stored null is returned as it is."""
    if "servable" in campaign:
        stored: bool | None = campaign["servable"]
        return stored
    return not list_campaign_reasons(world, campaign)


def complete_campaign(world: World, record: Record) -> Record:
    """Return a campaign with the three fields that follow from others."""
    reasons = list_campaign_reasons(world, record)
    servable = record.get("servable", not reasons)
    return record | {
        "effective_status": record.get("effective_status") or _derive_status(servable, reasons),
        "servable": servable,
        "reasons_not_servable": reasons,
    }


def _derive_status(servable: bool | None, reasons: list[str]) -> str:  # noqa: FBT001
    # The order is that of the assumption above: incomplete hides everything else, a pause hides
    # whether it could run, and only what could run is running.
    if "INCOMPLETE" in reasons:
        return "UNKNOWN"
    if "PAUSED_BY_ADVERTISER" in reasons:
        return "PAUSED"
    return "RUNNING" if servable else "UNKNOWN"


def has_ended(world: World, campaign: Record) -> bool:
    """Return whether a campaign has line items, and all of them ended."""
    first = _find_first_to_end(world, campaign)
    return _has_ended(world, campaign, first, wire_seconds(world.clock.now()))


def _find_first_to_end(world: World, campaign: Record) -> Record | None:
    """Return a line item without end, else the first to end; `None` without line items."""
    children, order = match_children(campaign), Order("end_time")
    found = world.store.page("line_items", children, order=order, limit=1)
    return found[0].record if found else None


def _has_ended(world: World, campaign: Record, first: Record | None, now: str) -> bool:
    if first is None or first.get("end_time") is None:
        return False
    # Records without an end sort before all with one, so the first by `end_time` shows whether
    # anything is open-ended, and the last one when everything has ended. Both are one look into an
    # index, however many line items there are.
    order = Order("end_time", descending=True)
    last = world.store.page("line_items", match_children(campaign), order=order, limit=1)
    return _is_over(last[0].record["end_time"], now)


def _starts_later(world: World, campaign: Record, now: str) -> bool:
    order = Order("start_time")
    first = world.store.page("line_items", match_children(campaign), order=order, limit=1)
    start = first[0].record.get("start_time") if first else None
    return start is not None and start > now


def _is_funded(world: World, campaign: Record, *, spending: bool) -> bool:
    instrument = world.store.get("funding_instruments", campaign["funding_instrument_id"])
    return instrument is not None and is_able_to_fund(world, instrument, spending=spending)


def _is_over(end: str | None, now: str) -> bool:
    return end is not None and end <= now


# -- line items --------------------------------------------------------------------------------


def is_line_item_servable(world: World, line_item: Record, campaign: Record | None) -> bool:
    """Return whether a line item serves now: itself, and with its campaign."""
    if campaign is None or line_item["deleted"] or line_item["entity_status"] != "ACTIVE":
        return False
    now, start = wire_seconds(world.clock.now()), line_item.get("start_time")
    if (start is not None and start > now) or _is_over(line_item.get("end_time"), now):
        return False
    return bool(is_campaign_servable(world, campaign))
