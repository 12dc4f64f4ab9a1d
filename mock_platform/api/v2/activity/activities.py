"""Activities: something happens to a user, and every subscription that matches gets its event.

The records are those of the named endpoints, section 3. Operations and `POST /_mock/events` record
activities; nothing else makes events. The events of webhooks are rows of the log that a replay
reads, written in the transaction of what happened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mock_platform.api.v2.activity.account_activity_delivery import add_account_events
from mock_platform.api.v2.conventions import make_id_field
from mock_platform.api.v2.filtered_stream.links import add_link_events
from mock_platform.api.v2.release_history import (
    canonicalize_name,
    explain_not_in_force,
    explain_unknown_name,
    find_event_name,
    find_name_at,
)
from mock_platform.api.v2.usage.counting import count_post_event
from mock_platform.api.v2.webhooks.event_log import PAYLOAD_MOMENTS, log_event
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.fields import Anything, Choice, Instant, ListOf, Nested, Text, Timed
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Shown, Table
from mock_platform.world.clock import parse_instant, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

if TYPE_CHECKING:
    from mock_platform.core.tables.drawing import Draft

AFFILIATE_BADGES = expectation(
    "activity.affiliate-badge",
    "before and after of profile.update.affiliate are the descriptions of the badge, empty without "
    "one. Without a payload a user gets the badge of an organization, or loses the one they have.",
)

FOLLOW_ACTIVITIES = expectation(
    "activity.follows",
    "A follow is a follow.follow sent by the user who follows, and one received by the other; the "
    "same for follow.unfollow.",
)

LIKE_ACTIVITIES = expectation(
    "posts.likes",
    "A like is a like.create sent by the user who likes, and one received by the author.",
)

DIRECTIONS = ("sent", "received", "both", "outbound", "inbound")
FAN_OUT = settled(
    "activity.fan-out",
    "An activity is delivered once for each subscription that matches it, with the filter and the "
    "tag of that subscription and the same event_uuid.",
    "Events and streams",
)
FILTER_DIRECTION = public_fact(
    "activity.direction",
    "The direction of a filter is sent, received or both; outbound and inbound are other "
    "spellings. It is repeated as the subscriber wrote it. Besides dm.* and chat.*, which the spec "
    "names, like.create and follow.* take one.",
    "section 3.1 of the named endpoints, direction",
)
FILTER_KEYWORD = expectation(
    "activity.keyword",
    "A keyword matches what an event says, in any case and within words too: the text of a post or "
    "a message, what a profile had before and has after, the words of a story. Ids, moments, "
    "settings and the users of an event are not what it says.",
)
_DIRECTED = ("dm.", "chat.", "like.create", "follow.")
_MEANINGS = {"outbound": "sent", "inbound": "received"}
_MOST_HAPPENINGS = 50
_MOST_REASONS = 10
_POST_EVENTS = "post."
_SAID = frozenset({
    "text", "message", "title", "name", "description", "before", "after",
    "headline", "hook", "summary", "category", "keywords", "topics",
})  # fmt: skip
"""The keys of a payload under which somebody says something."""
_PERSONS = frozenset({"users", "user", "source", "target", "author"})
STREAM = "activity_stream"
"""The id of the activity stream among the streams."""


class ActivityRecord(Schema):
    """Something that happened to a user. `direction` is `sent` or `received` where it has one.

    `_matches` are the subscriptions that matched when it happened, as streams show them.
    """

    id = Text(required=True)
    event_type = Text(required=True, min_length=1)
    event_uuid = Text(required=True)
    user_id = Text(load_default=None, allow_none=True)
    direction = Choice(("sent", "received"), load_default=None, allow_none=True)
    payload = Timed(PAYLOAD_MOMENTS, required=True)
    includes = Timed(PAYLOAD_MOMENTS, load_default=None, allow_none=True)
    created_at = Instant(millis=True, required=True)
    _matches = ListOf(Anything(), load_default=list)


class ActivityFilter(Schema):
    """Which activities of a type a subscription wants."""

    user_id = make_id_field("a user id of ")
    keyword = Text(min_length=1, max_length=150)
    direction = Choice(DIRECTIONS)


class ActivitySubscriptionRecord(Schema):
    """That an app wants to hear of activities; `filter` is as the subscriber wrote it."""

    subscription_id = Text(required=True)
    event_type = Text(required=True, min_length=1)
    filter = Nested(ActivityFilter, required=True)
    tag = Text(min_length=1, max_length=200)
    webhook_id = Text()
    created_at = Instant(millis=True, required=True)
    updated_at = Instant(millis=True, required=True)
    _app_id = Text(required=True)
    _topic = Text()


class FanOut(Struct, frozen=True):
    """An activity as it was recorded, the events that it became, and why it became no others.

    `events` are those in the logs of webhooks. The subscriptions that match are in the record.
    """

    activity: Record
    events: list[Record]
    _world: World
    _near: list[Record]
    """The subscriptions for its type and its user."""
    _reasons: list[str]
    """Why some of these got no event."""
    _more_reasons: list[str]
    """Why account activity and linked webhooks got none."""

    @property
    def why_not(self) -> list[str]:
        """The reasons why others got no event. Needs the world's lock.

        Few ask for them, so what other subscriptions lack is found only then.
        """
        reasons = self._reasons
        if len(reasons) < _MOST_REASONS:
            reasons = [*reasons, *_explain_others(self._world, self.activity, self._near)]
        return [*reasons[:_MOST_REASONS], *self._more_reasons]


class Happenings:
    """What happened last in a world, in this process, with the reasons why it went nowhere."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, FanOut]] = deque(maxlen=_MOST_HAPPENINGS)

    def add(self, world: World, fan_out: FanOut) -> None:
        """Keep what happened, in place of the oldest if there are many."""
        self._kept.append((world.epoch, fan_out))

    def list_kept(self, world: World) -> list[FanOut]:
        """Return what happened since the world began, oldest first. Needs the world's lock."""
        return [
            fan_out
            for epoch, fan_out in self._kept
            # What a failed request did was undone, and a reset begins another epoch.
            if epoch == world.epoch
            and world.store.get("activities", fan_out.activity["id"]) is not None
        ]


