from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mock_platform.core.errors import BadEvent
from mock_platform.delivery.events import LoggedEvent, add_event
from tests.support import HARBOR
from tests.support_receiver import Receiver, close, sign
from tests.support_replay import NOW, WEBHOOK, Desk

INVALID = "1146654567674912771"
"""A shipped webhook that is not valid."""


def add(desk: Desk, **changes: Any) -> LoggedEvent:
    """Add an event; what is None is left out."""
    given = {"webhook_id": WEBHOOK, "event_type": "post.create", "payload": {"id": "7"}} | changes
    return add_event(desk.world, {k: v for k, v in given.items() if v is not None})


def faults(desk: Desk, **changes: Any) -> list[tuple[str, str]]:
    """What is wrong with an event that is refused."""
    before = desk.world.store.count("events")
    with pytest.raises(BadEvent) as caught:
        add(desk, **changes)
    assert before == desk.world.store.count("events")
    return caught.value.faults


@pytest.mark.spec("A, Events", "The Activity interface")
def test_an_added_event_is_kept_and_delivered(desk: Desk, receiver: Receiver) -> None:
    """It is logged with the current time, and the receiver gets it, signed."""
    added = add(desk)
    desk.wait()

    assert added.delivering
    assert added.why_not is None
    assert {
        "id": added.record["id"],
        "webhook_id": WEBHOOK,
        "event_type": "post.create",
        "payload": {"id": "7"},
        "created_at": "2026-11-20T12:00:30.000Z",
        "_product": "activity",
        "_attempted": True,
        "_user_id": None,
        "_tag": None,
        "_direction": None,
        "_includes": None,
        "_filter": None,
        "_event_uuid": None,
    } == desk.record("events", added.record["id"])
    post = receiver.received[0]
    assert {
        "event_uuid": added.record["id"],
        "filter": {"user_id": "2244994945"},
        "event_type": "post.create",
        "payload": {"id": "7"},
    } == post.json["data"]
    assert sign(HARBOR.secret, post.body) == post.headers["x-platform-webhooks-signature"]
    assert sign(HARBOR.secret, post.body) == post.headers["x-twitter-webhooks-signature"]
    assert [] == receiver.challenges


def test_an_attempt_without_a_job_is_on_record(desk: Desk, receiver: Receiver) -> None:
    """The delivery's entry has no job, the event's id, and exactly the documented keys."""
    receiver.plan.append(close)
    event_id = add(desk).record["id"]
    desk.wait()
    first, second = list(desk.world.deliveries)

    assert {
        "id", "kind", "stream_id", "job_id", "webhook_id", "event_id", "attempt", "at", "url",
        "status", "error", "milliseconds", "body",
    } == set(first)  # fmt: skip
    assert (None, event_id, 1, None) == (
        first["job_id"], first["event_id"], first["attempt"], first["status"],
    )  # fmt: skip
    assert "closed the connection" in first["error"]
    assert (2, 200, None) == (second["attempt"], second["status"], second["error"])
    assert receiver.received[0].json == second["body"]


def test_events_of_a_webhook_arrive_in_order(desk: Desk, receiver: Receiver) -> None:
    """Thirty events added one after the other reach the receiver in that order."""
    added = [add(desk).record["id"] for _ in range(30)]
    desk.wait()

    assert added == receiver.event_ids


def test_an_event_of_an_invalid_webhook_is_kept_alone(desk: Desk, receiver: Receiver) -> None:
    """Nothing goes to a webhook that is not valid; the event was never attempted."""
    added = add(desk, webhook_id=INVALID)
    desk.wait()

    assert not added.delivering
    assert added.why_not == (
        f"webhook {INVALID} is not valid, so nothing is delivered to it; POST "
        f"/_mock/webhooks/{INVALID}/validate challenges it again"
    )
    assert desk.record("events", added.record["id"])["_attempted"] is False
    assert [] == desk.deliveries()
    assert [] == receiver.received


def test_an_event_of_an_undone_request_is_not_delivered(desk: Desk, receiver: Receiver) -> None:
    """An event that is added inside larger work goes out only if that work is committed."""

    def undone() -> None:
        with desk.world.work():
            add(desk)
            raise LookupError

    with pytest.raises(LookupError):
        undone()
    desk.wait()

    assert [] == receiver.received


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-11-20T11:00:00Z", "2026-11-20T11:00:00.000Z"),
        ("2026-11-20T13:00:00.5+02:00", "2026-11-20T11:00:00.500Z"),
        ("now-2h", "2026-11-20T10:00:30.000Z"),
        ("now", "2026-11-20T12:00:30.000Z"),
        ("2026-11-20T12:00:30Z", "2026-11-20T12:00:30.000Z"),
    ],
)
def test_the_moment_may_be_given(desk: Desk, given: str, kept: str) -> None:
    """Instants and moments that count from now are accepted up to the present one."""
    assert kept == add(desk, created_at=given).record["created_at"]


