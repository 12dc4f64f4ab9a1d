"""The scope of a coverage: the operations that a suite is about, by patterns of their ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Self

from msgspec import Struct

from mock_platform.coverage.document import CoverageDocument, add_totals


class BadPatterns(ValueError):
    """Patterns that match no operation."""


class CoverageScope(Struct, frozen=True):
    """The operations whose id matches one of the patterns; without patterns, all."""

    patterns: tuple[str, ...] = ()

    @classmethod
    def read(cls, text: str, operations: Collection[str]) -> Self:
        """Returns the scope of comma-separated patterns, such as `line_items.*,oauth*`.

        Raises:
            BadPatterns: There is no pattern, or one matches none of these operations.
        """
        patterns = tuple(part.strip() for part in text.split(",") if part.strip())
        if not patterns:
            raise BadPatterns("no pattern is given; write one such as 'line_items.*,oauth*'")
        faults = [
            f"{pattern!r} matches no operation{_suggest(pattern, operations)}"
            for pattern in patterns
            if not any(fnmatchcase(operation, pattern) for operation in operations)
        ]
        if faults:
            raise BadPatterns(f"{'; '.join(faults)} (`mock-platform operations` lists them)")
        return cls(patterns)

    def includes(self, operation: str) -> bool:
        """Whether an operation is in the scope."""
        return not self.patterns or any(fnmatchcase(operation, each) for each in self.patterns)

    def restrict(self, found: CoverageDocument) -> CoverageDocument:
        """Returns the coverage of the scope alone, with its own totals.

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


def _suggest(pattern: str, operations: Collection[str]) -> str:
    near = next(_find_near(pattern, operations), None)
    return "" if near is None else f"; did you mean {near!r}?"


def _find_near(pattern: str, operations: Collection[str]) -> Iterator[str]:
    """Yield what a pattern may have meant: an operation, or all of a family."""
    family, dot, rest = pattern.partition(".")
    families = sorted({operation.partition(".")[0] for operation in operations})
    if not dot or rest == "*":
        for name in get_close_matches(family.rstrip("*"), families, 1):
            yield f"{name}.*"
    yield from get_close_matches(pattern, operations, 1)
    for name in get_close_matches(family, families, 1):
        yield f"{name}.*"
