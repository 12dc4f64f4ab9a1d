"""Reads a world from an engine, and remembers what the engine has of it."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from mock_platform.world.store.interface import SavedWorld, Snapshot
from mock_platform.world.store.memory import Base
from mock_platform.world.store.redis.encoding import (
    Fixtures,
    decode_fixtures,
    decode_state,
    encode_meta,
    join_meta,
    open_state,
    report_damage,
    take_commits,
)
from mock_platform.world.store.redis.engine import EngineLink
from mock_platform.world.store.stored_worlds import StoredState

# A world that this process owns in an engine: what the engine has of it, without asking.


class HeldPoint(Struct, frozen=True):
    """A saved state as the engine has it, in case that forgets it."""

    base: str
    """The hash of its fixtures."""
    body: bytes


class HeldWorld(Struct):
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
    points: dict[str, HeldPoint] = field(default_factory=dict)
    """Its saved states, by their labels."""
    run: str = ""
    """The run of the engine in which this process is known to be the owner."""
    unsure: bool = False
    """Whether the engine may have a change that counts as not made: its answer did not come."""
    lock: threading.RLock = field(default_factory=threading.RLock)

    def copy_state(self) -> StoredState:
        """Returns the state of now, which later commits do not change."""
        rows = {table: dict(slots) for table, slots in self.state.rows.items()}
        return replace(self.state, seq=self.seq, rows=rows, meta_json=join_meta(self.meta))


class WorldReader:
    """Reads worlds that this process owns, so no other one changes them meanwhile."""

    def __init__(self, engine: EngineLink, fixtures: Fixtures) -> None:
        self._engine = engine
        self._fixtures = fixtures

    def read(
        self, name: str, base: Base, token: int, seq: str
    ) -> tuple[HeldWorld, dict[str, SavedWorld]]:
        """Returns a world on the given fixtures, and its points.

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
            saved[label], points[label] = self._lay_over(point, base), HeldPoint(hashed, body)
        self._lay_over(state, base)
        meta = encode_meta(state.meta)
        hashed = self._fixtures.hash_of(base)
        held = HeldWorld(token, state, meta, hashed, int(seq), size, points)
        return held, saved

    def _decode(self, what: str, body: bytes) -> tuple[StoredState, str]:
        """Returns a state, and the hash of its fixtures."""
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
    """Returns names with their values, which an answer has in one list."""
    return zip(flat[::2], flat[1::2], strict=True)
