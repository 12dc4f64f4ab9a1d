"""Webhooks, the log of their events, and replay jobs (document A, "Events")."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from mock_platform.api.v2.release_history import explain_unknown_name, find_event_name
from mock_platform.api.v2.webhooks.event_log import PRODUCTS
from mock_platform.api.v2.webhooks.replay_jobs import REPLAY_JOB
from mock_platform.core.fields import Choice, Flag, Instant, Integer, Json, Text, Timed
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.clock import epoch_millis, wire_millis
from mock_platform.world.store.interface import Record

DIRECTIONS = ("received", "sent", "both")
DIRECTED = ("dm.", "chat.")
"""The families of events whose subscriptions may have a direction."""
PAYLOAD_MOMENTS = {
    "created_at": wire_millis,
    "editable_until": wire_millis,
    "created_timestamp": epoch_millis,
    "timestamp_ms": epoch_millis,
}
"""The moments in payloads that fixtures may count from now, with their forms."""


class WebhookRecord(Schema):
    """A webhook configuration: where the events of an app are delivered."""

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    url = Text(required=True, min_length=1, max_length=200)
    valid = Flag(load_default=True)
    created_at = Instant(as_sent=True, required=True)
    _app_id = Text(required=True)
    _passed_at = Instant(millis=True, load_default=None, allow_none=True)
    """When it last passed a challenge; after a day it is challenged again (`webhooks.validity`)."""
    _challenged_at = Instant(millis=True, load_default=None, allow_none=True)


class EventRecord(Schema):
    """One event in a webhook's log; `_attempted` once its delivery was attempted.

    `_user_id`, `_tag`, `_direction` and `_includes` fill the envelope in which it is delivered:
    whom the subscription follows (the app's owner, if not given), its tag and direction if it has
    any, and what is included.
    """

    id = Text(required=True)
    webhook_id = Text(required=True)
    event_type = Text(required=True, min_length=1)
    payload = Timed(PAYLOAD_MOMENTS, required=True)
    created_at = Instant(millis=True, required=True)
    _product = Choice(PRODUCTS, load_default="activity")
    """The product that delivers it. The payload of account activity is the body itself without
    for_user_id, that of the filtered stream is the whole body."""
    _attempted = Flag(load_default=True)
    _user_id = Text(load_default=None, allow_none=True)
    _tag = Text(load_default=None, allow_none=True)
    _direction = Choice(DIRECTIONS, load_default=None, allow_none=True)
    _includes = Timed(PAYLOAD_MOMENTS, load_default=None, allow_none=True)
    _filter = Json(load_default=None, allow_none=True)
    """The whole filter of the subscription, in place of `_user_id` and `_direction`."""
    _event_uuid = Text(load_default=None, allow_none=True)
    """What receivers see as the event's id, if not `id`."""


class ReplayJobRecord(Schema):
    """A replay job. `id` is what the interface calls `job_id`."""

    id = Text(required=True)
    webhook_id = Text(required=True)
    from_date = Text(required=True, pattern=r"[0-9]{12}", pattern_text="yyyymmddhhmm")
    to_date = Text(required=True, pattern=r"[0-9]{12}", pattern_text="yyyymmddhhmm")
    created_at = Instant(millis=True, required=True)
    state = Choice(REPLAY_JOB.states, required=True)
    _app_id = Text(required=True)
    _delivered = Integer(load_default=0)
    """How many events the receiver accepted."""
    _failed = Integer(load_default=0)
    _reason = Text(load_default=None, allow_none=True)


def _check_url(record: Record) -> Iterator[tuple[str, str]]:
    try:
        parts = urlsplit(record["url"])
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        yield "url", f"url must be an http or https address, got {record['url']!r}"


def _check_event(record: Record) -> Iterator[tuple[str, str]]:
    name, direction = record["event_type"], record["_direction"]
    if find_event_name(name) is None:
        yield "event_type", explain_unknown_name(name)
    elif direction is not None and not name.startswith(DIRECTED):
        yield "_direction", f"only subscriptions to dm.* and chat.* have a direction, not {name}"


WEBHOOKS = Table(
    "webhooks",
    WebhookRecord,
    references=(Reference("_app_id", "apps"),),
    check=_check_url,
    shown=Shown(("url", "created_at"), operations=("webhooks.list",), is_of_app=True),
)
EVENTS = Table(
    "events",
    EventRecord,
    references=(Reference("webhook_id", "webhooks"), Reference("_user_id", "users")),
    check=_check_event,
)
REPLAY_JOBS = Table(
    "replay_jobs",
    ReplayJobRecord,
    references=(Reference("webhook_id", "webhooks"), Reference("_app_id", "apps")),
)
TABLES = (WEBHOOKS, EVENTS, REPLAY_JOBS)
