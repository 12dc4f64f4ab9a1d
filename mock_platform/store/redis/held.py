"""A world that this process owns in an engine: what the engine has of it, without asking."""

from __future__ import annotations

import threading

from msgspec import Struct, field
from msgspec.structs import replace

from mock_platform.store.redis.encoding import join_meta
from mock_platform.store.stored_worlds import StoredState


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
