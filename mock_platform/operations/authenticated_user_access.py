"""What the calling user may do with an account."""

from __future__ import annotations

from typing import Any

from mock_platform.core.ads import Data, ads
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, ListOf, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.user_rights import PERMISSIONS, find_permissions
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


OPERATIONS: tuple[Operation, ...] = (
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
