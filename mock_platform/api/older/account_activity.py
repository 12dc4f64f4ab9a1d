"""Account activity of the older interface: webhooks and subscriptions of one environment.

They are the webhooks of the app in the v2 interface, and a subscription is one at each of them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from mock_platform.api.older import conventions as older
from mock_platform.api.older.conventions import declare, number_refusals, require, run
from mock_platform.api.v2.activity import account_activity, account_activity_delivery
from mock_platform.api.v2.conventions import get_app, get_user_id, make_schema
from mock_platform.api.v2.webhooks import operations, validation
from mock_platform.core.assumptions import expectation
from mock_platform.core.auth.authenticate import APP_OR_USER, BEARER, USER
from mock_platform.core.call import Call, Challenge
from mock_platform.core.failures.errors import NumericFailure
from mock_platform.core.fields import Flag, Text
from mock_platform.core.operation import Handler
from mock_platform.settings import Settings
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ENVIRONMENT = "dev"
ONE_ENVIRONMENT = expectation(
    "older.environments",
    "A world has one environment of account activity, dev; another name is refused with 403 and "
    "code 200. It has all webhooks of the app, and a user is subscribed at all of them at once. "
    "The count of subscriptions is that of the v2 interface, without its `data`.",
)


OlderWebhook = make_schema(
    "OlderWebhook", valid=Flag(required=True), **require(Text, "id", "url", "created_timestamp")
)
Environments = make_schema("OlderEnvironments", environments=older.OBJECTS)
_COUNTS = ("provisioned_count", "subscriptions_count_all", "subscriptions_count_direct_messages")
SubscriptionCount = make_schema("OlderSubscriptionCount", **require(Text, "account_name", *_COUNTS))
Subscribers = make_schema(
    "OlderSubscribers",
    subscriptions=older.OBJECTS,
    **require(Text, "environment", "application_id"),
)


def require_environment(call: Call, _world: World) -> None:
    """Require, as a gate, the one environment that there is."""
    if call.path_params["env"] != ENVIRONMENT:
        raise NumericFailure(200, "Forbidden.", status=403)


def _show(webhook: Record) -> Record:
    return {"created_timestamp": webhook.pop("created_at"), **webhook}


def list_(call: Call, world: World) -> list[Record]:
    """List the webhooks of the environment."""
    return [_show(one) for one in run(operations.list_, call, world)["data"]]


def list_environments(call: Call, world: World) -> Record:
    """List the only environment with its webhooks."""
    return {"environments": [{"environment_name": ENVIRONMENT, "webhooks": list_(call, world)}]}


def create(register: Handler, call: Call, world: World) -> Record:
    """Register an address that passed its challenge."""
    made = run(register, call, world, url=call.params["url"])
    return _show(made.get("data", made))


def challenge_new(call: Call, world: World, settings: Settings) -> Challenge:
    """Decide whether an address may be registered, and how it is challenged."""
    for _, fault in validation.find_address_faults(call.params, call, world, settings):
        raise NumericFailure(214, fault)
    return operations.challenge_new(call, world, settings)


def change(handler: Handler, call: Call, world: World) -> None:
    """Challenge the webhook in the path again, or delete it."""
    run(handler, call, world, call.path_params)


def subscribe(call: Call, world: World) -> None:
    """Subscribe all webhooks of the app to the calling user.

    Raises:
        NumericFailure: There is no webhook (34).
        ProblemFailure: The user is subscribed already (its number is 355).
    """
    found = list_(call, world)
    if not found:
        raise NumericFailure(34)
    for webhook in found:
        run(account_activity.subscribe, call, world, {"webhook_id": webhook["id"]})


def require_subscriptions(call: Call, world: World) -> list[Record]:
    """Return the subscriptions of the user in the path, or of the calling one.

    Raises:
        NumericFailure: There is no subscription (34).
    """
    user_id = call.path_params.get("user_id") or get_user_id(call)
    find = account_activity_delivery.find_subscription
    found = [find(world, webhook["id"], user_id) for webhook in list_(call, world)]
    if not any(found):
        raise NumericFailure(34)
    return [one for one in found if one is not None]


def unsubscribe(call: Call, world: World) -> None:
    """End the subscriptions of the user in the path, or of the calling one."""
    for each in require_subscriptions(call, world):
        account_activity_delivery.remove_subscription(world, each["webhook_id"], each["user_id"])


def list_subscriptions(call: Call, world: World) -> Record:
    """List who is subscribed."""
    paths = [{"webhook_id": one["id"]} for one in list_(call, world)]
    listed = [run(account_activity.list_, call, world, path)["data"] for path in paths]
    users = {one["user_id"]: one for each in listed for one in each["subscriptions"]}
    shown = {"environment": ENVIRONMENT, "application_id": get_app(call)["id"]}
    return {**shown, "subscriptions": list(users.values())}


def count(call: Call, world: World) -> Any:
    """Count the subscriptions of the app."""
    return run(account_activity.count, call, world)["data"]


_ALL = "account_activity/all"
_ENV = f"{_ALL}/:env"
_PATH = {"env": ENVIRONMENT}
_WEBHOOK = _PATH | {"webhook_id": "1146654567674912770"}
_SUBSCRIBED = ("POST", f"/1.1/{_ALL}/{ENVIRONMENT}/subscriptions")
_declare = partial(declare, prefix="older.account_activity.", params=None, rates=(15, 15),
                   facts=(ONE_ENVIRONMENT,))  # fmt: skip
_of_env = partial(_declare, gates=(require_environment,), auth=USER, returns=older.NOTHING,
                  errors="34", path=_PATH)  # fmt: skip
_of_webhooks = partial(_of_env, prefix="older.account_activity.webhooks.")
OPERATIONS = (
    _declare(f"GET {_ALL}/webhooks", list_environments, "List the environments and their webhooks",
             Environments, id_="environments", auth=BEARER),
    _declare(f"GET {_ALL}/count", count, "Count the subscriptions of an app",
             SubscriptionCount, id_="subscriptions.count", auth=BEARER),
    _of_webhooks(f"GET {_ENV}/webhooks", list_, "List the webhooks of an environment",
                 returns=older.Listing(OlderWebhook), id_="list", auth=APP_OR_USER),
    _of_webhooks(f"POST {_ENV}/webhooks", create, "Register a webhook",
                 returns=OlderWebhook, id_="create", configure=operations.make_create,
                 params=older.add_fields(url=Text(required=True, max_length=200)),
                 challenge=number_refusals(challenge_new), errors="214",
                 facts=(ONE_ENVIRONMENT, validation.ALLOWED_ADDRESS, validation.FIRST_CHALLENGE,
                        validation.WEBHOOK_CAP),
                 query={"url": "http://127.0.0.1:8099/webhooks/new"}),
    _of_webhooks(f"PUT {_ENV}/webhooks/:webhook_id", partial(change, operations.validate),
                 "Challenge a webhook again", id_="validate", path=_WEBHOOK, auth=APP_OR_USER,
                 challenge=number_refusals(operations.challenge_known), errors="34 214"),
    _of_webhooks(f"DELETE {_ENV}/webhooks/:webhook_id", partial(change, operations.delete),
                 "Delete a webhook", id_="delete", path=_WEBHOOK),
    _of_env(f"POST {_ENV}/subscriptions", subscribe, "Subscribe an environment to the calling user",
            id_="subscriptions.create", errors="34 214 355",
            facts=(ONE_ENVIRONMENT, account_activity_delivery.SUBSCRIPTION_CAP)),
    _of_env(f"GET {_ENV}/subscriptions", require_subscriptions, before=_SUBSCRIBED,
            summary="Say whether the calling user is subscribed", id_="subscriptions.show"),
    _of_env(f"GET {_ENV}/subscriptions/list", list_subscriptions, "List who is subscribed",
            returns=Subscribers, id_="subscriptions.list", auth=BEARER),
    _of_env(f"DELETE {_ENV}/subscriptions", unsubscribe, before=_SUBSCRIBED,
            summary="End the subscription of the calling user", id_="subscriptions.end"),
    _of_env(f"DELETE {_ENV}/subscriptions/:user_id", unsubscribe, "End the subscription of a user",
            id_="subscriptions.delete", auth=BEARER, path=_PATH | {"user_id": "2790441185"}),
)  # fmt: skip
