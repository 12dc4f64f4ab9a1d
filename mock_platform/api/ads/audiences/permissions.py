"""Whose an audience is: who sees it, who may target it, and the permissions to use it.

Document B shows the permissions of tailored audiences (version 5), and that those of custom
audiences (version 12) are listed: the same records, with the audience under another key.
"""

from __future__ import annotations

from mock_platform.api.ads.audiences.records import (
    AUDIENCE,
    AUDIENCES,
    PERMISSION_LEVELS,
    PERMISSIONS,
    CustomAudiencePermission,
    TailoredAudiencePermissionRecord,
)
from mock_platform.api.ads.conventions import One, ads, fail, not_found
from mock_platform.api.ads.filters import IdsFilter, OneOfFilter
from mock_platform.api.ads.resource import TIMESTAMPS, Resource, draw_unused_id, make_timestamps
from mock_platform.core.assumptions import Assumption, expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Text
from mock_platform.core.operation import Example, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

OUTSIDE_BUSINESS = "SHARE_AUDIENCE_OUTSIDE_BUSINESS"

OWN_PERMISSIONS = expectation(
    "audiences.permissions-seen",
    "The owner sees all permissions of an audience, a granted account its own.",
)
VISIBLE_TO = expectation(
    "audiences.visible-to",
    "An audience is visible to its owner, to accounts with a permission, and to accounts whose "
    "line items target it already, as READ_ONLY.",
)
GRANTED_TWICE = settled(
    "audiences.granted-twice",
    "Granting an account that has a permission already answers 400; revoke it first.",
)
PERMISSIONS_ARE_ALIKE = public_fact(
    "custom-audiences.permissions-shape",
    "GET permissions has the parameters and the shape of the version 5 permissions, with "
    "custom_audience_id; the spec shows neither.",
    "section 7, custom audiences permissions",
    gap=True,
)
PERMISSIONS_ARE_WRITTEN = public_fact(
    "custom-audiences.permissions-writes",
    "Permissions are granted and revoked under version 12 as under version 5; the spec shows that "
    "for version 5 only.",
    "adjacent operations, section 7.2",
    gap=True,
)


class PermissionGrant(Schema):
    """Parameters of the creation of a permission."""

    granted_account_id = Text(required=True, min_length=1)
    permission_level = Choice(PERMISSION_LEVELS, required=True)


def find_audience(
    call: Call,
    world: World,
    parameter: str,
    code: str,
    *,
    with_deleted: bool = False,
    poll: bool = False,
) -> Record:
    """Return the audience in the path, if the account may see it; `poll` counts as a read.

    Raises:
        AdsFailure: 404 with `code`.
    """
    key = call.path_params[parameter]
    audience = read_audience(world, key, poll=poll)
    account = call.path_params["account_id"]
    seen = audience is not None and (
        may_target(world, audience, account)
        or bool(find_targeting_criteria(world, audience, account))
    )
    if audience is None or not seen or (audience["deleted"] and not with_deleted):
        call.assume(VISIBLE_TO)
        raise not_found(code, "audience", parameter, key)
    return audience


def read_audience(world: World, key: str, *, poll: bool = False) -> Record | None:
    """Return an audience as it is now: its processing has ended if that is due."""
    world.transitions.evaluate(AUDIENCE.name, key, poll=poll)
    return world.store.get(AUDIENCES, key)


def find_permission(world: World, audience: Record, account: str) -> Record | None:
    """Return the permission that an account has on another account's audience, if any."""
    found = world.store.page(
        PERMISSIONS,
        {"_audience_id": audience["id"], "granted_account_id": account, "deleted": False},
        limit=1,
    )
    return found[0].record if found else None


def find_targeting_criteria(world: World, audience: Record, account: str) -> list[Record]:
    """Return the criteria by which an account's line items target an audience."""
    entries = world.store.page(
        "targeting_criteria",
        {"targeting_value": audience["id"], "_account_id": account, "deleted": False},
        where=lambda record: "AUDIENCE" in record["targeting_type"],
    )
    return [entry.record for entry in entries]


def require_owner(call: Call, audience: Record) -> None:
    """Require that the calling account owns the audience, to create or revoke permissions.

    Raises:
        AdsFailure: 403 ACTION_NOT_ALLOWED.
    """
    if audience["owner_account_id"] != call.path_params["account_id"]:
        raise fail("ACTION_NOT_ALLOWED", "Only the account that owns the audience may do this")


