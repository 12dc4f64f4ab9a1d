"""A store that outlives its process: worlds in memory, a change log behind them, TinyDB snapshots.

Three files stand side by side. `state.json` is a snapshot that any TinyDB can open; it is only ever
replaced as a whole. `state.json.log` holds one line for each change since then. `state.json.lock`
keeps a second server out. Changes are numbered, and those that the snapshot contains are passed
over when the log is replayed: a crash between writing the one and cutting the other does no harm.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, get_args

import orjson
from tinydb import TinyDB

from mock_platform.store.changelog import ChangeLog
from mock_platform.store.errors import (
    StoreDamaged,
    StoreError,
    StoreForeign,
    StoreInUse,
    StoreUnwritable,
)
from mock_platform.store.files import StoreLock, beside, require_regular_files, resolve
from mock_platform.store.interface import Rows, Snapshot
from mock_platform.store.memory import Base
from mock_platform.store.snapshot_file import AtomicStorage, decode, encode
from mock_platform.store.stored_worlds import (
    Contents,
    Slots,
    StoredWorld,
    changes_of,
    slots_of,
    tables_of,
)

__all__ = [
    "Archive",
    "Durability",
    "StoreDamaged",
    "StoreError",
    "StoreForeign",
    "StoreInUse",
    "StoreUnwritable",
    "StoredWorld",
    "Whole",
]

Durability = Literal["snapshot", "log", "fsync"]
"""What is there after a stop without warning: `snapshot`, the last snapshot; `log`, every commit if
the process was killed; `fsync`, every commit also if the power was lost."""

Meta = Mapping[str, Any]
"""What a world keeps beside its records, as JSON: ids drawn, state of the clock."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All of a stored world: these fixtures, with these differences, and what is kept beside."""

    name: str
    base: Base
    snapshot: Snapshot
    meta: Meta


_LOG = logging.getLogger(__name__)
_STRICT = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


