"""Worlds in files that outlive the process: a log of changes, and snapshots that TinyDB can open.

The store has three files. `state.json` is a snapshot that any TinyDB can open; it is only ever
replaced as a whole. `state.json.log` has one line for each later change. `state.json.lock` keeps a
second server out. Changes are numbered, and a replay of the log skips those that the snapshot
already contains. So a crash after the snapshot was written and before the log was cut does no harm.
"""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Self, get_args

import orjson
from tinydb import TinyDB

from mock_platform.settings import Durability
from mock_platform.world.store.archive import (
    POINT,
    KeptWorld,
    Meta,
    Slots,
    WholeWorld,
    check_new,
    check_part,
)
from mock_platform.world.store.errors import StoreDamaged, StoreError, StoreUnwritable
from mock_platform.world.store.files import (
    ChangeLog,
    StoreLock,
    make_sibling_path,
    require_regular_files,
    resolve,
)
from mock_platform.world.store.interface import Rows, SavedWorld
from mock_platform.world.store.memory import Base
from mock_platform.world.store.snapshot_file import AtomicStorage, decode, encode
from mock_platform.world.store.stored_worlds import (
    Contents,
    StoredState,
    StoredWorld,
    changes_of,
    slots_of,
    tables_of,
)

_LOG = logging.getLogger(__name__)
_STRICT = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


