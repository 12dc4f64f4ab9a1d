"""Webhooks, the log of their events, and replay jobs (document A, "Events")."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from marshmallow import Schema

from mock_platform.core.fields import Choice, Flag, Instant, Integer, Json, Text
from mock_platform.core.table import Reference, Table
from mock_platform.world.store import Record

JOB_STATES = ("IN_PROGRESS", "COMPLETE", "INCOMPLETE")


class WebhookRecord(Schema):
    """A webhook configuration: where the events of an app are delivered."""

    id = Text(required=True, pattern=r"[0-9]{1,19}", pattern_text="1 to 19 digits")
    url = Text(required=True, min_length=1, max_length=200)
    valid = Flag(load_default=True)
    created_at = Instant(as_sent=True, required=True)
    _app_id = Text(required=True)


class EventRecord(Schema):
    """One event in a webhook's log; `_attempted` once its delivery was attempted."""

    id = Text(required=True)
    webhook_id = Text(required=True)
    event_type = Text(required=True, min_length=1)
    payload = Json(required=True)
    created_at = Instant(as_sent=True, required=True)
    _attempted = Flag(load_default=True)


class ReplayJobRecord(Schema):
    """A replay job. `id` is what the interface calls `job_id`."""

    id = Text(required=True)
    webhook_id = Text(required=True)
    from_date = Text(required=True, pattern=r"[0-9]{12}", pattern_text="yyyymmddhhmm")
    to_date = Text(required=True, pattern=r"[0-9]{12}", pattern_text="yyyymmddhhmm")
    created_at = Instant(as_sent=True, required=True)
    state = Choice(JOB_STATES, required=True)
    _app_id = Text(required=True)
    _delivered = Integer(load_default=0)
    _failed = Integer(load_default=0)
    _reason = Text(load_default=None, allow_none=True)


def _check_url(record: Record) -> Iterator[tuple[str, str]]:
    parts = urlsplit(record["url"])
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        yield "url", f"url must be an http or https address, got {record['url']!r}"


WEBHOOKS = Table(
    "webhooks", WebhookRecord, references=(Reference("_app_id", "apps"),), check=_check_url
)
EVENTS = Table("events", EventRecord, references=(Reference("webhook_id", "webhooks"),))
REPLAY_JOBS = Table(
    "replay_jobs",
    ReplayJobRecord,
    references=(Reference("webhook_id", "webhooks"), Reference("_app_id", "apps")),
)
TABLES = (WEBHOOKS, EVENTS, REPLAY_JOBS)
