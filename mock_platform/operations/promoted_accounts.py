"""Promoted accounts: users that a line item promotes to win followers: list, read, add, delete."""

from __future__ import annotations

from mock_platform.core.ads import One, ads, fail
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Long, Text
from mock_platform.core.filters import ExactFilter, IdsFilter
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.parents import LINE_ITEM
from mock_platform.core.resource import TIMESTAMPS, Resource
from mock_platform.core.schema import Schema
from mock_platform.records.campaigns import PromotedAccountRecord
from mock_platform.rules.account_history import HISTORY
from mock_platform.rules.line_item_parts import (
    APPROVAL,
    INCOMPATIBLE,
    add_part,
    find_line_item,
    make_approval_kind,
    make_deletion_recorder,
    make_settler,
    require_product,
)
from mock_platform.rules.promotable_users import FULL, FULL_USER, find_promotable_type
from mock_platform.store.interface import Record
from mock_platform.world.world import World

PRODUCT = "PROMOTED_ACCOUNT"

SHAPE = public_fact(
    "promoted-accounts.all",
    "Promoted accounts are listed, read, created and deleted as documented publicly; the spec does "
    "not name them. A user who is promoted already is not promoted again.",
    "adjacent operations, section 5",
    gap=True,
)
ELIGIBLE = expectation(
    "promoted-accounts.eligible",
    "An account can promote its FULL promotable user. Another user answers 400 INVALID_USER, an "
    "unknown one 403 USER_NOT_FOUND.",
)

PROMOTED_ACCOUNTS = Resource(
    name="promoted_accounts",
    table="promoted_accounts",
    path="/12/accounts/:account_id/promoted_accounts",
    id_parameter="promoted_account_id",
    schema=PromotedAccountRecord,
    noun="promoted account",
    spec="Line items",
    missing="PROMOTED_ACCOUNT_NOT_FOUND",
    parent=LINE_ITEM,
)
KIND = make_approval_kind("promoted_account", PROMOTED_ACCOUNTS.table)
KINDS = (KIND,)
_settle = make_settler(KIND.name, PROMOTED_ACCOUNTS)


class PromotedAccountCreate(Schema):
    """Parameters of the creation."""

    line_item_id = Text(required=True, min_length=1)
    user_id = Long(required=True)


def _require_product_of_any(call: Call, world: World) -> None:
    """Require that one of the line items in the filter promotes accounts.

    Raises:
        AdsFailure: INCOMPATIBLE_LINE_ITEM (400).
    """
    wanted = call.params.get("line_item_ids")
    if wanted is None:
        return
    account_id = call.path_params["account_id"]
    found = [world.store.get("line_items", key) or {} for key in wanted]
    mine = [item for item in found if item.get("_account_id") == account_id]
    if not any(item["product_type"] == PRODUCT for item in mine):
        text = f"None of the line items has the product type {PRODUCT}"
        raise fail(INCOMPATIBLE, text, "line_item_ids")


def create(call: Call, world: World) -> Record:
    """Promote a user by a line item; one who is promoted already stays so."""
    line_item = find_line_item(call, world, call.params["line_item_id"])
    require_product(line_item, PRODUCT)
    user_id = str(call.params["user_id"])
    _require_eligible(call, world, user_id)
    match = {"line_item_id": line_item["id"], "user_id": user_id, "deleted": False}
    promoted = world.store.page(PROMOTED_ACCOUNTS.table, match, limit=1)
    if promoted:
        return promoted[0].record
    fields = {"line_item_id": line_item["id"], "user_id": user_id}
    table, kind = PROMOTED_ACCOUNTS.table, KIND.name
    return add_part(call, world, table, fields, entity="PROMOTED_ACCOUNT", approval=kind)


def _require_eligible(call: Call, world: World, user_id: str) -> None:
    account_id = call.path_params["account_id"]
    if find_promotable_type(world, account_id, user_id) == FULL:
        return
    call.assume(ELIGIBLE)
    if world.store.get("users", user_id) is None:
        raise fail("USER_NOT_FOUND", f"No user has the id {user_id}", "user_id")
    text = f"User {user_id} is not the FULL promotable user of account {account_id}"
    raise fail("INVALID_USER", text, "user_id")


OPERATIONS: tuple[Operation, ...] = (
    PROMOTED_ACCOUNTS.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("promoted_account_ids")),
        sort=(*TIMESTAMPS, "paused"),
        prepare=_require_product_of_any,
        show=_settle,
        origin=Origin.ADJACENT,
        assumptions=(SHAPE, APPROVAL),
    ),
    PROMOTED_ACCOUNTS.get(show=_settle, origin=Origin.ADJACENT, assumptions=(SHAPE, APPROVAL)),
    ads(
        "promoted_accounts.create",
        "POST",
        PROMOTED_ACCOUNTS.path,
        create,
        summary="Promote a user by a line item",
        spec=PROMOTED_ACCOUNTS.spec,
        returns=One(PromotedAccountRecord),
        params=PromotedAccountCreate,
        origin=Origin.ADJACENT,
        assumptions=(SHAPE, APPROVAL, FULL_USER),
        may_assume=(ELIGIBLE, HISTORY),
        errors=("LINE_ITEM_NOT_FOUND", "USER_NOT_FOUND", "INVALID_USER", INCOMPATIBLE),
        statuses=(403, 404),
    ),
    PROMOTED_ACCOUNTS.delete(
        before=make_deletion_recorder("PROMOTED_ACCOUNT"),
        origin=Origin.ADJACENT,
        assumptions=(SHAPE,),
        may_assume=(HISTORY,),
    ),
)
