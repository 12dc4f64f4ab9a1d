"""What the calling user may do with an account, and the mobile apps of the account."""

from __future__ import annotations

from typing import Any

from mock_platform.api.ads.conventions import Data, ads
from mock_platform.api.ads.resource import Resource
from mock_platform.api.ads.user_rights import PERMISSIONS, find_permissions
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Flag, ListOf, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.world import World

ACCESS = public_fact(
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


_AUTHENTICATED_USER_ACCESS_OPERATIONS: tuple[Operation, ...] = (
    ads(
        "authenticated_user_access.get",
        "GET",
        "/12/accounts/:account_id/authenticated_user_access",
        get,
        summary="Read what the calling user may do with an account",
        spec="not shown",
        returns=Data(UserAccess),
        origin=Origin.ADJACENT,
        assumptions=(ACCESS,),
    ),
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
    table="account_apps",
    path="/12/accounts/:account_id/account_apps",
    id_parameter="account_app_id",
    schema=AccountAppRecord,
    noun="account app",
    spec="Accounts",
)

TABLES = (
    Table("account_apps", AccountAppRecord, references=(Reference("_account_id", "accounts"),)),
)
_ACCOUNT_APPS_OPERATIONS = (ACCOUNT_APPS.list(),)


OPERATIONS = (*_AUTHENTICATED_USER_ACCESS_OPERATIONS, *_ACCOUNT_APPS_OPERATIONS)
