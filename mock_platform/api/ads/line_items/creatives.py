"""What a line item shows, measures and runs within: media, tracking tags, buttons, categories.

Document B, "Endpoints not shown" and "Line item curated categories".
"""

from __future__ import annotations

from typing import Any

from mock_platform.api.ads.campaigns.line_item_parts import (
    ADDRESS,
    ADDRESS_TEXT,
    APPROVAL_STATUS,
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
)
from mock_platform.api.ads.campaigns.records import LineItemCuratedCategoryRecord
from mock_platform.api.ads.conventions import fail, may_use_campaigns, not_found
from mock_platform.api.ads.filters import ExactFilter, IdsFilter
from mock_platform.api.ads.resource import LINE_ITEM, Resource, apply_changes, find_own
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.call import Call
from mock_platform.core.failures.errors import AdsError, AdsFailure
from mock_platform.core.faults import missing
from mock_platform.core.fields import Choice, Text
from mock_platform.core.operation import Example, Operation, Origin
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
MEDIA_CREATIVES_LANDING_URL = public_fact(
    "media-creatives.landing-url",
    "landing_url is for display images: without effect for a preroll, required where the objective "
    "is WEBSITE_CLICKS.",
    "adjacent operations, section 8.1",
)

CREATIVES = Resource(
    name="media_creatives",
    path="/12/accounts/:account_id/media_creatives",
    schema=MediaCreativeRecord,
    noun="media creative",
    spec="Endpoints not shown",
    missing="MEDIA_CREATIVE_NOT_FOUND",
    parent=LINE_ITEM,
    origin=Origin.NAMED,
    assumptions=(MEDIA_CREATIVES_SHAPE,),
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
    key = call.params["account_media_id"]
    media = find_own(call, world, "account_media", key)
    if media is None:
        raise not_found("ACCOUNT_MEDIA_NOT_FOUND", "account media", "account_media_id", key)
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
    path="/12/accounts/:account_id/tracking_tags",
    schema=TrackingTagRecord,
    noun="tracking tag",
    spec="not shown",
    parent=LINE_ITEM,
    origin=Origin.ADJACENT,
    assumptions=(TRACKING_TAGS_SHAPE,),
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
    return TAGS.add(call, world, call.params)


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
    path="/12/accounts/:account_id/preroll_call_to_actions",
    schema=PrerollCallToActionRecord,
    noun="preroll call to action",
    spec="not shown",
    parent=LINE_ITEM,
    origin=Origin.ADJACENT,
    assumptions=(PREROLL_CALL_TO_ACTIONS_SHAPE,),
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
    return CALLS.add(call, world, call.params)


_OF_CREATIVES: tuple[Operation, ...] = (
    CREATIVES.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("media_creative_ids")),
        extra={"campaign_id": Text(min_length=1)},
        prepare=_apply_campaign,
        show=_settle,
        assumptions=(APPROVAL_STATUS,),
    ),
    CREATIVES.get(show=_settle, assumptions=(APPROVAL_STATUS,)),
    CREATIVES.create(
        create_media_creative,
        MediaCreativeCreate,
        "Let a line item show account media",
        assumptions=(APPROVAL_STATUS, MEDIA_CREATIVES_LANDING_URL),
        errors=("LINE_ITEM_NOT_FOUND", "ACCOUNT_MEDIA_NOT_FOUND", INCOMPATIBLE),
        statuses=(404,),
        example=Example(query={"line_item_id": "iuc5v", "account_media_id": "2q4r"}),
    ),
    CREATIVES.delete(),
    TAGS.list((ExactFilter("line_item_ids", "line_item_id"), IdsFilter("tracking_tag_ids"))),
    TAGS.get(),
    TAGS.create(
        create_tracking_tag,
        TrackingTagCreate,
        "Add a tracking tag to a line item",
        errors=("LINE_ITEM_NOT_FOUND",),
        statuses=(404,),
        example=Example(
            query={
                "line_item_id": "itttx",
                "tracking_tag_type": "IMPRESSION_TAG",
                "tracking_tag_url": "https://count.harbor-roasters.example/imp?c=spring",
            }
        ),
    ),
    TAGS.update(None, TrackingTagUpdate, "Change the address of a tracking tag"),
    TAGS.delete(),
    CALLS.list(
        (ExactFilter("line_item_ids", "line_item_id"), IdsFilter("preroll_call_to_action_ids"))
    ),
    CALLS.get(),
    CALLS.create(
        create_preroll_call_to_action,
        PrerollCallToActionCreate,
        "Set the call to action of a preroll line item",
        errors=("LINE_ITEM_NOT_FOUND", INCOMPATIBLE),
        statuses=(404,),
        example=Example(
            query={
                "line_item_id": "iuc5v",
                "call_to_action": "VISIT_SITE",
                "call_to_action_url": "https://shop.harbor-roasters.example/spring",
            }
        ),
    ),
    CALLS.update(
        None, PrerollCallToActionUpdate, "Change the call to action of a preroll line item"
    ),
    CALLS.delete(),
)


