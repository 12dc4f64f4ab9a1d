"""Finds the rules on paths that no operation serves for a request, among thousands.

A recording makes one for each path that the platform does not have. So the paths are in a tree by
their segments: a request is led to the rules of its path without asking the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from msgspec import Struct, field

from mock_platform.core.call import Call
from mock_platform.scenario.active import ActiveRule
from mock_platform.scenario.custom import CustomRoute, find_path
from mock_platform.scenario.rule_index import JoinedRules, RuleList


class _Node(Struct):
    """What is known of paths that begin alike."""

    named: dict[str, _Node] = field(default_factory=dict)
    """Longer paths, by their next segment."""
    parameter: _Node | None = None
    """Longer paths whose next segment is a parameter."""
    rules: dict[CustomRoute, RuleList] = field(default_factory=dict)
    """The rules for the paths that end here."""

    def lead(self, segment: str) -> _Node:
        """Return the node of paths that go on with a segment of a route."""
        if segment.startswith(":"):
            self.parameter = self.parameter or _Node()
            return self.parameter
        return self.named.setdefault(unquote(segment), _Node())

    def follow(self, segment: str) -> Iterator[_Node]:
        """Yield the nodes of paths that go on with a segment of a call's path."""
        value = unquote(segment)
        if value in self.named:
            yield self.named[value]
        if self.parameter is not None and value:
            yield self.parameter


class FoundRules(Struct, frozen=True):
    """The rules for the path of one request."""

    first: ActiveRule | None
    """The one that is asked first, if there are any."""
    all: RuleList | JoinedRules


class CustomRules:
    """Rules on paths that no operation serves, by their routes."""

    def __init__(self, rules: Sequence[ActiveRule]) -> None:
        """`rules` are in the order in which they are asked."""
        self._order = {id(armed): order for order, armed in enumerate(rules)}
        self._root = _Node()
        for armed in rules:
            for route in dict.fromkeys(armed.rule.routes):
                self._put(route, armed)

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._order)

    def find(self, call: Call) -> FoundRules:
        """Return the rules for the path of a call."""
        lists = [*self._list_matching(call)]
        if not lists:
            return FoundRules(None, RuleList())
        if len(lists) == 1:
            return FoundRules(lists[0][0], lists[0])
        first = min((each[0] for each in lists), key=self._find_order)
        return FoundRules(first, JoinedRules(lists, self._find_order))

    def _put(self, route: CustomRoute, armed: ActiveRule) -> None:
        node = self._root
        for segment in route.path.split("/"):
            node = node.lead(segment)
        node.rules.setdefault(route, RuleList()).append(armed)

    def _list_matching(self, call: Call) -> Iterator[RuleList]:
        # Several nodes at a time, unlike the router of operations: a fixed segment and a parameter
        # may both fit, and rules of both routes are asked, in the order of the scenarios.
        nodes: Iterable[_Node] = [self._root]
        for segment in find_path(call).split("/"):
            nodes = [inner for node in nodes for inner in node.follow(segment)]
        for node in nodes:
            for route, rules in node.rules.items():
                if route.match(call) is not None:
                    yield rules

    def _find_order(self, armed: ActiveRule) -> int:
        return self._order[id(armed)]
