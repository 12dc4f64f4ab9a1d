"""What a user of an account may do with it: permissions, and the gate for campaigns."""

from __future__ import annotations

from collections.abc import Sequence

from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

COMPOSER = "POST_COMPOSER"
PERMISSIONS = (
    "ACCOUNT_ADMIN",
    "AD_MANAGER",
    "CREATIVE_MANAGER",
    "CAMPAIGN_ANALYST",
    "ANALYST",
    "PARTNER_AUDIENCE_MANAGER",
    COMPOSER,
)
MAY_COMPOSE = frozenset(PERMISSIONS[:3])
"""The permissions beside which POST_COMPOSER may be."""
USER_RIGHTS = public_fact(
    "ads.user-rights",
    "What belongs to campaigns is changed by ACCOUNT_ADMIN and AD_MANAGER alone, and read by "
    "CREATIVE_MANAGER and CAMPAIGN_ANALYST too; others get 403 ACTION_NOT_ALLOWED. A user without "
    "an entry in the account's _user_access is ACCOUNT_ADMIN.",
    "adjacent operations, sections 1 and 9",
)
_DEFAULT = ("ACCOUNT_ADMIN", COMPOSER)
_WRITERS = frozenset({"ACCOUNT_ADMIN", "AD_MANAGER"})
_READERS = _WRITERS | {"CREATIVE_MANAGER", "CAMPAIGN_ANALYST"}


def find_permissions(account: Record, user_id: str) -> Sequence[str]:
    """Return the permissions of a user of an account."""
    for entry in account.get("_user_access", ()):
        if entry["user_id"] == user_id:
            return tuple(entry["permissions"])
    return _DEFAULT


def may_use_campaigns(call: Call, world: World) -> None:
    """Check, as a gate, that the user has the right to read, or to change, campaigns.

    Raises:
        AdsFailure: ACTION_NOT_ALLOWED (403).
    """
    assert call.account is not None
    assert call.caller.user is not None
    reads = call.method in {"GET", "HEAD"}
    permissions = find_permissions(call.account, call.caller.user["id"])
    if (_READERS if reads else _WRITERS).isdisjoint(permissions):
        call.assume(USER_RIGHTS)
        what = "read" if reads else "change"
        text = f"A user with the permissions {', '.join(permissions)} may not {what} campaigns"
        raise AdsFailure(AdsError("ACTION_NOT_ALLOWED", text))
