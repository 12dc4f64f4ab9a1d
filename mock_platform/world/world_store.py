"""A world's store: records in memory, and every commit in the archive before it counts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from typing import Any

from mock_platform.world.attached import Parts
from mock_platform.world.store.archive import Archive, KeptWorld, SharedArchive, WholeWorld
from mock_platform.world.store.interface import (
    Beside,
    Change,
    Row,
    SavedWorld,
    Slot,
    Snapshot,
    make_closed_scope,
)
from mock_platform.world.store.memory import Base, MemoryStore

_BESIDE = "@"
"""Prefix of the tables that contain data beside the world's records."""


class WorldStore(MemoryStore):
    """The records of one world, recorded in an archive.

    A world from the archive continues as it was left; records, their order and the positions of
    cursors are the same as before. Any other world starts with the fixtures.

    Nothing is recorded before `begin` or `resume`: the world is still being set up. A change that
    cannot be written raises `StoreUnwritable` and is undone. `meta` returns what to record beside
    the records; it is called under the world's lock.
    """

    def __init__(
        self,
        base: Base,
        archive: Archive,
        world_name: str,
        meta: Callable[[], Mapping[str, Any]],
        *,
        parts: Parts | None = None,
        kept: KeptWorld | None = None,
    ) -> None:
        super().__init__(base)
        self._archive = archive
        self._world_name = world_name
        self._meta = meta
        self._parts = parts
        self._points: set[str] = set()
        self._token: int | None = None
        """The id of the world in the archive; `None` while nothing is recorded."""
        self.outlives = archive.keeps
        """Whether the world outlives the process."""
        self.kept = kept
        """The world as an earlier process left it, until `resume`."""
        beside: dict[str, Mapping[str, Slot]] = {}
        if kept is not None:
            rows = kept.snapshot.rows
            beside = {name: rows[name] for name in rows if name.startswith(_BESIDE)}
            own = {name: rows[name] for name in rows if name not in beside}
            super().restore(Snapshot(own, kept.snapshot.next_seq))
        self.beside = {
            table: {key: slot.record for key, slot in rows.items() if slot is not None}
            for table, rows in beside.items()
        }
        """The data of the world beside its records."""
        self._places = {
            (table, key): slot.seq
            for table, rows in beside.items()
            for key, slot in rows.items()
            if slot is not None
        }
        self._next_place = itertools.count(0 if kept is None else kept.snapshot.next_seq)

    def begin(self, points: Mapping[str, SavedWorld]) -> None:
        """Add a new world with its saved states to the archive, in one commit.

        Raises:
            ValueError: The archive already has a world of this name.
            StoreUnwritable: The world could not be written; nothing is stored.
        """
        self._token = self._archive.add(
            self._world_name, self._describe_world(self.snapshot()), points
        )
        self._points = set(points)
        self._mark_recorded()

    def resume(self) -> None:
        """Record from now on, in the world of the archive."""
        assert self.kept is not None, "only a world that was kept can go on"
        self._token, self._points = self.kept.token, set(self.kept.points)
        self.kept = None

    def restore(
        self, snapshot: Snapshot, *, base: Base | None = None, dropped: Collection[str] = ()
    ) -> None:
        """Return to a state from `snapshot`; delete the saved states `dropped` in one commit.

        Raises:
            RuntimeError: A transaction is open.
            StoreUnwritable: The change could not be written; nothing has changed.
        """
        self._check_no_transaction()
        # First the archive, then memory: if writing fails, the exception leaves before anything has
        # changed here. The saved states go in the same commit, or a crash in between would keep
        # snapshots of a world that has restarted.
        gone = self._points.intersection(dropped)
        if self._token is not None:
            whole = self._describe_world(snapshot, base)
            self._archive.replace(self._world_name, self._token, whole, dropped=gone)
            self._points -= gone
            self._mark_recorded()
        super().restore(snapshot, base=base)

    def list_differences(self) -> list[Change]:
        """Return what a return to the fixtures would change: `after` is the fixtures' record."""
        return [Change(c.table, c.key, before=c.after, after=c.before) for c in self.list_changes()]

    def list_changes(self) -> list[Change]:
        """Return what differs from the fixtures: `before` is the fixtures' record."""
        found = []
        for table, rows in self._rows.items():
            originals = self._base.rows.get(table, {})
            for key, row in rows.items():
                original = originals.get(key)
                found.append(
                    Change(
                        table,
                        key,
                        before=None if original is None else original.record,
                        after=None if row is None else row.record,
                    )
                )
        return found

    def record(self) -> None:
        """Record the data beside the records, if no other commit does it.

        Raises:
            StoreUnwritable: The data could not be written.
        """
        self._record_commit([])

    def keep_point(self, label: str, saved: SavedWorld) -> None:
        """Record a named snapshot.

        Raises:
            StoreUnwritable: The snapshot could not be written; one with this label does not change.
        """
        if self._token is not None:
            whole = WholeWorld(self._base, saved.records, saved.meta)
            self._archive.keep_point(self._world_name, self._token, label, whole)
            self._points.add(label)

    def drop_point(self, label: str) -> None:
        """Delete a named snapshot.

        Raises:
            StoreUnwritable: The change could not be written; the snapshot stays.
        """
        if self._token is not None and label in self._points:
            self._archive.drop_point(self._world_name, self._token, label)
            self._points.discard(label)

    def drop(self) -> None:
        """Delete the world with all its snapshots; nothing is recorded any more.

        Raises:
            StoreUnwritable: The change could not be written; the world stays.
        """
        if self._token is not None:
            self._archive.drop(self._world_name, self._token)
            self._token = None

    def release(self) -> None:
        """Forget the world, which was dropped: records can be read, and not changed any more."""
        # `meta` is a method of the world, so the store would keep the world alive. `dict` returns
        # an empty one, as nothing is recorded any more.
        self._meta = dict
        self.consequences.clear()
        self._transaction = make_closed_scope(_refuse_change)

    def give_back(self) -> None:
        """Let other processes open the world; nothing is recorded any more.

        Raises:
            StoreError: The archive cannot be reached, or another process has the world already.
        """
        if self._token is not None and isinstance(self._archive, SharedArchive):
            self._archive.give_back(self._world_name, self._token)
            self._token = None

    def _change(self, table: str, key: str, old: Row | None, new: Row | None) -> None:
        # A change outside a transaction, as tests and the control interface make it, becomes a
        # transaction of one change. So there is one way only by which changes reach the archive.
        if self._undo is None:
            with self.transaction():
                super()._change(table, key, old, new)
        else:
            super()._change(table, key, old, new)

    def _record_commit(self, changes: list[Change]) -> None:
        if self._token is None or not self.outlives:  # every request comes here
            return
        slots = {
            (change.table, change.key): self._rows[change.table].get(change.key)
            for change in changes
        }
        if self._parts is not None:
            slots |= self._assign_places(self._parts.pending())
        meta = self._meta()
        # This runs at the end of a transaction, before its changes count: if the archive cannot
        # write them, the exception makes the transaction undo the records. The data beside the
        # records are not part of the transaction, so they are undone here.
        try:
            self._archive.commit(self._world_name, self._token, slots, meta)
        except BaseException:
            if self._parts is not None:
                self._parts.undo()
            raise
        self._mark_recorded()

    def _mark_recorded(self) -> None:
        if self._parts is not None and self.outlives:
            self._parts.mark_recorded()

    def _describe_world(self, snapshot: Snapshot, base: Base | None = None) -> WholeWorld:
        if not self.outlives:  # nobody needs what a reset would gather here
            return WholeWorld(base or self._base, snapshot, {})
        beside = {} if self._parts is None else self._parts.read_records()
        rows: dict[str, dict[str, Slot]] = {}
        for (table, key), slot in self._assign_places(beside).items():
            rows.setdefault(table, {})[key] = slot
        whole = Snapshot({**snapshot.rows, **rows}, snapshot.next_seq)
        return WholeWorld(base or self._base, whole, self._meta())

    def _assign_places(self, beside: Beside) -> dict[tuple[str, str], Slot]:
        """Return the data beside the records as rows; each table has one row for each key."""
        # The archive stores rows, and a row has a place in an order. What lies beside the records
        # (rate limits, scenarios, nonces) has no order, but it must keep the place that it got, or
        # each commit would rewrite rows that did not change. So a key gets the next free place at
        # its first commit and keeps it until it is removed.
        placed: dict[tuple[str, str], Slot] = {}
        for at, record in beside.items():
            if record is None:
                placed[at] = None
                self._places.pop(at, None)
                continue
            place = self._places.get(at)
            if place is None:
                place = self._places[at] = next(self._next_place)
            placed[at] = Row(place, record)
        return placed


def _refuse_change() -> list[Change]:
    raise RuntimeError("The world was dropped; its records can only be read.")
