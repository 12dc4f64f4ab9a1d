"""What audience families share: whose an audience is, and who its users are.

Document B, "Tailored audience permissions", "Custom audiences" and "Do-not-reach lists".
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

from msgspec import Struct, field

from mock_platform.api.ads.conventions import fail, not_found
from mock_platform.api.ads.resource import apply_changes, draw_unused_id, make_timestamps
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.call import Call
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

AUDIENCES = "custom_audiences"
PERMISSIONS = "audience_permissions"
USERS = "audience_users"
PROCESSING = "PROCESSING"
PROCESSED = "PROCESSED"
TOO_SMALL = "TOO_SMALL"
OUTSIDE_BUSINESS = "SHARE_AUDIENCE_OUTSIDE_BUSINESS"
SMALLEST_TARGETABLE_USERS = 100
DEFAULT_EXPIRY_MONTHS = 13

IDENTITY = expectation(
    "audiences.user-identity",
    "A user is identified by the set of its identifiers: the same set replaces it, Delete removes "
    "every user that shares an identifier. Identifiers are compared without case.",
)
SIZE = expectation(
    "audiences.size-follows-uploads",
    "Audiences and lists grow and shrink with the uploaded users; fewer than 100 are TOO_SMALL to "
    "target.",
)
THIRTEEN_MONTHS = settled(
    "audiences.thirteen-months",
    "13 months are calendar months; a day that the month lacks is its last.",
)
OWN_ROWS = expectation(
    "audiences.permissions-seen",
    "The owner sees all permissions of an audience, a granted account its own.",
)
VISIBLE = expectation(
    "audiences.visible-to",
    "An audience is visible to its owner, to accounts with a permission, and to accounts whose "
    "line items target it already.",
)


TWICE = settled(
    "audiences.granted-twice",
    "Granting an account that has a permission already answers 400; revoke it first.",
)
YOUNG = public_fact(
    "custom-audiences.young",
    "A new audience is PROCESSING and TOO_SMALL, its size not shown, until its transition of kind "
    "audience, by default an hour after its creation. Uploads are taken all the time.",
    "adjacent operations, section 7.1",
)


def add_months(moment: datetime, months: int = DEFAULT_EXPIRY_MONTHS) -> datetime:
    """Return the moment some calendar months later, clipped to the end of its month."""
    # Months are counted from zero, so that the division yields the years; the day is clipped last,
    # because only then is it known which month it is in.
    index = moment.month - 1 + months
    year, month = moment.year + index // 12, index % 12 + 1
    return moment.replace(
        year=year, month=month, day=min(moment.day, calendar.monthrange(year, month)[1])
    )


# -- whose it is --------------------------------------------------------------------------------


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
    if (
        audience is None
        or (audience["deleted"] and not with_deleted)
        or not _may_see(world, audience, account)
    ):
        call.assume(VISIBLE)
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
        call.assume(TWICE)
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


def show_own_permissions(call: Call, audience: Record) -> None:
    """Limit the call's list to the account's own permissions, unless it owns the audience."""
    account = call.path_params["account_id"]
    if audience["owner_account_id"] != account:
        call.assume(OWN_ROWS)
        call.params["granted_account_ids"] = [account]


def may_target(world: World, audience: Record, account: str) -> bool:
    """Return whether line items of an account may newly target an audience."""
    return (
        audience["owner_account_id"] == account
        or find_permission(world, audience, account) is not None
    )


def _may_see(world: World, audience: Record, account: str) -> bool:
    return may_target(world, audience, account) or bool(
        find_targeting_criteria(world, audience, account)
    )


# -- who is in it -------------------------------------------------------------------------------

Identifiers = Mapping[str, Sequence[str]]
Holders = dict[tuple[str, str], set[str]]
"""Which users have an identifier: kind and value, to keys of users."""


class Upload(Struct, frozen=True):
    """One operation of a batch: users to add or to remove.

    `kind` is its operation_type as it was sent; an unknown one is refused before it is applied.
    """

    kind: str | None
    users: Sequence[Identifiers]
    effective_at: str | None
    expires_at: str | None
    times: Mapping[str, str] = field(default_factory=dict)
    """`effective_at` and `expires_at` in wire form, where the client sent them."""

    @property
    def delete(self) -> bool:
        """Whether users are removed."""
        return self.kind == "Delete"

    def describe(self, path_params: Mapping[str, str]) -> dict[str, Any]:
        """Return the operation as `request` echoes it: what could be read, without users."""
        kind = {} if self.kind is None else {"operation_type": self.kind}
        return {"params": {**self.times, **path_params}, **kind}


def apply_uploads(world: World, audience_id: str, uploads: Iterable[Upload]) -> int:
    """Add and remove users; return by how many the audience grew (negative if it shrank)."""
    grown = 0
    holders: Holders | None = None  # read at the first Delete, and kept up to date from then on
    for upload in uploads:
        if not upload.delete:
            grown += _put_users(world, audience_id, upload, holders)
            continue
        if holders is None:
            holders = _read_holders(world, audience_id)
        for user in upload.users:
            hit = {key for pair in _list_identifiers(user) for key in holders.get(pair, ())}
            grown -= sum(_remove_user(world, key, holders) for key in hit)
    return grown


def resize(world: World, audience: Record, grown: int) -> Record:
    """Return an audience that grew by `grown` users; not stored yet."""
    size = max(0, _read_size(audience) + grown)
    processing = PROCESSING in audience["reasons_not_targetable"]
    changes = _make_size_fields(audience, size, processing=processing)
    return apply_changes(world, audience, changes)


def _read_size(audience: Mapping[str, Any]) -> int:
    """Return how many users an audience has, even if it does not show its size."""
    hidden: int | None = audience.get("_size")
    return audience["audience_size"] or 0 if hidden is None else hidden


def _make_size_fields(
    audience: Mapping[str, Any], size: int, *, processing: bool
) -> dict[str, Any]:
    """Return the fields of an audience that follow from its size."""
    own = [PROCESSING, TOO_SMALL] if processing else []
    if not processing and size < SMALLEST_TARGETABLE_USERS:
        own = [TOO_SMALL]
    others = [r for r in audience["reasons_not_targetable"] if r not in {PROCESSING, TOO_SMALL}]
    return {
        "targetable": not (own or others),
        "reasons_not_targetable": [*others, *own],
        "audience_size": None if processing else size,
        "_size": size if processing else None,
    }


AUDIENCE = TransitionKind(
    "audience",
    AUDIENCES,
    "reasons_not_targetable",
    PROCESSING,
    (PROCESSED,),
    Pace("time", seconds=3600),
    also=lambda record, to: _make_size_fields(
        record, _read_size(record), processing=to == PROCESSING
    ),
    read=lambda record: (
        PROCESSING if PROCESSING in record.get("reasons_not_targetable", ()) else PROCESSED
    ),
    since="created_at",
)
"""How a new audience gets its size."""


def _put_users(world: World, audience_id: str, upload: Upload, holders: Holders | None) -> int:
    new = 0
    for user in upload.users:
        key = f"{audience_id}-{_derive_identity(user)}"
        new += world.store.get(USERS, key) is None
        record = {
            "_id": key,
            "_audience_id": audience_id,
            "identifiers": user,
            "effective_at": upload.effective_at,
            "expires_at": upload.expires_at,
        }
        world.store.put(USERS, key, record)
        if holders is not None:
            _add_holder(holders, key, user)
    return new


def _remove_user(world: World, key: str, holders: Holders) -> bool:
    gone = world.store.remove(USERS, key)
    if gone is None:
        return False
    for pair in _list_identifiers(gone["identifiers"]):
        holders[pair].discard(key)
    return True


def _add_holder(holders: Holders, key: str, user: Identifiers) -> None:
    for pair in _list_identifiers(user):
        holders.setdefault(pair, set()).add(key)


def _derive_identity(user: Identifiers) -> str:
    """Return the user's only identifier, or a digest of all of them."""
    pairs = _list_identifiers(user)
    if len(pairs) == 1:
        return f"{pairs[0][0]}-{pairs[0][1]}"
    return blake2b(repr(sorted(pairs)).encode(), digest_size=16).hexdigest()


def _read_holders(world: World, audience_id: str) -> Holders:
    found: Holders = {}
    for entry in world.store.page(USERS, {"_audience_id": audience_id}):
        _add_holder(found, entry.key, entry.record["identifiers"])
    return found


def _list_identifiers(user: Identifiers) -> list[tuple[str, str]]:
    return [
        (kind, value if kind == "partner_user_id" else value.lower())
        for kind, values in user.items()
        for value in values
    ]
