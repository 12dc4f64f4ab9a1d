"""Tailored audience permissions, version 5: list, grant, revoke (document B)."""

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
from mock_platform.api.ads.audiences.records import (
    PERMISSION_LEVELS,
    TailoredAudiencePermissionRecord,
)
from mock_platform.api.ads.conventions import One, ads
from mock_platform.api.ads.filters import IdsFilter, OneOfFilter
from mock_platform.api.ads.resource import TIMESTAMPS, Resource
from mock_platform.core.call import Call
from mock_platform.core.example import Example
from mock_platform.core.fields import Choice, Text
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World


class Grant(Schema):
    """Parameters of the creation of a permission."""

    granted_account_id = Text(required=True, min_length=1)
    permission_level = Choice(PERMISSION_LEVELS, required=True)


PERMISSIONS = Resource(
    name="tailored_audiences.permissions",
    table="audience_permissions",
    path="/5/accounts/:account_id/tailored_audiences/:tailored_audience_id/permissions",
    id_parameter="tailored_audience_permission_id",
    schema=TailoredAudiencePermissionRecord,
    noun="tailored audience permission",
    spec="Tailored audience permissions",
    owner="_audience_id",
    owner_parameter="tailored_audience_id",
)


def _find_audience(call: Call, world: World) -> Record:
    return find_audience(call, world, "tailored_audience_id", "TAILORED_AUDIENCE_NOT_FOUND")


def _limit_list(call: Call, world: World) -> None:
    show_own_permissions(call, _find_audience(call, world))


def _show_record(call: Call, world: World, record: Record) -> Record:
    return record | {"tailored_audience_id": record["_audience_id"]}


def create(call: Call, world: World) -> Record:
    """Grant another account the use of an audience."""
    return _show_record(call, world, grant_permission(call, world, _find_audience(call, world)))


def _require_owner_to_revoke(call: Call, world: World, record: Record) -> None:
    require_owner(call, _find_audience(call, world))


OPERATIONS = (
    PERMISSIONS.list(
        (
            IdsFilter("tailored_audience_permission_ids"),
            OneOfFilter("granted_account_ids", "granted_account_id", most=200),
        ),
        sort=TIMESTAMPS,
        prepare=_limit_list,
        show=_show_record,
        may_assume=(OWN_ROWS, VISIBLE),
    ),
    ads(
        "tailored_audiences.permissions.create",
        "POST",
        PERMISSIONS.path,
        create,
        summary="Grant another account the use of an audience",
        spec=PERMISSIONS.spec,
        returns=One(TailoredAudiencePermissionRecord),
        params=Grant,
        may_assume=(TWICE, VISIBLE),
        errors=(
            "TAILORED_AUDIENCE_NOT_FOUND",
            "ACCOUNT_NOT_FOUND",
            "ACTION_NOT_ALLOWED",
            "FEATURE_NOT_AVAILABLE",
        ),
        statuses=(404,),
        example=Example(
            query={
                "granted_account_id": "18ce5b7qk2c",
                "permission_level": "READ_ONLY",
            }
        ),
    ),
    PERMISSIONS.delete(before=_require_owner_to_revoke, show=_show_record, may_assume=(VISIBLE,)),
)