class TinyDBArchive:
    """An archive in files. Close it, or use it in a `with`.

    Raises:
        StoreInUse: Another server has the files open.
        StoreForeign: The file is not from mock_platform; it is not changed.
        StoreDamaged: A file does not contain what was written to it; nothing was changed.
        StoreError: The folder does not exist, or a newer version wrote the file.
    """

    keeps = True

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
        self._tokens = itertools.count(1)
        self._closed = False
        # The lock first: until it is held, another server may be writing to these files. Then the
        # snapshot, and then the log on top of it. If any step fails, whatever was opened is closed
        # in reverse order, so that a fault in the files does not keep them locked.
        self._guard = StoreLock(self.path)
        try:
            self._file = TinyDB(self.path, storage=AtomicStorage, guard=self._guard)
            is_new = self._read_snapshot()
            self._log = ChangeLog(make_sibling_path(self.path, "log"), sync=durability == "fsync")
            try:
                has_lines = self._replay_log()
                if is_new:
                    self.snapshot()
                elif has_lines or not self._storage.sealed:
                    self._compact()
            except BaseException:
                self._log.close()
                raise
        except BaseException:
            self._guard.release()
            raise

    # -- worlds ----------------------------------------------------------------------------------

    @property
    def place(self) -> str:
        """The path of the snapshot file."""
        return str(self.path)

    @property
    def worlds(self) -> dict[str, StoredState]:
        """The current state of each world, as last recorded; do not change it."""
        with self._lock:
            return {name: world.now for name, world in self._contents.worlds.items()}

    def names(self) -> Collection[str]:
        """Return the names of all worlds in the archive."""
        with self._lock:
            return list(self._contents.worlds)

    def open(self, name: str, base: Base) -> KeptWorld | None:
        """Return a world as it was left, on the current fixtures, or `None` if it is missing."""
        with self._lock:
            self._check_open()
            world = self._contents.worlds.get(name)
            if world is None:
                return None
            points = {label: point.lay_over(base) for label, point in world.points.items()}
            now = world.now.lay_over(base)
            return KeptWorld(world.token, now.records, now.meta, points)

    def add(self, name: str, whole: WholeWorld, points: Mapping[str, SavedWorld]) -> int:
        """Add a new world with its points, in one commit; return its token."""
        with self._lock:
            self._check_open()
            check_new(name, self._contents.worlds)
            wholes = {name: whole}
            for label, saved in points.items():
                check_part(label, "a point")
                at_point = WholeWorld(whole.base, saved.records, saved.meta)
                wholes[f"{name}{POINT}{label}"] = at_point
            self._rewrite(wholes)
            token = self._contents.worlds[name].token = next(self._tokens)
            return token

    def drop(self, name: str, token: int) -> None:
        """Delete a world with its points."""
        with self._lock:
            self._world(name, token)
            self._rewrite({}, [name])

    # -- changes ---------------------------------------------------------------------------------

    def commit(self, name: str, token: int, slots: Slots, meta: Meta) -> None:
        """Record changed rows and the data beside them. Without changes nothing is written."""
        with self._lock:
            state = self._world(name, token).now
            meta_json = orjson.dumps(meta, option=_STRICT)
            line: dict[str, Any] = {"kind": "commit", "world": name}
            if slots:
                line["changes"] = changes_of(slots)
            if meta_json != state.meta_json:
                line["meta"] = orjson.Fragment(meta_json)
            if len(line) == 2:
                return
            # The line is written before the state in memory changes. If writing fails, neither has
            # the change; if the process ends right after it, the log has it.
            self._append(line)
            state.take(slots)
            state.meta_json, state.seq = meta_json, self._contents.seq
            self._compact_if_due()

    def replace(
        self, name: str, token: int, whole: WholeWorld, *, dropped: Collection[str] = ()
    ) -> None:
        """Record the state of a world, and delete the points `dropped`, in one commit."""
        with self._lock:
            self._world(name, token)
            self._rewrite({name: whole}, [self._point(name, label) for label in dropped])

    def keep_point(self, name: str, token: int, label: str, whole: WholeWorld) -> None:
        """Save a point; replaces the one with its label."""
        check_part(label, "a point")
        with self._lock:
            self._world(name, token)
            self._rewrite({f"{name}{POINT}{label}": whole})

    def drop_point(self, name: str, token: int, label: str) -> None:
        """Delete a saved point."""
        with self._lock:
            self._world(name, token)
            self._rewrite({}, [self._point(name, label)])

    # -- files -----------------------------------------------------------------------------------

    def snapshot(self) -> None:
        """Write everything to the TinyDB file, and cut the log.

        Raises:
            OSError: The file could not be written; file and log are unchanged.
        """
        with self._lock:
            self._check_open()
            # The order is what makes a crash harmless. First the new snapshot takes the place of
            # the old one, as a whole; then the log is cut. A crash between the two leaves a log
            # whose changes the snapshot has already; their numbers show that, and the replay passes
            # over them.
            seq = self._contents.seq
            self._storage.write(encode(self._contents))
            self._saved_seq = seq
            self._contents.bases.clear()  # what follows in the log stands by itself
            self._log.cut()
            self._compact_at = self._log_limit

    def close(self) -> None:
        """Write a last snapshot if anything changed, and release the files.

        Raises:
            OSError: With durability "snapshot" the file could not be written. The archive stays
                open, so `close` can be called again when there is space.
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

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- open ------------------------------------------------------------------------------------

    def _read_snapshot(self) -> bool:
        """Load the snapshot; return whether there was none yet."""
        try:
            tables = self._storage.read()
        except orjson.JSONDecodeError as error:
            raise StoreDamaged(
                self.path,
                f"this is not JSON ({error})",
                "Put back a copy of the file, or move it away to start from scratch.",
            ) from error
        if tables is None or tables == {}:
            return True
        self._contents = decode(self.path, tables)
        self._saved_seq = self._contents.seq
        return False

    def _replay_log(self) -> bool:
        """Apply the changes that the snapshot does not contain; return whether the log had any."""
        # Two things are checked of each line: that it follows the line before it (the log itself is
        # complete), and that it follows the snapshot (the two files belong together). A log from
        # another day would pass the first check and fail the second.
        contents, passed_over = self._contents, 0
        last: int | None = None

        def take(number: int, change: dict[str, Any]) -> None:
            nonlocal last, passed_over
            seq = change.get("seq")
            if not isinstance(seq, int) or (last is not None and seq != last + 1):
                raise self._report_misplaced(number, f"change {last} is followed by change {seq}")
            last = seq
            if seq <= self._saved_seq:
                passed_over += 1
            elif seq != contents.seq + 1:
                fault = f"change {seq} does not follow change {contents.seq} of {self.path.name}"
                raise self._report_misplaced(number, fault)
            else:
                try:
                    contents.replay(change)
                except (LookupError, TypeError, ValueError, AttributeError) as error:
                    raise self._report_misplaced(
                        number, f"it does not match the changes before it ({error!r})"
                    ) from error

        has_lines = self._log.replay(take)
        if passed_over:
            _LOG.info("%s: %d changes are already in the snapshot", self._log.path, passed_over)
        return has_lines

    def _report_misplaced(self, number: int, fault: str) -> StoreDamaged:
        return StoreDamaged(
            self._log.path,
            fault,
            f"{self.path.name} and the log belong together: put back both from the same time, or "
            "move the log away, which drops the changes that only the log has.",
            number,
        )

    # -- details ---------------------------------------------------------------------------------

    @property
    def _storage(self) -> AtomicStorage:
        storage = self._file.storage
        assert isinstance(storage, AtomicStorage)
        return storage

    def _world(self, name: str, token: int) -> StoredWorld:
        self._check_open()
        world = self._contents.worlds.get(name)
        if world is None or world.token != token:
            raise LookupError(f"world {name!r} is not kept in {self.path}, or no longer")
        return world

    def _point(self, name: str, label: str) -> str:
        """Return the name under which a point is recorded."""
        if label not in self._contents.worlds[name].points:
            raise LookupError(f"world {name!r} has no point {label!r}")
        return f"{name}{POINT}{label}"

    def _rewrite(self, wholes: Mapping[str, WholeWorld], dropped: Collection[str] = ()) -> None:
        """Record the new state of worlds and points, and that others were deleted, in one line."""
        # One line for everything, since a line is either in the log or not: a world that restarts
        # and loses its snapshots must not be found half done after a crash. Fixtures are in a line
        # of their own, once for each log, and states refer to it by its number.
        metas = {name: orjson.dumps(whole.meta, option=_STRICT) for name, whole in wholes.items()}
        steps: list[dict[str, Any]] = [
            {
                "kind": "state",
                "world": name,
                "base": self._line_of(whole.base.rows),
                "next_place": whole.snapshot.next_seq,
                "changes": changes_of(slots_of(whole.snapshot)),
                "meta": orjson.Fragment(metas[name]),
            }
            for name, whole in wholes.items()
        ]
        steps += [{"kind": "drop", "world": name} for name in dropped]
        self._append(steps[0] if len(steps) == 1 else {"kind": "batch", "steps": steps})
        for name, whole in wholes.items():
            state = StoredState(
                self._contents.seq,
                whole.snapshot.next_seq,
                metas[name],
                whole.base.rows,
                {table: dict(rows) for table, rows in whole.snapshot.rows.items()},
            )
            self._contents.put(name, state)
        for name in dropped:
            self._contents.drop(name)
        self._compact_if_due()

    def _line_of(self, base: Rows) -> int | None:
        """Return the number of the line with these fixtures, one in each log; `None` if empty."""
        if not any(base.values()):
            return None
        for number, known in self._contents.bases.items():
            if known is base:
                return number
        # They do not count towards the limit, or else a reset after each compaction would cause
        # one.
        self._compact_at += self._append({"kind": "fixtures", "tables": tables_of(base)})
        self._contents.bases[self._contents.seq] = base
        return self._contents.seq

    def _append(self, line: dict[str, Any]) -> int:
        """Number a change and write it; return its size in bytes."""
        self._check_open()
        # Also if nothing is written: a value without JSON form is refused now, not when all is
        # lost.
        body = orjson.dumps({"seq": self._contents.seq + 1, **line}, option=_STRICT)
        try:
            length = 0 if self.durability == "snapshot" else self._log.append(body)
        except OSError as error:
            raise StoreUnwritable(self._log.path, error) from error
        self._contents.seq += 1
        return length

    def _compact_if_due(self) -> None:
        if self._log.size > self._compact_at:
            self._compact()

    def _compact(self) -> None:
        """Take a snapshot; safety does not depend on it, because the log contains everything."""
        try:
            self.snapshot()
        except OSError as error:
            # A full disk must not turn each following commit into another failed attempt, so the
            # next one comes after the log has grown by its limit again.
            self._compact_at = self._log.size + self._log_limit
            _LOG.warning(
                "%s could not be written (%s). Nothing is lost: %s holds what is missing from it. "
                "Make room, and keep both files together",
                self.path, error, self._log.path.name,
            )  # fmt: skip

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.path} has been closed; open it again")

    def _release(self) -> None:
        self._closed = True
        self._file.close()
        self._log.close()
        self._guard.release()


def open_archive(place: str, durability: Durability) -> TinyDBArchive:
    """Return the archive in a file.

    Raises:
        StoreError: It is in use, damaged, not ours, or cannot be opened.
    """
    path = Path(place).expanduser()
    try:
        return TinyDBArchive(path, durability)
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error}. Name a file that can.") from error
