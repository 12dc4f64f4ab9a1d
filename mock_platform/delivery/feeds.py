"""Reads scheduled feeds when they are due, and stores the products that are in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mock_platform.api.ads.catalogs.operations import upsert_products
from mock_platform.api.ads.catalogs.scheduled_feeds import (
    MOST_BYTES,
    TABLE,
    find_next_read,
    read_products,
)
from mock_platform.delivery.agenda import Wait
from mock_platform.delivery.outbound import Outbound, OutboundFault
from mock_platform.world.clock import wire_millis
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

_SUCCESS = 200
_MOST_ERRORS = 20
"""How many refused products a result names."""


@dataclass(frozen=True, slots=True)
class FeedRead:
    """The next read of one feed; `start` makes it, on another thread."""

    world: World
    feed_id: str
    start: Callable[[FeedRead], None] = field(compare=False)

    def look(self) -> Wait:
        """Start the read if it is due. Whoever makes it watches for the next one."""
        with self.world.lock:
            feed = self.world.store.get(TABLE, self.feed_id)
            due = None if feed is None or self.world.closed else find_next_read(feed)
            if due is None:
                return Wait(None, over=True)
            if self.world.clock.now() < due:
                return Wait(self.world.clock.real_seconds_until(due))
        self.start(self)
        return Wait(None, over=True)


def read_feed(world: World, feed_id: str, outbound: Outbound) -> None:
    """Read the file of a feed now, outside the world's lock, and store its products.

    The moments that have passed are done then, whatever came of it. Nothing is stored if the
    world was reset meanwhile, or the feed was changed or deleted.
    """
    with world.lock:
        feed, epoch = world.store.get(TABLE, feed_id), world.epoch
    if feed is None:
        return
    products: Sequence[dict[str, Any]] = ()
    result: dict[str, Any] = {"status": None, "fault": None}
    try:
        answer = outbound.send("GET", feed["feed_url"], most=MOST_BYTES)
        result["status"] = answer.status
        if answer.status == _SUCCESS:
            products = read_products(answer.body, feed["feed_format"])
        else:
            result["fault"] = f"the address answered {answer.status}"
    except (OutboundFault, ValueError) as fault:
        result["fault"] = str(fault)
    try:
        with world.work():
            if world.epoch == epoch and world.store.get(TABLE, feed_id) == feed:
                _store(world, feed, products, result)
    except UnknownWorld:
        return


def _store(
    world: World, feed: Record, products: Sequence[dict[str, Any]], result: dict[str, Any]
) -> None:
    catalog_id = feed["product_catalog_id"]
    rows = upsert_products(world, catalog_id, products, lambda _: None)
    counts = Counter(row["status"] for row in rows)
    now = wire_millis(world.clock.now())
    errors = [{"id": row["id"], "errors": row["errors"]} for row in rows if row["errors"]]
    result |= {"at": now, "products": dict(counts), "errors": errors[:_MOST_ERRORS]}
    world.store.put(TABLE, feed["id"], feed | {"_read_until": now, "_last_read": result})