def grant_permission(call: Call, world: World, audience: Record) -> Record:
    """Store the permission that the call's parameters describe, and return it.

    Raises:
        AdsFailure: The audience is not the account's, or it may not be shared with the other one.
    """
    require_owner(call, audience)
    granted = world.store.get("accounts", call.params["granted_account_id"])
    owner = call.account
    assert owner is not None
    if granted is None or granted["deleted"]:
        key = call.params["granted_account_id"]
        raise fail("ACCOUNT_NOT_FOUND", f"There is no account {key}", "granted_account_id")
    if granted["id"] == owner["id"]:
        text = "granted_account_id must be another account than the owner"
        raise fail("INVALID_PARAMETER", text, "granted_account_id")
    same = owner["business_id"] is not None and owner["business_id"] == granted["business_id"]
    if not same and OUTSIDE_BUSINESS not in owner["_features"]:
        raise fail(
            "FEATURE_NOT_AVAILABLE",
            "Audiences are shared between accounts of one business, or by an owner with the "
            f"account feature {OUTSIDE_BUSINESS}",
            "granted_account_id",
        )
    if find_permission(world, audience, granted["id"]) is not None:
        call.assume(GRANTED_TWICE)
        text = f"Account {granted['id']} has a permission on this audience already"
        raise fail("INVALID_PARAMETER", text, "granted_account_id")
    record = {
        "id": draw_unused_id(world, PERMISSIONS, 4),
        **call.params,
        **make_timestamps(world),
        "_audience_id": audience["id"],
    }
    world.store.put(PERMISSIONS, record["id"], record)
    return record


def may_target(world: World, audience: Record, account: str) -> bool:
    """Return whether line items of an account may newly target an audience."""
    return (
        audience["owner_account_id"] == account
        or find_permission(world, audience, account) is not None
    )


def _declare_permissions(
    resource: Resource,
    missing_audience: str,
    summary: str,
    *,
    origin: Origin = Origin.DOCUMENT_B,
    list_assumes: tuple[Assumption, ...] = (),
    write_assumes: tuple[Assumption, ...] = (),
    statuses: tuple[int, ...] = (404,),
) -> tuple[Operation, ...]:
    """Return list, grant and revoke of one version.

    `missing_audience` is the code that refuses an audience which the account does not see;
    `origin` is that of grant and revoke.
    """
    parameter = resource.owner_parameter

    def find(call: Call, world: World) -> Record:
        return find_audience(call, world, parameter, missing_audience)

    def limit_list(call: Call, world: World) -> None:
        # The owner sees all permissions, another account its own.
        audience, account = find(call, world), call.path_params["account_id"]
        if audience["owner_account_id"] != account:
            call.assume(OWN_PERMISSIONS)
            call.params["granted_account_ids"] = [account]

    def show(call: Call, world: World, record: Record) -> Record:
        return record | {parameter: record["_audience_id"]}

    def create(call: Call, world: World) -> Record:
        return show(call, world, grant_permission(call, world, find(call, world)))

    def require_owner_to_revoke(call: Call, world: World, record: Record) -> None:
        require_owner(call, find(call, world))

    return (
        resource.list(
            (
                IdsFilter(f"{resource.id_parameter}s"),
                OneOfFilter("granted_account_ids", "granted_account_id", most=200),
            ),
            sort=TIMESTAMPS,
            prepare=limit_list,
            show=show,
            assumptions=list_assumes,
            may_assume=(OWN_PERMISSIONS, VISIBLE_TO),
        ),
        ads(
            f"{resource.name}.create",
            "POST",
            resource.path,
            create,
            summary=summary,
            spec=resource.spec,
            returns=One(resource.schema),
            params=PermissionGrant,
            origin=origin,
            assumptions=write_assumes,
            may_assume=(GRANTED_TWICE, VISIBLE_TO),
            errors=(
                missing_audience,
                "ACCOUNT_NOT_FOUND",
                "ACTION_NOT_ALLOWED",
                "FEATURE_NOT_AVAILABLE",
            ),
            statuses=statuses,
            example=Example(
                query={
                    "granted_account_id": "18ce5b7qk2c",
                    "permission_level": "READ_ONLY",
                }
            ),
        ),
        resource.delete(
            before=require_owner_to_revoke,
            show=show,
            origin=origin,
            assumptions=write_assumes,
            may_assume=(VISIBLE_TO,),
        ),
    )


OPERATIONS = (
    *_declare_permissions(
        Resource(
            name="custom_audiences.permissions",
            table=PERMISSIONS,
            path="/12/accounts/:account_id/custom_audiences/:custom_audience_id/permissions",
            id_parameter="custom_audience_permission_id",
            schema=CustomAudiencePermission,
            noun="custom audience permission",
            spec="Custom audiences: GET permissions",
            owner="_audience_id",
            owner_parameter="custom_audience_id",
        ),
        "NOT_FOUND",
        "Grant another account the use of a custom audience",
        origin=Origin.ADJACENT,
        list_assumes=(PERMISSIONS_ARE_ALIKE,),
        write_assumes=(PERMISSIONS_ARE_WRITTEN,),
        statuses=(403, 404),
    ),
    *_declare_permissions(
        Resource(
            name="tailored_audiences.permissions",
            table=PERMISSIONS,
            path="/5/accounts/:account_id/tailored_audiences/:tailored_audience_id/permissions",
            id_parameter="tailored_audience_permission_id",
            schema=TailoredAudiencePermissionRecord,
            noun="tailored audience permission",
            spec="Tailored audience permissions",
            owner="_audience_id",
            owner_parameter="tailored_audience_id",
        ),
        "TAILORED_AUDIENCE_NOT_FOUND",
        "Grant another account the use of an audience",
    ),
)
