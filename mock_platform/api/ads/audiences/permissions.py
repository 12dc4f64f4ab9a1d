"""Permissions to use a custom audience, version 12: list, grant, revoke.

Document B shows that they are listed; they are the records of version 5 under another key.
"""

from __future__ import annotations

from mock_platform.api.ads.audiences.membership import (
    OWN_ROWS,
    TWICE,
    VISIBLE,
    find_audience,
    grant_permission,
    require_owner,
    show_own_permissions,
)
from mock_platform.api.ads.audiences.records import PERMISSION_LEVELS, CustomAudiencePermission
from mock_platform.api.ads.conventions import One, ads
from mock_platform.api.ads.filters import IdsFilter, OneOfFilter
from mock_platform.api.ads.resource import TIMESTAMPS, Resource
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.example import Example
from mock_platform.core.fields import Choice, Text
from mock_platform.core.operation import Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

PERMISSIONS_SHAPE = public_fact(
    "custom-audiences.permissions-shape",
    "GET permissions has the parameters and the shape of the version 5 permissions, with "
    "custom_audience_id; the spec shows neither.",
    "section 7, custom audiences permissions",
    gap=True,
)
WRITES = public_fact(
    "custom-audiences.permissions-writes",
    "Permissions are granted and revoked under version 12 as under version 5; the spec shows that "
    "for version 5 only.",
    "adjacent operations, section 7.2",
    gap=True,
)

PERMISSIONS = Resource(
    name="custom_audiences.permissions",
    table="audience_permissions",
    path="/12/accounts/:account_id/custom_audiences/:custom_audience_id/permissions",
    id_parameter="custom_audience_permission_id",
    schema=CustomAudiencePermission,
    noun="custom audience permission",
    spec="Custom audiences: GET permissions",
    owner="_audience_id",
    owner_parameter="custom_audience_id",
)


class PermissionGrant(Schema):
    """Parameters of the creation of a permission."""

    granted_account_id = Text(required=True, min_length=1)
    permission_level = Choice(PERMISSION_LEVELS, required=True)


def _find_audience(call: Call, world: World) -> Record:
    return find_audience(call, world, "custom_audience_id", "NOT_FOUND")


def _limit_list(call: Call, world: World) -> None:
    show_own_permissions(call, _find_audience(call, world))


def _show_record(call: Call, world: World, record: Record) -> Record:
    return record | {"custom_audience_id": record["_audience_id"]}


def create(call: Call, world: World) -> Record:
    """Grant another account the use of an audience."""
    return _show_record(call, world, grant_permission(call, world, _find_audience(call, world)))


def _require_owner_to_revoke(call: Call, world: World, record: Record) -> None:
    require_owner(call, _find_audience(call, world))


OPERATIONS = (
    PERMISSIONS.list(
        (
            IdsFilter("custom_audience_permission_ids"),
            OneOfFilter("granted_account_ids", "granted_account_id", most=200),
        ),
        sort=TIMESTAMPS,
        prepare=_limit_list,
        show=_show_record,
        assumptions=(PERMISSIONS_SHAPE,),
        may_assume=(OWN_ROWS, VISIBLE),
    ),
    ads(
        "custom_audiences.permissions.create",
        "POST",
        PERMISSIONS.path,
        create,
        summary="Grant another account the use of a custom audience",
        spec=PERMISSIONS.spec,
        returns=One(CustomAudiencePermission),
        params=PermissionGrant,
        origin=Origin.ADJACENT,
        assumptions=(WRITES,),
        may_assume=(TWICE, VISIBLE),
        errors=("NOT_FOUND", "ACCOUNT_NOT_FOUND", "ACTION_NOT_ALLOWED", "FEATURE_NOT_AVAILABLE"),
        statuses=(403, 404),
        example=Example(
            query={
                "granted_account_id": "18ce5b7qk2c",
                "permission_level": "READ_ONLY",
            }
        ),
    ),
    PERMISSIONS.delete(
        before=_require_owner_to_revoke,
        show=_show_record,
        origin=Origin.ADJACENT,
        assumptions=(WRITES,),
        may_assume=(VISIBLE,),
    ),
)
