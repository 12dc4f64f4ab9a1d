"""What a line item shows and measures: media creatives, tracking tags, calls to action.

Document B, "Endpoints not shown".
"""

from __future__ import annotations

from mock_platform.api.ads.campaigns.line_item_parts import (
    ADDRESS,
    ADDRESS_TEXT,
    APPROVAL,
    CALLS_TO_ACTION,
    INCOMPATIBLE,
    TRACKING_TAG_TYPES,
    MediaCreativeRecord,
    PrerollCallToActionRecord,
    TrackingTagRecord,
    add_part,
    find_line_item,
    make_approval_kind,
    make_settler,
    require_product,
    update_part,
)
from mock_platform.api.ads.conventions import One, ads, fail, not_found
from mock_platform.api.ads.filters import ExactFilter, IdsFilter
from mock_platform.api.ads.resource import LINE_ITEM, Resource
from mock_platform.api.ads.user_rights import may_use_campaigns
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.example import Example
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import missing
from mock_platform.core.fields import Choice, Text
from mock_platform.core.operation import Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.core.unread import NO_EFFECT
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

PREROLLS = ("PREROLL", "VAST_PREROLL")

MEDIA_CREATIVES_SHAPE = public_fact(
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
    gates=(may_use_campaigns,),
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


def create_media_creative(call: Call, world: World) -> Record:
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


_MEDIA_CREATIVES_OPERATIONS: tuple[Operation, ...] = (
    CREATIVES.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("media_creative_ids")),
        extra={"campaign_id": Text(min_length=1)},
        prepare=_apply_campaign,
        show=_settle,
        origin=Origin.NAMED,
        assumptions=(MEDIA_CREATIVES_SHAPE, APPROVAL),
    ),
    CREATIVES.get(show=_settle, origin=Origin.NAMED, assumptions=(MEDIA_CREATIVES_SHAPE, APPROVAL)),
    ads(
        "media_creatives.create",
        "POST",
        CREATIVES.path,
        create_media_creative,
        summary="Let a line item show account media",
        spec=CREATIVES.spec,
        returns=One(MediaCreativeRecord),
        params=MediaCreativeCreate,
        origin=Origin.NAMED,
        assumptions=(MEDIA_CREATIVES_SHAPE, APPROVAL, LANDING),
        errors=("LINE_ITEM_NOT_FOUND", "ACCOUNT_MEDIA_NOT_FOUND", INCOMPATIBLE),
        statuses=(404,),
        example=Example(query={"line_item_id": "iuc5v", "account_media_id": "2q4r"}),
        gates=(may_use_campaigns,),
    ),
    CREATIVES.delete(origin=Origin.NAMED, assumptions=(MEDIA_CREATIVES_SHAPE,)),
)


# Tracking tags: addresses of other services that count what a line item does.

TRACKING_TAGS_SHAPE = public_fact(
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
    gates=(may_use_campaigns,),
)


class TrackingTagUpdate(Schema):
    """Parameters of the update."""

    tracking_tag_url = Text(pattern=ADDRESS, pattern_text=ADDRESS_TEXT)


class TrackingTagCreate(Schema):
    """Parameters of the creation."""

    line_item_id = Text(required=True, min_length=1)
    tracking_tag_type = Choice(TRACKING_TAG_TYPES, required=True)
    tracking_tag_url = Text(required=True, pattern=ADDRESS, pattern_text=ADDRESS_TEXT)


def create_tracking_tag(call: Call, world: World) -> Record:
    """Add a tracking tag to a line item."""
    find_line_item(call, world, call.params["line_item_id"])
    return add_part(call, world, TAGS.table, call.params)


def update_tracking_tag(call: Call, world: World) -> Record:
    """Change the address of a tracking tag."""
    return update_part(call, world, TAGS)


