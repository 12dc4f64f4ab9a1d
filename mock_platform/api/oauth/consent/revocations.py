"""Revocations: a user takes an app's access back, and the app hears of it."""

from __future__ import annotations

from mock_platform.api.v2.activity.activities import FanOut, record_activity
from mock_platform.core.assumptions import public_fact
from mock_platform.world.world import World

EVENT = "oauth.revoke"
REVOKE_EVENT = public_fact(
    "oauth.revoke-event",
    "When the access of an app to a user ends, by oauth2/revoke or by invalidate_token, the app's "
    "own subscriptions to oauth.revoke get the event.",
    "section 3.3 of the named endpoints",
)


def record_revocation(world: World, app_id: str, user_id: str) -> FanOut:
    """Record that a user took an app's access back; what reaches the app ends with it.

    Called after the token has ended, within `world.work()`.
    """
    payload = make_revocation(world, app_id, user_id)
    return record_activity(world, EVENT, user_id=user_id, payload=payload)


def make_revocation(world: World, app_id: str, user_id: str) -> dict[str, str]:
    """Return the payload of the event."""
    moment = f"{world.clock.now():%Y-%m-%dT%H:%M:%S}+00:00"
    return {"date_time": moment, "user_id": user_id, "app_id": app_id}


def end_access(world: World, app_id: str, user_id: str) -> None:
    """Invalidate all tokens that an app has of a user, and remove what the user granted it."""
    match = {"app_id": app_id, "user_id": user_id}
    for entry in world.store.page("tokens", match | {"state": "active"}):
        world.store.put("tokens", entry.key, entry.record | {"state": "invalidated"})
    for entry in world.store.page("grants", match):
        world.store.remove("grants", entry.key)
