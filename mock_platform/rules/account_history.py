"""Writes an account's history: an entry for each entity that an operation creates or changes."""

from __future__ import annotations

from typing import Any

from mock_platform.core.assumptions import settled
from mock_platform.core.call import Call
from mock_platform.core.envelope import remove_internal_keys
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_seconds
from mock_platform.world.world import World

HISTORY = settled(
    "ads.history-entries",
    "changes maps each changed field to its value before and after; change types beside CREATE are "
    "UPDATE and DELETE; change_by.platform is API_OTHER. The spec shows CREATE only.",
    "B, Account history entry",
)
_UNRECORDED_FIELDS = frozenset({"id", "updated_at"})


def record_change(
    call: Call, world: World, entity: str, before: Record | None, after: Record
) -> None:
    """Record a change of an entity of the call's account; an update without changes is skipped."""
    assert call.account is not None
    assert call.caller.user is not None
    user_id = call.caller.user["id"]
    record_change_of(world, call.account["id"], user_id, entity, before, after)


def record_change_of(
    world: World,
    account_id: str,
    user_id: str,
    entity: str,
    before: Record | None,
    after: Record,
) -> None:
    """Record a change of an entity of an account, which a user made; now or long before."""
    if before is None:
        kind, changes = "CREATE", {}
    else:
        kind = "DELETE" if after.get("deleted") and not before.get("deleted") else "UPDATE"
        changes = _compare(before, after)
        if not changes:
            return
    new = remove_internal_keys(after)
    del new["id"]
    key = world.ids.base36(10)
    entry = {
        "change_by": {"user_id": user_id, "platform": "API_OTHER"},
        "changes": changes,
        "change_time": wire_seconds(world.clock.now()),
        "change_type": kind,
        "entity": entity,
        "entity_id": after["id"],
        "entity_data": new,
        "_id": key,
        "_account_id": account_id,
    }
    world.store.put("account_history", key, entry)


def _compare(before: Record, after: Record) -> dict[str, dict[str, Any]]:
    """Return the values before and after of each field that changed and is recorded."""
    return {
        name: {"before": before.get(name), "after": value}
        for name, value in after.items()
        if name not in _UNRECORDED_FIELDS and before.get(name) != value and name[0] != "_"
    }