@pytest.mark.parametrize("given", ["2026-11-20T12:00:30.001Z", "now+1s"])
def test_a_moment_in_the_future_is_refused(desk: Desk, given: str) -> None:
    """An event cannot have happened later than the world's clock reads."""
    assert [
        (
            "created_at",
            "created_at must not be in the future: the world's clock reads "
            "2026-11-20T12:00:30.000Z",
        )
    ] == faults(desk, created_at=given)


def test_everything_wrong_is_told_at_once(desk: Desk) -> None:
    """Missing, unknown and wrong fields are all named."""
    found = faults(
        desk, webhook_id=None, payload=[], event_typ="x", created_at="yesterday", event_type=5
    )

    assert {
        "event_typ": "'event_typ' is no field of an event to add. Did you mean 'event_type'? "
        "Its fields: webhook_id, "
        "event_type, payload, created_at, _user_id, _tag, _direction, _includes",
        "webhook_id": '"webhook_id" is a required parameter',
        "payload": "Expected Object, got [] for payload",
        "created_at": 'Expected time, got "yesterday" for created_at. Not an ISO 8601 date-time '
        "such as 2026-11-20T10:00:00Z",
        "event_type": "Expected String, got 5 for event_type",
    } == dict(found)


def test_id_and_attempts_are_the_sandboxs_own(desk: Desk) -> None:
    """An event gets its id, and whether it was attempted follows from its webhook."""
    assert ["id", "_attempted"] == [name for name, _ in faults(desk, id="1", _attempted=True)]


def test_a_direction_needs_a_message_and_a_release(desk: Desk) -> None:
    """`_direction` is refused for other events, unknown values, and before 2026-03-18."""
    message: dict[str, Any] = {"event_type": "dm.sent", "_direction": "sent"}

    assert "sent" == add(desk, **message).record["_direction"]
    for wrong in (
        {"event_type": "post.create", "_direction": "sent"},
        {"event_type": "dm.sent", "_direction": "outbound"},
        {**message, "created_at": "2026-03-17T23:59:59Z"},
    ):
        assert ["_direction"] == [name for name, _ in faults(desk, **wrong)]


def test_references_must_lead_somewhere(desk: Desk) -> None:
    """An unknown webhook and an unknown user are refused."""
    assert [
        ("webhook_id", "webhook_id refers to '404', which is not in webhooks"),
        ("_user_id", "_user_id refers to '405', which is not in users"),
    ] == faults(desk, webhook_id="404", _user_id="405")


def test_an_unknown_event_type_is_refused_with_the_nearest(desk: Desk) -> None:
    """A typing mistake does not go out."""
    ((field, text),) = faults(desk, event_type="post.creat")

    assert "event_type" == field
    assert text.startswith("no event type is called 'post.creat'. Did you mean 'post.create'?")


@pytest.mark.spec("A, Events", "The former PascalCase")
def test_a_deprecated_name_is_taken_with_a_warning(desk: Desk) -> None:
    """The former names still go out, and say what to use."""
    assert (
        "event type 'ProfileBioUpdate' is deprecated since 2026-03-18: use 'profile.update.bio'",
    ) == add(desk, event_type="ProfileBioUpdate").warnings
    assert () == add(desk).warnings


@pytest.mark.spec("A, Events", "dot-separated lowercase")
@pytest.mark.spec("A, Release history", "2026-03-18: Direction")
def test_names_follow_the_worlds_clock(desk: Desk) -> None:
    """Before a name's release it is refused; the former one passes without a warning."""
    desk.world.clock.travel(datetime(2026, 3, 17, 12, tzinfo=UTC))

    assert ["event_type"] == [name for name, _ in faults(desk, event_type="profile.update.bio")]
    assert () == add(desk, event_type="ProfileBioUpdate").warnings
    desk.world.clock.travel(NOW)
    assert ["event_type"] == [
        name for name, _ in faults(desk, created_at="2026-06-03T23:59:59.999Z")
    ]
    assert add(desk, created_at="2026-06-04T00:00:00Z").delivering
