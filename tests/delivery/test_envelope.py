from __future__ import annotations

from typing import Any

import pytest

from mock_platform.delivery.envelope import make_activity, make_job_status


def event(event_type: str = "post.create", **more: Any) -> dict[str, Any]:
    """An event record."""
    return {
        "id": "-12",
        "webhook_id": "1",
        "event_type": event_type,
        "payload": {"id": "7"},
        "created_at": "2026-11-20T10:00:00.000Z",
    } | more


@pytest.mark.spec("A, Events", "Event payload shapes")
def test_an_event_goes_out_in_the_public_envelope() -> None:
    """The envelope has exactly the public keys; what the record does not have is left out."""
    assert {
        "data": {
            "event_uuid": "-12",
            "filter": {"user_id": "99"},
            "event_type": "post.create",
            "payload": {"id": "7"},
        }
    } == make_activity(event(), "99")


def test_a_record_fills_the_envelope() -> None:
    """User, tag and includes of the record go out."""
    data = make_activity(event(_user_id="5", _tag="mine", _includes={"users": [1]}), "99")["data"]

    assert ["event_uuid", "filter", "event_type", "tag", "payload", "includes"] == list(data)
    assert ({"user_id": "5"}, "mine", {"users": [1]}) == (
        data["filter"],
        data["tag"],
        data["includes"],
    )


@pytest.mark.parametrize("empty", [None, "", {}])
def test_nothing_empty_goes_out(empty: Any) -> None:
    """An empty tag, direction or set of includes is left out."""
    sent = make_activity(event("dm.sent", _tag=empty, _direction=empty, _includes=empty), "99")[
        "data"
    ]

    assert {"event_uuid", "filter", "event_type", "payload"} == sent.keys()
    assert {"user_id": "99"} == sent["filter"]


@pytest.mark.spec("A, Events", "optionally by direction", "dm.received, dm.sent")
@pytest.mark.parametrize("event_type", ["dm.received", "dm.sent", "dm.read", "chat.sent"])
@pytest.mark.parametrize("direction", ["received", "sent", "both", None])
def test_direct_messages_have_the_direction_of_their_subscription(
    event_type: str, direction: str | None
) -> None:
    """The filter names a direction only where the subscription has one."""
    chosen = make_activity(event(event_type, _direction=direction), "99")["data"]["filter"]

    expected = {"user_id": "99"} | ({} if direction is None else {"direction": direction})
    assert expected == chosen


@pytest.mark.spec("A, Release history", "2026-03-18: Direction")
@pytest.mark.parametrize(
    ("created_at", "directed"),
    [("2026-03-17T23:59:59.999Z", False), ("2026-03-18T00:00:00.000Z", True)],
)
def test_the_direction_came_with_a_release(created_at: str, directed: bool) -> None:
    """Before 2026-03-18 subscriptions had no direction filter."""
    sent = make_activity(event("dm.sent", created_at=created_at, _direction="sent"), "99")

    assert directed == ("direction" in sent["data"]["filter"])


def test_an_event_of_the_app_has_an_empty_filter() -> None:
    """A user who takes access back is no user that the subscription follows."""
    assert {} == make_activity(event("oauth.revoke"), "99")["data"]["filter"]


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
    } == make_job_status({"id": "2", "webhook_id": "1", "state": state})
