"""Ad accounts: list, read and update; on the sandbox creation and deletion (document B).

What belongs to an account has modules of its own, named after the path's next segment.
"""

from __future__ import annotations

from collections.abc import Callable

from mock_platform.api.ads.accounts.records import INDUSTRY_TYPES, AccountRecord
from mock_platform.api.ads.accounts.users_and_apps import add_full_user
from mock_platform.api.ads.conventions import CORE_READS, One, ads, find_account
from mock_platform.api.ads.filters import IdsFilter, PrefixFilter
from mock_platform.api.ads.resource import (
    TIMESTAMPS,
    Resource,
    apply_changes,
    draw_unused_id,
    make_timestamps,
    mark_deleted,
)
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Flag, Text
from mock_platform.core.operation import Operation
from mock_platform.core.schema import Schema
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ACCOUNTS_DELETED = settled(
    "accounts.deleted",
    "A deleted account answers 403 ACCOUNT_NOT_FOUND everywhere, a second delete included; "
    "with_deleted shows it in the list and in GET /12/accounts/:account_id.",
)
ACCOUNTS_UPDATE_PARAMETERS = settled(
    "accounts.update-parameters",
    "name and industry_type are both optional; with neither nothing changes. An empty "
    "industry_type unsets it, an empty name is refused.",
)
ACCOUNTS_SANDBOX_DEFAULTS = public_fact(
    "accounts.sandbox-defaults",
    'A new sandbox account is called "Sandbox account", is in America/Los_Angeles, ACCEPTED, with '
    "timezone_switch_at null, no business, no industry type and no features.",
    "section 7, accounts",
)
ACCOUNTS_SANDBOX_OBJECT = settled(
    "accounts.sandbox-object",
    "The creation answers with the account as an object under data, as all single records do.",
)
ACCOUNTS_SANDBOX_USER = settled(
    "accounts.sandbox-user",
    "A new sandbox account is associated with the calling user alone, who is its FULL promotable "
    "user; any associated account may be deleted on the sandbox.",
)

ACCOUNTS = Resource(
    name="accounts",
    path="/12/accounts",
    schema=AccountRecord,
    noun="account",
    spec="Accounts",
    owner=None,
    missing="ACCOUNT_NOT_FOUND",
)


class AccountGet(Schema):
    """Parameters of the read of one account."""

    with_deleted = Flag(load_default=False)


class AccountUpdate(Schema):
    """Parameters of the update of an account."""

    name = Text(min_length=1)
    industry_type = Choice(INDUSTRY_TYPES, allow_none=True)


def _make_owner_filter(call: Call) -> Callable[[Record], bool]:
    """Return a filter for the accounts that are associated with the calling user."""
    assert call.caller.user is not None
    user_id = call.caller.user["id"]
    return lambda account: user_id in account["_users"]


def _require_association(call: Call, world: World) -> None:
    """Require that the user may read the account; a deleted one passes until `get`."""
    call.account = find_account(call, world, call.path_params["account_id"], with_deleted=True)


def get(call: Call, world: World) -> Record:
    """Return one account of the calling user; a deleted one only with `with_deleted`."""
    assert call.account is not None
    if call.account["deleted"]:
        call.assume(ACCOUNTS_DELETED)
    return find_account(call, world, call.account["id"], with_deleted=call.params["with_deleted"])


def create(call: Call, world: World) -> Record:
    """Create an account for the calling user."""
    assert call.caller.user is not None
    record = {
        "id": draw_unused_id(world, ACCOUNTS.table),
        "name": "Sandbox account",
        "business_name": None,
        "business_id": None,
        "timezone": "America/Los_Angeles",
        "timezone_switch_at": None,
        "approval_status": "ACCEPTED",
        "industry_type": None,
        **make_timestamps(world),
        "_users": [call.caller.user["id"]],
        "_features": [],
        "_post_grants": [],
    }
    world.store.put(ACCOUNTS.table, record["id"], record)
    add_full_user(world, record["id"], call.caller.user["id"])
    return record


def update(call: Call, world: World) -> Record:
    """Rename an account, or say what its business is."""
    assert call.account is not None
    if not call.params:
        return call.account
    after = apply_changes(world, call.account, call.params)
    world.store.put(ACCOUNTS.table, after["id"], after)
    return after


def delete(call: Call, world: World) -> Record:
    """Delete an account; its records cannot be reached from then on."""
    assert call.account is not None
    gone = mark_deleted(world, call.account)
    world.store.put(ACCOUNTS.table, gone["id"], gone)
    return gone


_ONE = f"{ACCOUNTS.path}/:account_id"

OPERATIONS: tuple[Operation, ...] = (
    ACCOUNTS.list(
        (IdsFilter("account_ids"), PrefixFilter()),
        sort=(*TIMESTAMPS, "name"),
        where=_make_owner_filter,
        summary="List the accounts of the authenticated user",
    ),
    ads(
        "accounts.get",
        "GET",
        _ONE,
        get,
        summary="Read one account",
        spec=ACCOUNTS.spec,
        returns=One(AccountRecord),
        params=AccountGet,
        scoped=False,
        gates=(_require_association,),
        most_reads=CORE_READS,
        may_assume=(ACCOUNTS_DELETED,),
        errors=("ACCOUNT_NOT_FOUND",),
        statuses=(403,),
    ),
    ads(
        "accounts.create",
        "POST",
        ACCOUNTS.path,
        create,
        summary="Create a sandbox account",
        spec=ACCOUNTS.spec,
        returns=One(AccountRecord),
        sandbox_only=True,
        assumptions=(ACCOUNTS_SANDBOX_DEFAULTS, ACCOUNTS_SANDBOX_OBJECT, ACCOUNTS_SANDBOX_USER),
    ),
    ads(
        "accounts.update",
        "PUT",
        _ONE,
        update,
        summary="Change an account's name or industry type",
        spec=ACCOUNTS.spec,
        returns=One(AccountRecord),
        params=AccountUpdate,
        assumptions=(ACCOUNTS_UPDATE_PARAMETERS,),
    ),
    ads(
        "accounts.delete",
        "DELETE",
        _ONE,
        delete,
        summary="Delete a sandbox account",
        spec=ACCOUNTS.spec,
        returns=One(AccountRecord),
        sandbox_only=True,
        assumptions=(ACCOUNTS_DELETED, ACCOUNTS_SANDBOX_USER),
    ),
)
