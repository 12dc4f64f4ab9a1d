"""Tracking tags: addresses of other services that count what a line item does."""

from __future__ import annotations

from mock_platform.core.ads import One, ads
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Text
from mock_platform.core.filters import ExactFilter, IdsFilter
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.parents import LINE_ITEM
from mock_platform.core.resource import Resource
from mock_platform.core.schema import Schema
from mock_platform.records.line_item_parts import TRACKING_TAG_TYPES, TrackingTagRecord
from mock_platform.rules.line_item_parts import (
    ADDRESS,
    ADDRESS_TEXT,
    add_part,
    find_line_item,
    update_part,
)
from mock_platform.store.interface import Record
from mock_platform.world.world import World

SHAPE = public_fact(
    "tracking-tags.all",
    "Tracking tags are listed, read, created, updated (their address) and deleted as documented "
    "publicly; the spec does not name them. The sandbox calls no address.",
    "adjacent operations, section 8.5",
    gap=True,
)

TAGS = Resource(
    name="tracking_tags",
    table="tracking_tags",
    path="/12/accounts/:account_id/tracking_tags",
    id_parameter="tracking_tag_id",
    schema=TrackingTagRecord,
    noun="tracking tag",
    spec="not shown",
    parent=LINE_ITEM,
)


class TrackingTagUpdate(Schema):
    """Parameters of the update."""

    tracking_tag_url = Text(pattern=ADDRESS, pattern_text=ADDRESS_TEXT)


class TrackingTagCreate(Schema):
    """Parameters of the creation."""

    line_item_id = Text(required=True, min_length=1)
    tracking_tag_type = Choice(TRACKING_TAG_TYPES, required=True)
    tracking_tag_url = Text(required=True, pattern=ADDRESS, pattern_text=ADDRESS_TEXT)


def create(call: Call, world: World) -> Record:
    """Add a tracking tag to a line item."""
    find_line_item(call, world, call.params["line_item_id"])
    return add_part(call, world, TAGS.table, call.params)


def update(call: Call, world: World) -> Record:
    """Change the address of a tracking tag."""
    return update_part(call, world, TAGS)


OPERATIONS: tuple[Operation, ...] = (
    TAGS.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("tracking_tag_ids")),
        origin=Origin.ADJACENT,
        assumptions=(SHAPE,),
    ),
    TAGS.get(origin=Origin.ADJACENT, assumptions=(SHAPE,)),
    ads(
        "tracking_tags.create",
        "POST",
        TAGS.path,
        create,
        summary="Add a tracking tag to a line item",
        spec=TAGS.spec,
        returns=One(TrackingTagRecord),
        params=TrackingTagCreate,
        origin=Origin.ADJACENT,
        assumptions=(SHAPE,),
        errors=("LINE_ITEM_NOT_FOUND",),
        statuses=(404,),
    ),
    ads(
        "tracking_tags.update",
        "PUT",
        f"{TAGS.path}/:{TAGS.id_parameter}",
        update,
        summary="Change the address of a tracking tag",
        spec=TAGS.spec,
        returns=One(TrackingTagRecord),
        params=TrackingTagUpdate,
        origin=Origin.ADJACENT,
        assumptions=(SHAPE,),
        errors=("NOT_FOUND",),
        statuses=(404,),
    ),
    TAGS.delete(origin=Origin.ADJACENT, assumptions=(SHAPE,)),
)
