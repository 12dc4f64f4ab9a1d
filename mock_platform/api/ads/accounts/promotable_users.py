"""Promotable users: listed, read, and whose posts an account may promote because of them."""

from __future__ import annotations

from mock_platform.api.ads.accounts.records import PromotableUserRecord
from mock_platform.api.ads.filters import IdsFilter
from mock_platform.api.ads.resource import Resource, draw_unused_id, make_timestamps
from mock_platform.core.assumptions import public_fact
from mock_platform.core.operation import Origin
from mock_platform.world.world import World

# Whose posts an account may promote: those of its FULL user, and reposts of those of others.

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


ALL = public_fact(
    "promotable-users.all",
    "The promotable users of an account are listed and read with their type, FULL or REPOSTS_ONLY.",
    "adjacent operations, section 9",
    gap=True,
)

PROMOTABLE_USERS = Resource(
    name="promotable_users",
    table="promotable_users",
    path="/12/accounts/:account_id/promotable_users",
    id_parameter="promotable_user_id",
    schema=PromotableUserRecord,
    noun="promotable user",
    spec="not shown",
    missing="PROMOTABLE_USER_NOT_FOUND",
)

OPERATIONS = (
    PROMOTABLE_USERS.list(
        (IdsFilter("promotable_user_ids"),),
        origin=Origin.ADJACENT,
        assumptions=(ALL, FULL_USER),
    ),
    PROMOTABLE_USERS.get(origin=Origin.ADJACENT, assumptions=(ALL, FULL_USER)),
)
