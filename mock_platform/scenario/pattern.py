"""Regular expressions that cannot hang: bounded, and refused where they backtrack too much.

Python's engine tries every way to share a text among a pattern's repetitions. The number of ways is
bounded here before the pattern is ever used: by its form, and by the length of the text.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

# The standard library's own parser: no public module shows the structure of a pattern.
kinds: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

MAX_PATTERN_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 256
_MAX_WAYS = (MAX_TEXT_CHARACTERS + 1) ** 3
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
            ways = _count_ways(tree)
            if ways > _MAX_WAYS:
                raise BadPattern("more than three open repetitions can take too long; be narrower")
            return re.compile(pattern)
    except (re.error, Warning, OverflowError, RecursionError) as fault:
        raise BadPattern(f"no regular expression: {fault}") from fault


def _count_ways(tree: Iterable[Any]) -> int:
    """Return an upper bound of the ways in which a part can match `MAX_TEXT_CHARACTERS`."""
    ways = 1
    for kind, argument in tree:
        ways *= _count_ways_of_part(kind, argument)
        if ways > _MAX_WAYS:
            return ways
    return ways


def _count_ways_of_part(kind: Any, argument: Any) -> int:
    if kind in _SIMPLE:
        return 1
    if kind in _REPEATS:
        low, high, body = argument
        inner = _count_ways(body)
        if inner > 1 and int(high) > 1:
            raise BadPattern("a repetition within a repetition, or of alternatives, can take "
                             "too long; write it out")  # fmt: skip
        return inner * (
            min(int(high), MAX_TEXT_CHARACTERS) - min(int(low), MAX_TEXT_CHARACTERS) + 1
        )
    if kind is kinds.SUBPATTERN:
        return _count_ways(argument[3])
    if kind is kinds.BRANCH:
        return sum(_count_ways(branch) for branch in argument[1])
    raise BadPattern("look-around, back references and conditions are not allowed")
