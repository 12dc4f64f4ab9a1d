"""Preroll calls to action: the button of a preroll, and where it leads."""

from __future__ import annotations

from mock_platform.core.ads import One, ads, fail
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Text
from mock_platform.core.filters import ExactFilter, IdsFilter
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.parents import LINE_ITEM
from mock_platform.core.resource import Resource
from mock_platform.core.schema import Schema
from mock_platform.records.line_item_parts import CALLS_TO_ACTION, PrerollCallToActionRecord
from mock_platform.rules.line_item_parts import (
    ADDRESS,
    ADDRESS_TEXT,
    INCOMPATIBLE,
    add_part,
    find_line_item,
    update_part,
)
from mock_platform.store.interface import Record
from mock_platform.world.world import World

OBJECTIVE = "PREROLL_VIEWS"

SHAPE = public_fact(
    "preroll-calls-to-action.all",
    "Preroll calls to action are listed, read, created, updated and deleted as documented "
    "publicly; the spec does not name them. They are for line items with the objective "
    "PREROLL_VIEWS, others answer 400 INCOMPATIBLE_LINE_ITEM.",
    "adjacent operations, section 8.5",
    gap=True,
)

CALLS = Resource(
    name="preroll_call_to_actions",
    table="preroll_call_to_actions",
    path="/12/accounts/:account_id/preroll_call_to_actions",
    id_parameter="preroll_call_to_action_id",
    schema=PrerollCallToActionRecord,
    noun="preroll call to action",
    spec="not shown",
    parent=LINE_ITEM,
)


class PrerollCallToActionUpdate(Schema):
    """Parameters of the update."""

    call_to_action = Choice(CALLS_TO_ACTION)
    call_to_action_url = Text(pattern=ADDRESS, pattern_text=ADDRESS_TEXT)


class PrerollCallToActionCreate(Schema):
    """Parameters of the creation."""

    line_item_id = Text(required=True, min_length=1)
    call_to_action = Choice(CALLS_TO_ACTION, required=True)
    call_to_action_url = Text(required=True, pattern=ADDRESS, pattern_text=ADDRESS_TEXT)


def create(call: Call, world: World) -> Record:
    """Set the call to action of a preroll line item.

    Raises:
        AdsFailure: The line item does not exist, or has another objective.
    """
    line_item = find_line_item(call, world, call.params["line_item_id"])
    if line_item["objective"] != OBJECTIVE:
        text = f"Line item {line_item['id']} has the objective {line_item['objective']}; "
        raise fail(INCOMPATIBLE, f"{text}this needs {OBJECTIVE}", "line_item_id")
    return add_part(call, world, CALLS.table, call.params)


def update(call: Call, world: World) -> Record:
    """Change the call to action of a preroll line item."""
    return update_part(call, world, CALLS)


OPERATIONS: tuple[Operation, ...] = (
    CALLS.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("preroll_call_to_action_ids")),
        origin=Origin.ADJACENT,
        assumptions=(SHAPE,),
    ),
    CALLS.get(origin=Origin.ADJACENT, assumptions=(SHAPE,)),
    ads(
        "preroll_call_to_actions.create",
        "POST",
        CALLS.path,
        create,
        summary="Set the call to action of a preroll line item",
        spec=CALLS.spec,
        returns=One(PrerollCallToActionRecord),
        params=PrerollCallToActionCreate,
        origin=Origin.ADJACENT,
        assumptions=(SHAPE,),
        errors=("LINE_ITEM_NOT_FOUND", INCOMPATIBLE),
        statuses=(404,),
    ),
    ads(
        "preroll_call_to_actions.update",
        "PUT",
        f"{CALLS.path}/:{CALLS.id_parameter}",
        update,
        summary="Change the call to action of a preroll line item",
        spec=CALLS.spec,
        returns=One(PrerollCallToActionRecord),
        params=PrerollCallToActionUpdate,
        origin=Origin.ADJACENT,
        assumptions=(SHAPE,),
        errors=("NOT_FOUND",),
        statuses=(404,),
    ),
    CALLS.delete(origin=Origin.ADJACENT, assumptions=(SHAPE,)),
)
