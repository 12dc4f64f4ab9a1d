"""The log of what webhooks receive: a row for each event, written in the transaction of its cause.

A replay reads the same rows, so it delivers an event again in the body of its product.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from mock_platform.api.v2.release_history import explain_unknown_name, find_event_name
from mock_platform.core.fields import Choice, Flag, Instant, Json, Text, Timed
from mock_platform.core.schema import Schema
from mock_platform.core.tables.table import Reference, Table
from mock_platform.world.clock import epoch_millis, wire_millis
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ADDED = "event:added"
"""Topic of the notice that an event waits to be delivered; its key is the event's id."""
OUTGOING = "_outgoing"
"""The table of what is to be delivered, in worlds that outlive the process: of events by their
ids, and of the ends of replay jobs, which have a `job_id`.
"""
Product = Literal["activity", "account_activity", "filtered_stream"]
"""The products whose events webhooks receive; each has its own form of body."""
_DIRECTIONS = ("received", "sent", "both")
_DIRECTED = ("dm.", "chat.")
"""The families of events whose subscriptions may have a direction."""
PAYLOAD_MOMENTS = {
    "created_at": wire_millis,
    "editable_until": wire_millis,
    "created_timestamp": epoch_millis,
    "timestamp_ms": epoch_millis,
}
"""The moments in payloads that fixtures may count from now, with their forms."""


class EventRecord(Schema):
    """One event in a webhook's log; `_attempted` once its delivery was attempted.

    `_user_id`, `_tag`, `_direction` and `_includes` fill the envelope in which it is delivered:
    whom the subscription follows (the app's owner, if not given), its tag and direction if it has
    any, and what is included.
    """

    id = Text(required=True)
    webhook_id = Text(required=True)
    event_type = Text(required=True, min_length=1)
    payload = Timed(PAYLOAD_MOMENTS, required=True)
    created_at = Instant(millis=True, required=True)
    _product = Choice(get_args(Product), load_default="activity")
    """The product that delivers it. The payload of account activity is the body itself without
    for_user_id, that of the filtered stream is the whole body."""
    _attempted = Flag(load_default=True)
    _user_id = Text(load_default=None, allow_none=True)
    _tag = Text(load_default=None, allow_none=True)
    _direction = Choice(_DIRECTIONS, load_default=None, allow_none=True)
    _includes = Timed(PAYLOAD_MOMENTS, load_default=None, allow_none=True)
    _filter = Json(load_default=None, allow_none=True)
    """The whole filter of the subscription, in place of `_user_id` and `_direction`."""
    _event_uuid = Text(load_default=None, allow_none=True)
    """What receivers see as the event's id, if not `id`."""


def _check_event(record: Record) -> Iterator[tuple[str, str]]:
    name, direction = record["event_type"], record["_direction"]
    if find_event_name(name) is None:
        yield "event_type", explain_unknown_name(name)
    elif direction is not None and not name.startswith(_DIRECTED):
        yield "_direction", f"only subscriptions to dm.* and chat.* have a direction, not {name}"


EVENTS = Table(
    "events",
    EventRecord,
    references=(Reference("webhook_id", "webhooks"), Reference("_user_id", "users")),
    check=_check_event,
)
TABLES = (EVENTS,)


def log_event(
    world: World,
    product: Product,
    webhook_id: str,
    activity: Record,
    payload: Mapping[str, Any],
    **envelope: Any,
) -> tuple[Record, str | None]:
    """Add an activity to a webhook's log; return also why it is not delivered now, if it is not.

    `envelope` holds those fields of the record that the product's body needs: `_tag`, `_includes`,
    `_filter`. The delivery begins after the commit.
    """
    webhook = world.store.get("webhooks", webhook_id)
    live = webhook is not None and webhook["valid"]
    event = {
        "id": world.ids.snowflake(),
        "webhook_id": webhook_id,
        "event_type": activity["event_type"],
        "payload": payload,
        "created_at": activity["created_at"],
        "_product": product,
        "_attempted": live,
        "_user_id": activity["user_id"],
        "_tag": None,
        "_direction": None,
        "_includes": None,
        "_filter": None,
        "_event_uuid": activity["event_uuid"],
    } | envelope
    world.store.put("events", event["id"], event)
    if live:
        request_delivery(world, event)
        return event, None
    return event, (
        f"webhook {webhook_id} is not valid, so the event is kept and not delivered; "
        f"PUT /2/webhooks/{webhook_id} challenges it again"
    )


def request_delivery(world: World, event: Record) -> None:
    """Request the delivery of a new event; the next process goes on with it if this one ends."""
    remember_delivery(world, event["id"], {"webhook_id": event["webhook_id"]})
    world.notify(ADDED, event["id"])


def remember_delivery(world: World, key: str, waiting: Record) -> None:
    """Record that something is to be delivered, in a world that outlives the process."""
    if world.store.outlives:
        world.store.put(OUTGOING, key, waiting)
