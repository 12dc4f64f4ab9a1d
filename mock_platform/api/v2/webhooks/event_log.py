"""The log of what webhooks receive: a row for each event, written in the transaction of its cause.

A replay reads the same rows, so it delivers an event again in the body of its product.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

ADDED = "event:added"
"""Topic of the notice that an event waits to be delivered; its key is the event's id."""
OUTGOING = "_outgoing"
"""The table of what is to be delivered, in worlds that outlive the process: of events by their
ids, and of the ends of replay jobs, which have a `job_id`.
"""
Product = Literal["activity", "account_activity", "filtered_stream"]
PRODUCTS: tuple[Product, ...] = ("activity", "account_activity", "filtered_stream")
"""The products whose events webhooks receive; each has its own form of body."""


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
    owe_delivery(world, event["id"], {"webhook_id": event["webhook_id"]})
    world.notify(ADDED, event["id"])


def owe_delivery(world: World, key: str, owed: Record) -> None:
    """Record that something is to be delivered, in a world that outlives the process."""
    if world.store.outlives:
        world.store.put(OUTGOING, key, owed)
