"""Which line items a list has: those of campaigns with a funding instrument, and how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mock_platform.core.call import Call
from mock_platform.store.interface import Within
from mock_platform.world.world import World


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
