"""With what each world of a server starts: fixtures, kinds of transitions, settings."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct, field

from mock_platform.settings import NamesMode
from mock_platform.world.clock import Clock
from mock_platform.world.journal import JournalMemory
from mock_platform.world.store.interface import SavedWorld, Snapshot
from mock_platform.world.store.memory import Base
from mock_platform.world.transitions import TransitionKind


class WorldSettings(Struct, frozen=True):
    """The common start of all worlds of a server."""

    seed: int = 0
    freeze: datetime | None = None
    journal_entries: int = 10_000
    journal_bytes: int = 64 * 1024 * 1024
    refuse_warnings: bool = False
    """Whether requests of which something would be ignored are refused."""
    names: NamesMode | None = None
    """Which names the clients of a world use and get; `None`: as the host they call tells."""
    wire: str | None = None
    """Whether answers are as documented or as recorded; `None`: as the host tells."""
    own_wire: str | None = None
    """The same, for one world in place of that of the server."""
    all_releases: bool = False
    """Whether all of the release history is in force, whatever the clock says."""
    as_of: datetime | None = None
    """The date whose contract is in force, whatever the clock says."""
    own_as_of: datetime | None = None
    """The same, for one world in place of that of the server."""


class Blueprint(Struct, frozen=True):
    """What all worlds of a server share: the fixtures, the kinds of transitions, the settings."""

    base: Base
    kinds: tuple[TransitionKind, ...] = ()
    settings: WorldSettings = field(default_factory=WorldSettings)
    journal_memory: JournalMemory = field(default_factory=JournalMemory)

    def make_start(self, seed: int) -> SavedWorld:
        """Return the start of a world: fixtures, with their moments relative to now.

        Unless the clock is stopped, they count from the last whole second, so that the worlds of
        one second share their records.
        """
        # A clock of its own, not that of the world, which may have been moved: a reset starts at
        # the machine's time, like a new world.
        clock = Clock(self.settings.freeze)
        now, base = clock.now(), self.base
        rows = base.make_relative_rows(now if clock.frozen else now.replace(microsecond=0))
        meta = {"seed": seed, "ids": 0, "clock": clock.state(), "paces": {}}
        return SavedWorld(Snapshot(rows, base.next_seq), meta)
