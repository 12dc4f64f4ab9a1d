"""Routing: finds the operation of a path in the table of operations.

A static segment always wins over a parameter, whatever the method: `PUT /cards/poll` is a wrong
method for poll cards, never an update of a card whose id is `poll`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote

from msgspec import Struct, field

T = TypeVar("T")


class Routed(Protocol):
    """What is needed of an operation to find it by its path."""

    @property
    def method(self) -> str:
        """The method of its requests."""

    @property
    def path(self) -> str:
        """Its path in the notation of the specification."""

    @property
    def dialect(self) -> str:
        """The interface that it belongs to."""

    @property
    def sandbox_only(self) -> bool:
        """Whether it exists on the sandbox address only."""


R = TypeVar("R", bound=Routed)


class _Node(Struct, Generic[T]):
    static: dict[str, _Node[T]] = field(default_factory=dict)
    varying: _Node[T] | None = None
    methods: dict[str, tuple[T, tuple[str, ...], Mapping[str, str]]] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    """Values of the last parameter that this route does not accept."""


class Found(Struct, Generic[T], frozen=True, gc=False):
    """The result for a path: a target and its path parameters, or the allowed methods."""

    target: T | None
    params: Mapping[str, str]
    allowed: tuple[str, ...] = ()


class Router(Generic[T]):
    """Routes paths in the spec's notation (`:name`), each method with its target.

    Example:
        >>> router = Router([("GET", "/2/lists/:id", "read"), ("PUT", "/2/lists/:id", "change")])
        >>> found = router.find("GET", "/2/lists/12")
        >>> found.target, dict(found.params)
        ('read', {'id': '12'})
        >>> router.find("DELETE", "/2/lists/12").allowed
        ('GET', 'PUT')
    """

    def __init__(self, routes: Iterable[tuple[str, str, T]] = ()) -> None:
        self._root: _Node[T] = _Node()
        for method, path, target in routes:
            self.add(method, path, target)

    def add(
        self, method: str, path: str, target: T, fixed: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Add a route to the table; `fixed` are parameters whose values follow from the path."""
        # The routes are a tree with one level for each segment. A node has children by their text
        # and at most one child for any text (`varying`). Names of parameters are kept with the
        # target, not in the node, because two operations may call the same place `:id` and
        # `:account_id`.
        node, names = self._root, []
        for segment in path.strip("/").split("/"):
            if segment.startswith(":"):
                names.append(segment[1:])
                node.varying = node.varying or _Node()
                node = node.varying
            else:
                node = node.static.setdefault(segment, _Node())
        node.methods[method] = (target, tuple(names), fixed)

    def reserve(self, path: str) -> None:
        """Exclude a path although its last segment matches a parameter."""
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
        """Return the match of a percent-encoded path. `HEAD` is answered if `GET` is."""
        # No step back: once a static segment fits, the parameter at the same place is out of the
        # question, even if the rest then leads nowhere. This is the documented rule (a fixed word
        # is never an id), and it makes the cost that of the number of segments.
        node: _Node[T] | None = self._root
        values: list[str] = []
        for segment in path[1:].split("/"):
            if node is None:
                break
            following = node.static.get(segment)
            if following is None:
                following = node.varying if segment else None
                if following is not None:
                    values.append(unquote(segment) if "%" in segment else segment)
            node = following
        if node is None or not node.methods or (node.reserved and values[-1] in node.reserved):
            return Found(None, {})
        entry = node.methods.get(method)
        if entry is None and method == "HEAD":
            entry = node.methods.get("GET")
        if entry is None:
            return Found(None, {}, tuple(sorted(node.methods)))
        target, names, fixed = entry
        params = dict(zip(names, values, strict=True))
        return Found(target, {**params, **fixed} if fixed else params)


def fix_parameters(path: str, alias: str) -> dict[str, str]:
    """Return the parameters of a path for which another spelling of it has a fixed segment."""
    pairs = zip(path.strip("/").split("/"), alias.strip("/").split("/"), strict=False)
    return {
        name[1:]: value
        for name, value in pairs
        if name.startswith(":") and not value.startswith(":")
    }


