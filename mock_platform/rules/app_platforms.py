"""The platform that a line item targets because of its app."""

from __future__ import annotations

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.rules.targeting import TABLE, Target, add_criterion
from mock_platform.store.interface import Record
from mock_platform.world.world import World

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
