"""Custom audiences: who targets them, who may use them, and uploads of their users (document B)."""

from __future__ import annotations

from marshmallow import Schema

from mock_platform.core.ads import Data, Many, ads, fail
from mock_platform.core.ads_batch import as_operations
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Flag, Instant, ListOf, Nested, Text
from mock_platform.core.operation import Limit, Location
from mock_platform.core.paging import (
    NEXT_CURSOR,
    TOTAL_COUNT_LIMIT,
    PageOf,
    list_parameters,
    paginate,
)
from mock_platform.core.resource import TIMESTAMPS, IdsFilter, OneOfFilter, Resource
from mock_platform.records.audiences import (
    IDENTIFIERS,
    CustomAudiencePermission,
    TargetedEntry,
    UserCounts,
)
from mock_platform.rules.audiences import (
    OWN_ROWS,
    VISIBLE,
    apply_uploads,
    find_audience,
    find_permission,
    find_targeting_criteria,
    resize,
    show_own_permissions,
)
from mock_platform.rules.servability import is_line_item_servable
from mock_platform.rules.user_batches import (
    ASSUMPTIONS,
    HASH,
    OPERATION_TYPES,
    BatchRules,
)
from mock_platform.store.interface import Record
from mock_platform.world.world import World

BASE = "/12/accounts/:account_id/custom_audiences/:custom_audience_id"
MAX_OPERATIONS = 2500

PERMISSIONS_SHAPE = public_fact(
    "custom-audiences.permissions-shape",
    "GET permissions has the parameters and the shape of the version 5 permissions, with "
    "custom_audience_id; the spec shows neither.",
    "section 7, custom audiences permissions",
    gap=True,
)
TARGETED = settled(
    "custom-audiences.targeted-servable",
    "servable is true for an ACTIVE line item that is not deleted, within its times, in a servable "
    "campaign.",
)
READ_WRITE = settled(
    "custom-audiences.upload-rights",
    "Users are uploaded by the owner or an account with a READ_WRITE permission.",
)
USER_COUNTS = public_fact(
    "custom-audiences.counts-users",
    "success_count and total_count count user records, not operations.",
    "section 7, custom audience users",
)


def _find_audience(call: Call, world: World) -> Record:
    return find_audience(call, world, "custom_audience_id", "NOT_FOUND")


# -- targeted -----------------------------------------------------------------------------------


def list_targeted(call: Call, world: World) -> PageOf:
    """Return one page of the campaigns whose line items target the audience."""
    account = call.path_params["account_id"]
    found: dict[str, dict[str, Record]] = {}
    for criterion in find_targeting_criteria(world, _find_audience(call, world), account):
        line_item = world.store.get("line_items", criterion["line_item_id"])
        if line_item is not None:
            found.setdefault(line_item["campaign_id"], {})[line_item["id"]] = line_item
    entries = {
        key: _make_entry(world, key, list(items.values()), only_servable=call.params["with_active"])
        for key, items in found.items()
    }
    shown = [key for key, entry in entries.items() if entry["line_items"]]
    page = paginate(call, world, "campaigns", {}, keys=shown)
    listed = [entries[campaign["id"]] for campaign in page.records]
    return PageOf(listed, page.next_cursor, page.total_count)


def _make_entry(
    world: World, campaign_id: str, items: list[Record], *, only_servable: bool
) -> Record:
    campaign = world.store.get("campaigns", campaign_id)
    listed = [
        {
            "id": item["id"],
            "name": item["name"],
            "servable": is_line_item_servable(world, item, campaign),
        }
        for item in items
    ]
    return {
        "campaign_id": campaign_id,
        "campaign_name": None if campaign is None else campaign["name"],
        "line_items": [item for item in listed if item["servable"] or not only_servable],
    }


# -- permissions --------------------------------------------------------------------------------


PERMISSIONS = Resource(
    name="custom_audiences.permissions",
    table="audience_permissions",
    path=f"{BASE}/permissions",
    id_parameter="custom_audience_permission_id",
    schema=CustomAudiencePermission,
    noun="custom audience permission",
    spec="Custom audiences: GET permissions",
    owner="_audience_id",
    owner_parameter="custom_audience_id",
)


def _limit_list(call: Call, world: World) -> None:
    show_own_permissions(call, _find_audience(call, world))


def _show_record(call: Call, world: World, record: Record) -> Record:
    return record | {"custom_audience_id": record["_audience_id"]}


# -- users --------------------------------------------------------------------------------------


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
    audience = _find_audience(call, world)
    _require_upload_right(call, world, audience)
    grown = apply_uploads(world, audience["id"], uploads)
    world.store.put(
        "custom_audiences", audience["id"], resize(world, audience, "audience_size", grown)
    )
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
        "custom_audiences.targeted",
        "GET",
        f"{BASE}/targeted",
        list_targeted,
        summary="List the campaigns and line items that target an audience",
        spec="Custom audiences: GET targeted",
        returns=Many(TargetedEntry),
        params=list_parameters(
            "Targeted", {"with_active": Flag(load_default=True)}, with_deleted=False
        ),
        limits=(TOTAL_COUNT_LIMIT,),
        assumptions=(TARGETED, NEXT_CURSOR),
        may_assume=(VISIBLE,),
        errors=("NOT_FOUND",),
        statuses=(404,),
    ),
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
        "custom_audiences.users",
        "POST",
        f"{BASE}/users",
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
        may_assume=(VISIBLE, READ_WRITE, *ASSUMPTIONS),
        errors=("NOT_FOUND", "ACTION_NOT_ALLOWED"),
        statuses=(404, 413),
    ),
)
