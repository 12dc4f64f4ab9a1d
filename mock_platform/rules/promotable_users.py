"""Whose posts an account may promote: those of its FULL user, and reposts of those of others."""

from __future__ import annotations

from mock_platform.core.assumptions import public_fact
from mock_platform.core.resource import draw_unused_id, make_timestamps
from mock_platform.world.world import World

FULL, REPOSTS_ONLY = "FULL", "REPOSTS_ONLY"
_TABLE = "promotable_users"

FULL_USER = public_fact(
    "ads.full-promotable-user",
    "Exactly one promotable user of an account is FULL. Where the records have none, it is the "
    "first user of the account.",
    "adjacent operations, section 9",
)


def find_full_user(world: World, account_id: str) -> str | None:
    """Return the id of the user for whom an account advertises."""
    match = {"_account_id": account_id, "promotable_user_type": FULL, "deleted": False}
    found = world.store.page(_TABLE, match, limit=1)
    if found:
        return str(found[0].record["user_id"])
    account = world.store.get("accounts", account_id) or {}
    return next(iter(account.get("_users", ())), None)


def find_promotable_type(world: World, account_id: str, user_id: str) -> str | None:
    """Return FULL or REPOSTS_ONLY; `None` if the account may promote nothing of the user."""
    if user_id == find_full_user(world, account_id):
        return FULL
    match = {"_account_id": account_id, "user_id": user_id, "deleted": False}
    found = world.store.page(_TABLE, match, limit=1)
    return None if not found else str(found[0].record["promotable_user_type"])


def add_full_user(world: World, account_id: str, user_id: str) -> None:
    """Store the FULL promotable user of a new account."""
    record = {
        "id": draw_unused_id(world, _TABLE, 4),
        "user_id": user_id,
        "promotable_user_type": FULL,
        **make_timestamps(world),
        "_account_id": account_id,
    }
    world.store.put(_TABLE, record["id"], record)