# Curated categories, which a line item runs within (document B).

CURATED_CATEGORIES_COUNTRIES = settled(
    "curated-categories.countries",
    "A category can be linked only if it is available in a country that the line item targets; a "
    "line item without location targeting aims everywhere.",
    "B, Curated category",
)
LINK_UPDATE = settled(
    "line-item-curated-categories.update",
    "Both parameters of the update are optional; with neither nothing changes. A category that is "
    "linked to a line item already may be linked to it again.",
)


class LinkCreate(Schema):
    """Parameters of the creation of a link."""

    line_item_id = Text(required=True, min_length=1)
    curated_category_id = Text(required=True, min_length=1)


class LinkUpdate(Schema):
    """Parameters of the update of a link."""

    line_item_id = Text(min_length=1)
    curated_category_id = Text(min_length=1)


LINKS = Resource(
    name="line_item_curated_categories",
    path="/12/accounts/:account_id/line_item_curated_categories",
    schema=LineItemCuratedCategoryRecord,
    noun="line item curated category",
    spec="Line item curated categories",
    gates=(may_use_campaigns,),
)


def create_link(call: Call, world: World) -> Record:
    """Link a line item to a curated category."""
    _check_link(call, world, call.params)
    return LINKS.add(call, world, call.params)


def update_link(call: Call, world: World) -> Record:
    """Change the line item or the category of a link."""
    record = LINKS.get_by_id(call, world)
    after = record | call.params
    if after == record:
        return record
    _check_link(call, world, after)
    after = apply_changes(world, record, call.params)
    world.store.put(LINKS.table, record["id"], after)
    return after


def _check_link(call: Call, world: World, link: dict[str, Any]) -> None:
    """Require that both records exist, and that the category is available where it is needed.

    Raises:
        AdsFailure: LINE_ITEM_NOT_FOUND, NOT_FOUND, or INVALID_PARAMETER if the line item targets
            none of the category's countries.
    """
    line_item_id, category_id = link["line_item_id"], link["curated_category_id"]
    find_line_item(call, world, line_item_id)
    category = world.store.get("curated_categories", category_id)
    if category is None:
        raise not_found("NOT_FOUND", "curated category", "curated_category_id", category_id)
    targeted = _find_targeted_countries(world, line_item_id)
    available = category["country_codes"]
    if targeted and not targeted & set(available):
        call.assume(CURATED_CATEGORIES_COUNTRIES)
        raise fail(
            "INVALID_PARAMETER",
            f"Curated category {category_id} is available in {', '.join(available)} only; the line "
            f"item targets {', '.join(sorted(targeted))}",
            "curated_category_id",
        )


def _find_targeted_countries(world: World, line_item_id: str) -> set[str]:
    criteria = world.store.page(
        "targeting_criteria",
        {"line_item_id": line_item_id, "targeting_type": "LOCATION", "deleted": False},
    )
    return {
        entry.record["_country_code"]
        for entry in criteria
        if entry.record["operator_type"] == "EQ" and entry.record["_country_code"]
    }


OPERATIONS: tuple[Operation, ...] = (
    *_OF_CREATIVES,
    LINKS.list(),
    LINKS.get(),
    LINKS.create(
        create_link,
        LinkCreate,
        "Link a line item to a curated category",
        may_assume=(CURATED_CATEGORIES_COUNTRIES,),
        errors=("NOT_FOUND", "LINE_ITEM_NOT_FOUND"),
        statuses=(404,),
        example=Example(
            query={
                "line_item_id": "iuc5v",
                "curated_category_id": "b0xt8tz3fx8g",
            }
        ),
    ),
    LINKS.update(
        update_link,
        LinkUpdate,
        "Change the line item or the category of a link",
        assumptions=(LINK_UPDATE,),
        may_assume=(CURATED_CATEGORIES_COUNTRIES,),
        errors=("LINE_ITEM_NOT_FOUND",),
    ),
    LINKS.delete(),
)
