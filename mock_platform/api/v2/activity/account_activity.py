"""Account activity: subscriptions of webhooks to users, and the replay path that was retired.

Document A names the product in its release history, and the replay path as well: announced as
deprecated on 2026-03-20, removed on 2026-03-25 12:00 ET. The date of the contract (the world's
clock, or --as-of) decides whether a call comes before or after that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from email.utils import format_datetime
from functools import partial
from typing import Any

from mock_platform.api.v2.activity.account_activity_delivery import (
    EVENT_BODIES,
    FAN_OUT,
    MESSAGE_PERMISSIONS,
    REVOKED_ACCESS,
    SUBSCRIPTION_CAP,
    add_subscription,
    count_subscriptions,
    find_provisioned_count,
    find_subscription,
    remove_subscription,
)
from mock_platform.api.v2.activity.activities import FOLLOW_ACTIVITIES, LIKE_ACTIVITIES
from mock_platform.api.v2.conventions import (
    ID,
    declare_named,
    forbid,
    get_app,
    get_user_id,
    make_id_field,
    wrap_data,
)
from mock_platform.api.v2.objects.older_forms import LONG_TEXT
from mock_platform.api.v2.release_history import find_release, is_in_force
from mock_platform.api.v2.webhooks.event_log import (
    CREATES,
    MAY_CREATE,
    Minute,
    check_window,
    create_job,
)
from mock_platform.api.v2.webhooks.validation import NAMED_FAILURES, WebhookPath, find_own_webhook
from mock_platform.core.assumptions import expectation, public_fact, settled
from mock_platform.core.auth.authenticate import BEARER, Auth
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.failures.errors import UnsupportedAuthentication
from mock_platform.core.fields import Flag, Instant, ListOf, Nested, Text
from mock_platform.core.operation import MINUTE, Dated, Example, Location, Operation, Origin
from mock_platform.core.schema import Schema
from mock_platform.settings import Settings
from mock_platform.world.world import World

SUBSCRIPTION_SHAPES = public_fact(
    "account-activity.subscriptions",
    "The endpoints of account-activity subscriptions have their public shapes; the spec names the "
    "product alone. A create subscribes the calling user. The count is that of all apps of the "
    "owner, whose screen name is account_name; there are no subscriptions to direct messages "
    "alone.",
    "section 4.1 of the named endpoints",
    gap=True,
)
OAUTH2_SINCE = settled(
    "account-activity.oauth2",
    "OAuth 2.0 user tokens are taken from 2026-01-15 on; before, they are refused as unsupported "
    "authentication.",
    "A, Release history: 2026-01-15",
)
REPLAY_SHAPE = public_fact(
    "account-activity.replay-shape",
    "The retired replay path takes from_date and to_date in the query and answers with for_user_id "
    "(the app's owner) and replay_event; the spec only names it.",
    "section 5, endpoints that the spec only names",
    gap=True,
)
REPLAY_RETIRED = settled(
    "account-activity.replay-retired",
    "From 2026-03-25 16:00 UTC on, by clock or --as-of, the retired replay path answers "
    "410 with a generic problem that names its successor.",
    "A, Versioning: 2026-03-20",
)
DEPRECATION_HEADERS = expectation(
    "account-activity.deprecation-headers",
    "From its announcement on, answers of a path that the release history retires have the headers "
    "Deprecation (RFC 9745), with the day of the announcement, and Sunset (RFC 8594), with the "
    "moment at which it ends.",
)
SUCCESSOR = "POST /2/webhooks/replay"


_RETIREMENT = find_release("replay-path-retired")
_ANNOUNCED = _RETIREMENT.get_announcement()
_OAUTH2 = "account-activity-oauth2"
_USER = Auth(
    ("oauth1", "oauth2"),
    scopes=("dm.read", "dm.write", "post.read", "users.read"),
    permissions_override=True,
)


SubscribedAnswer = wrap_data("SubscribedAnswer", subscribed=Flag(required=True))
"""Whether a user is subscribed at a webhook."""


class _SubscribedUser(Schema):
    user_id = Text(required=True)


SubscriptionListAnswer = wrap_data(
    "SubscriptionListAnswer",
    "_SubscriptionList",
    application_id=Text(required=True),
    webhook_id=Text(required=True),
    webhook_url=Text(required=True),
    subscriptions=ListOf(Nested(_SubscribedUser), required=True),
)
"""The users who are subscribed at a webhook."""
SubscriptionCountAnswer = wrap_data(
    "SubscriptionCountAnswer",
    "_Count",
    account_name=Text(required=True),
    provisioned_count=Text(required=True),
    subscriptions_count_all=Text(required=True),
    subscriptions_count_direct_messages=Text(required=True),
)
"""How many subscriptions there are, and how many there may be; all numbers are texts."""


class ReplayQuery(Schema):
    """Parameters of the retired path, the same as those of its successor."""

    from_date = Minute(required=True)
    to_date = Minute(required=True)


class ReplayEvent(Schema):
    """The created job, as the retired path shows it."""

    job_id = Text(required=True)
    created_at = Instant(millis=True, required=True)


class ReplayAnswer(Schema):
    """The retired path's own shape."""

    for_user_id = Text(required=True)
    replay_event = Nested(ReplayEvent, required=True)


