"""Promotions that wait for a scheduled post: when it is out, each becomes a promoted post."""

from __future__ import annotations

from mock_platform.core.resource import apply_changes, draw_unused_id, make_timestamps
from mock_platform.rules.account_history import record_change_of
from mock_platform.rules.line_item_parts import UNDER_REVIEW
from mock_platform.store.interface import Record
from mock_platform.world.world import World

TABLE = "scheduled_promoted_posts"
_PROMOTED, _APPROVAL = "promoted_posts", "promoted_post"


def promote_scheduled(world: World, plan: Record, post: Record) -> None:
    """Promote a post that is out by the line items that wait for it."""
    match = {"scheduled_post_id": plan["id"], "deleted": False}
    for entry in world.store.page(TABLE, match):
        waiting = entry.record
        line_item = world.store.get("line_items", waiting["line_item_id"])
        if line_item is None or line_item["deleted"]:
            continue  # nothing can be promoted by it any more
        key = draw_unused_id(world, _PROMOTED)
        promoted = {
            "id": key,
            "line_item_id": waiting["line_item_id"],
            "post_id": post["id_str"],
            "entity_status": "ACTIVE",
            "approval_status": UNDER_REVIEW,
            **make_timestamps(world),
            "_account_id": waiting["_account_id"],
        }
        world.store.put(_PROMOTED, key, promoted)
        world.transitions.begin(_APPROVAL, key)
        promoted = world.store.get(_PROMOTED, key) or promoted
        user_id = plan["_caller_user_id"] or plan["user_id"]
        account_id = waiting["_account_id"]
        record_change_of(world, account_id, user_id, "PROMOTED_POST", None, promoted)
        after = apply_changes(world, waiting, {"post_id": post["id_str"]})
        world.store.put(TABLE, entry.key, after)
