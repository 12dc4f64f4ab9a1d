"""Whether campaigns and line items can serve, and whether funding instruments can fund them.

Nothing of it is stored: it follows from records, their children and the clock. A record that has
one of these fields itself, from fixtures or `/_mock/state`, shows its own value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mock_platform.api.ads.campaigns.spend import (
    find_funding_spend,
    is_campaign_budget_used_up,
    is_funding_used_up,
)
from mock_platform.api.ads.conventions import fail
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.tables.table import AS, RECORDED
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.world import World

CREATIVES = ("promoted_posts", "promoted_accounts", "media_creatives")
"""The tables of what a line item can show."""
_LINE_ITEMS = "line_items"
_READ = (_LINE_ITEMS, *CREATIVES)
_CHUNK = 50


def match_children(campaign: Record) -> dict[str, object]:
    """Return what the line items of a campaign have that are not deleted."""
    return {"campaign_id": campaign["id"], "deleted": False}


def has_creative(world: World, line_item: Record) -> bool:
    """Return whether a line item has anything to show."""
    match = {"line_item_id": line_item["id"], "deleted": False}
    return any(world.store.count(table, match) for table in CREATIVES)


def has_any_creative(world: World, campaign: Record) -> bool:
    """Return whether a line item of a campaign has anything to show."""
    return world.cache(_Findings).look_up(world, campaign)


class _Findings:
    """What was found out about campaigns, so that not all line items are read each time.

    That a campaign has something to show is proved by one line item, which is cheap to check. That
    it has nothing is proved by all of them, so it is remembered until a change refutes it: only
    what was changed since the last question is looked at. Deletions refute nothing.
    """

    def __init__(self) -> None:
        self._versions = (-1,) * len(_READ)
        self._proofs: dict[str, str] = {}
        """A line item that had something to show, by campaign."""
        self._bare: set[str] = set()
        """The campaigns without anything to show."""

    def look_up(self, world: World, campaign: Record) -> bool:
        """Return whether a line item of the campaign has anything to show."""
        self._catch_up(world)
        key = campaign["id"]
        if key in self._bare:
            return False
        proof = world.store.get(_LINE_ITEMS, self._proofs.get(key, ""))
        if proof is not None and proof["campaign_id"] == key and _shows(world, proof):
            return True
        for item in _iterate_line_items(world, campaign):
            if has_creative(world, item):
                self._proofs[key] = item["id"]
                return True
        self._bare.add(key)
        return False

    def _catch_up(self, world: World) -> None:
        """Forget what was refuted since the last question."""
        versions = tuple(world.store.version(table) for table in _READ)
        if versions == self._versions:
            return
        # Each table is asked for, although nothing may be remembered yet: the store lists changes
        # from the first question on.
        for table, since in zip(_READ, self._versions, strict=True):
            changed = world.store.list_changed(table, since)
            if changed is None:
                self._bare.clear()
            for key in changed or ():
                self._refute(world, table, key)
        self._versions = versions

    def _refute(self, world: World, table: str, key: str) -> None:
        record = world.store.get(table, key)
        if record is not None and table != _LINE_ITEMS:
            record = world.store.get(_LINE_ITEMS, record["line_item_id"])
        if record is None or record["campaign_id"] not in self._bare:
            return
        if _shows(world, record):
            self._bare.discard(record["campaign_id"])


def _shows(world: World, line_item: Record) -> bool:
    return not line_item["deleted"] and has_creative(world, line_item)


def _iterate_line_items(world: World, campaign: Record) -> Iterator[Record]:
    """Yield the line items of a campaign that are not deleted; mostly, the first one is enough."""
    match, limit, after = match_children(campaign), 1, None
    while True:
        found = world.store.page(_LINE_ITEMS, match, after=after, limit=limit)
        yield from (entry.record for entry in found)
        if len(found) < limit:
            return
        limit, after = _CHUNK, found[-1].position


# What follows from records, their children and the clock.

CAMPAIGNS_SERVABILITY = public_fact(
    "campaigns.servability",
    "servable, reasons_not_servable and effective_status follow from the campaign, its line items, "
    "their promoted posts, promoted accounts and media creatives, the funding instrument, the "
    "account, spending and the clock. effective_status is UNKNOWN if INCOMPLETE, else PAUSED if "
    "paused, else RUNNING if servable, else UNKNOWN. A stored value of one of the three is served "
    "as it is.",
    "adjacent operations, section 3.2",
)
FUNDING_INSTRUMENTS_ABLE_TO_FUND = public_fact(
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
    derives = remaining is None and record.get(AS) != RECORDED
    if record["type"] in _CREDIT_LINES and derives and limit is not None:
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
    return world.store.first("line_items", children, order=order)


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


# How many campaigns and line items an account may have, if the settings limit them.


def leave_out_drafts(call: Call) -> Callable[[Record], bool] | None:
    """Return the test by which lists leave drafts out, unless the call asks for them."""
    if call.params["with_draft"]:
        return None
    return lambda record: record["entity_status"] != "DRAFT"


def require_room_for_campaign(call: Call, world: World, settings: Settings) -> None:
    """Require that the account may have one more campaign.

    Active and paused campaigns count; drafts, ended and deleted ones do not.

    Raises:
        AdsFailure: TOO_MANY_CAMPAIGNS (400).
    """
    most = settings.campaign_limit
    if most is None:
        return

    def counts(campaign: Record) -> bool:
        return campaign["entity_status"] != "DRAFT" and not has_ended(world, campaign)

    match = {"_account_id": call.path_params["account_id"], "deleted": False}
    if len(world.store.page("campaigns", match, where=counts, limit=most)) >= most:
        text = f"An account may have {most:,} campaigns that have not ended"
        raise fail("TOO_MANY_CAMPAIGNS", text)


def require_room_for_line_item(call: Call, world: World, settings: Settings) -> None:
    """Require that the campaign and the account may have one more line item.

    Of a campaign, all count that are not deleted; of an account, those that are active and have
    not ended.

    Raises:
        AdsFailure: TOO_MANY_LINE_ITEMS (400).
    """
    most = settings.line_items_per_campaign
    match = {"campaign_id": call.params["campaign_id"], "deleted": False}
    if most is not None and world.store.count("line_items", match) >= most:
        raise fail("TOO_MANY_LINE_ITEMS", f"A campaign may have {most:,} line items")
    most = settings.line_item_limit
    if most is None:
        return
    now = wire_seconds(world.clock.now())
    own = {"_account_id": call.path_params["account_id"], "deleted": False}
    active = world.store.page(
        "line_items",
        {**own, "entity_status": "ACTIVE"},
        where=lambda item: item.get("end_time") is None or item["end_time"] > now,
        limit=most,
    )
    if len(active) >= most:
        raise fail("TOO_MANY_LINE_ITEMS", f"An account may have {most:,} active line items")