_TRACKING_TAGS_OPERATIONS: tuple[Operation, ...] = (
    TAGS.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("tracking_tag_ids")),
        origin=Origin.ADJACENT,
        assumptions=(TRACKING_TAGS_SHAPE,),
    ),
    TAGS.get(origin=Origin.ADJACENT, assumptions=(TRACKING_TAGS_SHAPE,)),
    ads(
        "tracking_tags.create",
        "POST",
        TAGS.path,
        create_tracking_tag,
        summary="Add a tracking tag to a line item",
        spec=TAGS.spec,
        returns=One(TrackingTagRecord),
        params=TrackingTagCreate,
        origin=Origin.ADJACENT,
        assumptions=(TRACKING_TAGS_SHAPE,),
        errors=("LINE_ITEM_NOT_FOUND",),
        statuses=(404,),
        example=Example(
            query={
                "line_item_id": "itttx",
                "tracking_tag_type": "IMPRESSION_TAG",
                "tracking_tag_url": "https://count.harbor-roasters.example/imp?c=spring",
            }
        ),
        gates=(may_use_campaigns,),
    ),
    ads(
        "tracking_tags.update",
        "PUT",
        f"{TAGS.path}/:{TAGS.id_parameter}",
        update_tracking_tag,
        summary="Change the address of a tracking tag",
        spec=TAGS.spec,
        returns=One(TrackingTagRecord),
        params=TrackingTagUpdate,
        origin=Origin.ADJACENT,
        assumptions=(TRACKING_TAGS_SHAPE,),
        errors=("NOT_FOUND",),
        statuses=(404,),
        gates=(may_use_campaigns,),
    ),
    TAGS.delete(origin=Origin.ADJACENT, assumptions=(TRACKING_TAGS_SHAPE,)),
)


# Preroll calls to action: the button of a preroll, and where it leads.

OBJECTIVE = "PREROLL_VIEWS"

PREROLL_CALL_TO_ACTIONS_SHAPE = public_fact(
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
    gates=(may_use_campaigns,),
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


def create_preroll_call_to_action(call: Call, world: World) -> Record:
    """Set the call to action of a preroll line item.

    Raises:
        AdsFailure: The line item does not exist, or has another objective.
    """
    line_item = find_line_item(call, world, call.params["line_item_id"])
    if line_item["objective"] != OBJECTIVE:
        text = f"Line item {line_item['id']} has the objective {line_item['objective']}; "
        raise fail(INCOMPATIBLE, f"{text}this needs {OBJECTIVE}", "line_item_id")
    return add_part(call, world, CALLS.table, call.params)


def update_preroll_call_to_action(call: Call, world: World) -> Record:
    """Change the call to action of a preroll line item."""
    return update_part(call, world, CALLS)


_PREROLL_CALL_TO_ACTIONS_OPERATIONS: tuple[Operation, ...] = (
    CALLS.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("preroll_call_to_action_ids")),
        origin=Origin.ADJACENT,
        assumptions=(PREROLL_CALL_TO_ACTIONS_SHAPE,),
    ),
    CALLS.get(origin=Origin.ADJACENT, assumptions=(PREROLL_CALL_TO_ACTIONS_SHAPE,)),
    ads(
        "preroll_call_to_actions.create",
        "POST",
        CALLS.path,
        create_preroll_call_to_action,
        summary="Set the call to action of a preroll line item",
        spec=CALLS.spec,
        returns=One(PrerollCallToActionRecord),
        params=PrerollCallToActionCreate,
        origin=Origin.ADJACENT,
        assumptions=(PREROLL_CALL_TO_ACTIONS_SHAPE,),
        errors=("LINE_ITEM_NOT_FOUND", INCOMPATIBLE),
        statuses=(404,),
        example=Example(
            query={
                "line_item_id": "iuc5v",
                "call_to_action": "VISIT_SITE",
                "call_to_action_url": "https://shop.harbor-roasters.example/spring",
            }
        ),
        gates=(may_use_campaigns,),
    ),
    ads(
        "preroll_call_to_actions.update",
        "PUT",
        f"{CALLS.path}/:{CALLS.id_parameter}",
        update_preroll_call_to_action,
        summary="Change the call to action of a preroll line item",
        spec=CALLS.spec,
        returns=One(PrerollCallToActionRecord),
        params=PrerollCallToActionUpdate,
        origin=Origin.ADJACENT,
        assumptions=(PREROLL_CALL_TO_ACTIONS_SHAPE,),
        errors=("NOT_FOUND",),
        statuses=(404,),
        gates=(may_use_campaigns,),
    ),
    CALLS.delete(origin=Origin.ADJACENT, assumptions=(PREROLL_CALL_TO_ACTIONS_SHAPE,)),
)


OPERATIONS = (
    *_MEDIA_CREATIVES_OPERATIONS,
    *_TRACKING_TAGS_OPERATIONS,
    *_PREROLL_CALL_TO_ACTIONS_OPERATIONS,
)
