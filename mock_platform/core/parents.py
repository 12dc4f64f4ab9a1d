"""Records below a deleted record: they keep `deleted: false`, and are read only if asked for."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from mock_platform.core.assumptions import public_fact
from mock_platform.store.interface import Record
from mock_platform.world.world import World

CHILDREN = public_fact(
    "ads.children-of-deleted",
    "Records below a deleted one (a campaign, a line item) keep deleted: false; lists and reads of "
    "one show them only with_deleted. They can still be deleted.",
    "adjacent operations, section 1",
)


class Parent(Struct, frozen=True):
    """The record to which records of a resource belong, and the one above it."""

    field: str
    table: str
    above: Parent | None = None

    def is_deleted(self, world: World, record: Record) -> bool:
        """Returns whether the record's parent, or one above it, is deleted."""
        found = world.store.get(self.table, record.get(self.field) or "")
        if found is None:
            return False
        return bool(found["deleted"]) or (
            self.above is not None and self.above.is_deleted(world, found)
        )

    def make_test(self, world: World) -> Callable[[Record], bool]:
        """Returns a test for records whose parent is not deleted; it looks at each parent once."""
        known: dict[str | None, bool] = {}

        def is_shown(record: Record) -> bool:
            key = record.get(self.field)
            if key not in known:
                known[key] = not self.is_deleted(world, record)
            return known[key]

        return is_shown


CAMPAIGN = Parent("campaign_id", "campaigns")
"""What line items belong to."""
LINE_ITEM = Parent("line_item_id", "line_items", CAMPAIGN)
"""What promoted posts, targeting criteria and other parts of a line item belong to."""
