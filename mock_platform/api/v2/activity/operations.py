"""Activity subscriptions: an app says of which users' activities it wants to hear.

Document A names the endpoint in "Events"; the shapes are public facts (named endpoints, section 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mock_platform.api.v2.activity.activities import (
    BADGES,
    DIRECTION,
    FAN_OUT,
    make_topic,
    takes_direction,
)
from mock_platform.api.v2.activity.records import ActivityFilter
from mock_platform.api.v2.activity.rights import (
    PRIVATE,
    SCOPE_BY_TYPE,
    require_grant,
    require_scope,
)
from mock_platform.api.v2.conventions import PAGES, declare_named, make_token_field, take_page
from mock_platform.api.v2.release_history import (
    DIRECTED_SINCE,
    canonicalize_name,
    explain_not_in_force,
    explain_unknown_name,
    find_event_name,
    find_name_warnings,
)
from mock_platform.api.v2.usage.counting import EVENTS
from mock_platform.api.v2.webhooks.validation import find_webhook, get_app, make_refusal
from mock_platform.core.assumptions import public_fact, settled
from mock_platform.core.auth.authenticate import BEARER, Auth, Scheme
from mock_platform.core.auth.oauth2 import MISSING
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat, remove_internal_keys
from mock_platform.core.example import Example
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem
from mock_platform.core.fields import CommaList, Flag, Instant, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Handler, Location
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

SHAPES = public_fact(
    "activity.subscriptions",
    "The endpoints of activity subscriptions have their public shapes; the spec names the create "
    "alone.",
    "section 3.1 of the named endpoints",
    gap=True,
)
DUPLICATE = settled(
    "activity.duplicate",
    "A second subscription of an app with the same type, filter and webhook is refused with 409 "
    "about:blank and DuplicateSubscriptionFailed in the detail.",
    "Events and streams",
)
CAP = settled(
    "activity.cap",
    "An app may have 1,500 activity subscriptions; --subscription-limit sets another number. "
    "Beyond it the answer is 403 about:blank with SubscriptionLimitExceeded in the detail.",
    "Events and streams",
)
_KINDS: tuple[Scheme, ...] = ("bearer", "oauth1", "oauth2")
SUBSCRIBER = Auth(_KINDS, scopes=("post.read",))
READER = Auth(_KINDS, scopes=("post.read", "like.read"))
_NEWS = "news.new"
_REVOKE = "oauth.revoke"
_SPEC = "Events"
_LIMIT = 500
_CLOCK = "Move the world's clock, or serve with --releases all"


class NewSubscription(Schema):
    """What an app wants to hear of."""

    event_type = Text(required=True, min_length=1)
    filter = Nested(ActivityFilter, required=True)
    tag = Text(min_length=1, max_length=200)
    webhook_id = Text()


class ChangedSubscription(Schema):
    """What of a subscription can change; its filter and type cannot."""

    tag = Text(min_length=1, max_length=200)
    webhook_id = Text()


class ListQuery(Schema):
    """Parameters of the list."""

    max_results = Integer(low=1, high=1000, load_default=1000)
    pagination_token = make_token_field()


class SeveralIds(Schema):
    """The subscriptions to delete."""

    ids = CommaList(Text(min_length=1), most=100, required=True)


class Subscription(Schema):
    """A subscription as clients see it."""

    subscription_id = Text(required=True)
    event_type = Text(required=True)
    filter = Nested(ActivityFilter, required=True)
    tag = Text()
    webhook_id = Text()
    created_at = Instant(millis=True, required=True)
    updated_at = Instant(millis=True, required=True)


class _Created(Schema):
    subscription = Nested(Subscription, required=True)
    total_subscriptions_for_instance_id = Integer(required=True)


class _Total(Schema):
    total_subscriptions = Integer(required=True)


class CreatedAnswer(Schema):
    """The answer of a create."""

    data = Nested(_Created, required=True)
    meta = Nested(_Total, required=True)


class _Changed(Schema):
    subscription = Nested(Subscription, required=True)
    total_subscriptions = Integer(required=True)


class ChangedAnswer(Schema):
    """The answer of an update."""

    data = Nested(_Changed, required=True)


class _ListMeta(Schema):
    result_count = Integer(required=True)
    total_subscriptions = Integer(required=True)
    next_token = Text()


class SubscriptionPage(Schema):
    """A page of subscriptions."""

    data = ListOf(Nested(Subscription))
    meta = Nested(_ListMeta, required=True)


class _Deleted(Schema):
    deleted = Flag(required=True)


class DeletedAnswer(Schema):
    """The answer of a delete: how many subscriptions remain."""

    data = Nested(_Deleted, required=True)
    meta = Nested(_Total, required=True)


def find_subscription_faults(
    params: Mapping[str, Any], _call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Find what is wrong with the type and the filter of a new subscription."""
    name = params.get("event_type")
    if name is None:
        return
    known = find_event_name(name)
    if known is None:
        yield "event_type", explain_unknown_name(name)
        return
    now = world.clock.now()
    early = None if world.has_all_releases else explain_not_in_force(known, now)
    if early is not None:
        yield "event_type", f"{early}. {_CLOCK}"
    wanted = params.get("filter")
    if wanted is None:
        return
    if name == _NEWS and "keyword" not in wanted:
        yield "filter", f"filter.keyword is required for {name}"
    elif name == _REVOKE and wanted:
        yield "filter", f"filter must be empty for {name}"
    elif name not in {_NEWS, _REVOKE} and "user_id" not in wanted:
        yield "filter", f"filter.user_id is required for {name}"
    if "direction" in wanted and not takes_direction(name):
        yield "filter", f"filter.direction is not allowed for {name}"
    elif "direction" in wanted and not world.has_all_releases and now < DIRECTED_SINCE:
        since = f"filter.direction exists from {DIRECTED_SINCE:%Y-%m-%d} on"
        yield "filter", f"{since}, and it is {wire_millis(now)}. {_CLOCK}"


