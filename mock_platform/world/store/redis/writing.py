"""Reads and writes worlds that this process owns: each change once, only while it is the owner.

Every change is bound to the run of the engine in which the owner is confirmed. In another run the
world is confirmed first, and written as a whole if the engine does not have all of it. So an engine
that came back older gets back what it forgot, and whoever lost the world there learns of it before
anything is acknowledged.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from mock_platform.world.store.errors import StoreUnanswered, StoreUnreachable, StoreUnwritable
from mock_platform.world.store.interface import SavedWorld, Snapshot
from mock_platform.world.store.memory import Base
from mock_platform.world.store.redis import scripts
from mock_platform.world.store.redis.encoding import (
    Fixtures,
    decode_fixtures,
    decode_state,
    encode_fixtures,
    encode_meta,
    encode_state,
    join_meta,
    open_state,
    report_damage,
    take_commits,
)
from mock_platform.world.store.redis.engine import EngineLink, EngineRestarted, Word
from mock_platform.world.store.redis.lease import ATTEMPTS, SETTLING, STARTS_AGAIN, Lease
from mock_platform.world.store.stored_worlds import StoredState

# A world that this process owns in an engine: what the engine has of it, without asking.


class OwnedPoint(Struct, frozen=True):
    """A saved state as the engine has it, in case that forgets it."""

    base: str
    """The hash of its fixtures."""
    body: bytes


class OwnedWorld(Struct):
    """The world's token, and its state as the engine has it. Use it under its lock."""

    token: int
    state: StoredState
    """Without the present data beside the records, which `meta` has."""
    meta: dict[str, bytes]
    """The data beside the records, each value as JSON; a commit has those that changed."""
    base: str
    """The hash of its fixtures."""
    seq: int
    """Number of the last change to the world or to its points."""
    log_bytes: int = 0
    """Size of the commits after its last whole state."""
    points: dict[str, OwnedPoint] = field(default_factory=dict)
    """Its saved states, by their labels."""
    run: str = ""
    """The run of the engine in which this process is known to be the owner."""
    unsure: bool = False
    """Whether the engine may have a change that counts as not made: its answer did not come."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def copy_state(self) -> StoredState:
        """Return the state of now, which later commits do not change."""
        rows = {table: dict(slots) for table, slots in self.state.rows.items()}
        return replace(self.state, seq=self.seq, rows=rows, meta_json=join_meta(self.meta))


class WorldReader:
    """Reads worlds that this process owns, so no other one changes them meanwhile."""

    def __init__(self, engine: EngineLink, fixtures: Fixtures) -> None:
        self._engine = engine
        self._fixtures = fixtures

    def read(
        self, name: str, base: Base, token: int, seq: str
    ) -> tuple[OwnedWorld, dict[str, SavedWorld]]:
        """Return a world on the given fixtures, and its points.

        Raises:
            StoreDamaged: The engine does not have what was written to it.
        """
        place, key = self._engine.place, self._engine.key
        found, log, kept = self._engine.call_all(
            [
                ("GET", key("state", name)),
                ("XRANGE", key("log", name), "-", "+"),
                ("HGETALL", key("points", name)),
            ]
        )
        what = f"world {name!r}"
        if found is None:
            raise report_damage(place, what, "it has no state")
        if not seq.isdigit():
            raise report_damage(place, what, "it has no number of its last change")
        state, _ = self._decode(what, found)
        numbered = ((int(at.partition(b"-")[0]), fields) for at, fields in log)
        commits = [
            (number, dict(_pair(fields)).get(b"b", b""))
            for number, fields in numbered
            if number > state.seq
        ]
        take_commits(place, what, commits, state)
        size = sum(len(body) for _, body in commits)
        saved, points = {}, {}
        for named, body in _pair(kept):
            label = self._engine.read_text(named, key("points", name))
            point, hashed = self._decode(f"the point {label!r} of {what}", body)
            saved[label], points[label] = self._lay_over(point, base), OwnedPoint(hashed, body)
        self._lay_over(state, base)
        meta = encode_meta(state.meta)
        hashed = self._fixtures.hash_of(base)
        owned = OwnedWorld(token, state, meta, hashed, int(seq), size, points)
        return owned, saved

    def _decode(self, what: str, body: bytes) -> tuple[StoredState, str]:
        """Return a state, and the hash of its fixtures."""
        place = self._engine.place
        opened = open_state(place, what, body)
        wanted = opened["base"]
        if wanted and wanted not in self._fixtures.by_hash:
            found = self._engine.call("GET", self._engine.key("fixtures", wanted))
            if found is None:
                raise report_damage(place, what, "its fixtures are missing")
            self._fixtures.by_hash[wanted] = decode_fixtures(place, found)
        return decode_state(place, what, opened, self._fixtures.by_hash), wanted

    def _lay_over(self, state: StoredState, base: Base) -> SavedWorld:
        """Use these fixtures; the same ones, as is usual, cost nothing."""
        self._fixtures.hash_of(base)
        if state.base is not base.rows:
            return state.lay_over(base)
        rows = {table: dict(slots) for table, slots in state.rows.items()}
        return SavedWorld(Snapshot(rows, state.next_place), state.meta)


def _pair(flat: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Return names with their values, which an answer has in one list."""
    return zip(flat[::2], flat[1::2], strict=True)


