"""Promotions that wait for a scheduled post: when it is out, each becomes a promoted post."""

from __future__ import annotations

from mock_platform.core.resource import apply_changes, draw_unused_id, make_timestamps
from mock_platform.store.interface import Record
from mock_platform.world.world import World

TABLE = "scheduled_promoted_posts"
_PROMOTED = "promoted_posts"


def promote_scheduled(world: World, plan: Record, post: Record) -> None:
    """Promote a post that is out by the line items that wait for it."""
    match = {"scheduled_post_id": plan["id"], "deleted": False}
    for entry in world.store.page(TABLE, match):
        waiting = entry.record
        promoted = {
            "id": draw_unused_id(world, _PROMOTED),
            "line_item_id": waiting["line_item_id"],
            "post_id": post["id_str"],
            "entity_status": "ACTIVE",
            "approval_status": "ACCEPTED",
            **make_timestamps(world),
            "_account_id": waiting["_account_id"],
        }
        world.store.put(_PROMOTED, promoted["id"], promoted)
        after = apply_changes(world, waiting, {"post_id": post["id_str"]})
        world.store.put(TABLE, entry.key, after)
