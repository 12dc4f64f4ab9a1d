"""What a receiver gets: an event in the public activity envelope, or news of a job's end."""

from __future__ import annotations

from typing import Any

from mock_platform.core.release_history import release
from mock_platform.world.clock import wire_millis
from mock_platform.world.store import Record

_DIRECTIONS = {"dm.received": "received", "dm.sent": "sent"}
_DIRECTED_SINCE = wire_millis(release("event-names").effective)
"""Subscriptions have a direction since then (document A, release history: 2026-03-18)."""
_DESCRIPTIONS = {
    "COMPLETE": ("Complete", "Job completed successfully"),
    "INCOMPLETE": (
        "Incomplete",
        "Job failed to deliver all events, please retry your replay job",
    ),
}


def activity(event: Record, owner_id: str) -> dict[str, Any]:
    """An event as it is delivered (public facts, section 6, activity envelope).

    `owner_id` is whom the subscription follows where the event does not say.
    """
    chosen: dict[str, Any] = {"user_id": event.get("_user_id") or owner_id}
    direction = _DIRECTIONS.get(event["event_type"])
    if direction is not None and event["created_at"] >= _DIRECTED_SINCE:
        chosen["direction"] = direction
    return {
        "data": {
            "event_uuid": event["id"],
            "filter": chosen,
            "event_type": event["event_type"],
            "tag": event.get("_tag") or "",
            "payload": event["payload"],
            "includes": event.get("_includes") or {},
        }
    }


def job_status(job: Record) -> dict[str, Any]:
    """The event that announces a job's end (public facts, section 6)."""
    state, description = _DESCRIPTIONS[job["state"]]
    return {
        "replay_job_status": {
            "webhook_id": job["webhook_id"],
            "job_state": state,
            "job_state_description": description,
            "job_id": job["id"],
        }
    }
