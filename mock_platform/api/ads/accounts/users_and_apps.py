"""Users of an account, whose posts it may promote because of them, and its mobile apps."""

from __future__ import annotations

from typing import Any

from mock_platform.api.ads.accounts.records import PERMISSIONS, PromotableUserRecord
from mock_platform.api.ads.conventions import Data, ads, find_permissions
from mock_platform.api.ads.filters import IdsFilter
from mock_platform.api.ads.resource import Resource, draw_unused_id, make_timestamps
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Flag, ListOf, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.world import World

USER_ACCESS_ALL = public_fact(
    "user-access.all",
    "The permissions of the calling user: ACCOUNT_ADMIN with POST_COMPOSER, unless the account's "
    "_user_access has an entry for the user.",
    "adjacent operations, section 9",
    gap=True,
)


class UserAccess(Schema):
    """The calling user and their permissions."""

    user_id = Text(required=True)
    permissions = ListOf(Choice(PERMISSIONS), required=True)


def get(call: Call, world: World) -> dict[str, Any]:
    """Return the permissions of the calling user."""
    assert call.account is not None
    assert call.caller.user is not None
    user_id = call.caller.user["id"]
    return {"user_id": user_id, "permissions": list(find_permissions(call.account, user_id))}


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


PROMOTABLE_USERS_ALL = public_fact(
    "promotable-users.all",
    "The promotable users of an account are listed and read with their type, FULL or REPOSTS_ONLY.",
    "adjacent operations, section 9",
    gap=True,
)

PROMOTABLE_USERS = Resource(
    name="promotable_users",
    path="/12/accounts/:account_id/promotable_users",
    schema=PromotableUserRecord,
    noun="promotable user",
    spec="not shown",
    missing="PROMOTABLE_USER_NOT_FOUND",
    origin=Origin.ADJACENT,
    assumptions=(PROMOTABLE_USERS_ALL, FULL_USER),
)


# The mobile apps of an account (document B, "Accounts" and "Account app").


class AccountAppRecord(Stamped):
    """A mobile app that an account promotes. `app_store_identifier` is the store's own id."""

    id = Text(required=True)
    app_store_identifier = Text(required=True)
    conversion_tracking_enabled = Flag(load_default=False)
    deep_link_pattern = Text(load_default=None, allow_none=True)
    os_type = Text(required=True)
    _account_id = Text(required=True)


ACCOUNT_APPS = Resource(
    name="account_apps",
    path="/12/accounts/:account_id/account_apps",
    schema=AccountAppRecord,
    noun="account app",
    spec="Accounts",
)

TABLES = (
    Table("account_apps", AccountAppRecord, references=(Reference("_account_id", "accounts"),)),
)
OPERATIONS: tuple[Operation, ...] = (
    PROMOTABLE_USERS.list((IdsFilter("promotable_user_ids"),)),
    PROMOTABLE_USERS.get(),
    ads(
        "authenticated_user_access.get",
        "GET",
        "/12/accounts/:account_id/authenticated_user_access",
        get,
        summary="Read what the calling user may do with an account",
        spec="not shown",
        returns=Data(UserAccess),
        origin=Origin.ADJACENT,
        assumptions=(USER_ACCESS_ALL,),
    ),
    ACCOUNT_APPS.list(),
)