def takes_direction(event_type: str) -> bool:
    """Return whether subscriptions to a type of event may have a direction."""
    return event_type.startswith(_DIRECTED)


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
    """Record what happened to a user, with the subscriptions that match at that moment.

    An event is added to each webhook that one of them names; streams read the record. `direction`
    is `sent` or `received` where the activity has one. Called within `world.work()`; the
    deliveries begin after the commit.
    """
    moment = created_at or wire_millis(world.clock.now())
    activity: Record = {
        "id": world.ids.snowflake(),
        "event_type": event_type,
        "event_uuid": _choose_event_uuid(world, event_type, payload),
        "user_id": user_id,
        "direction": direction or _find_own_direction(event_type),
        "payload": dict(payload),
        "includes": None if not includes else dict(includes),
        "created_at": moment,
        "_matches": [],
    }
    events: list[Record] = []
    why_not: list[str] = []
    # The subscriptions are matched once, when it happens, and the result is stored in the record: a
    # stream that reads it hours later, or recovers, must get what was subscribed at that moment.
    # The index leads to the ones for this type and this user; whatever else a filter asks is
    # compared one by one.
    near = _find_near(world, activity)
    early = _name_as_of(world, activity)
    for subscription in near:
        reason = early or find_difference(subscription, activity)
        if reason is None:
            name = _choose_name(subscription, activity)
            activity["_matches"].append(_make_match(subscription) | {"event_type": name})
            # Posts that are delivered to webhooks count against the app's monthly cap, like posts
            # that it reads; beyond the cap the event is not delivered, and the answer says so.
            if "webhook_id" in subscription:
                reason = _count_post(world, subscription["_app_id"], activity)
            if "webhook_id" in subscription and reason is None:
                event, reason = log_event(
                    world,
                    "activity",
                    subscription["webhook_id"],
                    activity | {"event_type": name},
                    activity["payload"],
                    _tag=subscription.get("tag"),
                    _includes=activity["includes"],
                    _filter=subscription["filter"],
                )
                events.append(event)
        if reason is not None:
            why_not.append(_explain(subscription, reason))
    world.store.put("activities", activity["id"], activity)
    more, reasons = add_account_events(world, activity)
    linked, unmatched = add_link_events(world, activity)
    events += [*more, *linked]
    if not events and not reasons and user_id is not None:
        path = "POST /2/account_activity/webhooks/:webhook_id/subscriptions/all"
        reasons = [f"account activity: no webhook is subscribed to user {user_id}; {path} does it"]
    reasons = [*reasons[:_MOST_REASONS], *unmatched]
    fan_out = FanOut(activity, events, world, near, why_not, reasons)
    world.find_attachment(Happenings).add(world, fan_out)
    return fan_out


