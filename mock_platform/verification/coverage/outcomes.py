"""How often clients exercised each outcome of each operation.

The outcomes are counted request by request, for a few dictionary look-ups each.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct, field

from mock_platform.core.world_counts import WorldCounts
from mock_platform.scenario.outcomes import Outcome, find_codes
from mock_platform.world.journal import JournalEntry

_Key = TypeVar("_Key")

MAX_OUTCOMES = 256
"""Different outcomes kept for an operation of a world; more share one, without a code."""


class Tally(Struct, gc=False):
    """The counts of one operation.

    A test run keeps some for each of its tests. They refer to nothing that refers to them, and the
    garbage collector need not look at plain dicts of numbers either.
    """

    requests: int = 0
    outcomes: dict[tuple[int, str], int] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)
    """How often each parameter was sent in a request that succeeded."""
    refused: dict[str, int] = field(default_factory=dict)
    """How often each parameter was sent in a request that failed."""

    def add(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.requests += other.requests
        _add_counts(self.outcomes, other.outcomes)
        _add_counts(self.accepted, other.accepted)
        _add_counts(self.refused, other.refused)


Tallies = dict[str, Tally]
"""By operation; requests that no operation answers are counted under ""."""


class Recorder:
    """The counts of one server. Safe for concurrent use; to be one of a platform's observers."""

    def __init__(self) -> None:
        self._counts: WorldCounts[Tallies] = WorldCounts(dict, _add)
        self.tallies = self._counts.merge
        """Return a copy of the counts of a world, or of all worlds together."""
        self.clear = self._counts.clear
        """Forget the counts of a world, or of all worlds."""

    def observe(self, entry: JournalEntry) -> None:
        """Count the request of a journal entry, unless a user's own route answered it."""
        if entry.custom is not None:
            return
        status = entry.status
        found = ("",) if status < 400 else find_codes(status, entry.response_body)
        name = entry.operation or ""
        with self._counts.lock:
            tallies = self._counts.find(entry.world)
            tally = tallies.get(name)
            if tally is None:
                tally = tallies[name] = Tally()
            tally.requests += 1
            outcomes = tally.outcomes
            for code in found:
                key = (status, code)
                if key not in outcomes and len(outcomes) >= MAX_OUTCOMES:
                    key = (status, "")
                outcomes[key] = outcomes.get(key, 0) + 1
            if entry.sent:
                counts = tally.accepted if status < 400 else tally.refused
                for parameter in entry.sent:
                    counts[parameter] = counts.get(parameter, 0) + 1

    def worlds(self) -> dict[str, int]:
        """Return the worlds that had requests, with the number of these."""
        return self._counts.read_each(
            lambda tallies: sum(tally.requests for tally in tallies.values())
        )


def list_outcomes(tally: Tally) -> dict[Outcome, int]:
    """Return the outcomes of a tally with their counts."""
    return {Outcome(*key): count for key, count in tally.outcomes.items()}


def _add(merged: Tallies, more: Tallies) -> None:
    for name, tally in more.items():
        merged.setdefault(name, Tally()).add(tally)


def _add_counts(counts: dict[_Key, int], more: dict[_Key, int]) -> None:
    for key, count in more.items():
        counts[key] = counts.get(key, 0) + count
