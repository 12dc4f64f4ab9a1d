"""Account activity: what happens to a subscribed user, as a body for the webhook.

The subscriptions and their limits, and what an activity becomes for them. The shapes are public
facts (named endpoints, section 4); document A names the product.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from mock_platform.api.v2.objects.older_forms import (
    as_map,
    format_post_time,
    make_post_object,
    make_user_object,
)
from mock_platform.api.v2.objects.post_view import show_whole_post
from mock_platform.api.v2.objects.relations import BLOCKS
from mock_platform.api.v2.release_history import canonicalize_name, is_in_force
from mock_platform.api.v2.webhooks.event_log import log_event
from mock_platform.api.v2.webhooks.validation import list_apps_of_owner, make_refusal
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.world.clock import epoch_millis, parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# The bodies of account activity: an activity with the post and user objects of the 1.1
# interface. Public facts (named endpoints, section 4.2; section 6). `for_user_id` is added at
# the delivery.

Body = dict[str, Any]
EVENT_BODIES = public_fact(
    "account-activity.bodies",
    "Account activity delivers one object for each event: for_user_id and post_create_events, "
    "post_delete_events, favorite_events, follow_events, block_events, mute_events, or the three "
    "kinds of direct_message_…_events, with post and user objects of the 1.1 interface; user_event "
    "has no for_user_id. Other activities are not delivered.",
    "section 4.2 of the named endpoints",
)
_BETWEEN_USERS = ("follow", "block", "mute")
MESSAGE_LISTS = {
    "dm.received": "direct_message_events",
    "dm.sent": "direct_message_events",
    "dm.read": "direct_message_mark_read_events",
    "dm.indicate_typing": "direct_message_indicate_typing_events",
}
"""The key under which the payload of each activity about messages lists them."""


class NoBody(ValueError):
    """An activity is not delivered by account activity; the text says why."""


def make_account_event(world: World, activity: Record) -> Body:
    """Return what account activity delivers for an activity, without `for_user_id`.

    Raises:
        NoBody: It delivers no activities of this type, or the payload is not of that type.
    """
    name = canonicalize_name(activity["event_type"])
    family, _, kind = name.partition(".")
    if family in _BETWEEN_USERS:
        return _make_relation(world, activity, family, kind)
    make = _MAKERS.get(name)
    if make is None:
        raise NoBody(f"it has no event for {activity['event_type']}")
    return make(world, activity)


def _make_post_creation(world: World, activity: Record) -> Body:
    post = _require_ids(activity["payload"], "id", "author_id")
    known = _list_included(activity, "posts")
    body: Body = {
        "post_create_events": [make_post_object(world, post, known, _find_time(activity))]
    }
    if canonicalize_name(activity["event_type"]) == "post.mention.create":
        blocks = BLOCKS.find(world, activity["user_id"] or "", post["author_id"]) is not None
        body = {"user_has_blocked": "true" if blocks else "false", **body}
    return body


def _make_post_deletion(_world: World, activity: Record) -> Body:
    post = _require_ids(activity["payload"], "id", "author_id")
    status = {"id": post["id"], "user_id": post["author_id"]}
    stamp = epoch_millis(_find_time(activity))
    return {"post_delete_events": [{"status": status, "timestamp_ms": stamp}]}


def _make_like(world: World, activity: Record) -> Body:
    like = activity["payload"]
    ids = _require_ids(like, "liked_post_id")
    known = _list_included(activity, "posts")
    liked = _find_liked_post(world, ids["liked_post_id"], like, known)
    liker = _find_liker(activity, liked)
    moment = _find_time(activity)
    event = {
        "id": like.get("id"),
        "created_at": format_post_time(moment),
        "timestamp_ms": int(epoch_millis(moment)),
        "favorited_status": make_post_object(world, liked, known, moment),
        "user": _show_user(world, liker, {}),
    }
    return {"favorite_events": [event]}


def _find_liked_post(
    world: World, post_id: str, like: Mapping[str, Any], known: list[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Return the liked post in the form of the v2 interface, as far as it is known."""
    for post in known:
        if post.get("id") == post_id and isinstance(post.get("author_id"), str):
            return post
    stored = world.store.get("posts", post_id)
    if stored is not None:
        return show_whole_post(world, stored)
    author = like.get("liked_post_author_id")
    return _require_ids({"id": post_id, "author_id": author, "text": ""}, "author_id")


def _find_liker(activity: Record, liked: Mapping[str, Any]) -> str:
    """Return who likes: the activity's user, or for the post's author somebody else."""
    if activity["direction"] != "received":
        user_id: str = activity["user_id"]
        return user_id
    for user in _list_included(activity, "users"):
        if isinstance(user.get("id"), str) and user["id"] != liked["author_id"]:
            return str(user["id"])
    raise NoBody("includes.users does not have the user who likes")


def _make_relation(world: World, activity: Record, family: str, kind: str) -> Body:
    moment = _find_time(activity)
    event: dict[str, Any] = {"type": kind, "created_timestamp": epoch_millis(moment)}
    for role in ("target", "source"):
        data = as_map(as_map(activity["payload"].get(role)).get("data"))
        event[role] = _show_user(world, _require_ids(data, "id")["id"], data)
    return {f"{family}_events": [event]}


