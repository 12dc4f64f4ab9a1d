"""Custom audiences: list, read, create, update, delete, and who targets them.

Document B shows who targets an audience; the audience itself is a public fact.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from mock_platform.api.ads.audiences.permissions import (
    VISIBLE_TO,
    find_audience,
    find_permission,
    find_targeting_criteria,
    read_audience,
    require_owner,
)
from mock_platform.api.ads.audiences.records import (
    AUDIENCE,
    AUDIENCES,
    FLEXIBLE,
    PERMISSIONS,
    PROCESSING,
    READ_ONLY,
    READ_WRITE,
    TOO_SMALL,
    YOUNG_AUDIENCE,
    CustomAudience,
    OwnAudience,
    TargetedEntry,
    WithDeleted,
)
from mock_platform.api.ads.campaigns.servability import is_line_item_servable
from mock_platform.api.ads.conventions import Many, One, ads, fail
from mock_platform.api.ads.filters import PrefixFilter
from mock_platform.api.ads.lists import (
    NEXT_CURSOR,
    TOTAL_COUNT_LIMIT,
    PageOf,
    list_parameters,
    paginate,
)
from mock_platform.api.ads.resource import (
    TIMESTAMPS,
    apply_changes,
    draw_unused_id,
    make_timestamps,
    mark_deleted,
)
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, CommaList, Flag, Text
from mock_platform.core.operation import Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

PATH = "/12/accounts/:account_id/custom_audiences"
BASE = f"{PATH}/:custom_audience_id"
KINDS = (AUDIENCE,)
OWNER, SHARED = "OWNER", "SHARED"

TARGETED_SERVABLE = settled(
    "custom-audiences.targeted-servable",
    "servable is true for an ACTIVE line item that is not deleted, within its times, in a servable "
    "campaign.",
)
TARGETED_DELETED = expectation(
    "custom-audiences.targeted-deleted",
    "Deleting an audience leaves the targeting criteria that name it; its targeted entries can "
    "still be listed.",
)
AUDIENCES_SERVED = public_fact(
    "custom-audiences.all",
    "Custom audiences are listed (permission_scope OWNER or SHARED), read, created, updated and "
    "deleted as documented publicly; the spec shows none of this. The answer to an update has "
    "is_owner as well.",
    "adjacent operations, section 7.1",
    gap=True,
)
UNIQUE_NAME = public_fact(
    "custom-audiences.unique-name",
    "The name of another audience of the account that is not deleted answers 400 "
    "INVALID_PARAMETER.",
    "adjacent operations, section 7.1",
)
AUDIENCE_RIGHTS = expectation(
    "custom-audiences.rights",
    "An audience is deleted by its owner, and updated by its owner or with a READ_WRITE "
    "permission; others who see it get 403 ACTION_NOT_ALLOWED.",
)


class AudienceCreate(Schema):
    """Parameters of the creation."""

    name = Text(required=True, min_length=1)
    description = Text()


class AudienceUpdate(Schema):
    """Parameters of the update; an empty description unsets it."""

    name = Text(min_length=1)
    description = Text(allow_none=True)


def _find_audience(call: Call, world: World, **more: Any) -> Record:
    return find_audience(call, world, "custom_audience_id", "NOT_FOUND", **more)


def _show(world: World, record: Record, account_id: str) -> Record:
    """Return an audience as an account sees it: with the permission level that it has."""
    shown = {name: value for name, value in record.items() if name != "is_owner"}
    if record["owner_account_id"] != account_id:
        granted = find_permission(world, record, account_id)
        shown["permission_level"] = granted["permission_level"] if granted else READ_ONLY
    return shown


# -- the audiences ------------------------------------------------------------------------------


def list_(call: Call, world: World) -> PageOf:
    """Return one page of the audiences that the account owns, or of those it may use."""
    params, account_id = call.params, call.path_params["account_id"]
    match: dict[str, Any] = {} if params["with_deleted"] else {"deleted": False}
    keys: set[str] | None = None
    if params["permission_scope"] == OWNER:
        match["owner_account_id"] = account_id
    else:
        granted = {"granted_account_id": account_id, "deleted": False}
        keys = {e.record["_audience_id"] for e in world.store.page(PERMISSIONS, granted)}
    keys = _intersect(keys, params.get("custom_audience_ids"))
    if "q" in params:
        found = world.store.prefix(AUDIENCES, match, "name", params["q"])
        keys = _intersect(keys, [record["id"] for record in found])
    page = paginate(call, world, AUDIENCES, match, keys=keys)
    records = [read_audience(world, one["id"], poll=True) or one for one in page.records]
    shown = [_show(world, record, account_id) for record in records]
    return PageOf(shown, page.next_cursor, page.total_count)


def _intersect(keys: set[str] | None, wanted: Iterable[str] | None) -> set[str] | None:
    if wanted is None:
        return keys
    return set(wanted) if keys is None else keys.intersection(wanted)


def get(call: Call, world: World) -> Record:
    """Return one audience that the account may see."""
    record = _find_audience(call, world, with_deleted=call.params["with_deleted"], poll=True)
    return _show(world, record, call.path_params["account_id"])


def create(call: Call, world: World) -> Record:
    """Create an audience, which is processed first."""
    account_id = call.path_params["account_id"]
    _require_free_name(call, world, account_id)
    key = draw_unused_id(world, AUDIENCES, 5)
    record: Record = {
        "id": key,
        "name": call.params["name"],
        "description": call.params.get("description"),
        "targetable": False,
        "targetable_types": ["CRM", "EXCLUDED_CRM"],
        "audience_type": "CRM",
        "permission_level": READ_WRITE,
        "owner_account_id": account_id,
        "reasons_not_targetable": [PROCESSING, TOO_SMALL],
        "partner_source": "OTHER",
        "audience_size": None,
        **make_timestamps(world),
        "_size": 0,
    }
    world.store.put(AUDIENCES, key, record)
    world.transitions.begin(AUDIENCE.name, key)
    return world.store.get(AUDIENCES, key) or record


def update(call: Call, world: World) -> Record:
    """Change the name or the description of an audience."""
    account_id = call.path_params["account_id"]
    record = _find_audience(call, world)
    granted = find_permission(world, record, account_id) or {}
    own = record["owner_account_id"] == account_id
    if record["audience_type"] == FLEXIBLE:
        raise fail(
            "INVALID_PARAMETER", "Flexible audiences cannot be changed", "custom_audience_id"
        )
    if not own and granted.get("permission_level") != READ_WRITE:
        call.assume(AUDIENCE_RIGHTS)
        raise fail("ACTION_NOT_ALLOWED", "This account may not change this audience")
    if "name" in call.params:
        _require_free_name(call, world, record["owner_account_id"], but=record["id"])
    if call.params:
        record = apply_changes(world, record, call.params)
        world.store.put(AUDIENCES, record["id"], record)
    return _show(world, record, account_id) | {"is_owner": own}


def delete(call: Call, world: World) -> Record:
    """Delete an audience; the criteria that name it stay."""
    record = _find_audience(call, world)
    require_owner(call, record)
    gone = mark_deleted(world, record)
    world.store.put(AUDIENCES, gone["id"], gone)
    return _show(world, gone, call.path_params["account_id"])


def _require_free_name(call: Call, world: World, owner: str, but: str | None = None) -> None:
    """Require that no other audience of the account has the name of the call.

    Raises:
        AdsFailure: INVALID_PARAMETER (400).
    """
    name = call.params["name"]
    match = {"owner_account_id": owner, "name": name, "deleted": False}
    if any(entry.key != but for entry in world.store.page(AUDIENCES, match)):
        call.assume(UNIQUE_NAME)
        raise fail("INVALID_PARAMETER", f"An audience of this account is called {name!r}", "name")


# -- targeted -----------------------------------------------------------------------------------


def list_targeted(call: Call, world: World) -> PageOf:
    """Return one page of the campaigns whose line items target the audience."""
    account = call.path_params["account_id"]
    audience = _find_audience(call, world, with_deleted=True)
    if audience["deleted"]:
        call.assume(TARGETED_DELETED)
    found: dict[str, dict[str, Record]] = {}
    for criterion in find_targeting_criteria(world, audience, account):
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


_declare = partial(ads, spec="Custom audiences", origin=Origin.ADJACENT)
_declare_write = partial(
    _declare,
    may_assume=(VISIBLE_TO,),
    errors=("NOT_FOUND", "ACTION_NOT_ALLOWED"),
    statuses=(403, 404),
)
UPDATE = _declare_write(
    "custom_audiences.update",
    "PUT",
    BASE,
    update,
    summary="Change a custom audience",
    returns=One(OwnAudience),
    params=AudienceUpdate,
    assumptions=(AUDIENCES_SERVED, UNIQUE_NAME, AUDIENCE_RIGHTS),
)
DELETE = _declare_write(
    "custom_audiences.delete",
    "DELETE",
    BASE,
    delete,
    summary="Delete one custom audience",
    returns=One(CustomAudience),
    assumptions=(AUDIENCES_SERVED, AUDIENCE_RIGHTS),
)

OPERATIONS: tuple[Operation, ...] = (
    _declare(
        "custom_audiences.list",
        "GET",
        PATH,
        list_,
        summary="List custom audiences",
        returns=Many(CustomAudience),
        params=list_parameters(
            "CustomAudiencesList",
            {
                "custom_audience_ids": CommaList(Text(min_length=1), most=200),
                "permission_scope": Choice((OWNER, SHARED), load_default=OWNER),
                "q": PrefixFilter(longest=255).field(),
            },
            sort=(*TIMESTAMPS, "name"),
        ),
        limits=(TOTAL_COUNT_LIMIT,),
        assumptions=(AUDIENCES_SERVED, YOUNG_AUDIENCE, NEXT_CURSOR),
    ),
    _declare(
        "custom_audiences.get",
        "GET",
        BASE,
        get,
        summary="Read one custom audience",
        returns=One(CustomAudience),
        params=WithDeleted,
        assumptions=(AUDIENCES_SERVED, YOUNG_AUDIENCE),
        may_assume=(VISIBLE_TO,),
        errors=("NOT_FOUND",),
        statuses=(404,),
    ),
    _declare(
        "custom_audiences.create",
        "POST",
        PATH,
        create,
        summary="Create a custom audience",
        returns=One(CustomAudience),
        params=AudienceCreate,
        assumptions=(AUDIENCES_SERVED, YOUNG_AUDIENCE, UNIQUE_NAME),
        example=Example(query={"name": "Gift buyers"}),
    ),
    UPDATE,
    DELETE,
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
        assumptions=(TARGETED_SERVABLE, NEXT_CURSOR),
        may_assume=(VISIBLE_TO, TARGETED_DELETED),
        errors=("NOT_FOUND",),
        statuses=(404,),
    ),
)
