"""Activities: something happens to a user, and every subscription that matches gets its event.

Operations and `POST /_mock/events` record activities; nothing else makes events. The events of
webhooks are rows of the log that a replay reads, written in the transaction of what happened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mock_platform.core.assumptions import public_fact, settled
from mock_platform.rules.release_history import find_event_name
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_millis
from mock_platform.world.world import World

ADDED = "event:added"
"""Topic of the notice that an event waits to be delivered; its key is the event's id."""
DIRECTIONS = ("sent", "received", "both", "outbound", "inbound")
FAN_OUT = settled(
    "activity.fan-out",
    "An activity is delivered once for each subscription that matches it, with the filter and the "
    "tag of that subscription and the same event_uuid.",
    "Events and streams",
)
DIRECTION = public_fact(
    "activity.direction",
    "The direction of a filter is sent, received or both; outbound and inbound are other "
    "spellings. It is repeated as the subscriber wrote it. Besides dm.* and chat.*, which the spec "
    "names, like.create and follow.* take one.",
    "section 3.1 of the named endpoints, direction",
)
_DIRECTED = ("dm.", "chat.", "like.create", "follow.")
_MEANINGS = {"outbound": "sent", "inbound": "received"}
_ALIASES = {
    "profile.update.verified_badge": "profile.update.verified",
    "profile.update.affiliate_badge": "profile.update.affiliate",
    "profile.update.handle": "profile.update.screenname",
}
_MOST_REASONS = 10
_POST_EVENTS = "post."


@dataclass(frozen=True, slots=True)
class FanOut:
    """An activity as it was recorded, the events that it became, and why it became no others."""

    activity: Record
    events: list[Record]
    why_not: list[str]


def takes_direction(event_type: str) -> bool:
    """Return whether subscriptions to a type of event may have a direction."""
    return event_type.startswith(_DIRECTED)


def canonicalize_name(event_type: str) -> str:
    """Return the name in force of an event type that has several."""
    known = find_event_name(event_type)
    name = event_type if known is None else known.successor or known.name
    return _ALIASES.get(name, name)


def record_activity(
    world: World,
    event_type: str,
    *,
    user_id: str | None,
    payload: Mapping[str, Any],
    includes: Mapping[str, Any] | None = None,
    direction: str | None = None,
    created_at: str | None = None,
) -> FanOut:
    """Record what happened to a user, and add an event to each webhook that wants to hear of it.

    `direction` is `sent` or `received` where the activity has one. Called within `world.work()`;
    the deliveries begin after the commit.
    """
    moment = created_at or wire_millis(world.clock.now())
    activity: Record = {
        "id": world.ids.snowflake(),
        "event_type": event_type,
        "event_uuid": _choose_event_uuid(world, event_type, payload),
        "user_id": user_id,
        "direction": direction,
        "payload": dict(payload),
        "includes": None if not includes else dict(includes),
        "created_at": moment,
    }
    world.store.put("activities", activity["id"], activity)
    events: list[Record] = []
    why_not: list[str] = []
    subscriptions = [entry.record for entry in world.store.page("activity_subscriptions")]
    for subscription in subscriptions:
        reason = find_difference(subscription, activity)
        if reason is None and "webhook_id" not in subscription:
            reason = "it names no webhook"
        if reason is None:
            event, reason = _add_event(world, subscription, activity)
            events.append(event)
        if reason is not None:
            why_not.append(f"subscription {subscription['subscription_id']}: {reason}")
    if not subscriptions:
        why_not.append("no app has a subscription; POST /2/activity/subscriptions makes one")
    return FanOut(activity, events, why_not[:_MOST_REASONS])


def find_difference(subscription: Record, activity: Record) -> str | None:
    """Return the first reason why a subscription does not match an activity, `None` if it does."""
    wanted = subscription["filter"]
    if canonicalize_name(subscription["event_type"]) != canonicalize_name(activity["event_type"]):
        return f"it is for {subscription['event_type']}, not {activity['event_type']}"
    if wanted.get("user_id") not in {None, activity["user_id"]}:
        return f"it follows user {wanted['user_id']}, not {activity['user_id']}"
    direction = _MEANINGS.get(wanted.get("direction", ""), wanted.get("direction"))
    if direction not in {None, "both", activity["direction"]}:
        return f"it wants what was {direction}, and this was {activity['direction']}"
    keyword = wanted.get("keyword")
    if (
        keyword is not None
        and keyword.casefold() not in _join_texts(activity["payload"]).casefold()
    ):
        return f"the keyword {keyword!r} is not in the payload"
    return None


def _add_event(world: World, subscription: Record, activity: Record) -> tuple[Record, str | None]:
    """Add an activity to a webhook's log; return also why it is not delivered now, if it is not."""
    webhook_id = subscription["webhook_id"]
    webhook = world.store.get("webhooks", webhook_id)
    live = webhook is not None and webhook["valid"]
    event = {
        "id": world.ids.snowflake(),
        "webhook_id": webhook_id,
        "event_type": activity["event_type"],
        "payload": activity["payload"],
        "created_at": activity["created_at"],
        "_attempted": live,
        "_user_id": activity["user_id"],
        "_tag": subscription.get("tag"),
        "_direction": None,
        "_includes": activity["includes"],
        "_filter": subscription["filter"],
        "_event_uuid": activity["event_uuid"],
    }
    world.store.put("events", event["id"], event)
    if live:
        world.notify(ADDED, event["id"])
        return event, None
    return event, (
        f"webhook {webhook_id} is not valid, so the event is kept and not delivered; "
        f"PUT /2/webhooks/{webhook_id} challenges it again"
    )


def _choose_event_uuid(world: World, event_type: str, payload: Mapping[str, Any]) -> str:
    """Return the post's own id for events about posts, else a new one."""
    post_id = payload.get("id")
    if event_type.startswith(_POST_EVENTS) and isinstance(post_id, str):
        return post_id
    return world.ids.snowflake()


def _join_texts(value: Any) -> str:
    """Return all texts within a payload, one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        value = list(value.values())
    return " ".join(map(_join_texts, value)) if isinstance(value, list) else ""