def _make_message_event(world: World, activity: Record) -> Body:
    """Return a body about messages: the same list as in the activity, with its users and apps."""
    key = MESSAGE_LISTS[canonicalize_name(activity["event_type"])]
    payload = activity["payload"]
    given = payload.get(key)
    events = [as_map(event) for event in given] if isinstance(given, list) else []
    if not events:
        raise NoBody(f"the payload has no {key}")
    apps: dict[str, Any] = {}
    shown = [_add_source_app(world, event, apps) for event in events]
    body: Body = {key: shown}
    if apps:
        body["apps"] = apps
    ids = dict.fromkeys([*as_map(payload.get("users")), *_list_participants(events)])
    users = {id_: world.store.get("users", id_) for id_ in ids}
    body["users"] = {id_: _make_participant(user) for id_, user in users.items() if user}
    return body


def _add_source_app(
    world: World, event: Mapping[str, Any], apps: dict[str, Any]
) -> Mapping[str, Any]:
    """Return a message event with the app from which it was sent, and add that app to `apps`."""
    message = as_map(event.get("message_create"))
    stored = world.store.get("direct_messages", str(event.get("id"))) or {}
    app_id = message.get("source_app_id") or stored.get("_app_id")
    app = world.store.get("apps", app_id) if isinstance(app_id, str) else None
    if app is None or not message:
        return event
    apps[app["id"]] = {"id": app["id"], "name": app["name"], "url": app["url"]}
    return {**event, "message_create": {**message, "source_app_id": app["id"]}}


def _list_participants(events: list[Mapping[str, Any]]) -> list[str]:
    found: list[Any] = []
    for event in events:
        message = as_map(event.get("message_create")) or event
        found += [message.get("sender_id"), as_map(message.get("target")).get("recipient_id")]
    return [id_ for id_ in found if isinstance(id_, str)]


def _make_participant(user: Record) -> dict[str, Any]:
    """Return a user as message events show one: not the whole user object."""
    names = (
        "name", "screen_name", "location", "description", "url", "protected", "verified",
        "followers_count", "friends_count", "statuses_count", "profile_image_url",
        "profile_image_url_https",
    )  # fmt: skip
    created = epoch_millis(parse_instant(user["created_at"]))
    shown = {name: user.get(name) for name in names}
    return {"id": user["id"], "created_timestamp": created, **shown}


def _make_revocation(_world: World, activity: Record) -> Body:
    revoked = _require_ids(activity["payload"], "app_id", "user_id")
    return {
        "user_event": {
            "revoke": {
                "date_time": f"{_find_time(activity):%Y-%m-%dT%H:%M:%S}+00:00",
                "target": {"app_id": revoked["app_id"]},
                "source": {"user_id": revoked["user_id"]},
            }
        }
    }


_MAKERS: Mapping[str, Callable[[World, Record], Body]] = {
    "post.create": _make_post_creation,
    **dict.fromkeys(
        [f"post.{kind}.create" for kind in ("mention", "reply", "quote", "repost")],
        _make_post_creation,
    ),
    "post.delete": _make_post_deletion,
    "like.create": _make_like,
    **dict.fromkeys(MESSAGE_LISTS, _make_message_event),
    "oauth.revoke": _make_revocation,
}


def _show_user(world: World, user_id: str, data: Mapping[str, Any]) -> Record:
    """Return a user object; of an unknown user what the payload has of it."""
    user = world.store.get("users", user_id)
    if user is not None:
        return make_user_object(user)
    shown: Record = {"id": int(user_id), "id_str": user_id}
    pairs = (("name", "name"), ("screen_name", "username"))
    return shown | {ours: data[theirs] for ours, theirs in pairs if theirs in data}


def _require_ids(payload: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    for name in names:
        value = payload.get(name)
        if not (isinstance(value, str) and value.isascii() and value.isdigit()):
            raise NoBody(f"the payload has no {name} of digits")
    return payload


def _list_included(activity: Record, name: str) -> list[Mapping[str, Any]]:
    included = as_map(activity["includes"]).get(name)
    found = included if isinstance(included, list) else []
    return [as_map(each.get("data")) or each for each in found if isinstance(each, Mapping)]


def _find_time(activity: Record) -> datetime:
    return parse_instant(activity["created_at"])


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
MESSAGE_PERMISSIONS = settled(
    "account-activity.messages",
    "Events of direct messages are delivered only if the app has the permissions read, write and "
    "direct messages, whatever the scopes of the OAuth 2.0 token are that subscribed the user; a "
    "user may be subscribed without them.",
    "A, Authentication: direct messages",
)
SUBSCRIPTION_CAP = public_fact(
    "account-activity.limit",
    "The apps of one owner may have 3 subscriptions over all webhooks; an app whose _tier is "
    "enterprise or partner 5,000.",
    "section 6, limits",
)
REVOKED_ACCESS = public_fact(
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
    return world.store.first(TABLE, match)


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
        raise make_refusal("DuplicateSubscriptionFailed", text, "webhook_id", webhook_id)
    held, allowed = count_subscriptions(world, app), find_provisioned_count(app)
    if held >= allowed:
        text = (
            f"the account has {held} subscriptions, and {allowed} are allowed (the _tier of app "
            f"{app['id']} decides)"
        )
        raise make_refusal("SubscriptionLimitExceeded", text, "webhook_id", webhook_id)
    key = f"{webhook_id}-{user_id}"
    record = {
        "_id": key,
        "webhook_id": webhook_id,
        "user_id": user_id,
        "created_at": wire_millis(world.clock.now()),
    }
    world.store.put(TABLE, key, record)


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
    if not is_in_force("account-activity", world):
        return [], [f"account activity is not launched yet, and {world.explain_too_early()}"]
    try:
        # The body is made once, before the subscriptions are looked at: if the activity has no form
        # in this product, none of them receives it, and there is one reason for all.
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


def is_account_activity(body: Mapping[str, Any]) -> bool:
    """Whether a body is that of the account activity product, under either names."""
    return "for_user_id" in body or "user_event" in body
