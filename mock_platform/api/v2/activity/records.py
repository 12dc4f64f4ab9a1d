"""What happened to users, and who wants to hear of it (named endpoints, section 3)."""

from __future__ import annotations

from collections.abc import Iterator

from mock_platform.api.v2.activity.activities import DIRECTIONS, make_topic, takes_direction
from mock_platform.api.v2.release_history import explain_unknown_name, find_event_name
from mock_platform.api.v2.webhooks.records import PAYLOAD_MOMENTS
from mock_platform.core.fields import Anything, Choice, Instant, ListOf, Nested, Text, Timed
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.store.interface import Record


class ActivityRecord(Schema):
    """Something that happened to a user. `direction` is `sent` or `received` where it has one.

    `_matches` are the subscriptions that matched when it happened, as streams show them.
    """

    id = Text(required=True)
    event_type = Text(required=True, min_length=1)
    event_uuid = Text(required=True)
    user_id = Text(load_default=None, allow_none=True)
    direction = Choice(("sent", "received"), load_default=None, allow_none=True)
    payload = Timed(PAYLOAD_MOMENTS, required=True)
    includes = Timed(PAYLOAD_MOMENTS, load_default=None, allow_none=True)
    created_at = Instant(millis=True, required=True)
    _matches = ListOf(Anything(), load_default=list)


class ActivityFilter(Schema):
    """Which activities of a type a subscription wants."""

    user_id = Text(pattern=r"[0-9]{1,19}", pattern_text="a user id of 1 to 19 digits")
    keyword = Text(min_length=1, max_length=150)
    direction = Choice(DIRECTIONS)


class ActivitySubscriptionRecord(Schema):
    """That an app wants to hear of activities; `filter` is as the subscriber wrote it."""

    subscription_id = Text(required=True)
    event_type = Text(required=True, min_length=1)
    filter = Nested(ActivityFilter, required=True)
    tag = Text(min_length=1, max_length=200)
    webhook_id = Text()
    created_at = Instant(millis=True, required=True)
    updated_at = Instant(millis=True, required=True)
    _app_id = Text(required=True)
    _topic = Text()


def _complete_subscription(record: Record) -> Record:
    """Add the key under which activities find a subscription."""
    return {**record, "_topic": make_topic(record["event_type"], record["filter"].get("user_id"))}


def _check_activity(record: Record) -> Iterator[tuple[str, str]]:
    if find_event_name(record["event_type"]) is None:
        yield "event_type", explain_unknown_name(record["event_type"])


def _check_subscription(record: Record) -> Iterator[tuple[str, str]]:
    yield from _check_activity(record)
    if "direction" in record["filter"] and not takes_direction(record["event_type"]):
        yield "filter.direction", f"{record['event_type']} has no direction"


class AccountActivitySubscriptionRecord(Schema):
    """That a webhook hears of all that happens to a user."""

    _id = Text(required=True)
    webhook_id = Text(required=True)
    user_id = Text(required=True)
    created_at = Instant(millis=True, required=True)


ACTIVITIES = Table(
    "activities",
    ActivityRecord,
    references=(Reference("user_id", "users"),),
    check=_check_activity,
)
ACTIVITY_SUBSCRIPTIONS = Table(
    "activity_subscriptions",
    ActivitySubscriptionRecord,
    key="subscription_id",
    references=(Reference("webhook_id", "webhooks"), Reference("_app_id", "apps")),
    complete=_complete_subscription,
    check=_check_subscription,
    shown=Shown(
        ("event_type", "filter", "created_at", "updated_at"),
        operations=("activity.list",),
        key="subscription_id",
        is_of_app=True,
    ),
)
ACCOUNT_ACTIVITY_SUBSCRIPTIONS = Table(
    "account_activity_subscriptions",
    AccountActivitySubscriptionRecord,
    key="_id",
    references=(Reference("webhook_id", "webhooks"), Reference("user_id", "users")),
)
TABLES = (ACTIVITIES, ACTIVITY_SUBSCRIPTIONS, ACCOUNT_ACTIVITY_SUBSCRIPTIONS)
