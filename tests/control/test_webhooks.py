from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.control.support import call, detail, fields
from tests.support import Sandbox, sandbox
from tests.support_receiver import Receiver

WEBHOOK = "1146654567674912769"
EVENT = {"webhook_id": WEBHOOK, "event_type": "post.create", "payload": {"id": "1"}}
ATTEMPTS = [
    {"id": "d1", "job_id": "j1", "webhook_id": "w1", "event_id": "e1", "attempt": 1},
    {"id": "d2", "job_id": "j1", "webhook_id": "w1", "event_id": "e2", "attempt": 1},
    {"id": "d3", "job_id": "j2", "webhook_id": "w2", "event_id": "e1", "attempt": 1},
]


@pytest.fixture
def box() -> Sandbox:
    """A sandbox whose clock is frozen and whose webhook gets nothing."""
    box = sandbox(freeze=datetime(2026, 6, 10, tzinfo=UTC))
    call(box, "PATCH", f"/state/webhooks/{WEBHOOK}", json={"valid": False})
    return box


def test_add_an_event(box: Sandbox) -> None:
    """An added event is in the log; the answer says whether it is delivered, and why not."""
    answer = call(box, "POST", "/events", json=EVENT)

    event = answer.get_json()
    assert 201 == answer.status_code
    assert "2026-06-10T00:00:00.000Z" == event["created_at"]
    assert not event.pop("delivering")
    assert event.pop("why_not")
    assert [] == event.pop("warnings")
    assert event == call(box, "GET", f"/state/events/{event['id']}").get_json()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"webhook_id": "2"}, "webhook_id"),
        ({"webhook_id": None}, "webhook_id"),
        ({"event_type": "post.crate"}, "event_type"),
        ({"payload": []}, "payload"),
        ({"created_at": "soon"}, "created_at"),
        ({"created_at": "2026-06-11T00:00:00Z"}, "created_at"),
        ({"evnt": 1}, "evnt"),
    ],
)
def test_faulty_event(box: Sandbox, change: dict[str, Any], field: str) -> None:
    """An event with a fault is not added; the fault is reported with its field."""
    before = call(box, "GET", "/state/events").get_json()["total"]

    answer = call(box, "POST", "/events", json=EVENT | change)

    assert (422, [field]) == (answer.status_code, fields(answer))
    assert "The event was not added" in detail(answer)
    assert before == call(box, "GET", "/state/events").get_json()["total"]


@pytest.mark.parametrize("body", [b"[]", b"1"])
def test_no_event(box: Sandbox, body: bytes) -> None:
    """An event is an object."""
    headers = {"Content-Type": "application/json"}

    assert 422 == call(box, "POST", "/events", data=body, headers=headers).status_code


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["d1", "d2", "d3"]),
        ("?job_id=j1", ["d1", "d2"]),
        ("?webhook_id=w2", ["d3"]),
        ("?event_id=e1", ["d1", "d3"]),
        ("?event_id=e1&job_id=j1", ["d1"]),
        ("?limit=2", ["d2", "d3"]),
        ("?job_id=j1&limit=1", ["d2"]),
        ("?limit=0", []),
        ("?job_id=j3", []),
    ],
)
def test_deliveries(box: Sandbox, query: str, ids: list[str]) -> None:
    """Attempts are found by job, webhook and event, oldest first."""
    box.platform.worlds.default.deliveries.extend(ATTEMPTS)

    body = call(box, "GET", f"/deliveries{query}").get_json()

    assert ids == [delivery["id"] for delivery in body["deliveries"]]


def test_waiting_for_deliveries(box: Sandbox) -> None:
    """With `wait` the answer says whether anything is still under way."""
    assert {"deliveries": [], "idle": True} == call(box, "GET", "/deliveries?wait=5").get_json()


@pytest.mark.parametrize(("wait", "status"), [("0", 200), ("60", 200), ("61", 400), ("-1", 400)])
def test_longest_wait(box: Sandbox, wait: str, status: int) -> None:
    """A minute at most."""
    assert status == call(box, "GET", f"/deliveries?wait={wait}").status_code


def test_unknown_filter(box: Sandbox) -> None:
    """An unknown filter names the nearest one."""
    answer = call(box, "GET", "/deliveries?job=1")

    assert 400 == answer.status_code
    assert "Did you mean 'job_id'?" in detail(answer)


def test_a_right_answer_makes_a_webhook_valid(box: Sandbox, receiver: Receiver) -> None:
    """A challenge by hand: the answer and the record agree, and the attempt is on record."""
    call(box, "PATCH", f"/state/webhooks/{WEBHOOK}", json={"url": receiver.url})

    answer = call(box, "POST", f"/webhooks/{WEBHOOK}/validate")

    assert 200 == answer.status_code
    assert {"id": WEBHOOK, "url": receiver.url, "valid": True, "error": None} == answer.get_json()
    assert call(box, "GET", f"/state/webhooks/{WEBHOOK}").get_json()["valid"]
    (attempt,) = call(box, "GET", f"/deliveries?webhook_id={WEBHOOK}").get_json()["deliveries"]
    assert (200, None, None) == (attempt["status"], attempt["error"], attempt["job_id"])


@pytest.mark.parametrize(
    ("answer", "valid"), [((200, b"{}"), False), ((302, b""), False), ((503, b""), True)]
)
def test_only_a_wrong_answer_makes_a_webhook_invalid(
    box: Sandbox, receiver: Receiver, answer: tuple[int, bytes], *, valid: bool
) -> None:
    """A status that may be better the next time leaves it as it is; the error is reported."""
    receiver.challenge = lambda _token: answer
    change = {"url": receiver.url, "valid": True}
    call(box, "PATCH", f"/state/webhooks/{WEBHOOK}", json=change)

    found = call(box, "POST", f"/webhooks/{WEBHOOK}/validate").get_json()

    assert (valid, True) == (found["valid"], bool(found["error"]))
    assert valid == call(box, "GET", f"/state/webhooks/{WEBHOOK}").get_json()["valid"]


def test_a_webhook_that_does_not_exist_cannot_be_challenged(box: Sandbox) -> None:
    """The nearest one is named."""
    answer = call(box, "POST", f"/webhooks/{WEBHOOK[:-1]}/validate")

    assert 404 == answer.status_code
    assert f"there is no webhook {WEBHOOK[:-1]}. Did you mean" in detail(answer)


def test_worlds_have_webhooks_of_their_own(box: Sandbox, receiver: Receiver) -> None:
    """A challenge in one world changes nothing in another."""
    call(box, "PUT", "/worlds/w1")
    call(box, "PATCH", f"/state/webhooks/{WEBHOOK}", world="w1", json={"url": receiver.url})

    assert call(box, "POST", f"/webhooks/{WEBHOOK}/validate", world="w1").get_json()["valid"]
    assert not call(box, "GET", f"/state/webhooks/{WEBHOOK}").get_json()["valid"]
