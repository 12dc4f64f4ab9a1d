"""The contents of a durable store, without its files: the worlds, and the changes that made them.

A change is a JSON object of one kind:

- `commit`: `changes` to records of a `world`, or to its `meta`, or both;
- `state`: a `world` starts, or restarts: the fixtures of line `base`, and `changes` to them;
- `fixtures`: `tables` of records that later changes of kind `state` refer to;
- `drop`: a `world` ends, with its points;
- `batch`: several `steps` of the kinds `state` and `drop` that belong together.

In the last three kinds `world` may be a saved point of a world, as WORLD@LABEL.

One of `changes` names `table` and `key`; `after` is the record, or null if it was removed; `place`
is its place in insertion order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
from msgspec import Struct, field

from mock_platform.world.store.archive import POINT, Slots
from mock_platform.world.store.interface import Record, Row, Rows, SavedWorld, Slot, Snapshot
from mock_platform.world.store.memory import Base


class StoredState(Struct):
    """A state of a world: fixtures that others may share, and the changed rows."""

    seq: int
    """Number of the last change to it."""
    next_place: int
    meta_json: bytes = b"{}"
    base: Rows = field(default_factory=dict)
    rows: dict[str, dict[str, Slot]] = field(default_factory=dict)

    @property
    def meta(self) -> dict[str, Any]:
        """The data of the world beside its records, as last recorded."""
        meta: dict[str, Any] = orjson.loads(self.meta_json)
        return meta

    @property
    def tables(self) -> dict[str, dict[str, Record]]:
        """Return all records by table and key, in insertion order."""
        return {
            table: {key: row.record for key, row in rows.items()}
            for table, rows in self.list_rows().items()
        }

    def list_rows(self) -> dict[str, dict[str, Row]]:
        """Return all rows with the fixtures, in insertion order."""
        found = {}
        for table in dict.fromkeys([*self.base, *self.rows]):
            slots = {**self.base.get(table, {}), **self.rows.get(table, {})}
            rows = [(key, row) for key, row in slots.items() if row is not None]
            rows.sort(key=lambda item: item[1].seq)
            if rows:
                found[table] = dict(rows)
        return found

    def lay_over(self, base: Base) -> SavedWorld:
        """Use these fixtures from now on; return the state as differences from them."""
        self.base, self.rows = base.rows, base.difference(self.list_rows())
        rows = {table: dict(slots) for table, slots in self.rows.items()}
        return SavedWorld(Snapshot(rows, self.next_place), self.meta)

    def take(self, slots: Slots) -> None:
        """Add changed rows to the state."""
        for (table, key), slot in slots.items():
            rows = self.rows.setdefault(table, {})
            if slot is not None:
                rows[key] = slot
                self.next_place = max(self.next_place, slot.seq + 1)
            # The same rule as in memory: a fixture that was removed needs a slot that says so, and
            # any other record simply has none any more.
            elif key in self.base.get(table, {}):
                rows[key] = None
            else:
                rows.pop(key, None)


class StoredWorld(Struct):
    """A world: its current state, and its saved points."""

    now: StoredState
    token: int = 0
    """Distinguishes it from an earlier world of the same name, while the archive is open."""
    points: dict[str, StoredState] = field(default_factory=dict)


class Contents(Struct):
    """All worlds, as they are after change number `seq`."""

    seq: int = 0
    worlds: dict[str, StoredWorld] = field(default_factory=dict)
    bases: dict[int, Rows] = field(default_factory=dict)
    """Fixtures that later changes may refer to, by the number of their change."""

    def replay(self, change: dict[str, Any]) -> None:
        """Apply a change, and count it.

        Raises:
            LookupError, TypeError, ValueError: It does not match the changes before it.
        """
        # A batch is one line, so it is applied as a whole; all its steps have the number of the
        # line.
        steps = change["steps"] if change["kind"] == "batch" else [change]
        for step in steps:
            self._replay(step, change["seq"])
        self.seq = change["seq"]

    def _replay(self, change: dict[str, Any], seq: int) -> None:
        kind = change["kind"]
        if kind == "fixtures":
            self.bases[seq] = {
                table: {key: Row(place, record) for key, place, record in rows}
                for table, rows in change["tables"].items()
            }
        elif kind == "drop":
            self.drop(change["world"])
        elif kind == "state":
            base = {} if change["base"] is None else self.bases[change["base"]]
            state = StoredState(seq, change["next_place"], base=base)
            _take(state, change, seq)
            self.put(change["world"], state)
        elif kind == "commit":
            _take(self.worlds[change["world"]].now, change, seq)
        else:
            raise ValueError(f"unknown kind {kind!r}")

    def states(self) -> Iterator[tuple[str, StoredState]]:
        """Return each world and each point with its name, a world before its points."""
        for name, world in self.worlds.items():
            yield name, world.now
            for label, point in world.points.items():
                yield f"{name}{POINT}{label}", point

    def put(self, name: str, state: StoredState) -> None:
        """Set the state of a world or of a point.

        Raises:
            LookupError: It is a point of a world that is not stored.
        """
        owner, _, label = name.partition(POINT)
        if label:
            self.worlds[owner].points[label] = state
        elif name in self.worlds:
            self.worlds[name].now = state
        else:
            self.worlds[name] = StoredWorld(state)

    def drop(self, name: str) -> None:
        """Delete a world with its points, or a point."""
        owner, _, label = name.partition(POINT)
        if not label:
            del self.worlds[name]
        elif owner in self.worlds:  # else it went with its world, as a second step of older logs
            del self.worlds[owner].points[label]


def _take(state: StoredState, change: dict[str, Any], seq: int) -> None:
    state.take(_slots(change.get("changes", [])))
    state.seq = seq
    if "meta" in change:
        state.meta_json = orjson.dumps(change["meta"])


def changes_of(slots: Slots) -> list[dict[str, Any]]:
    """Return changed rows in the form of a change."""
    return [
        {"table": table, "key": key, "after": None}
        if slot is None
        else {"table": table, "key": key, "place": slot.seq, "after": slot.record}
        for (table, key), slot in slots.items()
    ]


def tables_of(base: Rows) -> dict[str, list[tuple[str, int, Record]]]:
    """Return fixtures in the form of a change."""
    return {
        table: [(key, row.seq, row.record) for key, row in rows.items()]
        for table, rows in base.items()
    }


def slots_of(snapshot: Snapshot) -> Slots:
    """Return the differences in a store's snapshot."""
    return {(t, key): slot for t, rows in snapshot.rows.items() for key, slot in rows.items()}


def _slots(changes: list[dict[str, Any]]) -> Slots:
    return {
        (change["table"], change["key"]): None
        if change["after"] is None
        else Row(change["place"], change["after"])
        for change in changes
    }
