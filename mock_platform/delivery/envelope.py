"""The bodies that a receiver gets: an event in the form of its product, or a job's end."""

from __future__ import annotations

from typing import Any

from mock_platform.core.spelling.exchange import write_event
from mock_platform.rules.activities import make_envelope
from mock_platform.rules.release_history import DIRECTED_SINCE
from mock_platform.settings import NamesMode
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_millis

_DIRECTED_SINCE = wire_millis(DIRECTED_SINCE)
_UNFILTERED = "oauth.revoke"
"""An event of the app itself: its filter is empty."""
_DESCRIPTIONS = {
    "COMPLETE": ("Complete", "Job completed successfully"),
    "INCOMPLETE": (
        "Incomplete",
        "Job failed to deliver all events, please retry your replay job",
    ),
}


def make_body(event: Record, owner_id: str, names: NamesMode = "neutral") -> dict[str, Any]:
    """Return an event as its product delivers it, with neutral or original names.

    `owner_id` as for `make_activity`.
    """
    body = _make_neutral_body(event, owner_id)
    if names == "neutral":
        return body
    written: dict[str, Any] = write_event(body, event.get("_product"))
    return written


def _make_neutral_body(event: Record, owner_id: str) -> dict[str, Any]:
    if event.get("_product") == "account_activity":
        return make_account_activity(event, owner_id)
    if event.get("_product") == "filtered_stream":
        return dict(event["payload"])
    return make_activity(event, owner_id)


def make_account_activity(event: Record, owner_id: str) -> dict[str, Any]:
    """Return an event as account activity delivers it (public facts, section 6).

    `for_user_id` is the subscribed user, `owner_id` if the event names none; the revocation of an
    app's access has none.
    """
    if "user_event" in event["payload"]:
        return dict(event["payload"])
    return {"for_user_id": event.get("_user_id") or owner_id, **event["payload"]}


def make_activity(event: Record, owner_id: str) -> dict[str, Any]:
    """Return an event as it is delivered (public facts, section 6, activity envelope).

    `owner_id` is the user whom the subscription follows if the event names none. Direction, tag and
    includes are left out where the event has none; the direction also of events from before
    subscriptions had one.
    """
    chosen: dict[str, Any] = dict(event.get("_filter") or {})
    if not chosen and event["event_type"] != _UNFILTERED:
        chosen["user_id"] = event.get("_user_id") or owner_id
    if event.get("_direction") and event["created_at"] >= _DIRECTED_SINCE:
        chosen["direction"] = event["_direction"]
    return make_envelope(
        event_uuid=event.get("_event_uuid") or event["id"],
        wanted=chosen,
        event_type=event["event_type"],
        tag=event.get("_tag"),
        payload=event["payload"],
        includes=event.get("_includes"),
    )


def make_job_status(job: Record) -> dict[str, Any]:
    """Return the event that announces a job's end (public facts, section 6)."""
    state, description = _DESCRIPTIONS[job["state"]]
    return {
        "replay_job_status": {
            "webhook_id": job["webhook_id"],
            "job_state": state,
            "job_state_description": description,
            "job_id": job["id"],
        }
    }
