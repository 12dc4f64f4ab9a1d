from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.control.support import call
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
    ("query", "ids"),
    [
        ("", ["d1", "d2", "d3"]), ("?job_id=j1", ["d1", "d2"]), ("?webhook_id=w2", ["d3"]),
        ("?event_id=e1", ["d1", "d3"]), ("?event_id=e1&job_id=j1", ["d1"]),
        ("?limit=2", ["d2", "d3"]), ("?job_id=j1&limit=1", ["d2"]), ("?limit=0", []),
        ("?job_id=j3", []),
    ],
)  # fmt: skip
def test_deliveries(box: Sandbox, query: str, ids: list[str]) -> None:
    """Attempts are found by job, webhook and event, oldest first."""
    box.platform.worlds.default.deliveries.extend(ATTEMPTS)

    body = call(box, "GET", f"/deliveries{query}").get_json()

    assert ids == [delivery["id"] for delivery in body["deliveries"]]


def test_waiting_for_deliveries(box: Sandbox) -> None:
    """With `wait` the answer says whether anything is still under way."""
    assert {"deliveries": [], "idle": True} == call(box, "GET", "/deliveries?wait=5").get_json()


@pytest.mark.parametrize("wait", ["0", "60"])
def test_longest_wait(box: Sandbox, wait: str) -> None:
    """A minute at most."""
    assert 200 == call(box, "GET", f"/deliveries?wait={wait}").status_code


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


def test_worlds_have_webhooks_of_their_own(box: Sandbox, receiver: Receiver) -> None:
    """A challenge in one world changes nothing in another."""
    call(box, "PUT", "/worlds/w1")
    call(box, "PATCH", f"/state/webhooks/{WEBHOOK}", world="w1", json={"url": receiver.url})

    assert call(box, "POST", f"/webhooks/{WEBHOOK}/validate", world="w1").get_json()["valid"]
    assert not call(box, "GET", f"/state/webhooks/{WEBHOOK}").get_json()["valid"]


def test_a_world_that_is_dropped_during_the_challenge(box: Sandbox, receiver: Receiver) -> None:
    """The answer says that of the world, and guesses at no other webhook."""
    call(box, "PUT", "/worlds/w1")
    call(box, "PATCH", f"/state/webhooks/{WEBHOOK}", world="w1", json={"url": receiver.url})

    def drop(_token: str) -> tuple[int, bytes]:
        box.platform.worlds.drop("w1")
        return 200, b"{}"

    receiver.challenge = drop

    answer = call(box, "POST", f"/webhooks/{WEBHOOK}/validate", world="w1")

    assert 404 == answer.status_code
    assert answer.get_json()["detail"].startswith("There is no world 'w1'. Create it with PUT ")
