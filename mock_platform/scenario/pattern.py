"""Regular expressions that cannot hang: bounded, and refused where they backtrack too much.

Python's engine tries every way to share a text among a pattern's repetitions. How many steps that
takes is bounded here before the pattern is ever used: by its form, and by the length of the text.
What all patterns that one request meets may take together is bounded as well (`engine.py`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from math import comb
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mock_platform.core.documents.forms import FaultReport, parse_reference
from mock_platform.core.documents.source import Path

# The standard library's own parser: no public module shows the structure of a pattern.
kinds: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

MAX_PATTERN_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 256
MAX_STEPS = comb(MAX_TEXT_CHARACTERS + 3, 3)
"""Of one pattern: what three open repetitions take at most."""
MAX_ACTIVE_STEPS = 100_000_000
"""Of all patterns that one request can meet: a fraction of a second, in which nobody is served."""
_MANY = 128
"""A repetition with this many choices or more is an open one."""
_FEW, _SLOW = 8, 8
"""Choices that are fewer are made in the engine's slow loop, which takes so many times longer."""
_FREE = 8
"""Steps of what has no choice, once a way, that count like the choice itself."""
_SIMPLE = (kinds.LITERAL, kinds.NOT_LITERAL, kinds.ANY, kinds.IN, kinds.AT)
_REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)


class BadPattern(ValueError):
    """A text that is not a regular expression, or one that could take too long."""


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern, for `fullmatch` on texts of at most `MAX_TEXT_CHARACTERS`.

    Raises:
        BadPattern: It cannot be used; the text says why.
    """
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise BadPattern(f"a regular expression has at most {MAX_PATTERN_CHARACTERS} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tree = parser.parse(pattern)
            if _count(tree).choices > MAX_STEPS:
                raise BadPattern(
                    "more than three open repetitions, or many alternatives, can take too long; "
                    "be narrower"
                )
            return re.compile(pattern)
    except (re.error, Warning, OverflowError, RecursionError) as error:
        raise BadPattern(f"no regular expression: {error}") from error


@lru_cache(maxsize=1024)
def count_steps(pattern: str) -> int:
    """Return how many steps a pattern that `compile_pattern` takes needs at most for a text."""
    return _count(parser.parse(pattern)).steps


def check_patterns(when: Mapping[str, Any], at: Path, report: FaultReport) -> None:
    """Report bad regular expressions, which the form of conditions cannot find."""
    for (source, name), pattern in _find_patterns(when):
        if parse_reference(pattern) is None:
            try:
                compile_pattern(pattern)
            except BadPattern as error:
                report((*at, source, name, "matches"), str(error))


def count_pattern_steps(when: Mapping[str, Any]) -> int:
    """Return how many steps the regular expressions of a rule's conditions take at most."""
    return sum(count_steps(pattern) for _, pattern in _find_patterns(when))


def _find_patterns(when: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the regular expressions of conditions, each with its source and name."""
    for source, conditions in when.items():
        for name, condition in conditions.items() if isinstance(conditions, dict) else ():
            pattern = condition.get("matches") if isinstance(condition, dict) else None
            if isinstance(pattern, str):
                yield (source, name), pattern


class _Ways(Struct, frozen=True):
    """In how many ways a part can match: closed choices, and open repetitions that share a text."""

    closed: int = 1
    opened: int = 0
    slow: bool = False
    fixed: int = 0
    """Steps of what has no choice, which each way may take: characters, borders, turns."""

    @property
    def total(self) -> int:
        """An upper bound of all ways for a text of `MAX_TEXT_CHARACTERS`."""
        return self.closed * comb(MAX_TEXT_CHARACTERS + self.opened, self.opened)

    @property
    def choices(self) -> int:
        """The same, weighted with what a choice takes."""
        return self.total * (_SLOW if self.slow else 1)

    @property
    def steps(self) -> int:
        """The same, weighted with what a way takes as a whole."""
        return self.choices * max(1, self.fixed // _FREE)


def _count(tree: Iterable[Any]) -> _Ways:
    ways = _Ways()
    for kind, argument in tree:
        # Parts that follow each other multiply their closed choices. Open repetitions share one
        # text, so their number is added, and `total` counts in how many ways a text can be divided
        # among so many.
        part = _count_part(kind, argument)
        ways = _Ways(
            ways.closed * part.closed,
            ways.opened + part.opened,
            slow=ways.slow or part.slow,
            fixed=ways.fixed + part.fixed,
        )
        if ways.choices > MAX_STEPS:
            break
    return ways


def _count_part(kind: Any, argument: Any) -> _Ways:
    if kind in _SIMPLE:
        return _Ways(fixed=_SLOW if kind is kinds.AT else 1)
    if kind in _REPEATS:
        low, high, body = argument
        # Backtracking takes as many steps as there are ways to divide a text among the repetitions.
        # A repetition inside a repetition makes that number exponential and is refused; open ones
        # beside each other make it a power, which the bound below counts.
        inner = _count(body)
        if inner.total > 1 and int(high) > 1:
            raise BadPattern("a repetition within a repetition, or of alternatives, can take "
                             "too long; write it out")  # fmt: skip
        # Each character of a text ends one turn of a repetition at most, so the text bounds the
        # turns; but not those that take no character.
        if int(high) > 1 and body.getwidth()[0] == 0:
            raise BadPattern("a repetition of what may be empty can take too long; write it once")
        choices = min(int(high), MAX_TEXT_CHARACTERS) - min(int(low), MAX_TEXT_CHARACTERS) + 1
        is_single = len(body) == 1 and body[0][0] in _SIMPLE
        turn = 1 if is_single else inner.fixed + _SLOW
        fixed = min(int(low), MAX_TEXT_CHARACTERS) * turn
        if not is_single and int(high) > int(low):  # each further turn is a choice of its own
            fixed += turn
        if choices >= _MANY:
            return _Ways(opened=1, fixed=fixed)
        slow = inner.slow or 1 < choices < _FEW
        return _Ways(inner.closed * choices, inner.opened, slow=slow, fixed=fixed)
    if kind is kinds.SUBPATTERN:
        inner = _count(argument[3])
        return inner if argument[0] is None else replace(inner, fixed=inner.fixed + _SLOW)
    if kind is kinds.BRANCH:
        branches = [_count(branch) for branch in argument[1]]
        fixed = max(branch.fixed for branch in branches)
        return _Ways(sum(branch.total for branch in branches), slow=True, fixed=fixed)
    raise BadPattern("look-around, back references and conditions are not allowed")