class Archive:
    """The files of all worlds of one server. Safe for threads; close it, or use it in a `with`.

    Raises:
        StoreInUse: Another server has the files open.
        StoreForeign: The file is not one of ours; it stays as it is.
        StoreDamaged: A file does not say what was written to it; nothing has been changed.
        StoreError: The folder does not exist, or a newer version wrote the file.
    """

    def __init__(
        self, path: str | Path, durability: Durability = "log", *, log_limit: int = 64 * 1024 * 1024
    ) -> None:
        if durability not in get_args(Durability):
            allowed = ", ".join(get_args(Durability))
            raise ValueError(f"durability {durability!r} is not one of {allowed}")
        self.path = resolve(path)
        require_regular_files(self.path)
        self.durability = durability
        self._log_limit = self._compact_at = log_limit
        self._lock = threading.RLock()
        self._contents = Contents()
        self._saved_seq = 0
        self._generations = itertools.count(1)
        self._closed = False
        self._guard = StoreLock(self.path)
        try:
            self._file = TinyDB(self.path, storage=AtomicStorage, guard=self._guard)
            is_new = self._read_snapshot()
            self._log = ChangeLog(beside(self.path, "log"), sync=durability == "fsync")
            try:
                held_lines = self._replay_log()
                if is_new:
                    self.snapshot()
                elif held_lines or not self._storage.sealed:
                    self._compact()
            except BaseException:
                self._log.close()
                raise
        except BaseException:
            self._guard.release()
            raise

    # -- worlds ----------------------------------------------------------------------------------

    @property
    def worlds(self) -> dict[str, StoredWorld]:
        """What is stored, by name of the world, with `meta` and `tables`; look, do not change."""
        with self._lock:
            return dict(self._contents.worlds)

    def add_worlds(self, *new: Whole) -> int:
        """Store new worlds, all in one commit; returns the generation of the first.

        Raises:
            ValueError: One is stored already, or its name is empty or has a slash.
            TypeError: Something is not JSON.
            StoreUnwritable: It could not be written; nothing is stored.
        """
        for each in new:
            if not each.name or "/" in each.name:
                raise ValueError(
                    f"{each.name!r} is no name for a stored world: it is empty or has a slash"
                )
        with self._lock:
            for each in new:
                if each.name in self._contents.worlds:
                    raise ValueError(
                        f"world {each.name!r} is stored already: drop it first, or go on in it"
                    )
            self._rewrite(new)
            return self.generation(new[0].name)

    def drop_worlds(self, *names: str, generation: int | None = None) -> None:
        """Forget worlds, all in one commit. Later changes to them are refused.

        Raises:
            LookupError: One is not stored, or the first is of another `generation`.
            StoreUnwritable: It could not be written; the worlds are still stored.
        """
        with self._lock:
            self._world(names[0], generation)
            for name in names:
                self._world(name)
            self._rewrite((), names)

    def generation(self, name: str) -> int:
        """What tells a stored world from others that had its name.

        Raises:
            LookupError: It is not stored.
        """
        with self._lock:
            return self._world(name).generation

    def attach(self, name: str, base: Base) -> Snapshot | None:
        """How a stored world differs from these fixtures; `None` if it is not stored."""
        with self._lock:
            world = self._contents.worlds.get(name)
            if world is None:
                return None
            world.base, world.rows = base.rows, base.difference(world.whole())
            return world.snapshot()

    # -- changes ---------------------------------------------------------------------------------

    def commit(self, name: str, slots: Slots, meta: Meta, *, generation: int | None = None) -> None:
        """Record changed rows and what the world keeps beside them. Nothing new writes nothing.

        Raises:
            LookupError: The world is not stored, or no longer, or is of another `generation`.
            TypeError: Something is not JSON.
            StoreUnwritable: It could not be written; nothing is recorded.
        """
        with self._lock:
            world = self._world(name, generation)
            meta_json = orjson.dumps(meta, option=_STRICT)
            line: dict[str, Any] = {"kind": "commit", "world": name}
            if slots:
                line["changes"] = changes_of(slots)
            if meta_json != world.meta_json:
                line["meta"] = orjson.Fragment(meta_json)
            if len(line) == 2:
                return
            self._append(line)
            world.take(slots)
            world.meta_json, world.seq = meta_json, self._contents.seq
            self._compact_if_due()

    def replace(
        self, whole: Whole, *, dropped: Collection[str] = (), generation: int | None = None
    ) -> None:
        """Record what a world is now, after a reset for instance, and forget the worlds `dropped`.

        It is one commit. A world that is not stored yet is stored, if no `generation` is given.

        Raises: as `commit`.
        """
        with self._lock:
            if generation is not None:
                self._world(whole.name, generation)
            for name in dropped:
                self._world(name)
            self._rewrite([whole], dropped)

    # -- files -----------------------------------------------------------------------------------

    def snapshot(self) -> None:
        """Write everything to the file that TinyDB opens, and cut the log.

        Raises:
            OSError: It could not be written; file and log stand as they were.
        """
        with self._lock:
            self._check_open()
            seq = self._contents.seq
            self._storage.write(encode(self._contents.worlds.values(), seq))
            self._saved_seq = seq
            self._contents.bases.clear()  # what follows in the log stands by itself
            self._log.cut()
            self._compact_at = self._log_limit

    def close(self) -> None:
        """Write a last snapshot if anything changed, and let go of the files.

        Raises:
            OSError: Under durability "snapshot" the file could not be written. The archive stays
                open, so that closing can be tried again once there is room.
        """
        with self._lock:
            if self._closed:
                return
            if self._contents.seq != self._saved_seq:
                if self.durability == "snapshot":
                    self.snapshot()
                else:
                    self._compact()
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- opening ---------------------------------------------------------------------------------

    def _read_snapshot(self) -> bool:
        """Take in the snapshot; whether there was none yet."""
        try:
            tables = self._storage.read()
        except orjson.JSONDecodeError as fault:
            raise StoreDamaged(
                self.path,
                f"this is not JSON ({fault})",
                "Put back a copy of the file, or move it away to start anew.",
            ) from fault
        if tables is None or tables == {}:
            return True
        self._contents.seq, self._contents.worlds = decode(self.path, tables)
        self._saved_seq = self._contents.seq
        return False

    def _replay_log(self) -> bool:
        """Take in the changes that the snapshot does not contain; whether the log held any."""
        contents, passed_over = self._contents, 0
        last: int | None = None

        def take(number: int, change: dict[str, Any]) -> None:
            nonlocal last, passed_over
            seq = change.get("seq")
            if not isinstance(seq, int) or (last is not None and seq != last + 1):
                raise self._misplaced(number, f"change {last} is followed by change {seq}")
            last = seq
            if seq <= self._saved_seq:
                passed_over += 1
            elif seq != contents.seq + 1:
                fault = f"change {seq} does not follow change {contents.seq} of {self.path.name}"
                raise self._misplaced(number, fault)
            else:
                try:
                    contents.replay(change)
                except (LookupError, TypeError, ValueError, AttributeError) as fault:
                    raise self._misplaced(number, f"it makes no sense here ({fault!r})") from fault

        held_lines = self._log.replay(take)
        if passed_over:
            _LOG.info("%s: %d changes stand in the snapshot already", self._log.path, passed_over)
        return held_lines

    def _misplaced(self, number: int, fault: str) -> StoreDamaged:
        return StoreDamaged(
            self._log.path,
            fault,
            f"{self.path.name} and the log belong together: put back both from one time, or move "
            "the log away, which gives up what stands in it alone.",
            number,
        )

    # -- within ----------------------------------------------------------------------------------

    @property
    def _storage(self) -> AtomicStorage:
        storage = self._file.storage
        assert isinstance(storage, AtomicStorage)
        return storage

    def _world(self, name: str, generation: int | None = None) -> StoredWorld:
        world = self._contents.worlds.get(name)
        if world is None or generation not in {None, world.generation}:
            raise LookupError(f"world {name!r} is not stored in {self.path}, or no longer")
        return world

    def _rewrite(self, wholes: Collection[Whole], dropped: Collection[str] = ()) -> None:
        """Record what these worlds are from now on, and that others are no more, in one line."""
        metas = [orjson.dumps(whole.meta, option=_STRICT) for whole in wholes]
        steps: list[dict[str, Any]] = [
            {
                "kind": "state",
                "world": whole.name,
                "base": self._line_of(whole.base.rows),
                "next_place": whole.snapshot.next_seq,
                "changes": changes_of(slots_of(whole.snapshot)),
                "meta": orjson.Fragment(meta_json),
            }
            for whole, meta_json in zip(wholes, metas, strict=True)
        ]
        steps += [{"kind": "drop", "world": name} for name in dropped]
        self._append(steps[0] if len(steps) == 1 else {"kind": "batch", "steps": steps})
        worlds, seq = self._contents.worlds, self._contents.seq
        for whole, meta_json in zip(wholes, metas, strict=True):
            before = worlds.get(whole.name)
            worlds[whole.name] = StoredWorld(
                whole.name,
                seq,
                whole.snapshot.next_seq,
                meta_json,
                whole.base.rows,
                {table: dict(rows) for table, rows in whole.snapshot.rows.items()},
                next(self._generations) if before is None else before.generation,
            )
        for name in dropped:
            del worlds[name]
        self._compact_if_due()

    def _line_of(self, base: Rows) -> int | None:
        """The number of the line that holds these fixtures, one in each log; `None` if empty."""
        if not any(base.values()):
            return None
        for number, known in self._contents.bases.items():
            if known is base:
                return number
        # They do not count towards the limit: else a reset after each compaction would cause one.
        self._compact_at += self._append({"kind": "fixtures", "tables": tables_of(base)})
        self._contents.bases[self._contents.seq] = base
        return self._contents.seq

    def _append(self, line: dict[str, Any]) -> int:
        """Number a change and write it; the bytes that took."""
        self._check_open()
        # Also when nothing is written: what is not JSON is refused now, not when all is at stake.
        body = orjson.dumps({"seq": self._contents.seq + 1, **line}, option=_STRICT)
        try:
            length = 0 if self.durability == "snapshot" else self._log.append(body)
        except OSError as fault:
            raise StoreUnwritable(self._log.path, fault) from fault
        self._contents.seq += 1
        return length

    def _compact_if_due(self) -> None:
        if self._log.size > self._compact_at:
            self._compact()

    def _compact(self) -> None:
        """Take a snapshot where safety does not hang on it, because the log holds everything."""
        try:
            self.snapshot()
        except OSError as fault:
            self._compact_at = self._log.size + self._log_limit
            _LOG.warning(
                "%s could not be written (%s). Nothing is lost: %s holds what is missing from it. "
                "Make room, and keep both files together",
                self.path, fault, self._log.path.name,
            )  # fmt: skip

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} has been closed; open it anew")

    def _release(self) -> None:
        self._closed = True
        self._file.close()
        self._log.close()
        self._guard.release()
