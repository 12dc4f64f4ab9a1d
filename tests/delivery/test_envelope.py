from __future__ import annotations

from typing import Any

import pytest

from mock_platform.delivery.envelope import activity, job_status


def event(event_type: str = "post.create", **more: Any) -> dict[str, Any]:
    """An event record."""
    return {
        "id": "-12",
        "webhook_id": "1",
        "event_type": event_type,
        "payload": {"id": "7"},
        "created_at": "2026-11-20T10:00:00.000Z",
    } | more


def test_an_event_goes_out_in_the_public_envelope() -> None:
    """The envelope has exactly the public keys, empty where the record says nothing."""
    assert {
        "data": {
            "event_uuid": "-12",
            "filter": {"user_id": "99"},
            "event_type": "post.create",
            "tag": "",
            "payload": {"id": "7"},
            "includes": {},
        }
    } == activity(event(), "99")


def test_a_record_fills_the_envelope() -> None:
    """User, tag and includes of the record go out instead of the defaults."""
    data = activity(event(_user_id="5", _tag="mine", _includes={"users": []}), "99")["data"]

    assert ({"user_id": "5"}, "mine", {"users": []}) == (
        data["filter"],
        data["tag"],
        data["includes"],
    )


@pytest.mark.parametrize(
    ("event_type", "direction"),
    [("dm.received", "received"), ("dm.sent", "sent"), ("dm.read", None)],
)
def test_direct_messages_have_a_direction(event_type: str, direction: str | None) -> None:
    """Received and sent messages name their direction in the filter, with the spec's values."""
    chosen = activity(event(event_type), "99")["data"]["filter"]

    assert direction == chosen.get("direction")


@pytest.mark.parametrize(
    ("created_at", "directed"),
    [("2026-03-17T23:59:59.999Z", False), ("2026-03-18T00:00:00.000Z", True)],
)
def test_the_direction_came_with_a_release(created_at: str, directed: bool) -> None:
    """Before 2026-03-18 subscriptions had no direction filter."""
    sent = activity(event("dm.sent", created_at=created_at), "99")

    assert directed == ("direction" in sent["data"]["filter"])


@pytest.mark.parametrize(
    ("state", "shown", "description"),
    [
        ("COMPLETE", "Complete", "Job completed successfully"),
        (
            "INCOMPLETE",
            "Incomplete",
            "Job failed to deliver all events, please retry your replay job",
        ),
    ],
)
def test_a_jobs_end_is_announced_in_the_public_words(
    state: str, shown: str, description: str
) -> None:
    """State and description are those of the public documentation."""
    assert {
        "replay_job_status": {
            "webhook_id": "1",
            "job_state": shown,
            "job_state_description": description,
            "job_id": "2",
        }
    } == job_status({"id": "2", "webhook_id": "1", "state": state})
