"""Links between webhooks and the filtered stream of an app.

Document A names filtered-stream webhooks in its release history; the shapes are public facts (named
endpoints, section 5.4).
"""

from __future__ import annotations

from typing import Any

from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.fields import Flag, Instant, ListOf, Nested, Text
from mock_platform.core.named import declare_named
from mock_platform.core.schema import Schema
from mock_platform.rules.filtered_posts import HAPPENED, LINES
from mock_platform.rules.post_selection import SELECTION, PostSelectionQuery
from mock_platform.rules.release_history import find_release
from mock_platform.rules.stream_links import (
    DELIVERED,
    ENROLLED,
    SHAPES,
    TABLE,
    put_link,
    require_enrolled,
    show_link,
    spell_fields,
)
from mock_platform.rules.webhooks import find_own_webhook, get_app, make_refusal
from mock_platform.world.world import World

_SPEC = "Versioning: 2025-09-09"
_SINCE = find_release("filtered-stream-webhooks").effective
_ALL = "/2/posts/search/webhooks"
_ONE = f"{_ALL}/:webhook_id"
_OLDER = "/2/tweets/search/webhooks"
_LIMIT = 450


class StreamLink(Schema):
    """A link as clients see it."""

    application_id = Text(required=True)
    business_user_id = Text(required=True)
    created_at = Instant(millis=True, required=True)
    fields_ = ListOf(Text(), required=True, data_key="fields")
    instance_id = Text(required=True)
    webhook_id = Text(required=True)


class _Links(Schema):
    links = ListOf(Nested(StreamLink))


class StreamLinksAnswer(Schema):
    """All links of an app."""

    data = Nested(_Links, required=True)


class _Provision(Schema):
    provisioned = Flag(required=True)


class ProvisionAnswer(Schema):
    """The answer of a new link."""

    data = Nested(_Provision, required=True)


class _Unlinked(Schema):
    deleted = Flag(required=True)


class UnlinkedAnswer(Schema):
    """The answer of the end of a link."""

    data = Nested(_Unlinked, required=True)


def list_(call: Call, world: World) -> dict[str, Any]:
    """List the links of the caller's app."""
    app = get_app(call)
    require_enrolled(app)
    entries = world.store.page(TABLE, {"_app_id": app["id"]})
    return {"data": {"links": [show_link(entry.record, app) for entry in entries]}}


def create(call: Call, world: World) -> dict[str, Any]:
    """Link a webhook to the filtered stream."""
    app = get_app(call)
    require_enrolled(app)
    webhook = find_own_webhook(call, world)
    put_link(world, app, webhook["id"], spell_fields(call.params), call.base_url)
    return {"data": {"provisioned": True}}


def delete(call: Call, world: World) -> dict[str, Any]:
    """End the link of a webhook."""
    require_enrolled(get_app(call))
    webhook = find_own_webhook(call, world)
    if world.store.remove(TABLE, webhook["id"]) is None:
        text = f"webhook {webhook['id']} is not linked to the filtered stream"
        raise make_refusal("WebhookIdInvalid", text, "webhook_id", webhook["id"])
    return {"data": {"deleted": True}}


OPERATIONS = (
    declare_named(
        "stream_links.list",
        "GET",
        _ALL,
        list_,
        summary="List the webhooks that receive the filtered stream",
        spec=_SPEC,
        since=_SINCE,
        also=(_OLDER,),
        returns=Flat(StreamLinksAnswer),
        auth=BEARER,
        limit=_LIMIT,
        errors=("client-forbidden",),
        statuses=(403,),
        assumptions=(SHAPES,),
        may_assume=(ENROLLED,),
    ),
    declare_named(
        "stream_links.create",
        "POST",
        _ONE,
        create,
        summary="Let a webhook receive the filtered stream",
        spec=_SPEC,
        params=PostSelectionQuery,
        since=_SINCE,
        also=(f"{_OLDER}/:webhook_id",),
        returns=Flat(ProvisionAnswer),
        auth=BEARER,
        limit=_LIMIT,
        errors=("invalid-request", "client-forbidden"),
        statuses=(400, 403),
        assumptions=(SHAPES, DELIVERED, LINES, HAPPENED, SELECTION),
        may_assume=(ENROLLED,),
    ),
    declare_named(
        "stream_links.delete",
        "DELETE",
        _ONE,
        delete,
        summary="Stop a webhook from receiving the filtered stream",
        spec=_SPEC,
        since=_SINCE,
        also=(f"{_OLDER}/:webhook_id",),
        returns=Flat(UnlinkedAnswer),
        auth=BEARER,
        limit=_LIMIT,
        errors=("invalid-request", "client-forbidden"),
        statuses=(400, 403),
        assumptions=(SHAPES,),
        may_assume=(ENROLLED,),
    ),
)
