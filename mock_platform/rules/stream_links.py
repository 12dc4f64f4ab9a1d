"""Webhooks that receive the filtered stream of their app (named endpoints, section 5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from mock_platform.core.assumptions import expectation, public_fact
from mock_platform.core.failures.errors import ProblemFailure
from mock_platform.core.failures.problems import problem
from mock_platform.rules.filtered_posts import is_of_post, make_line, match_post
from mock_platform.rules.post_selection import PostSelectionQuery, Selection, read_selection
from mock_platform.rules.usage import count_posts
from mock_platform.rules.webhook_log import log_event
from mock_platform.store.interface import Record
from mock_platform.world.clock import wire_millis
from mock_platform.world.world import World

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