def make_create(settings: Settings) -> Handler:
    """Return what subscribes an app to activities, under these settings."""

    def create(call: Call, world: World) -> dict[str, Any]:
        own = _check_new(call, world, settings.subscription_limit)
        app, params, now = get_app(call), call.params, wire_millis(world.clock.now())
        sent = ("event_type", "filter", "tag", "webhook_id")
        record = {
            "subscription_id": world.ids.snowflake(),
            **{name: params[name] for name in sent if name in params},
            "created_at": now,
            "updated_at": now,
            "_app_id": app["id"],
            "_topic": make_topic(params["event_type"], params["filter"].get("user_id")),
        }
        world.store.put("activity_subscriptions", record["subscription_id"], record)
        total = own + 1
        return {
            "data": {
                "subscription": remove_internal_keys(record),
                "total_subscriptions_for_instance_id": total,
            },
            "meta": {"total_subscriptions": total},
        }

    return create


def _check_new(call: Call, world: World, limit: int) -> int:
    """Require that a subscription may be made; return how many the app has.

    Raises:
        ProblemFailure: It may not.
    """
    app, params = get_app(call), call.params
    known = find_event_name(params["event_type"])
    assert known is not None
    for text in find_name_warnings(known, world.clock.now()):
        call.warn(text)
    require_scope(call, params["event_type"])
    require_grant(call, world, params["event_type"], params["filter"].get("user_id"))
    if "webhook_id" in params:
        find_webhook(world, app, params["webhook_id"])
    own = [entry.record for entry in _page_of(world, app)]
    if any(_is_same(record, params) for record in own):
        text = "DuplicateSubscriptionFailed: Subscription already exists"
        raise _refuse(409, "Conflict", text, DUPLICATE)
    if len(own) >= limit:
        text = (
            f"SubscriptionLimitExceeded: the app has {len(own)} subscriptions, and {limit} are "
            "allowed (--subscription-limit)"
        )
        raise _refuse(403, "Forbidden", text, CAP)
    return len(own)


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the subscriptions of the caller's app."""
    match = {"_app_id": get_app(call)["id"]}
    page = take_page(call, world, "activity_subscriptions", match)
    total = world.store.count("activity_subscriptions", match)
    shown = (
        {"data": [remove_internal_keys(record) for record in page.records]} if page.records else {}
    )
    return {**shown, "meta": page.meta(total_subscriptions=total)}


