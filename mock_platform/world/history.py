"""Since when a world has its journal, and what changed it meanwhile beside the requests in there.

From the start, the requests and these steps a world can be made again elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from mock_platform.world.attached import Kept
from mock_platform.world.store.interface import Beside, Change, SavedWorld
from mock_platform.world.transitions import Pace

MAX_STEPS = 20_000
"""Maximum number of steps, and of changed records in them, that a world remembers."""
Mark = tuple[Mapping[str, Pace], list[Any]]
"""The paces, and what each companion's `mark` returned: none of it is changed by requests."""


class WorldStep(Struct, frozen=True):
    """One change beside requests: through the control plane, in Python, or by a delivery."""

    turn: int
    """The number of the last request before it."""
    changes: Sequence[Change]
    drawn: int
    """How many ids were drawn after it."""
    paces: Mapping[str, Pace]
    scenarios: Beside | None
    """What is defined and active after it; `None` if it changed none of that."""


class WorldHistory:
    """The start of a world, the number of its requests, and the steps beside them.

    Use it under the lock of the world.
    """

    def __init__(self, start: SavedWorld, began: datetime) -> None:
        self.start = start
        """The state at which its journal begins."""
        self.began = began
        """The moment of that, on the world's clock."""
        self.start_turn = 0
        """The number of the last request before that."""
        self.turn = 0
        """The number of requests that it answered; each has its turn."""
        self.steps: list[WorldStep] | None = []
        """The steps since the start, oldest first; `None` if there were too many."""
        self._size = 0
        self._noted: Mark | None = None

    def begin(self, start: SavedWorld, began: datetime, mark: Mark) -> None:
        """Begin again with a state."""
        self.start, self.began, self.start_turn = start, began, self.turn
        self.steps, self._size, self._noted = [], 0, mark

    def set_mark(self, mark: Mark) -> None:
        """Note how it is, without a step."""
        self._noted = mark

    def note(
        self,
        changes: Sequence[Change],
        drawn: int,
        mark: Mark,
        companions: Sequence[Kept],
        *,
        whole: bool = False,
    ) -> None:
        """Add what was changed beside requests, if anything was; `whole` in any case."""
        before = self._noted
        if self.steps is None or not (changes or whole or mark != before):
            return
        self._noted = mark
        self._size += 1 + len(changes)
        if self._size > MAX_STEPS:
            self.steps = None
            return
        scenarios: dict[tuple[str, str], Any] | None = None
        if whole or before is None or mark[1] != before[1]:
            scenarios = {}
            for each in companions:
                scenarios |= each.read_records()
        self.steps.append(WorldStep(self.turn, tuple(changes), drawn, mark[0], scenarios))
