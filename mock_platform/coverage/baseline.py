"""The baseline of a coverage: a text file with the outcomes that were covered, one in a line.

A run that covers one of them no longer has lost it. The file can be kept beside the tests: it has
no counts and no dates, so it changes only when the coverage does.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

from msgspec import Struct

from mock_platform.coverage.document import CoverageDocument
from mock_platform.coverage.scope import CoverageScope

_HEAD = """\
# The documented outcomes that the tests exercised: operation, status, code.
# A run that names this file as its baseline fails if it loses one of them: --mock-coverage-baseline
# of pytest, --coverage-baseline of mock-platform run, --baseline of mock-platform coverage.
"""
_LINE = re.compile(r"(\S+) +([1-5]\d\d)(?: +(\S.*))?", re.ASCII)
_Point = tuple[str, int, str]
"""An operation, a status and a code."""


class BadBaseline(ValueError):
    """A file that is no baseline; each fault has its place."""


class Baseline(Struct, frozen=True):
    """The outcomes that must stay covered."""

    name: str
    """The name of the file."""
    points: frozenset[_Point]

    def find_lost(self, found: CoverageDocument | None, scope: CoverageScope) -> list[str]:
        """Returns the outcomes of a scope that are no longer covered, as lines of the file."""
        covered = frozenset() if found is None else _list_covered(found)
        lost = {point for point in self.points - covered if scope.includes(point[0])}
        return [_format(point) for point in sorted(lost)]


def read_baseline(text: str, name: str, operations: Collection[str]) -> Baseline:
    """Returns the baseline in a file of this name.

    Raises:
        BadBaseline: A line is not one of a baseline, or names an operation that does not exist.
    """
    points, faults = set(), []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            faults.append(
                f"{name}:{number}: {line.strip()!r} is not an operation, a status and a code, such "
                "as 'line_items.get 404 NOT_FOUND'"
            )
        elif match[1] not in operations:
            near = get_close_matches(match[1], operations, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            faults.append(f"{name}:{number}: there is no operation {match[1]!r}{hint}")
        else:
            points.add((match[1], int(match[2]), match[3] or ""))
    if faults:
        raise BadBaseline("\n".join(faults))
    return Baseline(name, frozenset(points))


def render_baseline(found: CoverageDocument) -> str:
    """Returns the file for what a coverage document has covered."""
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
