"""Whether line items have anything to show, found out for many campaigns at little cost."""

from __future__ import annotations

from collections.abc import Iterator

from mock_platform.world.store.interface import Record
from mock_platform.world.world import World

CREATIVES = ("promoted_posts", "promoted_accounts", "media_creatives")
"""The tables of what a line item can show."""
_LINE_ITEMS = "line_items"
_READ = (_LINE_ITEMS, *CREATIVES)
_CHUNK = 50


def match_children(campaign: Record) -> dict[str, object]:
    """Return what the line items of a campaign have that are not deleted."""
    return {"campaign_id": campaign["id"], "deleted": False}


def has_creative(world: World, line_item: Record) -> bool:
    """Return whether a line item has anything to show."""
    match = {"line_item_id": line_item["id"], "deleted": False}
    return any(world.store.count(table, match) for table in CREATIVES)


def has_any_creative(world: World, campaign: Record) -> bool:
    """Return whether a line item of a campaign has anything to show."""
    return world.cache(_Findings).look_up(world, campaign)


class _Findings:
    """What was found out about campaigns, so that not all line items are read each time.

    That a campaign has something to show is proved by one line item, which is cheap to check. That
    it has nothing is proved by all of them, so it is remembered until a change refutes it: only
    what was changed since the last question is looked at. Deletions refute nothing.
    """

    def __init__(self) -> None:
        self._versions = (-1,) * len(_READ)
        self._proofs: dict[str, str] = {}
        """A line item that had something to show, by campaign."""
        self._bare: set[str] = set()
        """The campaigns without anything to show."""

    def look_up(self, world: World, campaign: Record) -> bool:
        """Return whether a line item of the campaign has anything to show."""
        self._catch_up(world)
        key = campaign["id"]
        if key in self._bare:
            return False
        proof = world.store.get(_LINE_ITEMS, self._proofs.get(key, ""))
        if proof is not None and proof["campaign_id"] == key and _shows(world, proof):
            return True
        for item in _iterate_line_items(world, campaign):
            if has_creative(world, item):
                self._proofs[key] = item["id"]
                return True
        self._bare.add(key)
        return False

    def _catch_up(self, world: World) -> None:
        """Forget what was refuted since the last question."""
        versions = tuple(world.store.version(table) for table in _READ)
        if versions == self._versions:
            return
        # Each table is asked for, although nothing may be remembered yet: the store lists changes
        # from the first question on.
        for table, since in zip(_READ, self._versions, strict=True):
            changed = world.store.list_changed(table, since)
            if changed is None:
                self._bare.clear()
            for key in changed or ():
                self._refute(world, table, key)
        self._versions = versions

    def _refute(self, world: World, table: str, key: str) -> None:
        record = world.store.get(table, key)
        if record is not None and table != _LINE_ITEMS:
            record = world.store.get(_LINE_ITEMS, record["line_item_id"])
        if record is None or record["campaign_id"] not in self._bare:
            return
        if _shows(world, record):
            self._bare.discard(record["campaign_id"])


def _shows(world: World, line_item: Record) -> bool:
    return not line_item["deleted"] and has_creative(world, line_item)


def _iterate_line_items(world: World, campaign: Record) -> Iterator[Record]:
    """Yield the line items of a campaign that are not deleted; mostly, the first one is enough."""
    match, limit, after = match_children(campaign), 1, None
    while True:
        found = world.store.page(_LINE_ITEMS, match, after=after, limit=limit)
        yield from (entry.record for entry in found)
        if len(found) < limit:
            return
        limit, after = _CHUNK, found[-1].position