def update(call: Call, world: World) -> dict[str, Any]:
    """Change the tag or the webhook of a subscription."""
    app = get_app(call)
    record = _find_own(call, world, call.path_params["subscription_id"])
    if "webhook_id" in call.params:
        find_webhook(world, app, call.params["webhook_id"])
    changed = {**record, **call.params, "updated_at": wire_millis(world.clock.now())}
    world.store.put("activity_subscriptions", record["subscription_id"], changed)
    total = len(_page_of(world, app))
    return {"data": {"subscription": remove_internal_keys(changed), "total_subscriptions": total}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """Delete a subscription; return how many remain."""
    return _delete(call, world, [call.path_params["subscription_id"]])


def delete_many(call: Call, world: World) -> dict[str, Any]:
    """Delete several subscriptions; an unknown one refuses them all."""
    return _delete(call, world, list(dict.fromkeys(call.params["ids"])))


def _delete(call: Call, world: World, ids: list[str]) -> dict[str, Any]:
    for record in [_find_own(call, world, each) for each in ids]:
        world.store.remove("activity_subscriptions", record["subscription_id"])
    total = len(_page_of(world, get_app(call)))
    return {"data": {"deleted": True}, "meta": {"total_subscriptions": total}}


def _page_of(world: World, app: Record) -> list[Any]:
    return world.store.page("activity_subscriptions", {"_app_id": app["id"]})


def _find_own(call: Call, world: World, subscription_id: str) -> Record:
    record = world.store.get("activity_subscriptions", subscription_id)
    if record is None or record["_app_id"] != get_app(call)["id"]:
        text = f"the app has no subscription {subscription_id}"
        raise make_refusal("SubscriptionNotFound", text, "subscription_id", subscription_id)
    return record


def _is_same(record: Record, params: Mapping[str, Any]) -> bool:
    return (
        canonicalize_name(record["event_type"]) == canonicalize_name(params["event_type"])
        and record["filter"] == params["filter"]
        and record.get("webhook_id") == params.get("webhook_id")
    )


def _refuse(status: int, title: str, detail: str, *rests_on: Any) -> ProblemFailure:
    value = problem("about:blank", title=title, status=status, detail=detail)
    return ProblemFailure(value, *rests_on)


_ONE = "/2/activity/subscriptions/:subscription_id"
_ALL = "/2/activity/subscriptions"
OPERATIONS = (
    declare_named(
        "activity.create",
        "POST",
        _ALL,
        make_create(Settings()),
        configure=make_create,
        summary="Subscribe to the activities of a user",
        spec=_SPEC,
        params=NewSubscription,
        location=Location.JSON,
        rules=find_subscription_faults,
        since=None,
        returns=Flat(CreatedAnswer),
        auth=SUBSCRIBER,
        limit=_LIMIT,
        errors=("invalid-request", "about:blank"),
        statuses=(400, 403, 409),
        assumptions=(SHAPES, FAN_OUT, DIRECTION),
        may_assume=(PRIVATE, DUPLICATE, CAP, EVENTS, MISSING, SCOPE_BY_TYPE, BADGES),
        example=Example(
            json={
                "event_type": "profile.update.bio",
                "filter": {"user_id": "3805104374"},
                "tag": "Northbike bio",
            }
        ),
    ),
    declare_named(
        "activity.list",
        "GET",
        _ALL,
        list_,
        summary="List an app's activity subscriptions",
        spec=_SPEC,
        params=ListQuery,
        since=None,
        returns=Flat(SubscriptionPage),
        auth=READER,
        limit=_LIMIT,
        assumptions=(SHAPES, PAGES),
    ),
    declare_named(
        "activity.update",
        "PUT",
        _ONE,
        update,
        summary="Change the tag or the webhook of an activity subscription",
        spec=_SPEC,
        params=ChangedSubscription,
        location=Location.JSON,
        since=None,
        returns=Flat(ChangedAnswer),
        auth=BEARER,
        limit=_LIMIT,
        assumptions=(SHAPES,),
        example=Example(json={"tag": "Harbor biography"}),
    ),
    declare_named(
        "activity.delete",
        "DELETE",
        _ONE,
        delete,
        summary="Delete an activity subscription",
        spec=_SPEC,
        since=None,
        returns=Flat(DeletedAnswer),
        auth=BEARER,
        limit=_LIMIT,
        assumptions=(SHAPES,),
    ),
    declare_named(
        "activity.delete_many",
        "DELETE",
        _ALL,
        delete_many,
        summary="Delete several activity subscriptions",
        spec=_SPEC,
        params=SeveralIds,
        since=None,
        returns=Flat(DeletedAnswer),
        auth=BEARER,
        limit=_LIMIT,
        assumptions=(SHAPES,),
        example=Example(query={"ids": "1984410031207391232"}),
    ),
)
