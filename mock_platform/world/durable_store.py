"""A world's store whose every change is in the archive before it counts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mock_platform.store.archive import Archive, Whole
from mock_platform.store.interface import Beside, Change, Row, SavedWorld, Slot, Snapshot
from mock_platform.store.memory import Base, MemoryStore
from mock_platform.world.kept import Parts

_BESIDE = "@"
"""How the names of tables begin that hold no records of the world's but what it keeps beside."""


class DurableStore(MemoryStore):
    """The store of a world in an archive.

    A world that the archive holds already goes on as it stands there; records, their order and the
    positions of cursors are the same as before. Any other one begins with the fixtures, or as the
    `snapshot` of another world on the same fixtures, and is stored at once.

    With `waits`, nothing is recorded before `begin` or `resume`: until then the world is being set
    up. A change that cannot be written raises `StoreUnwritable` and is undone. `meta` returns what
    to record beside the records; it is called under the world's lock.
    """

    outlives = True

    def __init__(
        self,
        base: Base,
        archive: Archive,
        world_name: str,
        meta: Callable[[], Mapping[str, Any]],
        snapshot: Snapshot | None = None,
        *,
        parts: Parts | None = None,
        waits: bool = False,
    ) -> None:
        super().__init__(base)
        self._archive = archive
        self._world_name = world_name
        self._meta = meta
        self._parts = parts
        self._points: set[str] = set()
        self._generation: int | None = None
        """What the archive knows the world by; `None` as long as nothing is recorded."""
        start = archive.attach(world_name, base)
        self.resumes = start is not None and snapshot is None
        beside = {}
        if start is not None and self.resumes:
            rows = start.rows
            beside = {name: rows[name] for name in rows if name.startswith(_BESIDE)}
            own = {name: rows[name] for name in rows if name not in beside}
            super().restore(Snapshot(own, start.next_seq))
        elif snapshot is not None:
            super().restore(snapshot)
        self.beside = {
            table: {key: slot.record for key, slot in rows.items() if slot is not None}
            for table, rows in beside.items()
        }
        """What was kept beside the records when the store was opened."""
        self._places = {
            (table, key): slot.seq
            for table, rows in beside.items()
            for key, slot in rows.items()
            if slot is not None
        }
        self._next_place = itertools.count(0 if start is None else start.next_seq)
        if waits:
            return
        if self.resumes:
            self.resume()
        else:
            self.begin({})

    def begin(self, points: Mapping[str, SavedWorld]) -> None:
        """Store a new world with its points, in one commit.

        Raises:
            ValueError: The world is stored already.
            StoreUnwritable: It could not be written; nothing is stored.
        """
        saved = [self._point(label, point) for label, point in points.items()]
        self._generation = self._archive.add_worlds(self._whole(self.snapshot()), *saved)
        self._points = set(points)
        self._recorded()

    def resume(self, points: Iterable[str] = ()) -> None:
        """Record from now on, in the world that the archive holds, which has these points."""
        self._generation = self._archive.generation(self._world_name)
        self._points = set(points)

    def restore(
        self, snapshot: Snapshot, *, base: Base | None = None, dropped: Iterable[str] = ()
    ) -> None:
        """Return to a state that `snapshot` gave; forget the points `dropped` in the same commit.

        Raises:
            RuntimeError: A transaction is open.
            StoreUnwritable: It could not be written; nothing has changed.
        """
        self._check_no_transaction()
        gone = self._points.intersection(dropped)
        if self._generation is not None:
            self._archive.replace(
                self._whole(snapshot, base),
                dropped=[self._name_of(label) for label in gone],
                generation=self._generation,
            )
            self._points -= gone
            self._recorded()
        super().restore(snapshot, base=base)

    def record(self) -> None:
        """Record what the world keeps beside its records, where no commit does it.

        Raises:
            StoreUnwritable: It could not be written.
        """
        self._commit({})

    def keep_point(self, label: str, saved: SavedWorld) -> None:
        """Record a point to come back to.

        Raises:
            StoreUnwritable: It could not be written; a point of this label is as it was.
        """
        if self._generation is not None:
            self._archive.replace(self._point(label, saved))
            self._points.add(label)

    def drop_point(self, label: str) -> None:
        """Forget such a point.

        Raises:
            StoreUnwritable: It could not be written; the point is still kept.
        """
        if label in self._points:
            self._archive.drop_worlds(self._name_of(label))
            self._points.discard(label)

    def drop(self) -> None:
        """Forget the world with all its points; nothing is recorded any more.

        Raises:
            StoreUnwritable: It could not be written; all is still kept.
        """
        if self._generation is not None:
            names = [self._world_name, *map(self._name_of, self._points)]
            self._archive.drop_worlds(*names, generation=self._generation)
            self._generation = None

    def _change(self, table: str, key: str, old: Row | None, new: Row | None) -> None:
        if self._undo is None:
            with self.transaction():
                super()._change(table, key, old, new)
        else:
            super()._change(table, key, old, new)

    def _committed(self, changes: list[Change]) -> None:
        self._commit(
            {
                (change.table, change.key): self._rows[change.table].get(change.key)
                for change in changes
            }
        )

    def _commit(self, slots: dict[tuple[str, str], Slot]) -> None:
        if self._generation is None:
            return
        pending = {} if self._parts is None else self._parts.pending()
        slots |= self._placed(pending)
        meta, generation = self._meta(), self._generation
        try:
            self._archive.commit(self._world_name, slots, meta, generation=generation)
        except BaseException:
            if self._parts is not None:
                self._parts.undo()
            raise
        self._recorded()

    def _recorded(self) -> None:
        if self._parts is not None:
            self._parts.mark_recorded()

    def _whole(self, snapshot: Snapshot, base: Base | None = None) -> Whole:
        beside = {} if self._parts is None else self._parts.read_records()
        rows: dict[str, dict[str, Slot]] = {}
        for (table, key), slot in self._placed(beside).items():
            rows.setdefault(table, {})[key] = slot
        whole = Snapshot({**snapshot.rows, **rows}, snapshot.next_seq)
        return Whole(self._world_name, base or self._base, whole, self._meta())

    def _placed(self, beside: Beside) -> dict[tuple[str, str], Slot]:
        """What is kept beside as rows; each has a place of its own in its table."""
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

    def _point(self, label: str, saved: SavedWorld) -> Whole:
        return Whole(self._name_of(label), self._base, saved.records, saved.meta)

    def _name_of(self, label: str) -> str:
        return f"{self._world_name}@{label}"
