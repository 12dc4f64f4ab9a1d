"""Which operation answers a path, derived from the table of operations alone.

A static segment always wins over a varying one, whatever the method: `PUT /cards/poll` is a wrong
method on the poll cards, never an update of a card whose id is `poll`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from operator import itemgetter
from typing import Generic, TypeVar
from urllib.parse import unquote

from mock_platform.core.operation import Operation

T = TypeVar("T")


@dataclass(slots=True)
class _Node(Generic[T]):
    static: dict[str, _Node[T]] = field(default_factory=dict)
    varying: _Node[T] | None = None
    methods: dict[str, tuple[T, tuple[str, ...]]] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    """Segments that do not lead here although they vary."""


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """What a path leads to: a target and its path parameters, or the methods there are."""

    target: T | None
    params: Mapping[str, str]
    allowed: tuple[str, ...] = ()


class Router(Generic[T]):
    """Paths in the spec's notation, `:name` for what varies, each method with its target."""

    def __init__(self, routes: Iterable[tuple[str, str, T]] = ()) -> None:
        self._root: _Node[T] = _Node()
        for method, path, target in routes:
            self.add(method, path, target)

    def add(self, method: str, path: str, target: T) -> None:
        """Add a route."""
        node, names = self._root, []
        for segment in path.strip("/").split("/"):
            if segment.startswith(":"):
                names.append(segment[1:])
                node.varying = node.varying or _Node()
                node = node.varying
            else:
                node = node.static.setdefault(segment, _Node())
        node.methods[method] = (target, tuple(names))

    def reserve(self, path: str) -> None:
        """Let a path lead nowhere although its last segment fits where one varies."""
        *before, last = path.strip("/").split("/")
        node = self._root
        for segment in before:
            following = node.varying if segment.startswith(":") else node.static.get(segment)
            if following is None:
                return
            node = following
        if node.varying is not None:
            node.varying.reserved |= {last}

    def find(self, method: str, path: str) -> Found[T]:
        """Follow a percent-encoded path. `HEAD` is answered where `GET` is."""
        node: _Node[T] | None = self._root
        values: list[str] = []
        for segment in path[1:].split("/"):
            if node is None:
                break
            following = node.static.get(segment)
            if following is None:
                following = node.varying if segment else None
                if following is not None:
                    values.append(unquote(segment))
            node = following
        if node is None or not node.methods or (node.reserved and values[-1] in node.reserved):
            return Found(None, {})
        entry = node.methods.get(method)
        if entry is None and method == "HEAD":
            entry = node.methods.get("GET")
        if entry is None:
            return Found(None, {}, tuple(sorted(node.methods)))
        return Found(entry[0], dict(zip(entry[1], values, strict=True)))


_OF_METHOD = 0.05
"""What the right method adds to how alike two paths are."""
_ENOUGH = 0.6
_KEPT = 256


class Nearest:
    """The operations that come closest to a request which none of them answers.

    They are all of one interface: that of the path's first segment, or where none has such a
    segment, that of the closest operation.

    Closeness is `SequenceMatcher.ratio` of the two paths with ids left out. What it cannot exceed
    is found from the letters alone, with one `and` of two integers, so that few paths are compared
    in full; answers are kept, since clients repeat their mistakes.
    """

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._bits: dict[tuple[str, int], int] = {}
        self._shapes: dict[str, _Shape] = {}
        for place, operation in enumerate(operations):
            path = _shape(operation.path)
            shape = self._shapes.get(path)
            if shape is None:
                shape = self._shapes[path] = _Shape(path, self._letters(path, learn=True))
            shape.operations.append((place, operation))
        self._answer = lru_cache(_KEPT)(self._ranked)

    def to(self, method: str, path: str) -> Sequence[Operation]:
        """The three closest, the best first; fewer or none if nothing is close."""
        return self._answer(method, _shape(path))

    def _ranked(self, method: str, wanted: str) -> tuple[Operation, ...]:
        letters = self._letters(wanted)
        bounds = [
            (2.0 * (letters & shape.letters).bit_count() / (len(wanted) + len(path)), shape)
            for path, shape in self._shapes.items()
        ]
        own = _interface(wanted)
        worthy = [
            (most, shape)
            for most, shape in bounds
            if most + _OF_METHOD > _ENOUGH and own in {None, _interface(shape.path)}
        ]
        worthy.sort(key=itemgetter(0), reverse=True)
        best: list[tuple[float, int, Operation]] = []
        for most, shape in worthy:
            if len(best) == 3 and most + _OF_METHOD < -best[-1][0]:
                break  # so are all that follow
            ratio = SequenceMatcher(None, wanted, shape.path).ratio()
            for place, operation in shape.operations:
                close = ratio + (_OF_METHOD if operation.method == method else 0.0)
                if close > _ENOUGH:
                    best.append((-close, place, operation))
            best.sort(key=itemgetter(0, 1))
            del best[3:]
        first = _interface(best[0][2].path) if best else None
        return tuple(op for *_, op in best if _interface(op.path) == first)

    def _letters(self, text: str, *, learn: bool = False) -> int:
        """A bit for each occurrence of each letter that the paths of operations have."""
        letters = 0
        for letter, times in Counter(text).items():
            for number in range(times):
                if learn:
                    self._bits.setdefault((letter, number), len(self._bits))
                bit = self._bits.get((letter, number))
                if bit is None:
                    break
                letters |= 1 << bit
        return letters


@dataclass(slots=True)
class _Shape:
    """The operations that share a path, with their places in the table."""

    path: str
    letters: int
    operations: list[tuple[int, Operation]] = field(default_factory=list)


def _interface(path: str) -> str | None:
    """Document A or B, whose interface has such paths; `None` if neither says so."""
    first = path.lstrip("/").partition("/")[0]
    if first in {"2", "1.1", "oauth", "oauth2"}:
        return "A"
    return "B" if first.isdecimal() else None


def _shape(path: str) -> str:
    """A path with everything that looks like an id replaced, so that ids do not count."""
    segments = [
        ":" if segment.startswith(":") or (i > 0 and re.search(r"\d", segment)) else segment
        for i, segment in enumerate(path.strip("/").split("/")[:16])
    ]
    return "/".join(segment[:64] for segment in segments)
