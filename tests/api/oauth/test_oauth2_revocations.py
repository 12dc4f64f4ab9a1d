"""When a consent ends, the app's own subscriptions to oauth.revoke hear of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.api.oauth.oauth2_steps import allowed, exchange, revoke, tokens
from tests.support import BEARER, Sandbox, Sandboxes

USER = "2244994945"


@pytest.fixture
def box(sandboxes: Sandboxes) -> Sandbox:
    """A sandbox whose clock is stopped; both apps subscribe to oauth.revoke."""
    made = sandboxes.get(freeze=datetime(2026, 11, 20, 12, tzinfo=UTC))
    made.clear("activity_subscriptions")
    for app_id in ("11827", "20993"):
        moment = "2026-11-20T12:00:00.000Z"
        made.put("activity_subscriptions", app_id, {
            "subscription_id": app_id, "event_type": "oauth.revoke", "filter": {},
            "webhook_id": "1", "created_at": moment, "updated_at": moment, "_app_id": app_id,
            "_topic": "oauth.revoke/",
        })  # fmt: skip
    (webhook,) = made.world.store.page("webhooks", {"_app_id": "11827"}, limit=1)
    made.put("webhooks", "1", webhook.record | {"id": "1", "valid": False})
    return made


def revocations(box: Sandbox, table: str = "activities") -> list[dict[str, Any]]:
    """What was recorded as oauth.revoke, or added to the logs of webhooks."""
    return [e.record for e in box.world.store.page(table, {"event_type": "oauth.revoke"})]


def test_the_event_names_user_and_app(box: Sandbox) -> None:
    """The payload has the moment, the user and the app; only that app gets it."""
    revoke(box, tokens(box)["access_token"])
    (activity,) = revocations(box)
    (event,) = revocations(box, "events")
    payload = {"date_time": "2026-11-20T12:00:00+00:00", "user_id": USER, "app_id": "11827"}
    assert (payload, USER) == (activity["payload"], activity["user_id"])
    assert (payload, {}) == (event["payload"], event["_filter"])


def test_a_second_revocation_is_none(box: Sandbox) -> None:
    """What has ended does not end again."""
    found = tokens(box)
    revoke(box, found["access_token"])
    revoke(box, found["refresh_token"])

    assert 1 == len(revocations(box))


def test_an_invalidated_oauth1_token_is_one(box: Sandbox) -> None:
    """The user takes the access of the app back there, too."""
    assert 200 == box.call("POST", "/1.1/oauth/invalidate_token").status_code

    (activity,) = revocations(box)
    assert ("11827", USER) == (activity["payload"]["app_id"], activity["user_id"])
    assert 1 == len(revocations(box, "events"))


def test_a_code_that_comes_twice_is_one(box: Sandbox) -> None:
    """Its tokens are revoked, so the consent has ended."""
    code = allowed(box)
    exchange(box, code)
    exchange(box, code)

    assert 1 == len(revocations(box))


def test_a_bearer_token_of_an_app_is_not_a_consent(box: Sandbox) -> None:
    """Invalidating it ends no user's access."""
    answer = box.call("POST", "/oauth2/invalidate_token", form={"access_token": BEARER})

    assert 200 == answer.status_code
    assert [] == revocations(box)


def test_another_app_does_not_hear_of_it(box: Sandbox) -> None:
    """The control plane says whose access ended."""
    body = {
        "event_type": "oauth.revoke",
        "user_id": USER,
        "payload": {"date_time": "2026-11-20T12:00:00+00:00", "user_id": USER, "app_id": "20993"},
    }
    answer = box.client.post("/_mock/events", json=body).get_json()
    (other,) = [text for text in answer["why_not"] if text.startswith("subscription 11827")]
    assert other.endswith("it belongs to app 11827, not 20993")
