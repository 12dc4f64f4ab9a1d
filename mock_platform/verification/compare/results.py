"""What a comparison is asked to compare, and what it found, operation by operation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from mock_platform.core.operation import Operation
from mock_platform.settings import NamesMode
from mock_platform.verification.compare.compare import Difference
from mock_platform.verification.compare.plan import PROBE_KINDS

_MAX_EQUAL = 500
"""Probes of an operation that are kept although nothing differs: archives have very many."""


@dataclass(frozen=True, slots=True)
class AskedProbe:
    """A probe that was sent to both servers, and how the answers differ."""

    probe: str
    target: str
    """Method, path and query as the other server got them."""
    status: int
    differences: tuple[Difference, ...]
    assumptions: tuple[str, ...]
    """The ids of those on which the sandbox's answer rests."""


@dataclass(slots=True)
class CheckedOperation:
    """An operation that was asked, with its probes."""

    operation: str
    probes: list[AskedProbe] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What could not be compared, and why."""
    equal: int = 0
    """Further probes, whose answers are equal and rest on the same assumptions as others."""
    left_out: list[tuple[str, str]] = field(default_factory=list)
    """The probes that were not asked or not compared, each with the reason."""
    _rests_on: set[tuple[str, ...]] = field(default_factory=set, repr=False)

    def add(self, asked: AskedProbe) -> None:
        """Keep a probe, or only count it if it says nothing that others do not."""
        is_known = not asked.differences and asked.assumptions in self._rests_on
        if is_known and len(self.probes) >= _MAX_EQUAL:
            self.equal += 1
            return
        self._rests_on.add(asked.assumptions)
        self.probes.append(asked)

    def leave_out(self, probe: str, reason: str) -> None:
        """Note that a probe was not compared."""
        self.left_out.append((probe, reason))

    @property
    def differs(self) -> bool:
        """Whether an answer differs."""
        return any(each.differences for each in self.probes)


@dataclass(frozen=True, slots=True)
class SkippedOperation:
    """An operation that was not checked, and why."""

    operation: str
    reason: str


@dataclass(frozen=True, slots=True)
class Drift:
    """The result of a comparison."""

    checked: tuple[CheckedOperation, ...]
    skipped: tuple[SkippedOperation, ...]

    @property
    def differs(self) -> bool:
        """Whether any answer differs."""
        return any(each.differs for each in self.checked)

    @property
    def requests(self) -> int:
        """How many requests were compared."""
        return sum(len(each.probes) + each.equal for each in self.checked)


@dataclass(frozen=True, slots=True)
class DriftScope:
    """What is compared: which operations, which kinds of probes, and whether values count."""

    only: tuple[str, ...] = ()
    """Patterns of operation ids; empty for all."""
    skip: tuple[str, ...] = ()
    """Patterns of operation ids that are not asked at all, not even for their values."""
    kinds: Collection[str] = PROBE_KINDS
    same_data: bool = False
    """Whether both servers have the same records, so that values are compared as well."""
    names: NamesMode = "neutral"
    """The names of the other server."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Values of parameters for the other server, which its lists do not show."""

    def covers(self, operation: Operation) -> bool:
        """Return whether an operation is compared."""
        return not self.only or any(fnmatchcase(operation.id, each) for each in self.only)

    def skips(self, operation: Operation) -> bool:
        """Return whether an operation must not be asked."""
        return any(fnmatchcase(operation.id, each) for each in self.skip)
