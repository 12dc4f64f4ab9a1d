"""Scenarios of webhook deliveries: what a real receiver meets, and what is left on record."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from mock_platform.delivery.sender import Sender
from mock_platform.world.clock import UPTIME
from tests.scenario.library.support import Stage
from tests.support import Sandbox
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk
from tests.waits import PATIENCE

EMPTY = ("events",)
IDS = ["one", "two", "three"]


@pytest.fixture
def desk(desk: Desk, receiver: Receiver) -> Desk:
    """A sandbox that delivers three events to it, whose jobs end with their last attempt."""
    desk.pace("immediate")
    for hour, key in enumerate(IDS, 8):
        desk.put_event(key, f"2026-11-20T{hour:02}:00:00.000Z")
    return desk


def activate(desk: Desk, name: str, **parameters: Any) -> None:
    """Switch a scenario on."""
    path = f"/_mock/scenarios/{name}/activate"
    answer = desk.client.post(path, json={"parameters": parameters})
    assert 200 == answer.status_code, answer.text


def fired(desk: Desk, name: str) -> int:
    """How often the scenario's only rule acted, as the control plane shows it."""
    (rule,) = desk.client.get(f"/_mock/scenarios/{name}").get_json()["rules"]
    found: int = rule["fired"]
    return found


def replay(desk: Desk) -> tuple[str, int, int, str | None]:
    """Replay everything; the job's fate."""
    job_id = desk.create()
    desk.wait()
    return desk.fate(job_id)


def add(desk: Desk, event_type: str = "post.create") -> str:
    """Have something happen now; the event's id."""
    given = {"webhook_id": WEBHOOK, "event_type": event_type, "payload": {}}
    answer = desk.client.post("/_mock/events", json=given)
    assert 201 == answer.status_code, answer.text
    found: str = answer.get_json()["id"]
    return found


def attempts(desk: Desk) -> list[tuple[str, int, int | None, str | None]]:
    """What was attempted of events."""
    return [entry for entry in desk.deliveries() if entry[0] not in {"challenge", "end"}]


def test_receiver_down(desk: Desk, receiver: Receiver) -> None:
    """No event arrives, each attempt says why, and the job is incomplete."""
    activate(desk, "webhook-receiver-down")

    assert ("INCOMPLETE", 0, 3, "3 of 3 events were not accepted") == replay(desk)
    assert [] == receiver.event_ids
    told = "the connection was refused, by scenario rule webhook-receiver-down/0; nothing was sent"
    assert [(key, n, None, told) for key in IDS for n in (1, 2, 3)] == attempts(desk)
    assert 3 == fired(desk, "webhook-receiver-down")


def test_receiver_down_for_a_while(desk: Desk, receiver: Receiver) -> None:
    """Two attempts fail and the third gets through; another webhook's receiver is well."""
    activate(desk, "webhook-receiver-down", attempts=2)
    assert "COMPLETE" == replay(desk)[0]
    assert IDS == receiver.event_ids
    assert [1, 2, 3] * 3 == [number for _, number, _, _ in attempts(desk)]

    activate(desk, "webhook-receiver-down", webhook_id="1")
    assert "COMPLETE" == replay(desk)[0]
    assert 0 == fired(desk, "webhook-receiver-down")


def test_receiver_slow(desk: Desk, receiver: Receiver) -> None:
    """Each event comes later."""
    activate(desk, "webhook-receiver-slow", seconds=0.1)
    started = UPTIME()

    assert "COMPLETE" == replay(desk)[0]
    assert 0.3 <= UPTIME() - started
    assert IDS == receiver.event_ids
    assert 3 == fired(desk, "webhook-receiver-slow")


