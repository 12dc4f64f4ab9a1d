"""Which operation answers a path, derived from the table of operations alone.

A static segment always wins over a varying one, whatever the method: `PUT /cards/poll` is a wrong
method on the poll cards, never an update of a card whose id is `poll`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Generic, TypeVar
from urllib.parse import unquote

from mock_platform.core.operation import Operation

T = TypeVar("T")


@dataclass(slots=True)
class _Node(Generic[T]):
    static: dict[str, _Node[T]] = field(default_factory=dict)
    varying: _Node[T] | None = None
    methods: dict[str, tuple[T, tuple[str, ...]]] = field(default_factory=dict)


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
        if node is None or not node.methods:
            return Found(None, {})
        entry = node.methods.get(method)
        if entry is None and method == "HEAD":
            entry = node.methods.get("GET")
        if entry is None:
            return Found(None, {}, tuple(sorted(node.methods)))
        return Found(entry[0], dict(zip(entry[1], values, strict=True)))


def nearest(operations: Iterable[Operation], method: str, path: str, n: int = 3) -> list[Operation]:
    """The operations whose method and path come closest to what was asked for."""
    wanted = _shape(path)

    def closeness(operation: Operation) -> float:
        ratio = SequenceMatcher(None, wanted, _shape(operation.path)).ratio()
        return ratio + (0.05 if operation.method == method else 0.0)

    ranked = sorted(operations, key=closeness, reverse=True)
    return [operation for operation in ranked[:n] if closeness(operation) > 0.6]


def _shape(path: str) -> str:
    """A path with everything that looks like an id replaced, so that ids do not count."""
    segments = [
        ":" if segment.startswith(":") or (i > 0 and re.search(r"\d", segment)) else segment
        for i, segment in enumerate(path.strip("/").split("/")[:16])
    ]
    return "/".join(segment[:64] for segment in segments)
