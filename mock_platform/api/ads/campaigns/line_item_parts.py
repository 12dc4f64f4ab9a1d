"""Parts of a line item, shared by their families: tables, owners, approval, and how one is added.

They have an approval status that is decided by a transition, where people look at them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mock_platform.api.ads.accounts.history import record_change
from mock_platform.api.ads.campaigns.records import ENTITY_STATUSES
from mock_platform.api.ads.conventions import fail, not_found
from mock_platform.api.ads.resource import Resource, draw_unused_id, find_own, make_timestamps
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.fields import Choice, Text
from mock_platform.core.schema import Stamped
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.transitions import Pace, TransitionKind
from mock_platform.world.world import World

ACCEPTED, REJECTED, UNDER_REVIEW = "ACCEPTED", "REJECTED", "UNDER_REVIEW"
APPROVAL_STATUS = public_fact(
    "ads.approval-status",
    "What a line item promotes or shows is ACCEPTED at once, as in all public samples; its "
    "transition can make it UNDER_REVIEW first, or REJECTED.",
    "adjacent operations, section 5",
)
INCOMPATIBLE = "INCOMPATIBLE_LINE_ITEM"
ADDRESS = r"https?://[^\s/]+\S*"
ADDRESS_TEXT = "an address such as https://example.com"


def make_approval_kind(name: str, table: str) -> TransitionKind:
    """Return the transition by which records of a table are approved."""
    states = (ACCEPTED, REJECTED)
    return TransitionKind(name, table, "approval_status", UNDER_REVIEW, states, Pace("immediate"))


def find_line_item(call: Call, world: World, line_item_id: str) -> Record:
    """Return a line item of the account in the path.

    Raises:
        AdsFailure: LINE_ITEM_NOT_FOUND (404): it is unknown, deleted, or of another account.
    """
    found = find_own(call, world, "line_items", line_item_id)
    if found is None:
        raise not_found("LINE_ITEM_NOT_FOUND", "line item", "line_item_id", line_item_id)
    return found


def require_product(line_item: Record, *products: str) -> None:
    """Require that a line item is of one of these product types.

    Raises:
        AdsFailure: INCOMPATIBLE_LINE_ITEM (400).
    """
    if line_item["product_type"] not in products:
        text = (
            f"Line item {line_item['id']} has the product type {line_item['product_type']}; this "
            f"needs {' or '.join(products)}"
        )
        raise fail(INCOMPATIBLE, text, "line_item_id")


def add_part(
    call: Call,
    world: World,
    table: str,
    fields: dict[str, Any],
    *,
    entity: str | None = None,
    approval: str | None = None,
) -> Record:
    """Store a new part of a line item and return it.

    `entity` is its name in the account's history, `approval` the kind of its transition.
    """
    reviewed = {"entity_status": "ACTIVE", "approval_status": UNDER_REVIEW} if approval else {}
    key = draw_unused_id(world, table)
    record: Record = {
        "id": key,
        **fields,
        **reviewed,
        **make_timestamps(world),
        "_account_id": call.path_params["account_id"],
    }
    world.store.put(table, key, record)
    if approval is not None:
        world.transitions.begin(approval, key)
        record = world.store.get(table, key) or record
    if entity is not None:
        record_change(call, world, entity, None, record)
    return record


def make_deletion_recorder(
    entity: str, form: Callable[[Record], Record] = dict
) -> Callable[[Call, World, Record], None]:
    """Return what writes a deletion to the account's history, the record in the form given."""

    def record_deletion(call: Call, world: World, record: Record) -> None:
        shown = form(record)
        record_change(call, world, entity, shown, shown | {"deleted": True})

    return record_deletion


def make_settler(kind: str, resource: Resource) -> Callable[[Call, World, Record], Record]:
    """Return what lets a shown record leave its review if it is due."""

    def settle(call: Call, world: World, record: Record) -> Record:
        if not world.transitions.evaluate(kind, record["id"], poll=True):
            return record
        return world.store.get(resource.table, record["id"]) or record

    return settle


# What line items show and measure: media creatives, tracking tags, calls to action.

TRACKING_TAG_TYPES = ("IMPRESSION_TAG", "CLICK_TRACKER")
CALLS_TO_ACTION = ("GO_TO", "SEE_MORE", "SHOP", "VISIT_SITE", "WATCH_NOW")


class MediaCreativeRecord(Stamped):
    """Account media that a line item shows; `creative_type` is that of the media."""

    id = Text(required=True)
    line_item_id = Text(required=True)
    account_media_id = Text(required=True)
    creative_type = Text(required=True)
    landing_url = Text(load_default=None, allow_none=True)
    entity_status = Choice(ENTITY_STATUSES, load_default="ACTIVE")
    approval_status = Text(load_default="ACCEPTED")
    _account_id = Text(required=True)


class TrackingTagRecord(Stamped):
    """An address of another service that counts a line item's impressions or clicks."""

    id = Text(required=True)
    line_item_id = Text(required=True)
    tracking_tag_type = Choice(TRACKING_TAG_TYPES, required=True)
    tracking_tag_url = Text(required=True)
    _account_id = Text(required=True)


class PrerollCallToActionRecord(Stamped):
    """The button that a preroll shows, and where it leads."""

    id = Text(required=True)
    line_item_id = Text(required=True)
    call_to_action = Choice(CALLS_TO_ACTION, required=True)
    call_to_action_url = Text(required=True)
    _account_id = Text(required=True)


_OF_LINE_ITEM = (Reference("_account_id", "accounts"), Reference("line_item_id", "line_items"))

MEDIA_CREATIVES = Table(
    "media_creatives",
    MediaCreativeRecord,
    references=(*_OF_LINE_ITEM, Reference("account_media_id", "account_media")),
)
TRACKING_TAGS = Table("tracking_tags", TrackingTagRecord, references=_OF_LINE_ITEM)
PREROLL_CALLS_TO_ACTION = Table(
    "preroll_call_to_actions", PrerollCallToActionRecord, references=_OF_LINE_ITEM
)
TABLES = (MEDIA_CREATIVES, TRACKING_TAGS, PREROLL_CALLS_TO_ACTION)
