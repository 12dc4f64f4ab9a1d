"""Drafts and scheduled posts, and the promotions that wait for scheduled ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mock_platform.api.ads.advertiser_posts.plans import (
    DELETED,
    FAILED,
    SCHEDULED,
    SUCCESS,
    describe_plan,
)
from mock_platform.api.v2.conventions import MediaKey
from mock_platform.api.v2.objects.post_text import Links
from mock_platform.api.v2.objects.post_view import CARD_URI
from mock_platform.api.v2.objects.posts import DRAFT, MAX_NAME_CHARACTERS, make_post_object
from mock_platform.api.v2.posts.changes import make_post_record
from mock_platform.core.fields import Choice, Flag, Instant, ListOf, Long, Text
from mock_platform.core.schema import Schema, Stamped
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import parse_instant, wire_seconds
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World


class LongId(Long):
    """A number of 64 bits that is echoed and stored as text."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return str(super()._deserialize(value, attr, data, **kwargs))


class WholeMinute(Instant):
    """An ISO 8601 moment whose seconds are ignored."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        moment = parse_instant(super()._deserialize(value, attr, data, **kwargs))
        return wire_seconds(moment.replace(second=0, microsecond=0))


class DraftPostRecord(Schema):
    """A draft. `_caller_user_id` made it, with the app `_app_id`."""

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    name = Text(max_length=MAX_NAME_CHARACTERS, load_default=None, allow_none=True)
    text = Text(load_default="")
    user_id = Text(required=True)
    nullcast = Flag(load_default=True)
    media_keys = ListOf(MediaKey(), load_default=list, most=4)
    card_uri = Text(
        pattern=CARD_URI, pattern_text="card://<card_id>", load_default=None, allow_none=True
    )
    created_at = Instant(as_sent=True, required=True)
    updated_at = Instant(as_sent=True, required=True)
    _account_id = Text(required=True)
    _caller_user_id = Text(load_default=None, allow_none=True)
    _app_id = Text(load_default=None, allow_none=True)


class DeletedDraftPost(DraftPostRecord):
    """A draft as its delete returns it."""

    status = Choice((DELETED,), required=True)


class ScheduledPostRecord(DraftPostRecord):
    """A post that is made at a moment. `_failure` is why it was not."""

    scheduled_at = Instant(required=True)
    completed_at = Instant(load_default=None, allow_none=True)
    scheduled_status = Choice((SCHEDULED, SUCCESS, FAILED), load_default=SCHEDULED)
    post_id = Text(load_default=None, allow_none=True)
    _failure = Text(load_default=None, allow_none=True)


class DeletedScheduledPost(ScheduledPostRecord):
    """A scheduled post as its delete returns it."""

    scheduled_status = Choice((DELETED,), required=True)


class ScheduledPromotedPostRecord(Stamped):
    """A line item that promotes a scheduled post as soon as it is out."""

    id = Text(required=True)
    line_item_id = Text(required=True)
    scheduled_post_id = Text(required=True)
    post_id = Text(load_default=None, allow_none=True)
    _account_id = Text(required=True)


def show_plan(
    world: World, plan: Record, *, trim: bool = False, links: Links | None = None
) -> Record:
    """Return a draft or a scheduled post in the extended form of the 1.1 interface."""
    record = make_post_record(plan["id"], plan["user_id"], plan["created_at"], plan["text"])
    record |= describe_plan(world, plan)
    record |= {
        "post_type": SCHEDULED if "scheduled_at" in plan else DRAFT,
        "scheduled_at": plan.get("scheduled_at"),
        "scheduled_status": plan.get("scheduled_status"),
    }
    return make_post_object(world, record, trim=trim, links=links)


def _check_plan(record: Record) -> Iterator[tuple[str, str]]:
    if not record["media_keys"] and not record["text"].strip():
        yield "text", "a post needs a text or media_keys"


def _check_scheduled(record: Record) -> Iterator[tuple[str, str]]:
    yield from _check_plan(record)
    if (record["post_id"] is not None) != (record["scheduled_status"] == SUCCESS):
        yield "post_id", f"post_id is set if scheduled_status is {SUCCESS}, and only then"
    if (record["completed_at"] is not None) != (record["scheduled_status"] != SCHEDULED):
        yield "completed_at", f"completed_at is null as long as scheduled_status is {SCHEDULED}"


_SHARED = (
    Reference("_account_id", "accounts"),
    Reference("user_id", "users"),
    Reference("_caller_user_id", "users"),
    Reference("_app_id", "apps"),
    Reference("media_keys", "media_library", "media"),
)
DRAFT_POSTS = Table("draft_posts", DraftPostRecord, references=_SHARED, check=_check_plan)
SCHEDULED_POSTS = Table(
    "scheduled_posts", ScheduledPostRecord, references=_SHARED, check=_check_scheduled
)
SCHEDULED_PROMOTED_POSTS = Table(
    "scheduled_promoted_posts",
    ScheduledPromotedPostRecord,
    references=(
        Reference("_account_id", "accounts"),
        Reference("line_item_id", "line_items"),
        Reference("scheduled_post_id", "scheduled_posts"),
    ),
)
TABLES = (DRAFT_POSTS, SCHEDULED_POSTS, SCHEDULED_PROMOTED_POSTS)