def require_oauth2_release(
    _params: Mapping[str, Any], call: Call, world: World, _settings: Settings
) -> Iterator[tuple[str, str]]:
    """Refuse an OAuth 2.0 user token before the release history says that it is supported.

    Raises:
        UnsupportedAuthentication: It is too early, by the date of the contract.
    """
    if call.caller.scheme == "oauth2" and not is_in_force(_OAUTH2, world):
        call.assume(OAUTH2_SINCE)
        raise UnsupportedAuthentication(_USER.names[1], _USER.names[:1])
    yield from ()


def subscribe(call: Call, world: World) -> dict[str, Any]:
    """Subscribe a webhook to the calling user."""
    app, webhook = get_app(call), find_own_webhook(call, world)
    add_subscription(world, app, webhook["id"], get_user_id(call))
    if not webhook["valid"]:
        call.warn(f"webhook {webhook['id']} is not valid, so it will receive nothing")
    return {"data": {"subscribed": True}}


def show(call: Call, world: World) -> dict[str, Any]:
    """Say whether the calling user is subscribed at a webhook."""
    webhook = find_own_webhook(call, world)
    found = find_subscription(world, webhook["id"], get_user_id(call))
    return {"data": {"subscribed": found is not None}}


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the users who are subscribed at a webhook."""
    webhook = find_own_webhook(call, world)
    found = world.store.page("account_activity_subscriptions", {"webhook_id": webhook["id"]})
    return {
        "data": {
            "application_id": webhook["_app_id"],
            "webhook_id": webhook["id"],
            "webhook_url": webhook["url"],
            "subscriptions": [{"user_id": entry.record["user_id"]} for entry in found],
        }
    }


def unsubscribe(call: Call, world: World) -> dict[str, Any]:
    """End the subscription of a user at a webhook."""
    webhook = find_own_webhook(call, world)
    remove_subscription(world, webhook["id"], call.path_params["user_id"])
    return {"data": {"subscribed": False}}


def count(call: Call, world: World) -> dict[str, Any]:
    """Count the subscriptions of the apps of the caller's owner."""
    app = get_app(call)
    owner = world.store.get("users", app.get("_owner_user_id") or "")
    return {
        "data": {
            "account_name": app["name"] if owner is None else owner["screen_name"],
            "provisioned_count": str(find_provisioned_count(app)),
            "subscriptions_count_all": str(count_subscriptions(world, app)),
            "subscriptions_count_direct_messages": "0",
        }
    }


def refuse_when_retired(call: Call, world: World) -> None:
    """Refuse the call if the release history says that the path is retired.

    Raises:
        ProblemFailure: 410 about:blank, which names the successor.
    """
    now = world.contract_now()
    if now < _ANNOUNCED:
        return
    ends = format_datetime(_RETIREMENT.effective, usegmt=True)
    since = f"@{_ANNOUNCED.timestamp():.0f}"
    # From the announcement on, each answer has the two headers (RFC 9745, RFC 8594), the refusal
    # after the end too: a client that calls it late learns from them since when it is gone.
    call.extra_headers += [("Deprecation", since), ("Sunset", ends)]
    call.assume(DEPRECATION_HEADERS)
    if _RETIREMENT.is_in_force(now):
        detail = f"This endpoint was retired on 2026-03-25 at 12:00 ET. Use {SUCCESSOR} instead."
        raise forbid(detail, REPLAY_RETIRED, status=410)
    call.warn(f"this endpoint is deprecated and ends 2026-03-25 at 12:00 ET: use {SUCCESSOR}")