@pytest.mark.parametrize("end", ["reset", "close", "drop"])
def test_a_long_wait_ends_with_its_world(
    desk: Desk, receiver: Receiver, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A delivery that is no longer wanted is not waited for, and nothing is sent then."""
    waiting, pause = threading.Event(), Sender._pause

    def noticed(self: Sender, *given: Any) -> None:
        waiting.set()
        pause(self, *given)

    monkeypatch.setattr(Sender, "_pause", noticed)
    activate(desk, "webhook-receiver-slow", seconds=300)
    add(desk)
    assert waiting.wait(PATIENCE)

    if end == "reset":
        desk.world.reset()
    elif end == "close":
        desk.platform.close()
    else:
        desk.world.closed = True

    desk.wait(PATIENCE)
    assert [] == receiver.event_ids


def test_duplicate_delivery(desk: Desk, receiver: Receiver) -> None:
    """The first event comes twice, byte for byte, and both are on record."""
    activate(desk, "webhook-duplicate-delivery", times=1)

    assert ("COMPLETE", 3, 0, None) == replay(desk)
    assert ["one", *IDS] == receiver.event_ids
    first, second = receiver.received[:2]
    assert (first.body, first.headers) == (second.body, second.headers)
    assert [("one", 1, 200, None), ("one", 2, 200, None)] == attempts(desk)[:2]
    assert 1 == fired(desk, "webhook-duplicate-delivery")


def test_out_of_order(desk: Desk, receiver: Receiver) -> None:
    """Neighbours change places; the last of an odd number has none and comes all the same."""
    activate(desk, "webhook-out-of-order")

    assert ("COMPLETE", 3, 0, None) == replay(desk)
    assert ["two", "one", "three"] == receiver.event_ids
    assert 2 == fired(desk, "webhook-out-of-order")


def test_out_of_order_live(desk: Desk, receiver: Receiver) -> None:
    """A live event waits for the next one of its webhook."""
    activate(desk, "webhook-out-of-order", times=1)
    first = add(desk)
    desk.wait()
    assert [] == receiver.event_ids

    second = add(desk)
    desk.wait()

    assert [second, first] == receiver.event_ids
    third = add(desk)
    desk.wait()
    assert [second, first, third] == receiver.event_ids


def test_what_is_held_ends_with_its_world(desk: Desk, receiver: Receiver) -> None:
    """After a reset no receiver gets it."""
    activate(desk, "webhook-out-of-order", times=1)
    add(desk)
    desk.wait()
    desk.world.reset()
    desk.lead_to(receiver.url)

    fresh = add(desk)
    desk.wait()

    assert [fresh] == receiver.event_ids


def test_delivery_lost(desk: Desk, receiver: Receiver) -> None:
    """A live event is lost without a second attempt, and a replay recovers it."""
    desk.remove_events()
    activate(desk, "webhook-delivery-lost")
    key = add(desk)
    desk.wait()

    assert [] == receiver.event_ids
    lost = "lost by scenario rule webhook-delivery-lost/0; nothing was sent"
    assert [(key, 1, None, lost)] == attempts(desk)
    desk.world.clock.advance(120)
    assert "COMPLETE" == replay(desk)[0]
    assert [key] == receiver.event_ids
    assert 1 == fired(desk, "webhook-delivery-lost")


def test_one_lost_in_a_replay(desk: Desk, receiver: Receiver) -> None:
    """The second of the job's events is missing, and the job is incomplete."""
    activate(desk, "webhook-delivery-lost", call=2)

    assert ("INCOMPLETE", 2, 1, "1 of 3 events were not accepted") == replay(desk)
    assert ["one", "three"] == receiver.event_ids


def test_other_types_of_events_fare_well(desk: Desk, receiver: Receiver) -> None:
    """A scenario for one event type leaves the others alone."""
    activate(desk, "webhook-delivery-lost", event_type="post.delete")
    kept = add(desk)
    add(desk, "post.delete")
    desk.wait()

    assert [kept] == receiver.event_ids


@pytest.mark.parametrize(("name", "operation", "message"), [
    ("webhook-challenge-failed", "webhooks.create", "CrcValidationFailed: "),
    ("webhook-limit-exceeded", "webhooks.create", "WebhookLimitExceeded: "),
    ("account-subscription-exists", "account_activity.subscribe", "DuplicateSubscriptionFailed: "),
    ("account-subscription-limit-exceeded", "account_activity.subscribe",
     "SubscriptionLimitExceeded: "),
])  # fmt: skip
def test_registration_is_refused(box: Sandbox, name: str, operation: str, message: str) -> None:
    """The address or the subscription is refused, and nothing is stored."""
    stage = Stage(name, box)

    answer = stage.ask(operation)

    assert (400, "application/problem+json") == (answer.status_code, answer.mimetype)
    assert answer.get_json()["errors"][0]["message"].startswith(message)
    assert answer.headers["X-Mock-Rule"].startswith(f"{name}/")
    assert [] == list(stage.last.changes)