def _name_as_of(world: World, activity: Record) -> str | None:
    """Give an activity the name of its type at its time; return why it has none yet."""
    known = find_event_name(activity["event_type"])
    if known is None or world.has_all_releases:
        return None
    at = world.as_of or parse_instant(activity["created_at"])
    name = find_name_at(known.name, at)
    activity["event_type"] = name or known.name
    return None if name is not None else explain_not_in_force(known, at)


def _count_post(world: World, app_id: str, activity: Record) -> str | None:
    """Count the post of an event that a webhook gets; return why it does not get it."""
    try:
        count_post_event(world, app_id, activity)
    except ProblemFailure as reached:
        return f"app {app_id} has read as many posts as it may: {reached}"
    return None


def make_topic(event_type: str, user_id: str | None) -> str:
    """Return what subscriptions have in common that are for one type and one user."""
    return f"{canonicalize_name(event_type)}/{user_id or ''}"


def make_envelope(
    *,
    event_uuid: str,
    wanted: Mapping[str, Any],
    event_type: str,
    tag: str | None,
    payload: Mapping[str, Any],
    includes: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return an event as webhooks and streams carry it, without empty `tag` and `includes`."""
    data: dict[str, Any] = {
        "event_uuid": event_uuid,
        "filter": wanted,
        "event_type": event_type,
    }
    if tag:
        data["tag"] = tag
    data["payload"] = payload
    if includes:
        data["includes"] = includes
    return {"data": data}


def is_for_app(activity: Record, app_id: str) -> bool:
    """Return whether a subscription of an app matched an activity."""
    return any(match["app_id"] == app_id for match in activity.get("_matches") or ())


def make_lines(activity: Record, app_id: str) -> list[dict[str, Any]]:
    """Return an activity as lines of an app's stream: one for each subscription that matched."""
    said = {name: activity[name] for name in ("event_uuid", "payload", "includes")}
    return [
        make_envelope(
            wanted=match["filter"],
            tag=match.get("tag"),
            event_type=match.get("event_type", activity["event_type"]),
            **said,
        )
        for match in activity.get("_matches") or ()
        if match["app_id"] == app_id
    ]


def _choose_name(subscription: Record, activity: Record) -> str:
    """Return the name of an activity that a subscriber reads; of chats the one it has written."""
    is_of_chat = activity["event_type"].startswith("chat.")
    name: str = (subscription if is_of_chat else activity)["event_type"]
    return name


def _make_match(subscription: Record) -> Record:
    """Return what matters of a subscription to streams, as it is at this moment."""
    return {
        "subscription_id": subscription["subscription_id"],
        "app_id": subscription["_app_id"],
        "filter": subscription["filter"],
        "tag": subscription.get("tag"),
        "webhook_id": subscription.get("webhook_id"),
    }


def _find_near(world: World, activity: Record) -> list[Record]:
    """Return the subscriptions for the type and the user of an activity; an index finds them."""
    topics = {
        make_topic(activity["event_type"], user_id) for user_id in (activity["user_id"], None)
    }
    return [
        entry.record
        for topic in sorted(topics)
        for entry in world.store.page("activity_subscriptions", {"_topic": topic})
    ]


def _explain_others(world: World, activity: Record, near: list[Record]) -> list[str]:
    """Return why some of the other subscriptions do not match."""
    seen = {subscription["subscription_id"] for subscription in near}
    found = world.store.page("activity_subscriptions", limit=len(near) + _MOST_REASONS)
    if not found:
        return ["no app has a subscription; POST /2/activity/subscriptions makes one"]
    others = [entry.record for entry in found if entry.key not in seen]
    reasons = ((each, find_difference(each, activity)) for each in others)
    return [_explain(each, reason) for each, reason in reasons if reason is not None]


def _explain(subscription: Record, reason: str) -> str:
    return f"subscription {subscription['subscription_id']}: {reason}"


def find_difference(subscription: Record, activity: Record) -> str | None:
    """Return the first reason why a subscription does not match an activity, `None` if it does."""
    wanted = subscription["filter"]
    if canonicalize_name(subscription["event_type"]) != canonicalize_name(activity["event_type"]):
        return f"it is for {subscription['event_type']}, not {activity['event_type']}"
    if wanted.get("user_id") not in {None, activity["user_id"]}:
        return f"it follows user {wanted['user_id']}, not {activity['user_id']}"
    revoked = activity["payload"].get("app_id", subscription["_app_id"])
    if activity["event_type"] == "oauth.revoke" and revoked != subscription["_app_id"]:
        return f"it belongs to app {subscription['_app_id']}, not {revoked}"
    direction = _MEANINGS.get(wanted.get("direction", ""), wanted.get("direction"))
    if direction not in {None, "both", activity["direction"]}:
        return f"it wants what was {direction}, and this was {activity['direction']}"
    keyword = wanted.get("keyword")
    if (
        keyword is not None
        and keyword.casefold() not in _join_texts(activity["payload"]).casefold()
    ):
        return f"the keyword {keyword!r} is not in what the payload says"
    return None


def _find_own_direction(event_type: str) -> str | None:
    """Return the direction that the name of a type says, such as `dm.sent`."""
    kind = event_type.rpartition(".")[2]
    return kind if kind in {"sent", "received"} else None


def _choose_event_uuid(world: World, event_type: str, payload: Mapping[str, Any]) -> str:
    """Return the post's own id for events about posts, else a new one."""
    post_id = payload.get("id")
    if event_type.startswith(_POST_EVENTS) and isinstance(post_id, str):
        return post_id
    return world.ids.snowflake()


def _join_texts(value: Any, *, is_said: bool = False) -> str:
    """Return what a payload says, one text after the other; see `FILTER_KEYWORD`."""
    if isinstance(value, str):
        return value if is_said else ""
    if isinstance(value, Mapping):
        parts = [(one, name in _SAID) for name, one in value.items() if name not in _PERSONS]
    else:
        parts = [(one, is_said) for one in value] if isinstance(value, list) else []
    found = (_join_texts(one, is_said=said) for one, said in parts)
    return " ".join(filter(None, found))


def _complete_subscription(record: Record) -> Record:
    """Add the key under which activities find a subscription."""
    return {**record, "_topic": make_topic(record["event_type"], record["filter"].get("user_id"))}


def _check_activity(record: Record) -> Iterator[tuple[str, str]]:
    if find_event_name(record["event_type"]) is None:
        yield "event_type", explain_unknown_name(record["event_type"])


def _draw_activity(draft: Draft) -> Record:
    user = draft.first("users") or {}
    after = draft.sentence()
    return {
        "event_type": "profile.update.bio",
        "event_uuid": draft.id(),
        "user_id": user.get("id"),
        "payload": {"before": user.get("description", ""), "after": after},
    }


def _check_subscription(record: Record) -> Iterator[tuple[str, str]]:
    yield from _check_activity(record)
    if "direction" in record["filter"] and not takes_direction(record["event_type"]):
        yield "filter.direction", f"{record['event_type']} has no direction"


class AccountActivitySubscriptionRecord(Schema):
    """That a webhook hears of all that happens to a user."""

    _id = Text(required=True)
    webhook_id = Text(required=True)
    user_id = Text(required=True)
    created_at = Instant(millis=True, required=True)


ACTIVITIES = Table(
    "activities",
    ActivityRecord,
    references=(Reference("user_id", "users"),),
    check=_check_activity,
    draw=_draw_activity,
)
SUBSCRIPTIONS = Table(
    "activity_subscriptions",
    ActivitySubscriptionRecord,
    key="subscription_id",
    references=(Reference("webhook_id", "webhooks"), Reference("_app_id", "apps")),
    complete=_complete_subscription,
    check=_check_subscription,
    shown=Shown(
        ("event_type", "filter", "created_at", "updated_at"),
        operations=("activity.list",),
        key="subscription_id",
        is_of_app=True,
    ),
)
ACCOUNT_ACTIVITY_SUBSCRIPTIONS = Table(
    "account_activity_subscriptions",
    AccountActivitySubscriptionRecord,
    key="_id",
    references=(Reference("webhook_id", "webhooks"), Reference("user_id", "users")),
    draw=lambda draft: {"_id": "{webhook_id}-{user_id}".format_map(draft.record)},
    once=("webhook_id", "user_id"),
)
TABLES = (ACTIVITIES, SUBSCRIPTIONS, ACCOUNT_ACTIVITY_SUBSCRIPTIONS)
