"""Tags of app and web events: what counts as a conversion, and how long after an ad was seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, validates_schema

from mock_platform.api.ads.conventions import fail, may_use_campaigns
from mock_platform.api.ads.filters import IdsFilter
from mock_platform.api.ads.resource import Resource, draw_unused_id
from mock_platform.core.assumptions import public_fact
from mock_platform.core.call import Call
from mock_platform.core.faults import Fault
from mock_platform.core.fields import Choice, Flag, Instant, IntegerChoice, Text
from mock_platform.core.operation import Echo, Example, Operation, Origin
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

UNVERIFIED, TRACKING = "UNVERIFIED", "TRACKING"
OS_TYPES = ("IOS", "ANDROID")
APP_CONVERSIONS = (
    "ACHIEVEMENT_UNLOCKED", "ADDED_PAYMENT_INFO", "ADD_TO_CART", "ADD_TO_WISHLIST",
    "CHECKOUT_INITIATED", "CONTENT_VIEW", "INSTALL", "INVITE", "LEVEL_ACHIEVED", "LOGIN",
    "PURCHASE", "RATED", "RESERVATION", "RE_ENGAGE", "SEARCH", "SHARE", "SIGN_UP",
    "SPENT_CREDITS", "TUTORIAL_COMPLETE", "UPDATE",
)  # fmt: skip
_WEB_CONVERSIONS = (
    "ADDED_PAYMENT_INFO", "ADD_TO_CART", "ADD_TO_WISHLIST", "CHECKOUT_INITIATED", "CONTENT_VIEW",
    "CUSTOM", "DOWNLOAD", "PRODUCT_CUSTOMIZATION", "PURCHASE", "SEARCH", "SIGN_UP", "SITE_VISIT",
    "START_TRIAL", "SUBSCRIBE",
)  # fmt: skip
ENGAGED, VIEWED = (1, 7, 14, 30), (0, 1, 7, 14, 30)
"""How many days after an engagement, or a view, an event may count."""
_STATUS = Choice((UNVERIFIED, TRACKING), load_default=UNVERIFIED)

APP_EVENT_TAGS = public_fact(
    "app-event-tags.all",
    "App event tags are listed, read, created and deleted as documented publicly; the spec shows "
    "none of this. The answer to the creation has no status and no last_tracked_at, the delete "
    "echoes the tag as id.",
    "public documentation, mobile conversions",
    gap=True,
)
WEB_EVENT_TAGS = public_fact(
    "web-event-tags.all",
    "Web event tags are listed, read, created, changed and deleted as documented publicly; the "
    "spec shows none of this. All tags of an account have the same website_tag_id, the id of its "
    "pixel. A tag is UNVERIFIED until a conversion is reported for it, then TRACKING.",
    "public documentation, web conversions",
    gap=True,
)


def find_window_fault(sent: Mapping[str, Any]) -> Fault | None:
    """Return what is wrong with windows if that of views is longer than that of clicks."""
    view, click = sent.get("view_through_window"), sent.get("click_window")
    if view is None or click is None or view <= click:
        return None
    return Fault(f"view_through_window ({view}) may not be longer than click_window ({click})")


# -- tags of app events -------------------------------------------------------------------------


class AppEventTag(Stamped):
    """An event of a mobile app that counts as a conversion."""

    id = Text(required=True)
    app_store_identifier = Text(required=True)
    os_type = Choice(OS_TYPES, required=True)
    conversion_type = Choice(APP_CONVERSIONS, required=True)
    provider_app_event_id = Text(load_default=None, allow_none=True)
    provider_app_event_name = Text(load_default=None, allow_none=True)
    deep_link_scheme = Text(load_default=None, allow_none=True)
    post_engagement_attribution_window = IntegerChoice(ENGAGED, load_default=30)
    post_view_attribution_window = IntegerChoice(VIEWED, load_default=1)
    retargeting_enabled = Flag(load_default=True)
    status = _STATUS
    last_tracked_at = Instant(load_default=None, allow_none=True)


class AppEventTagRecord(AppEventTag):
    """A tag of app events as stored."""

    _account_id = Text(required=True)


class AppEventTagCreate(Schema):
    """Parameters of the creation."""

    app_store_identifier = Text(required=True, min_length=1)
    os_type = Choice(OS_TYPES, required=True)
    conversion_type = Choice(APP_CONVERSIONS, required=True)
    provider_app_event_id = Text(required=True, min_length=1)
    provider_app_event_name = Text(required=True, min_length=1)
    deep_link_scheme = Text()
    post_engagement_attribution_window = IntegerChoice(ENGAGED, load_default=30)
    post_view_attribution_window = IntegerChoice(VIEWED, load_default=1)
    retargeting_enabled = Flag(load_default=True)


APP_TAGS = Resource(
    name="app_event_tags",
    path="/12/accounts/:account_id/app_event_tags",
    schema=AppEventTag,
    noun="app event tag",
    spec="not shown",
    missing="APP_EVENT_TAG_NOT_FOUND",
    origin=Origin.ADJACENT,
    assumptions=(APP_EVENT_TAGS,),
    gates=(may_use_campaigns,),
)


def create_app_tag(call: Call, world: World) -> Record:
    """Count an event of an app from now on."""
    sent = {"deep_link_scheme": None, **call.params}
    unseen = {"status": UNVERIFIED, "last_tracked_at": None}
    record = APP_TAGS.add(call, world, sent | unseen)
    return {name: value for name, value in record.items() if name not in unseen}


# -- tags of web events -------------------------------------------------------------------------


class WebEventTag(Stamped):
    """An event of a web site that counts as a conversion."""

    id = Text(required=True)
    name = Text(required=True)
    type = Choice(_WEB_CONVERSIONS, required=True)
    click_window = IntegerChoice(ENGAGED, required=True)
    view_through_window = IntegerChoice(VIEWED, required=True)
    retargeting_enabled = Flag(load_default=False)
    status = _STATUS
    last_tracked_at = Instant(load_default=None, allow_none=True)
    website_tag_id = Text(required=True)
    embed_code = Text(load_default="")


class WebEventTagRecord(WebEventTag):
    """A tag of web events as stored."""

    _account_id = Text(required=True)


class WebEventTagUpdate(Schema):
    """Parameters of the update."""

    name = Text(min_length=1)
    type = Choice(_WEB_CONVERSIONS)
    click_window = IntegerChoice(ENGAGED)
    view_through_window = IntegerChoice(VIEWED)
    retargeting_enabled = Flag()


class WebEventTagCreate(Schema):
    """Parameters of the creation."""

    name = Text(required=True, min_length=1)
    type = Choice(_WEB_CONVERSIONS, required=True)
    click_window = IntegerChoice(ENGAGED, required=True)
    view_through_window = IntegerChoice(VIEWED, required=True)
    retargeting_enabled = Flag(required=True)

    @validates_schema(skip_on_field_errors=False)
    def check_windows(self, data: dict[str, Any], **_: Any) -> None:
        """Require that views do not count longer than clicks."""
        fault = find_window_fault(data)
        if fault is not None:
            raise ValidationError([fault], "view_through_window")


WEB_TAGS = Resource(
    name="web_event_tags",
    path="/12/accounts/:account_id/web_event_tags",
    schema=WebEventTag,
    noun="web event tag",
    spec="not shown",
    missing="WEB_EVENT_TAG_NOT_FOUND",
    origin=Origin.ADJACENT,
    assumptions=(WEB_EVENT_TAGS,),
    gates=(may_use_campaigns,),
)


def create_web_tag(call: Call, world: World) -> Record:
    """Count an event of a web site from now on."""
    known = world.store.page("web_event_tags", {"_account_id": call.path_params["account_id"]})
    pixel = known[0].record["website_tag_id"] if known else draw_unused_id(world, "web_event_tags")
    code = f"<script>conversion.trackPid('{pixel}');</script>"
    fields = {"status": UNVERIFIED, "last_tracked_at": None, "website_tag_id": pixel}
    return WEB_TAGS.add(call, world, {**call.params, **fields, "embed_code": code})


def update_web_tag(call: Call, world: World) -> Record:
    """Change a tag.

    Raises:
        AdsFailure: Views would count longer than clicks.
    """
    before = WEB_TAGS.get_by_id(call, world)
    fault = find_window_fault(before | call.params)
    if fault is not None:
        raise fail(fault.code, str(fault), "view_through_window")
    return WEB_TAGS.change(call, world)


# -- what reports change ------------------------------------------------------------------------


def track(world: World, table: str, tag: Record, moment: str) -> None:
    """Note that a conversion was reported for a tag."""
    seen = max(tag["last_tracked_at"] or moment, moment)
    world.store.put(table, tag["id"], tag | {"status": TRACKING, "last_tracked_at": seen})


TABLES = tuple(
    Table(resource.table, schema, references=(Reference("_account_id", "accounts"),))
    for resource, schema in ((APP_TAGS, AppEventTagRecord), (WEB_TAGS, WebEventTagRecord))
)
OPERATIONS: tuple[Operation, ...] = (
    APP_TAGS.list((IdsFilter("app_event_tag_ids"),)),
    APP_TAGS.get(),
    APP_TAGS.create(
        create_app_tag,
        AppEventTagCreate,
        "Create an app event tag",
        example=Example(
            query={
                "app_store_identifier": "com.harborroasters.subscribe",
                "os_type": "ANDROID",
                "conversion_type": "PURCHASE",
                "provider_app_event_id": "abc123",
                "provider_app_event_name": "Subscribed",
            }
        ),
    ),
    APP_TAGS.delete(echo=Echo(names={"app_event_tag_id": "id"})),
    WEB_TAGS.list((IdsFilter("web_event_tag_ids"),)),
    WEB_TAGS.get(),
    WEB_TAGS.create(
        create_web_tag,
        WebEventTagCreate,
        "Create a web event tag",
        example=Example(
            query={
                "name": "Ordered",
                "type": "PURCHASE",
                "click_window": "30",
                "view_through_window": "1",
                "retargeting_enabled": "false",
            }
        ),
    ),
    WEB_TAGS.update(update_web_tag, WebEventTagUpdate, "Change a web event tag"),
    WEB_TAGS.delete(),
)
