"""Patterns that choose operations by their ids, such as `line_items.*,oauth*`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase


class BadPatterns(ValueError):
    """Patterns that match no operation."""


def read_patterns(text: str, operations: Collection[str]) -> tuple[str, ...]:
    """Return the patterns of a text, which are separated by commas.

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
    return patterns


def matches(operation: str, patterns: Collection[str]) -> bool:
    """Return whether the id of an operation matches one of the patterns."""
    return any(fnmatchcase(operation, pattern) for pattern in patterns)


def _suggest(pattern: str, operations: Collection[str]) -> str:
    near = next(_find_near(pattern, operations), None)
    return "" if near is None else f"; did you mean {near!r}?"


def _find_near(pattern: str, operations: Collection[str]) -> Iterator[str]:
    """Yield what a pattern may have meant: an operation, or all of a family."""
    from mock_platform.api.guesses import suggest_operations  # of no use before the first fault

    family, dot, rest = pattern.partition(".")
    families = sorted({operation.partition(".")[0] for operation in operations})
    near = get_close_matches(family.rstrip("*"), families, 1, 0.8)
    near += [each.partition(".")[0] for each in suggest_operations(family, operations)[:1]]
    if dot and rest != "*":
        yield from suggest_operations(pattern, operations)[:1]
    for name in near:
        yield f"{name}.*"
