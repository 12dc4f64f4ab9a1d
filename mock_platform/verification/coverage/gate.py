"""The gate of a coverage: what a run must have covered, and in which scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct, field

from mock_platform.verification.coverage.baseline import Baseline, CoverageScope
from mock_platform.verification.coverage.document import CoverageDocument


class GateFailure(NamedTuple):
    """One condition that was not fulfilled."""

    name: str
    text: str
    lost: Sequence[str] = ()
    """With a baseline: the outcomes that were lost."""


class Gate(Struct, frozen=True):
    """The conditions for a coverage."""

    fail_under: float | None = None
    """Percent of the scope that must be covered."""
    scope: CoverageScope = field(default_factory=CoverageScope)
    baseline: Baseline | None = None
    """Outcomes that must not be lost."""

    def list_failures(self, found: CoverageDocument | None) -> list[GateFailure]:
        """Returns what is not fulfilled; `found` is that of the scope, `None` without requests."""
        failures = []
        percent = 0.0 if found is None else found["percent"]
        if self.fail_under is not None and percent < self.fail_under:
            text = f"{percent:g} % is below the required {self.fail_under:g} %"
            failures.append(GateFailure("percentage", text))
        lost = [] if self.baseline is None else self.baseline.find_lost(found, self.scope)
        if self.baseline is not None and lost:
            of = "1 outcome" if len(lost) == 1 else f"{len(lost)} outcomes"
            text = f"{of} of {self.baseline.name} that earlier runs covered"
            were = "was" if len(lost) == 1 else "were"
            failures.append(GateFailure("baseline", f"{text} {were} not covered", lost))
        return failures