def check_parameters(
    params: Mapping[str, Any], call: Call, world: World, settings: Settings
) -> Iterator[tuple[str, str]]:
    """Yield the faults of path and query, by the rules that the successor has for its body."""
    webhook_id = call.path_params["webhook_id"]
    if ID.fullmatch(webhook_id) is None:
        yield "webhook_id", f"webhook_id must be 1 to 19 digits, got {webhook_id!r}"
    yield from check_window(params, call, world, settings)


def replay(call: Call, world: World) -> dict[str, Any]:
    """Create a replay job, and return it in the retired path's shape."""
    job = create_job(call, world, call.path_params["webhook_id"], **call.params)
    return {
        "for_user_id": get_app(call).get("_owner_user_id") or "",
        "replay_event": {"job_id": job["id"], "created_at": job["created_at"]},
    }


class SubscriberPath(WebhookPath):
    """The webhook and the subscribed user that a path names."""

    user_id = make_id_field("a user id of ")


_REPLAY = "/2/account_activity/replay/webhooks/:webhook_id/subscriptions/all"
_ALL = "/2/account_activity/webhooks/:webhook_id/subscriptions/all"
_declare = partial(
    declare_named,
    spec="Versioning: 2025-05-20",
    since=find_release("account-activity").effective,
    auth=BEARER,
    limit=500,
    path_form=SubscriberPath,
    assumptions=(SUBSCRIPTION_SHAPES,),
    may_assume=(NAMED_FAILURES,),
)
_declare_for_user = partial(
    _declare,
    rules=require_oauth2_release,
    returns=SubscribedAnswer,
    auth=_USER,
    dated=(find_release(_OAUTH2).make_change("authentication-added", new="oauth2"),),
    errors=("invalid-request", "unsupported-authentication"),
)
OPERATIONS = (
    _declare_for_user(
        "account_activity.subscribe",
        f"POST {_ALL}",
        subscribe,
        "Subscribe a webhook to all that happens to the calling user",
        assumptions=(
            SUBSCRIPTION_SHAPES,
            FAN_OUT,
            EVENT_BODIES,
            MESSAGE_PERMISSIONS,
            SUBSCRIPTION_CAP,
            REVOKED_ACCESS,
        ),
        may_assume=(NAMED_FAILURES, OAUTH2_SINCE, LONG_TEXT, LIKE_ACTIVITIES, FOLLOW_ACTIVITIES),
    ),
    _declare_for_user(
        "account_activity.show",
        f"GET {_ALL}",
        show,
        "Say whether the calling user is subscribed at a webhook",
        may_assume=(NAMED_FAILURES, OAUTH2_SINCE),
    ),
    _declare(
        "account_activity.list",
        f"GET {_ALL}/list",
        list_,
        "List the users who are subscribed at a webhook",
        returns=SubscriptionListAnswer,
    ),
    _declare(
        "account_activity.unsubscribe",
        "DELETE /2/account_activity/webhooks/:webhook_id/subscriptions/:user_id/all",
        unsubscribe,
        "End the subscription of a user at a webhook",
        returns=SubscribedAnswer,
        example=Example(path={"webhook_id": "1146654567674912770", "user_id": "2790441185"}),
    ),
    _declare(
        "account_activity.count",
        "GET /2/account_activity/subscriptions/count",
        count,
        "Count account-activity subscriptions",
        returns=SubscriptionCountAnswer,
        errors=(),
        assumptions=(SUBSCRIPTION_SHAPES, SUBSCRIPTION_CAP),
        may_assume=(),
    ),
    Operation(
        id="account_activity.replay",
        method="POST",
        path=_REPLAY,
        path_form=SubscriberPath,
        handler=replay,
        summary="Create a replay job for a webhook (retired)",
        spec="A, Versioning: 2026-03-20",
        params=ReplayQuery,
        location=Location.QUERY,
        rules=check_parameters,
        origin=Origin.NAMED,
        gates=(refuse_when_retired,),
        returns=Flat(ReplayAnswer),
        auth=BEARER,
        errors=("invalid-request", "resource-not-found", "conflict", "about:blank"),
        statuses=(400, 404, 409, 410),
        assumptions=(REPLAY_SHAPE, *CREATES),
        may_assume=(REPLAY_RETIRED, DEPRECATION_HEADERS, *MAY_CREATE),
        deprecated=True,
        dated=(
            Dated(_ANNOUNCED, "operation-deprecated"),
            _RETIREMENT.make_change("operation-removed", old=f"POST {_REPLAY}", new=SUCCESSOR),
        ),
        example=Example(query={"from_date": MINUTE, "to_date": MINUTE}, is_refused=True),
    ),
)
