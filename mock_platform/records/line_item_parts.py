"""What line items show and measure: media creatives, tracking tags, calls to action."""

from __future__ import annotations

from mock_platform.core.fields import Choice, Text
from mock_platform.core.schema import Stamped
from mock_platform.records.campaigns import ENTITY_STATUSES
from mock_platform.records.table import Reference, Table

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
