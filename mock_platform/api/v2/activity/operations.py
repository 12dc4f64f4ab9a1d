"""Activity subscriptions: an app says of which users' activities it wants to hear.

Document A names the endpoint in "Events"; the shapes are public facts (named endpoints, section 3).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mock_platform.api.v2.activity.activities import (
    AFFILIATE_BADGES,
    FAN_OUT,
    FILTER_DIRECTION,
    FILTER_KEYWORD,
    ActivityFilter,
    make_topic,
    takes_direction,
)
from mock_platform.api.v2.conventions import (
    ANY_CALLER,
    declare_named,
    forbid,
    get_app,
    make_id_field,
    wrap_data,
)
from mock_platform.api.v2.pages import TOKEN_PAGES, PageMeta, TokenPageQuery, show_list, take_page
from mock_platform.api.v2.release_history import (
    DIRECTED_SINCE,
    canonicalize_name,
    date_names,
    explain_not_in_force,
    explain_unknown_name,
    find_event_name,
    find_name_warnings,
    find_release,
)
from mock_platform.api.v2.usage.counting import COUNTED_EVENTS
from mock_platform.api.v2.webhooks.validation import find_webhook, make_refusal
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.auth.authenticate import BEARER, Auth
from mock_platform.core.auth.oauth2 import MISSING_SCOPE, find_missing, is_granted, refuse_missing
from mock_platform.core.call import Call
from mock_platform.core.fields import CommaList, Flag, Instant, Integer, ListOf, Nested, Text
from mock_platform.core.operation import Example, Handler
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record, remove_internal_keys
from mock_platform.world.world import World

ACTIVITY_SHAPES = public_fact(
    "activity.subscriptions",
    "The endpoints of activity subscriptions have their public shapes; the spec names the create "
    "alone.",
    "section 3.1 of the named endpoints",
    gap=True,
)
SAME_SUBSCRIPTION = settled(
    "activity.duplicate",
    "A second subscription of an app with the same type, filter and webhook is refused with 409 "
    "about:blank and DuplicateSubscriptionFailed in the detail.",
    "Events and streams",
)
ACTIVITY_CAP = settled(
    "activity.cap",
    "An app may have 1,500 activity subscriptions; --subscription-limit sets another number. "
    "Beyond it the answer is 403 about:blank with SubscriptionLimitExceeded in the detail.",
    "Events and streams",
)
PRIVATE_TYPES = settled(
    "activity.private-types",
    "For private event types (like, chat, dm, mention, reply, quote, repost, mute, block) the user "
    "must have granted the app access, or sign the request; dm and chat also need the app's "
    "permission for direct messages. Otherwise 403 about:blank.",
    "Events and streams",
)
SCOPE_BY_TYPE = expectation(
    "activity.scope-by-type",
    "A user's token needs post.read and the scope of the type: dm.read for dm and chat, like.read "
    "for like, mute.read, block.read, follows.read, space.read and broadcast.read for theirs. So "
    "does the grant that a private type rests on, if it is one of OAuth 2.0.",
)
_PRIVATE = (
    "like.", "chat.", "dm.", "post.mention.", "post.reply.", "post.quote.", "post.repost.",
    "mute.", "block.", "broadcast.chat",
)  # fmt: skip
_SCOPES = (
    ("dm.", "dm.read"), ("chat.", "dm.read"), ("like.", "like.read"), ("mute.", "mute.read"),
    ("block.", "block.read"), ("follow.", "follows.read"), ("spaces.", "space.read"),
    ("broadcast.", "broadcast.read"),
)  # fmt: skip
"""The scope that each type needs beside post.read, by the beginning of its name."""
_NEWS = "news.new"
_REVOKE = "oauth.revoke"


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


class ListQuery(TokenPageQuery):
    """The page of the list."""

    max_results = Integer(low=1, high=1000, load_default=1000)


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


class _Total(Schema):
    total_subscriptions = Integer(required=True)


CreatedAnswer = wrap_data(
    "CreatedAnswer",
    meta=Nested(_Total, required=True),
    subscription=Nested(Subscription, required=True),
    total_subscriptions_for_instance_id=Integer(required=True),
)
ChangedAnswer = wrap_data(
    "ChangedAnswer",
    subscription=Nested(Subscription, required=True),
    total_subscriptions=Integer(required=True),
)
DeletedAnswer = wrap_data(
    "DeletedAnswer", meta=Nested(_Total, required=True), deleted=Flag(required=True)
)


class _ListMeta(PageMeta):
    total_subscriptions = Integer(required=True)


class SubscriptionPage(Schema):
    """A page of subscriptions."""

    data = ListOf(Nested(Subscription))
    meta = Nested(_ListMeta, required=True)


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
    now = world.contract_now()
    early = None if world.has_all_releases else explain_not_in_force(known, now)
    if early is not None:
        yield "event_type", f"{early}: {world.explain_too_early()}"
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
        yield "filter", f"{since}, and {world.explain_too_early()}"


def require_scope(call: Call, event_type: str) -> None:
    """Require that a user's token has the scope of a type of events.

    Raises:
        ProblemFailure: It lacks the scope.
    """
    caller = call.caller
    if caller.scheme != "oauth2" or caller.token is None:
        return
    missing = find_missing([_find_scope(canonicalize_name(event_type))], caller.token["scopes"])
    if missing:
        raise refuse_missing(missing, caller.token)


def _find_scope(name: str) -> str:
    return next((scope for start, scope in _SCOPES if name.startswith(start)), "post.read")


def require_grant(call: Call, world: World, event_type: str, user_id: str | None) -> None:
    """Require that the app may hear of a user's private activities (`activity.private-types`).

    Raises:
        ProblemFailure: It may not.
    """
    name = canonicalize_name(event_type)
    if user_id is None or not name.startswith(_PRIVATE):
        return
    caller, app = call.caller, get_app(call)
    signs = caller.scheme in {"oauth1", "oauth2"}
    signs = signs and caller.user is not None and caller.user["id"] == user_id
    scope = _find_scope(name)
    if not signs and not is_granted(world, app["id"], user_id, scope):
        text = (
            f"{event_type} is private: user {user_id} has not granted app {app['id']} access. "
            f"The user signs in with the app, by OAuth 2.0 with the scope {scope}, or signs this "
            "request."
        )
        raise forbid(text, PRIVATE_TYPES)
    if name.startswith(("dm.", "chat.")) and "direct_messages" not in app["_permissions"]:
        text = (
            f"{event_type} needs the permission for direct messages, which app {app['id']} lacks."
        )
        raise forbid(text, PRIVATE_TYPES)


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
    for text in find_name_warnings(known, world.contract_now()):
        call.warn(text)
    require_scope(call, params["event_type"])
    require_grant(call, world, params["event_type"], params["filter"].get("user_id"))
    if "webhook_id" in params:
        find_webhook(world, app, params["webhook_id"])
    own = [entry.record for entry in _page_of(world, app)]
    if any(_is_same(record, params) for record in own):
        text = "DuplicateSubscriptionFailed: Subscription already exists"
        raise forbid(text, SAME_SUBSCRIPTION, status=409)
    if len(own) >= limit:
        text = (
            f"SubscriptionLimitExceeded: the app has {len(own)} subscriptions, and {limit} are "
            "allowed (--subscription-limit)"
        )
        raise forbid(text, ACTIVITY_CAP)
    return len(own)


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the subscriptions of the caller's app."""
    match = {"_app_id": get_app(call)["id"]}
    page = take_page(call, world, "activity_subscriptions", match)
    total = world.store.count("activity_subscriptions", match)
    shown = [remove_internal_keys(record) for record in page.records]
    return show_list(shown, meta=page.meta(total_subscriptions=total))


