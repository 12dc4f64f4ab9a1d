"""Media creatives: the account media that line items show: list, read, create, delete.

Document B, "Endpoints not shown".
"""

from __future__ import annotations

from mock_platform.core.ads import One, ads, not_found
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import missing
from mock_platform.core.fields import Text
from mock_platform.core.filters import ExactFilter, IdsFilter
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.parents import LINE_ITEM
from mock_platform.core.resource import Resource
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.records.line_item_parts import MediaCreativeRecord
from mock_platform.rules.line_item_parts import (
    ADDRESS,
    ADDRESS_TEXT,
    APPROVAL,
    INCOMPATIBLE,
    add_part,
    find_line_item,
    make_approval_kind,
    make_settler,
    require_product,
)
from mock_platform.store.interface import Record
from mock_platform.world.world import World

PREROLLS = ("PREROLL", "VAST_PREROLL")

SHAPE = public_fact(
    "media-creatives.all",
    "Media creatives are listed, read, created and deleted as documented publicly; the spec only "
    "names them. The line item has the product type MEDIA, else 400 INCOMPATIBLE_LINE_ITEM.",
    "adjacent operations, section 8.1",
    gap=True,
)
LANDING = public_fact(
    "media-creatives.landing-url",
    "landing_url is for display images: without effect for a preroll, required where the objective "
    "is WEBSITE_CLICKS.",
    "adjacent operations, section 8.1",
)

CREATIVES = Resource(
    name="media_creatives",
    table="media_creatives",
    path="/12/accounts/:account_id/media_creatives",
    id_parameter="media_creative_id",
    schema=MediaCreativeRecord,
    noun="media creative",
    spec="Endpoints not shown",
    missing="MEDIA_CREATIVE_NOT_FOUND",
    parent=LINE_ITEM,
)
KIND = make_approval_kind("media_creative", CREATIVES.table)
KINDS = (KIND,)
_settle = make_settler(KIND.name, CREATIVES)


class MediaCreativeCreate(Schema):
    """Parameters of the creation."""

    line_item_id = Text(required=True, min_length=1)
    account_media_id = Text(required=True, min_length=1)
    landing_url = Text(pattern=ADDRESS, pattern_text=ADDRESS_TEXT)


def _apply_campaign(call: Call, world: World) -> None:
    """Restrict the list to the line items of `campaign_id`."""
    campaign_id = call.params.get("campaign_id")
    if campaign_id is None:
        return
    found = [entry.key for entry in world.store.page("line_items", {"campaign_id": campaign_id})]
    wanted = call.params.get("line_item_ids")
    call.params["line_item_ids"] = [key for key in found if wanted is None or key in wanted]


def create(call: Call, world: World) -> Record:
    """Let a line item show account media.

    Raises:
        AdsFailure: The line item or the media does not fit, or landing_url is missing.
    """
    line_item = find_line_item(call, world, call.params["line_item_id"])
    require_product(line_item, "MEDIA")
    media = _find_media(call, world)
    landing = call.params.get("landing_url")
    if media["creative_type"] in PREROLLS:
        if landing is not None:
            call.warn("landing_url is not kept, because the media is a preroll", NO_EFFECT)
            landing = None
    elif landing is None and line_item["objective"] == "WEBSITE_CLICKS":
        fault = missing("landing_url", "when the objective is WEBSITE_CLICKS")
        raise AdsFailure(AdsError.from_fault("landing_url", fault))
    fields = {
        "line_item_id": line_item["id"],
        "account_media_id": media["id"],
        "creative_type": media["creative_type"],
        "landing_url": landing,
    }
    return add_part(call, world, CREATIVES.table, fields, approval=KIND.name)


def _find_media(call: Call, world: World) -> Record:
    key = call.params["account_media_id"]
    media = world.store.get("account_media", key)
    mine = media is not None and media["_account_id"] == call.path_params["account_id"]
    if media is None or not mine or media["deleted"]:
        raise not_found("ACCOUNT_MEDIA_NOT_FOUND", "account media", "account_media_id", key)
    return media


OPERATIONS: tuple[Operation, ...] = (
    CREATIVES.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("media_creative_ids")),
        extra={"campaign_id": Text(min_length=1)},
        prepare=_apply_campaign,
        show=_settle,
        origin=Origin.NAMED,
        assumptions=(SHAPE, APPROVAL),
    ),
    CREATIVES.get(show=_settle, origin=Origin.NAMED, assumptions=(SHAPE, APPROVAL)),
    ads(
        "media_creatives.create",
        "POST",
        CREATIVES.path,
        create,
        summary="Let a line item show account media",
        spec=CREATIVES.spec,
        returns=One(MediaCreativeRecord),
        params=MediaCreativeCreate,
        origin=Origin.NAMED,
        assumptions=(SHAPE, APPROVAL, LANDING),
        errors=("LINE_ITEM_NOT_FOUND", "ACCOUNT_MEDIA_NOT_FOUND", INCOMPATIBLE),
        statuses=(404,),
    ),
    CREATIVES.delete(origin=Origin.NAMED, assumptions=(SHAPE,)),
)
