"""A user who takes an app's access back: the app hears of it once more."""

from __future__ import annotations

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.v2.activity.account_activity_delivery import TABLE
from mock_platform.api.v2.activity.activities import make_topic
from tests.support import HARBOR, NORTHBIKE, Keys, signed
from tests.support_receiver import Receiver
from tests.support_replay import WEBHOOK, Desk

USER = "2244994945"
PATH = "/1.1/oauth/invalidate_token.json"


@pytest.fixture
def desk(desk: Desk, receiver: Receiver) -> Desk:
    """A sandbox whose well-known webhook is subscribed to the well-known user."""
    key = f"{WEBHOOK}-{USER}"
    record = {"_id": key, "webhook_id": WEBHOOK, "user_id": USER, "created_at": "2026-11-20"}
    desk.put(TABLE, key, record)
    return desk


def revoke(desk: Desk, keys: Keys = HARBOR) -> TestResponse:
    """Invalidate the token that signs the request."""
    headers = signed("POST", f"http://localhost{PATH}", keys)
    answer = desk.client.post(PATH, headers=headers)
    desk.wait()
    return answer


def test_account_activity(desk: Desk, receiver: Receiver) -> None:
    """The webhook receives the revocation, and the subscription ends."""
    assert 200 == revoke(desk).status_code
    event = {
        "date_time": "2026-11-20T12:00:30+00:00", "target": {"app_id": "11827"},
        "source": {"user_id": USER},
    }  # fmt: skip
    assert [{"user_event": {"revoke": event}}] == [post.json for post in receiver.received]
    assert 0 == desk.world.store.count(TABLE, {"webhook_id": WEBHOOK})


def test_activity(desk: Desk, receiver: Receiver) -> None:
    """A subscription to revocations hears only of those of its own app."""
    record = {
        "subscription_id": "1", "event_type": "oauth.revoke", "filter": {},
        "webhook_id": WEBHOOK, "_app_id": "11827", "_topic": make_topic("oauth.revoke", None),
    }  # fmt: skip
    with desk.world.work():
        desk.world.store.put("activity_subscriptions", "1", record)
    revoke(desk, NORTHBIKE)
    revoke(desk)
    (body,) = [post.json["data"] for post in receiver.received if "data" in post.json]
    assert ("oauth.revoke", {}) == (body["event_type"], body["filter"])
    assert {
        "date_time": "2026-11-20T12:00:30+00:00", "user_id": USER, "app_id": "11827",
    } == body["payload"]  # fmt: skip


def test_a_second_time(desk: Desk, receiver: Receiver) -> None:
    """A token that was invalidated before makes no further event."""
    revoke(desk)
    again = revoke(desk)

    assert (401, 1) == (again.status_code, len(receiver.received))
