"""Links between webhooks and the filtered stream of an app: made, listed, and delivered to.

Document A names filtered-stream webhooks in its release history; the shapes are public facts (named
endpoints, section 5.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from mock_platform.api.v2.conventions import declare_named
from mock_platform.api.v2.filtered_stream.lines import (
    HAPPENED,
    LINES,
    is_of_post,
    make_line,
    match_post,
)
from mock_platform.api.v2.objects.answers import (
    SELECTION,
    PostSelectionQuery,
    Selection,
    read_selection,
)
from mock_platform.api.v2.release_history import find_release
from mock_platform.api.v2.usage.counting import count_posts
from mock_platform.api.v2.webhooks.event_log import log_event
from mock_platform.api.v2.webhooks.validation import find_own_webhook, get_app, make_refusal
from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.auth.authenticate import BEARER
from mock_platform.core.call import Call
from mock_platform.core.envelope import Flat
from mock_platform.core.example import Example
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem
from mock_platform.core.fields import Flag, Instant, ListOf, Nested, Text
from mock_platform.core.schema import Schema
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

# Webhooks that receive the filtered stream of their app (named endpoints, section 5.4).

TABLE = "stream_links"
SHAPES = public_fact(
    "stream-links.shapes",
    "The endpoints that link webhooks to the filtered stream have their public shapes; the spec "
    "only says that an enterprise app's webhooks can receive it.",
    "section 5.4 of the named endpoints",
    gap=True,
)
ENROLLED = public_fact(
    "stream-links.enrolled",
    "An app whose _tier is self_serve may link no webhooks: client-forbidden, 403, with the reason "
    "client-not-enrolled.",
    "section 5.4 of the named endpoints",
)
DELIVERED = expectation(
    "stream-links.delivered",
    "A webhook receives the line of the stream as its body, in the moment in which the post is "
    "made, with the fields that the link was made with. Linking a webhook again changes its "
    "fields. instance_id is the id of the webhook, business_user_id the owner of the app.",
)
_REGISTRATION = "https://developer.example.com/en/portal/products"


def require_enrolled(app: Record) -> None:
    """Require that an app may link webhooks to its filtered stream.

    Raises:
        ProblemFailure: It may not (client-forbidden).
    """
    if app["_tier"] == "self_serve":
        value = problem(
            "client-forbidden",
            reason="client-not-enrolled",
            registration_url=_REGISTRATION,
            client_id=app["id"],
            required_enrollment="Enterprise",
        )
        raise ProblemFailure(value, ENROLLED)


def put_link(
    world: World, app: Record, webhook_id: str, fields: Iterable[str], base_url: str
) -> None:
    """Link a webhook of an app to its filtered stream, or change the fields of the link.

    `base_url` is the address that the app calls, which types of problems begin with.
    """
    # Linking twice is no error: the second time changes the fields. The key is the webhook, so
    # there is one link for each, and it keeps its place.
    known = world.store.get(TABLE, webhook_id)
    record = {
        "webhook_id": webhook_id,
        "fields": list(fields),
        "created_at": wire_millis(world.clock.now()) if known is None else known["created_at"],
        "_app_id": app["id"],
        "_base_url": base_url,
    }
    world.store.put(TABLE, webhook_id, record)


def show_link(record: Record, app: Record) -> Record:
    """Return a link as clients see it."""
    return {
        "application_id": app["id"],
        "business_user_id": app["_owner_user_id"] or app["id"],
        "created_at": record["created_at"],
        "fields": record["fields"],
        "instance_id": record["webhook_id"],
        "webhook_id": record["webhook_id"],
    }


def spell_fields(params: Mapping[str, Any]) -> list[str]:
    """Return checked parameters of a selection as they are written in a query."""
    names = {
        attribute: field.data_key or attribute
        for attribute, field in PostSelectionQuery().load_fields.items()
    }
    return [f"{names[key]}={','.join(values)}" for key, values in params.items() if key in names]


@lru_cache(maxsize=256)
def read_fields(fields: tuple[str, ...]) -> Selection:
    """Return what the fields of a link ask for."""
    sent = dict(field.partition("=")[::2] for field in fields)
    return read_selection(PostSelectionQuery().load(sent))


def add_link_events(world: World, activity: Record) -> tuple[list[Record], list[str]]:
    """Add a post to the log of each linked webhook whose app has rules that match it.

    Returns the events, and why there are no others.
    """
    events: list[Record] = []
    why_not: list[str] = []
    links = [entry.record for entry in world.store.page(TABLE)] if is_of_post(activity) else []
    for link in links:
        event, reason = _add_event(world, link, activity)
        events += event
        if reason is not None:
            why_not.append(f"filtered stream at webhook {link['webhook_id']}: {reason}")
    return events, why_not


def _add_event(world: World, link: Record, activity: Record) -> tuple[list[Record], str | None]:
    app_id = link["_app_id"]
    app = world.store.get("apps", app_id)
    match = match_post(world, app_id, activity)
    if app is None or match.reason is not None:
        return [], match.reason
    try:
        count_posts(world, app, [activity["payload"]["id"]])
    except ProblemFailure as reached:
        return [], f"app {app_id} has read as many posts as it may: {reached}"
    selection = read_fields(tuple(link["fields"]))
    line = make_line(world, activity, match.rules, selection, link.get("_base_url") or "")
    event, reason = log_event(world, "filtered_stream", link["webhook_id"], activity, line)
    return [event], reason


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
        example=Example(before=("POST", "/2/posts/search/webhooks/1146654567674912769")),
    ),
)