_ID = "subscription_id"


def update(call: Call, world: World) -> dict[str, Any]:
    """Change the tag or the webhook of a subscription."""
    app = get_app(call)
    record = _find_own(call, world, call.path_params[_ID], _ID)
    if "webhook_id" in call.params:
        find_webhook(world, app, call.params["webhook_id"])
    changed = {**record, **call.params, "updated_at": wire_millis(world.clock.now())}
    world.store.put("activity_subscriptions", record["subscription_id"], changed)
    total = len(_page_of(world, app))
    return {"data": {"subscription": remove_internal_keys(changed), "total_subscriptions": total}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """Delete a subscription; return how many remain."""
    return _delete(call, world, [call.path_params[_ID]], _ID)


def delete_many(call: Call, world: World) -> dict[str, Any]:
    """Delete several subscriptions; an unknown one refuses them all."""
    return _delete(call, world, list(dict.fromkeys(call.params["ids"])), "ids")


def _delete(call: Call, world: World, ids: list[str], parameter: str) -> dict[str, Any]:
    for record in [_find_own(call, world, each, parameter) for each in ids]:
        world.store.remove("activity_subscriptions", record["subscription_id"])
    total = len(_page_of(world, get_app(call)))
    return {"data": {"deleted": True}, "meta": {"total_subscriptions": total}}


def _page_of(world: World, app: Record) -> list[Any]:
    return world.store.page("activity_subscriptions", {"_app_id": app["id"]})


def _find_own(call: Call, world: World, subscription_id: str, parameter: str) -> Record:
    record = world.store.get("activity_subscriptions", subscription_id)
    if record is None or record["_app_id"] != get_app(call)["id"]:
        text = f"the app has no subscription {subscription_id}"
        raise make_refusal("SubscriptionNotFound", text, parameter, subscription_id)
    return record


def _is_same(record: Record, params: Mapping[str, Any]) -> bool:
    return (
        canonicalize_name(record["event_type"]) == canonicalize_name(params["event_type"])
        and record["filter"] == params["filter"]
        and record.get("webhook_id") == params.get("webhook_id")
    )


class SubscriptionPath(Schema):
    """The subscription that a path names; one that the app does not have is refused alike."""

    subscription_id = make_id_field("a subscription id of ")


_ONE = "/2/activity/subscriptions/:subscription_id"
_declare = partial(
    declare_named,
    spec="Events",
    auth=BEARER,
    limit=500,
    path_form=SubscriptionPath,
    assumptions=(ACTIVITY_SHAPES,),
)
OPERATIONS = (
    _declare(
        "activity.create",
        "POST /2/activity/subscriptions",
        make_create(Settings()),
        "Subscribe to the activities of a user",
        configure=make_create,
        params=NewSubscription,
        rules=find_subscription_faults,
        returns=CreatedAnswer,
        auth=Auth(ANY_CALLER, scopes=("post.read",)),
        errors=("invalid-request", "about:blank"),
        statuses=(409,),
        assumptions=(ACTIVITY_SHAPES, FAN_OUT, FILTER_DIRECTION, FILTER_KEYWORD),
        may_assume=(
            PRIVATE_TYPES,
            SAME_SUBSCRIPTION,
            ACTIVITY_CAP,
            COUNTED_EVENTS,
            MISSING_SCOPE,
            SCOPE_BY_TYPE,
            AFFILIATE_BADGES,
        ),
        dated=(
            *date_names("sent-value-accepted", "body: event_type"),
            find_release("event-names").make_change("sent-key-added", "body: filter.direction"),
        ),
        example=Example(
            json={
                "event_type": "profile.update.bio",
                "filter": {"user_id": "3805104374"},
                "tag": "Northbike bio",
            }
        ),
    ),
    _declare(
        "activity.list",
        "GET /2/activity/subscriptions",
        list_,
        "List an app's activity subscriptions",
        params=ListQuery,
        returns=SubscriptionPage,
        auth=Auth(ANY_CALLER, scopes=("post.read", "like.read")),
        assumptions=(ACTIVITY_SHAPES, TOKEN_PAGES),
    ),
    _declare(
        "activity.update",
        f"PUT {_ONE}",
        update,
        "Change the tag or the webhook of an activity subscription",
        params=ChangedSubscription,
        returns=ChangedAnswer,
        example=Example(json={"tag": "Harbor biography"}),
    ),
    _declare(
        "activity.delete",
        f"DELETE {_ONE}",
        delete,
        "Delete an activity subscription",
        returns=DeletedAnswer,
    ),
    _declare(
        "activity.delete_many",
        "DELETE /2/activity/subscriptions",
        delete_many,
        "Delete several activity subscriptions",
        params=SeveralIds,
        returns=DeletedAnswer,
        example=Example(query={"ids": "1984410031207391232"}),
    ),
)
