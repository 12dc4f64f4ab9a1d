"""How many campaigns and line items an account may have, if the settings limit them."""

from __future__ import annotations

from collections.abc import Callable

from mock_platform.api.ads.campaigns.servability import has_ended
from mock_platform.api.ads.conventions import fail
from mock_platform.core.call import Call
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World


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