_LOG = logging.getLogger(__name__)


_GONE = ("lost", "taken")
"""What scripts answer if another process has the world."""
Lose = Callable[..., NoReturn]
"""Forgets a world that another process has, and raises `WorldLost`; called with its name and it.

`after_restart` says that the engine was started again since the world was confirmed.
"""


class WorldWriter:
    """Writes the worlds of this process.

    The methods that name a world need its lock, except `compact`.
    """

    def __init__(
        self,
        engine: EngineLink,
        lease: Lease,
        fixtures: Fixtures,
        lose: Lose,
        forget: Callable[[str, OwnedWorld], object],
    ) -> None:
        """`forget` closes a world that another process may have from now on."""
        self._engine = engine
        self._lease = lease
        self._fixtures = fixtures
        self._lose = lose
        self._forget = forget
        self._written: set[str] = set()
        """Hashes of the fixtures that the engine has in the run `_written_in`."""
        self._written_in = ""

    def change(
        self, name: str, owned: OwnedWorld, script: str, keys: list[str], *values: Word
    ) -> None:
        """Make one change.

        Raises:
            WorldLost: The token is not the current one.
            LookupError: A point does not exist.
            StoreUnwritable: It could not be written. Then the engine may have it: the next change
                first writes the state that counts.
        """
        self._make_sure(name, owned)
        # After an error nobody knows whether the engine has the change: the answer may have been
        # lost, or the command. The number would fit either way. So the world is marked as unsure,
        # and the next change first writes the whole state that counts here, under a number that is
        # higher than both possibilities.
        try:
            found = self._send(name, owned, script, keys, values)
            if found == "ahead":  # no number may come twice
                owned.seq = int(self._engine.call("HGET", keys[0], "seq"))
            if found in ("ahead", "behind"):
                found = self._restore(name, owned, owned.run, is_sure=True)
                if found not in _GONE:
                    found = self._send(name, owned, script, keys, values)
        except StoreUnwritable:
            owned.unsure = True
            raise
        if found in _GONE:
            self._lose(name, owned)
        if found != "done":
            raise LookupError(f"world {name!r} has no point {found[1]!r}")
        owned.seq += 1

    def let_go(
        self, name: str, owned: OwnedWorld, script: str, keys: list[str], *values: Word
    ) -> Any:
        """Return what a script answers after which the world is not this process's any more.

        Raises:
            WorldLost: Another process has it already.
            StoreUnwritable: It could not be written.
        """
        for _ in range(ATTEMPTS):
            self._make_sure(name, owned)
            try:
                return self._engine.run(script, keys, owned.token, *values, within=owned.run)
            except EngineRestarted:
                continue
            except StoreUnanswered:
                # Another process may have the world now or soon, and would answer as well. Whoever
                # asks for it here asks the engine then; if that still names this process, the world
                # gets another token, so the command has no effect if it arrives after that.
                self._forget(name, owned)
                raise
        raise StoreUnreachable(self._engine.place, STARTS_AGAIN)

    def confirm(self, name: str, owned: OwnedWorld) -> bool:
        """Say in this run of the engine that this process owns a world, and write what is missing.

        Returns whether changes can be acknowledged; if not, the engine has to settle first.

        Raises:
            WorldLost: Another process has it.
            StoreUnwritable: It could not be written.
        """
        for _ in range(ATTEMPTS):
            # The run is read first: what is certain while the next run is known already stays so,
            # as nobody takes a world over in a run that has ended. The engine itself knows whether
            # somebody did in this one.
            run = self._engine.run_id
            is_sure = self._lease.is_certain(run)
            try:
                found = self._confirm(name, owned, run, is_sure=is_sure)
                if found == "older":
                    found = self._restore(name, owned, run, is_sure=is_sure)
            except EngineRestarted:
                continue
            if found in _GONE:
                self._lose(name, owned, after_restart=found == "lost" and owned.run != run)
            if found == "done":
                owned.run = run
            return bool(found == "done")
        raise StoreUnreachable(self._engine.place, STARTS_AGAIN)

    def compact(self, name: str, owned: OwnedWorld) -> None:
        """Replace the commits of a world by a whole state, while new ones are added."""
        with owned.lock:
            # The lock is held only to copy the state, a copy of references, not while it is encoded
            # and sent: commits go on meanwhile, with higher numbers, and the script keeps exactly
            # those in the log.
            state, size, base = owned.copy_state(), owned.log_bytes, owned.base
        self.put_rows(base, state)
        body = encode_state(state, base)
        keys = [self._engine.key(part, name) for part in ("world", "log", "state")]
        try:
            self._engine.run(scripts.COMPACT, keys, owned.token, state.seq, body, within=owned.run)
        except EngineRestarted:  # one of the next turns does it
            return
        with owned.lock:
            owned.log_bytes = max(0, owned.log_bytes - size)

    def put_fixtures(self, base: Base) -> str:
        """Write fixtures that the engine does not have; return their hash."""
        found = self._fixtures.hash_of(base)
        self._put(found)
        return found

    def put_rows(self, base: str, state: StoredState) -> None:
        """Write the fixtures of a state that the engine does not have."""
        self._fixtures.by_hash.setdefault(base, state.base)
        self._put(base)

    # -- details ---------------------------------------------------------------------------------

    def _send(
        self, name: str, owned: OwnedWorld, script: str, keys: list[str], values: tuple[Word, ...]
    ) -> Any:
        for _ in range(ATTEMPTS):
            self._make_sure(name, owned)
            number = owned.seq + 1
            try:
                return self._engine.run(
                    script, keys, owned.token, number, *values, within=owned.run
                )
            except EngineRestarted:
                continue
        raise StoreUnreachable(self._engine.place, STARTS_AGAIN)

    def _make_sure(self, name: str, owned: OwnedWorld) -> None:
        """Confirm a world whose change would not follow on what the engine has."""
        confirmed = owned.run == self._engine.run_id and not owned.unsure
        if not (confirmed or self.confirm(name, owned)):
            raise StoreUnreachable(self._engine.place, SETTLING)

    def _confirm(self, name: str, owned: OwnedWorld, run: str, *, is_sure: bool) -> str:
        if owned.unsure:  # the number alone does not tell whether the engine has what counts
            return "older"
        keys = [self._engine.key("world", name), *map(self._engine.key, ("run", "settling"))]
        told = self._describe(owned, run, is_sure=is_sure)
        found: str = self._engine.run(scripts.CONFIRM, keys, *told, owned.seq, within=run)
        return found

    def _restore(self, name: str, owned: OwnedWorld, run: str, *, is_sure: bool) -> str:
        """Write the state that counts, with its points, in place of whatever the engine has."""
        # A change without an answer may have the next number.
        seq = owned.seq + 2 if owned.unsure else owned.seq
        state = owned.copy_state()
        state.seq = seq
        # The engine may have forgotten the fixtures too, in the run in which this process believes
        # to have written them. They are put again; `NX` makes that cheap if they are there.
        self._written.difference_update({owned.base, *(p.base for p in owned.points.values())})
        self.put_rows(owned.base, state)
        points: list[Word] = []
        for label, point in owned.points.items():
            self._put(point.base)
            points += [label, point.body]
        key = self._engine.key
        keys = [
            key("world", name), key("run"), key("settling"),
            *(key(part, name) for part in ("log", "state", "points")), key("worlds"),
        ]  # fmt: skip
        told = self._describe(owned, run, is_sure=is_sure)
        body = encode_state(state, owned.base)
        found: str = self._engine.run(
            scripts.RESTORE, keys, *told, seq, name, self._lease.process, body, *points, within=run
        )
        if found not in _GONE:
            if not owned.unsure:
                _LOG.warning(
                    "%s lost changes of world %r that it had acknowledged; they are written again",
                    self._engine.place, name,
                )  # fmt: skip
            owned.seq, owned.unsure, owned.log_bytes = seq, False, 0
        return found

    def _describe(self, owned: OwnedWorld, run: str, *, is_sure: bool) -> tuple[Word, ...]:
        """Return the first values of `CONFIRM` and `RESTORE`."""
        milliseconds = int(self._lease.seconds * 1000)
        return owned.token, run, milliseconds, int(owned.run == run), int(is_sure)

    def _put(self, base: str) -> None:
        """Write fixtures that this process knows by their hash."""
        if self._written_in != self._engine.run_id:  # it may have forgotten them
            self._written_in = self._engine.run_id
            self._written.clear()
        if base and base not in self._written:
            body = encode_fixtures(self._fixtures.by_hash[base])
            self._engine.call("SET", self._engine.key("fixtures", base), body, "NX")
            self._written.add(base)
