"""Uploads of the users of custom audiences (document B, "Custom audiences")."""

from __future__ import annotations

from mock_platform.core.ads import Data, ads, fail
from mock_platform.core.ads_batch import as_operations
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Instant, ListOf, Nested, Text
from mock_platform.core.operation import Limit, Location
from mock_platform.core.schema import Schema
from mock_platform.records.audiences import IDENTIFIERS, UserCounts
from mock_platform.rules.audiences import (
    AUDIENCES,
    VISIBLE,
    YOUNG,
    apply_uploads,
    find_audience,
    find_permission,
    resize,
)
from mock_platform.rules.user_batches import (
    ASSUMPTIONS,
    HASH,
    OPERATION_TYPES,
    BatchRules,
)
from mock_platform.store.interface import Record
from mock_platform.world.world import World

MAX_OPERATIONS = 2500

READ_WRITE = settled(
    "custom-audiences.upload-rights",
    "Users are uploaded by the owner or an account with a READ_WRITE permission.",
)
USER_COUNTS = public_fact(
    "custom-audiences.counts-users",
    "success_count and total_count count user records, not operations.",
    "section 7, custom audience users",
)


class User(Schema):
    """One user, by hashed identifiers; only partner_user_id is plain."""

    email = ListOf(Text(pattern=HASH))
    device_id = ListOf(Text(pattern=HASH))
    handle = ListOf(Text(pattern=HASH))
    platform_id = ListOf(Text(pattern=HASH))
    phone_number = ListOf(Text(pattern=HASH))
    partner_user_id = ListOf(Text(min_length=1))


class UserParams(Schema):
    """The `params` of one operation of the batch."""

    users = ListOf(Nested(User), required=True, least=1)
    effective_at = Instant()
    expires_at = Instant()


class UserOperation(Schema):
    """One operation of the batch."""

    operation_type = Choice(OPERATION_TYPES, required=True)
    params = Nested(UserParams, required=True)


class UserBatch(UserOperation):
    """The body: an array of up to 2,500 operations."""

    class Meta:
        """The body is an array of operations."""

        many = True


RULES = BatchRules(IDENTIFIERS, most=MAX_OPERATIONS, effective=True)


def upload_users(call: Call, world: World) -> dict[str, int]:
    """Add users to the audience and remove users from it, all of them or none."""
    uploads = call.params["items"]
    audience = find_audience(call, world, "custom_audience_id", "NOT_FOUND")
    _require_upload_right(call, world, audience)
    grown = apply_uploads(world, audience["id"], uploads)
    world.store.put(AUDIENCES, audience["id"], resize(world, audience, grown))
    count = sum(len(upload.users) for upload in uploads)
    return {"success_count": count, "total_count": count}


def _require_upload_right(call: Call, world: World, audience: Record) -> None:
    account = call.path_params["account_id"]
    if audience["owner_account_id"] == account:
        return
    granted = find_permission(world, audience, account)
    if granted is None or granted["permission_level"] != "READ_WRITE":
        call.assume(READ_WRITE)
        raise fail("ACTION_NOT_ALLOWED", "This account may not change the users of this audience")


OPERATIONS = (
    ads(
        "custom_audiences.users",
        "POST",
        "/12/accounts/:account_id/custom_audiences/:custom_audience_id/users",
        upload_users,
        summary="Upload users of an audience",
        spec="Custom audiences: POST users",
        returns=Data(UserCounts),
        params=UserBatch,
        location=Location.JSON,
        read_body=as_operations,
        rules=RULES.check,
        limits=(Limit("audience uploads", 1500, 60),),
        public_limits=False,
        assumptions=(USER_COUNTS,),
        may_assume=(VISIBLE, READ_WRITE, YOUNG, *ASSUMPTIONS),
        errors=("NOT_FOUND", "ACTION_NOT_ALLOWED"),
        statuses=(404, 413),
    ),
)
