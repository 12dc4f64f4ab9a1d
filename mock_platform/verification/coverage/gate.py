"""The gate of a coverage: what a run must have covered, and in which scope."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from msgspec import Struct, field

from mock_platform.api.guesses import hint_at_operation
from mock_platform.api.operation_patterns import matches, read_patterns
from mock_platform.core.errors import BadDocument, Complaint, shorten
from mock_platform.core.jsonio import loads
from mock_platform.verification.coverage.document import CoverageDocument, add_totals

# The scope of a coverage: the operations that a suite is about, by patterns of their ids.


class CoverageScope(Struct, frozen=True):
    """The operations whose id matches one of the patterns; without patterns, all."""

    patterns: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str, operations: Collection[str]) -> Self:
        """Return the scope of comma-separated patterns, such as `line_items.*,oauth*`.

        Raises:
            BadPatterns: There is no pattern, or one matches none of these operations.
        """
        return cls(read_patterns(text, operations))

    def includes(self, operation: str) -> bool:
        """Whether an operation is in the scope."""
        return not self.patterns or matches(operation, self.patterns)

    def restrict(self, found: CoverageDocument) -> CoverageDocument:
        """Return the coverage of the scope alone, with its own totals.

        Of the problem types, those stay that an operation of the scope documents.
        """
        if not self.patterns:
            return found
        rows = [row for row in found["operations"] if self.includes(row["id"])]
        codes = {o["code"] for row in rows for o in row["outcomes"] if o["documented"]}
        types = [kind for kind in found["problem_types"] if kind["slug"] in codes]
        return add_totals(
            found | {"only": list(self.patterns), "operations": rows, "problem_types": types}
        )


_HEAD = """\
# The documented outcomes that the tests exercised: operation, status, code.
# A run that names this file as its baseline fails if it loses one of them: --mock-coverage-baseline
# of pytest, --coverage-baseline of mock-platform run, --baseline of mock-platform coverage.
"""
_MOST_SHOWN = 80
"""Most characters of a wrong line that its message shows."""
_LINE = re.compile(r"(\S+) +([1-5]\d\d)(?: +(\S.*))?", re.ASCII)
_Point = tuple[str, int, str]
"""An operation, a status and a code."""


_WRITTEN_BY = (
    "Write it with `pytest --mock-coverage=FILE` or `mock-platform run --coverage=FILE`; its name "
    "ends in .json or .baseline."
)


class BadBaseline(BadDocument):
    """A file that is no baseline."""


class Baseline(Struct, frozen=True):
    """The outcomes that must stay covered."""

    name: str
    """The name of the file."""
    points: frozenset[_Point]

    def find_lost(self, found: CoverageDocument | None, scope: CoverageScope) -> list[str]:
        """Return the outcomes of a scope that are no longer covered, as lines of the file."""
        covered = frozenset() if found is None else _list_covered(found)
        lost = {point for point in self.points - covered if scope.includes(point[0])}
        return [_format(point) for point in sorted(lost)]


def read_baseline(text: str, name: str, operations: Collection[str]) -> Baseline:
    """Return the baseline in a file of this name.

    Raises:
        BadBaseline: A line is not one of a baseline, or names an operation that does not exist.
    """
    points, faults, file = set(), [], Path(name)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            text = (
                f"{shorten(line.strip(), _MOST_SHOWN)!r} is not an operation, a status and a code, "
                "such as 'line_items.get 404 NOT_FOUND'"
            )
            faults.append(Complaint(file, number, 1, "", text))
        elif match[1] not in operations:
            hint = hint_at_operation(match[1], operations)
            text = f"there is no operation {match[1]!r}.{hint}"
            faults.append(Complaint(file, number, 1, "", text))
        else:
            points.add((match[1], int(match[2]), match[3] or ""))
    if faults:
        raise BadBaseline(faults)
    return Baseline(name, frozenset(points))


def read_called(file: Path, operations: Collection[str]) -> frozenset[str]:
    """Return the operations that a coverage file says were called: a baseline, or JSON.

    Raises:
        BadBaseline: It cannot be read, or is neither.
    """
    try:
        text = file.read_text("utf-8-sig")
        if file.suffix == ".json":
            rows = loads(text.encode())["operations"]
            return frozenset(row["id"] for row in rows if row["requests"])
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else fault
        raise BadBaseline.make(file, f"cannot be read: {reason}. {_WRITTEN_BY}") from fault
    except (KeyError, TypeError) as fault:
        raise BadBaseline.make(file, f"is no coverage file. {_WRITTEN_BY}") from fault
    return frozenset(point[0] for point in read_baseline(text, str(file), operations).points)


def render_baseline(found: CoverageDocument) -> str:
    """Return the file for what a coverage document has covered."""
    return "".join([_HEAD, *(f"{_format(point)}\n" for point in sorted(_list_covered(found)))])


def _list_covered(found: CoverageDocument) -> frozenset[_Point]:
    return frozenset(
        (row["id"], outcome["status"], outcome["code"])
        for row in found["operations"]
        for outcome in row["outcomes"]
        if outcome["documented"] and outcome["count"]
    )


def _format(point: _Point) -> str:
    operation, status, code = point
    return f"{operation} {status} {code}".rstrip()


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
        """Return what is not fulfilled; `found` is that of the scope, `None` without requests."""
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


def read_gate(
    operations: Collection[str],
    fail_under: float | None,
    only: str | None,
    baseline: str | None,
    folder: Path,
) -> Gate:
    """Return the gate for these options; the file of the baseline is relative to a folder.

    Raises:
        BadPatterns: `only` has a pattern that matches none of the operations.
        BadBaseline: The file cannot be read, or has faults.
    """
    scope = CoverageScope() if only is None else CoverageScope.read(only, operations)
    if baseline is None:
        return Gate(fail_under, scope)
    try:
        text = (folder / baseline).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        written = (
            "Write it with `pytest --mock-coverage=FILE.baseline`, `mock-platform run "
            "--coverage=FILE.baseline` or `mock-platform coverage --format baseline`."
        )
        reason = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8 text"
        raise BadBaseline.make(Path(baseline), f"cannot be read: {reason}. {written}") from fault
    return Gate(fail_under, scope, read_baseline(text, baseline, operations))
