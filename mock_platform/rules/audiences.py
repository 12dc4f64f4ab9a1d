"""What audience families share: whose an audience is, and who its users are.

Document B, "Tailored audience permissions", "Custom audiences" and "Do-not-reach lists".
"""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any

from mock_platform.core.ads import fail, not_found
from mock_platform.core.assumptions import expectation, settled
from mock_platform.core.call import Call
from mock_platform.core.resource import apply_changes
from mock_platform.store.interface import Record
from mock_platform.world.world import World

USERS = "audience_users"
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


def add_months(moment: datetime, months: int = DEFAULT_EXPIRY_MONTHS) -> datetime:
    """Return the moment some calendar months later, clipped to the end of its month."""
    index = moment.month - 1 + months
    year, month = moment.year + index // 12, index % 12 + 1
    return moment.replace(
        year=year, month=month, day=min(moment.day, calendar.monthrange(year, month)[1])
    )


# -- whose it is --------------------------------------------------------------------------------


def find_audience(call: Call, world: World, parameter: str, code: str) -> Record:
    """Return the audience in the path, if the account may see it.

    Raises:
        AdsFailure: 404 with `code`.
    """
    key = call.path_params[parameter]
    audience = world.store.get("custom_audiences", key)
    account = call.path_params["account_id"]
    if audience is None or audience["deleted"] or not _may_see(world, audience, account):
        call.assume(VISIBLE)
        raise not_found(code, "audience", parameter, key)
    return audience


def find_permission(world: World, audience: Record, account: str) -> Record | None:
    """Return the permission that an account has on another account's audience, if any."""
    found = world.store.page(
        "audience_permissions",
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


@dataclass(frozen=True, slots=True)
class Upload:
    """One operation of a batch: users to add or to remove. `kind` is its operation_type."""

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


def resize(world: World, record: Record, field: str, grown: int) -> Record:
    """Return the record of an audience or list that grew by `grown` users; not stored yet."""
    size = max(0, (record[field] or 0) + grown)
    small = size < SMALLEST_TARGETABLE_USERS
    others = [reason for reason in record["reasons_not_targetable"] if reason != "TOO_SMALL"]
    reasons = [*others, "TOO_SMALL"] if small else others
    return apply_changes(
        world,
        record,
        {field: size, "targetable": not reasons, "reasons_not_targetable": reasons},
    )


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
