"""Account activity: all that happens to a subscribed user reaches the webhook of the subscription.

The subscriptions and their limits, and what an activity becomes for them. The shapes are public
facts (named endpoints, section 4); document A names the product.
"""

from __future__ import annotations

from collections.abc import Mapping

from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.rules.account_activity_bodies import NoBody, make_account_event
from mock_platform.rules.webhook_log import log_event
from mock_platform.rules.webhooks import list_apps_of_owner, make_refusal
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_millis
from mock_platform.world.world import World

TABLE = "account_activity_subscriptions"
PROVISIONED: Mapping[str, int] = {"self_serve": 3, "enterprise": 5000, "partner": 5000}
"""How many subscriptions the apps of an account may have, by the app's `_tier`."""
FAN_OUT = public_fact(
    "account-activity.fan-out",
    "What happens to a subscribed user is delivered to each webhook at which the user is "
    "subscribed, once for each subscribed user that takes part; a post that is several activities "
    "of one user, such as a reply that mentions, is delivered once.",
    "section 4 of the named endpoints, what a webhook receives",
)
MESSAGES = settled(
    "account-activity.messages",
    "Events of direct messages are delivered only if the app has the permissions read, write and "
    "direct messages, whatever the scopes of the OAuth 2.0 token are that subscribed the user; a "
    "user may be subscribed without them.",
    "A, Authentication: direct messages",
)
LIMIT = public_fact(
    "account-activity.limit",
    "The apps of one owner may have 3 subscriptions over all webhooks; an app whose _tier is "
    "enterprise or partner 5,000.",
    "section 6, limits",
)
REVOKED = public_fact(
    "account-activity.revoked",
    "A user who takes an app's access back ends the subscriptions to that user at the app's "
    "webhooks, each of which receives a last user_event.revoke.",
    "section 4.1 of the named endpoints",
)
_PERMISSIONS = {"read", "write", "direct_messages"}
_REVOCATION = "oauth.revoke"


def find_subscription(world: World, webhook_id: str, user_id: str) -> Record | None:
    """Return the subscription of a user at a webhook, if there is one."""
    match = {"webhook_id": webhook_id, "user_id": user_id}
    found = world.store.page(TABLE, match, limit=1)
    return found[0].record if found else None


def count_subscriptions(world: World, app: Record) -> int:
    """Return how many subscriptions the apps of an app's owner have, over all webhooks."""
    return sum(
        world.store.count(TABLE, {"webhook_id": entry.key})
        for app_id in list_apps_of_owner(world, app)
        for entry in world.store.page("webhooks", {"_app_id": app_id})
    )


def find_provisioned_count(app: Record) -> int:
    """Return how many subscriptions the apps of an app's owner may have (its `_tier`)."""
    return PROVISIONED[app.get("_tier") or "self_serve"]


def add_subscription(world: World, app: Record, webhook_id: str, user_id: str) -> None:
    """Subscribe a webhook of an app to a user.

    Raises:
        ProblemFailure: DuplicateSubscriptionFailed or SubscriptionLimitExceeded.
    """
    if find_subscription(world, webhook_id, user_id) is not None:
        text = "Subscription already exists"
        raise _refuse("DuplicateSubscriptionFailed", text, webhook_id)
    held, allowed = count_subscriptions(world, app), find_provisioned_count(app)
    if held >= allowed:
        text = (
            f"the account has {held} subscriptions, and {allowed} are allowed (the _tier of app "
            f"{app['id']} decides)"
        )
        raise _refuse("SubscriptionLimitExceeded", text, webhook_id)
    key = f"{webhook_id}-{user_id}"
    record = {
        "_id": key,
        "webhook_id": webhook_id,
        "user_id": user_id,
        "created_at": wire_millis(world.clock.now()),
    }
    world.store.put(TABLE, key, record)


def _refuse(name: str, text: str, webhook_id: str) -> ProblemFailure:
    return make_refusal(name, text, "webhook_id", webhook_id)


def remove_subscription(world: World, webhook_id: str, user_id: str) -> None:
    """End the subscription of a user at a webhook.

    Raises:
        ProblemFailure: The user is not subscribed there (SubscriptionNotFound).
    """
    found = find_subscription(world, webhook_id, user_id)
    if found is None:
        text = f"user {user_id} is not subscribed at webhook {webhook_id}"
        raise make_refusal("SubscriptionNotFound", text, "user_id", user_id)
    world.store.remove(TABLE, found["_id"])


def add_account_events(world: World, activity: Record) -> tuple[list[Record], list[str]]:
    """Add an activity to the log of each webhook at which its user is subscribed.

    Returns the events, and why there are no others. A revocation ends the subscriptions that it
    reaches.
    """
    events: list[Record] = []
    why_not: list[str] = []
    user_id = activity["user_id"]
    found = world.store.page(TABLE, {"user_id": user_id}) if user_id is not None else []
    if not found:
        return [], []
    try:
        body = make_account_event(world, activity)
    except NoBody as fault:
        return [], [f"account activity: {fault}"]
    for entry in found:
        reason = _find_obstacle(world, entry.record, activity, body)
        if reason is None:
            event, reason = log_event(
                world, "account_activity", entry.record["webhook_id"], activity, body
            )
            events.append(event)
            if activity["event_type"] == _REVOCATION:
                world.store.remove(TABLE, entry.key)
        if reason is not None:
            why_not.append(f"account activity at webhook {entry.record['webhook_id']}: {reason}")
    return events, why_not


def _find_obstacle(
    world: World, subscription: Record, activity: Record, body: Mapping[str, object]
) -> str | None:
    """Return why a subscription of the activity's user does not receive it, if it does not."""
    webhook = world.store.get("webhooks", subscription["webhook_id"])
    app = None if webhook is None else world.store.get("apps", webhook["_app_id"])
    if app is None:
        return "the webhook or its app does not exist"
    if activity["event_type"] == _REVOCATION:
        revoked = activity["payload"].get("app_id")
        return None if revoked == app["id"] else f"it belongs to app {app['id']}, not {revoked}"
    if activity["event_type"].startswith("dm.") and not set(app["_permissions"]) >= _PERMISSIONS:
        lacking = ", ".join(sorted(_PERMISSIONS - set(app["_permissions"])))
        return f"app {app['id']} lacks the permissions that message events need: {lacking}"
    if _was_delivered(world, subscription, activity, body):
        return f"it received post {activity['event_uuid']} for another activity of the same user"
    return None


def _was_delivered(
    world: World, subscription: Record, activity: Record, body: Mapping[str, object]
) -> bool:
    """Return whether a webhook has the same post for the same user already."""
    if "post_create_events" not in body:
        return False
    match = {
        "_event_uuid": activity["event_uuid"],
        "webhook_id": subscription["webhook_id"],
        "_user_id": subscription["user_id"],
        "_product": "account_activity",
    }
    return any(
        "post_create_events" in entry.record["payload"]
        for entry in world.store.page("events", match)
    )
