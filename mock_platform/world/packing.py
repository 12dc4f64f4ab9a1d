"""A world as JSON, for a copy of it in another process."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from mock_platform.world.store.interface import Row, Rows, SavedWorld, Slot, Snapshot
from mock_platform.world.store.memory import Base
from mock_platform.world.world import World


class WorldCopy(Struct, frozen=True):
    """The state and the settings of a world that lives in another process."""

    saved: SavedWorld
    settings: Mapping[str, Any]
    """What differs from world to world of `WorldSettings`."""


def pack_world(world: World, base: Base) -> dict[str, Any]:
    """Returns a world as JSON; `base` are the current fixtures, which both processes have."""
    with world.hold():
        saved, settings = world.save(), world.blueprint.settings
        own_base = world.blueprint.base
    # After fixtures were loaded again, an earlier world still has the old ones: all of it is sent.
    whole = own_base is not base
    rows = _merge(own_base.rows, saved.records.rows) if whole else saved.records.rows
    return {
        "whole": whole,
        "rows": [
            [table, key, None if slot is None else [slot.seq, slot.record]]
            for table, slots in rows.items()
            for key, slot in slots.items()
        ],
        "next_seq": saved.records.next_seq,
        "meta": saved.meta,
        "names": settings.names,
        "refuse_warnings": settings.refuse_warnings,
        "freeze": None if settings.freeze is None else settings.freeze.isoformat(),
    }


def unpack_world(packed: Mapping[str, Any], base: Base) -> WorldCopy:
    """Returns what `pack_world` packed, as differences from these fixtures."""
    rows: dict[str, dict[str, Slot]] = {}
    for table, key, slot in packed["rows"]:
        rows.setdefault(table, {})[key] = None if slot is None else Row(*slot)
    if packed["whole"]:
        visible = {
            table: {key: slot for key, slot in slots.items() if slot is not None}
            for table, slots in rows.items()
        }
        rows = base.difference(visible)
    freeze = packed["freeze"]
    return WorldCopy(
        SavedWorld(Snapshot(rows, packed["next_seq"]), packed["meta"]),
        {
            "names": packed["names"],
            "refuse_warnings": packed["refuse_warnings"],
            "freeze": None if freeze is None else datetime.fromisoformat(freeze),
        },
    )


def _merge(base: Rows, changed: Mapping[str, Mapping[str, Slot]]) -> dict[str, dict[str, Slot]]:
    """Returns all visible rows of fixtures with changes."""
    found: dict[str, dict[str, Slot]] = {}
    for table in dict.fromkeys([*base, *changed]):
        slots: dict[str, Slot] = {**base.get(table, {}), **changed.get(table, {})}
        found[table] = {key: slot for key, slot in slots.items() if slot is not None}
    return found