_MAX_NAMED = 3
_SIMILAR = 0.6
_KEPT_ANSWERS = 256


class Nearest(Generic[R]):
    """Finds the operations nearest to a request that no operation answers.

    All of them belong to one interface: that of the path's first segment, or, if no interface has
    it, that of the nearest operation. Paths are compared without ids. Results are cached, because
    clients repeat their mistakes.
    """

    def __init__(self, operations: Iterable[R]) -> None:
        self._by_shape: dict[str, list[R]] = {}
        self._is_advertising: dict[str, bool] = {}
        for operation in operations:
            shape = _shape(operation.path)
            self._by_shape.setdefault(shape, []).append(operation)
            self._is_advertising[_first_segment(shape)] = operation.dialect == "ads"
        self._answer = lru_cache(_KEPT_ANSWERS)(self._rank)

    def to(self, method: str, path: str) -> Sequence[R]:
        """Return up to three nearest operations, the nearest first; none if no path is similar."""
        return self._answer(method, _shape(path))

    def _rank(self, method: str, wanted: str) -> tuple[R, ...]:
        shapes = self._keep_one_interface(wanted, self._by_shape)
        near = _find_closest(wanted, shapes)
        if near:
            near = self._keep_one_interface(near[0], near)
        found: list[R] = []
        for shape in near:
            found += sorted(self._by_shape[shape], key=lambda each: each.method != method)
        return tuple(found[:_MAX_NAMED])

    def _keep_one_interface(self, path: str, shapes: Iterable[str]) -> list[str]:
        """Return the paths of the interface with this path's first segment, else all paths."""
        # A client of the one interface is not helped by a path of the other, however similar it
        # looks: the two have other hosts, other authentication and other error bodies.
        advertising = self._is_advertising.get(_first_segment(path))
        if advertising is None:
            return list(shapes)
        return [s for s in shapes if self._is_advertising[_first_segment(s)] is advertising]


def _find_closest(wanted: str, shapes: Iterable[str]) -> list[str]:
    """Return what `difflib.get_close_matches` does, in a fraction of its time.

    It takes the cheap upper bounds of the similarities first, and computes only those similarities
    that can be among the greatest.
    """
    # The library caches what it finds out about its second text, so the path that was asked for is
    # the second one, and the paths of the operations are set as the first one by one.
    matcher = SequenceMatcher(b=wanted)
    letters = _number_letters(wanted)
    bounds: list[tuple[float, str]] = []
    for shape in shapes:
        both = len(wanted) + len(shape)
        if 2 * min(len(wanted), len(shape)) >= _SIMILAR * both:
            bound = 2.0 * len(letters & _number_letters_of_path(shape)) / both if both else 1.0
            if bound >= _SIMILAR:
                bounds.append((bound, shape))
    best: list[tuple[float, str]] = []
    for bound, shape in sorted(bounds, reverse=True):
        # Bounds come in descending order, and no similarity is greater than its bound. So if this
        # bound is below the third best similarity, nothing that follows can be among the three.
        if len(best) == _MAX_NAMED and bound < best[-1][0]:
            break
        matcher.set_seq1(shape)
        if (similarity := matcher.ratio()) >= _SIMILAR:
            best = sorted([*best, (similarity, shape)], reverse=True)[:_MAX_NAMED]
    return [shape for _, shape in best]


def _number_letters(text: str) -> frozenset[str]:
    """Return each letter with its number among equal ones; texts share as many as they can."""
    return frozenset(f"{letter}{text[:i].count(letter)}" for i, letter in enumerate(text))


_number_letters_of_path = lru_cache(1024)(_number_letters)
"""The same of paths of operations, of which there are some hundred; nothing of clients is kept."""


def _first_segment(path: str) -> str:
    return path.lstrip("/").partition("/")[0]


def _shape(path: str) -> str:
    """Return a path without its ids, so that they are ignored in comparisons."""
    segments = [
        ":" if segment.startswith(":") or (i > 0 and re.search(r"\d", segment)) else segment
        for i, segment in enumerate(path.strip("/").split("/")[:16])
    ]
    return "/".join(segment[:64] for segment in segments)
