"""Finds the rules that a call may concern among thousands, as a recording makes them.

Rules are in a tree by the values that their conditions expect, so a call is led to the few whose
conditions may hold. Of all others, those that came nearest are known without asking them. A
recording makes a rule for each path that the platform does not have, so these paths are in a tree
by their segments.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, islice
from typing import Any
from urllib.parse import unquote

from msgspec import Struct, field

from mock_platform.core.call import Call
from mock_platform.scenario.active import ActiveRule, Series
from mock_platform.scenario.catalog import CustomRoute, find_path
from mock_platform.scenario.match import Check, Mismatch

MAX_NEAR_MISSES = 3
MIN_INDEXED = 16
"""Rules that are worth a tree; of fewer, each is asked."""
_MAX_BUCKET = 4
"""Rules that stay together, although their conditions differ."""

Numbered = tuple[int, ActiveRule]
"""A rule after its place in the order in which rules are asked."""
Missed = tuple[int, ActiveRule, Mismatch]
"""How many conditions of a rule hold, the rule, and its first difference."""


class RuleList(list[ActiveRule]):
    """Rules in the order in which they are asked."""

    @cached_property
    def tree(self) -> RuleTree | None:
        """The same rules by their conditions; `None` if there are few."""
        return RuleTree(self) if len(self) >= MIN_INDEXED else None

    def narrow(self, subject: Any) -> NarrowedRules:
        """Return the rules that a call may concern."""
        tree = self.tree
        return NarrowedRules(self, [], []) if tree is None else tree.find(subject)


class NarrowedRules(Struct, frozen=True):
    """What a tree knows about a call."""

    asked: list[ActiveRule]
    """The rules to ask, in their order."""
    missed: list[Missed]
    """Of the others, those that came nearest."""
    series: list[Series]
    """Those whose conditions hold: each counts the call once."""


class JoinedRules:
    """Several lists of rules that a call may concern together."""

    def __init__(self, lists: Iterable[RuleList], find_order: Callable[[ActiveRule], int]) -> None:
        """`find_order` returns the place of a rule in the order in which all are asked."""
        self._lists = [*lists]
        self._find_order = find_order

    def narrow(self, subject: Any) -> NarrowedRules:
        """Return the rules that a call may concern, each once."""
        # A rule for several routes may be in several lists, so the same one may be found twice. Its
        # place in the common order is its identity here: it removes duplicates, and sorting by it
        # restores the order in which rules are asked. A rule that is asked in one list is not a
        # near miss of another.
        found = [each.narrow(subject) for each in self._lists]
        find_order = self._find_order
        asked = {
            find_order(active_rule): active_rule for each in found for active_rule in each.asked
        }
        missed = {find_order(miss[1]): miss for each in found for miss in each.missed}
        return NarrowedRules(
            [asked[order] for order in sorted(asked)],
            [missed[order] for order in sorted(missed) if order not in asked],
            [*chain.from_iterable(each.series for each in found)],
        )


class RuleTree:
    """Rules by the values that their conditions expect."""

    def __init__(self, rules: Iterable[ActiveRule]) -> None:
        self._root = _Node([*enumerate(rules)], 0)

    def find(self, subject: Any) -> NarrowedRules:
        """Return the rules that a call may concern."""
        # A walk from the root. At each node the call's value at one place (its method, its path, a
        # field of its body) leads to the one child whose rules expect that value. All rules of the
        # other children are refuted by this one look: their condition at this depth does not hold,
        # while all before it did. That is also what "nearest" means: the deeper the node, the more
        # conditions held. So the best misses are found on the way without asking a rule.
        asked: list[Numbered] = []
        missed: list[tuple[int, int, ActiveRule, Check, Any]] = []
        series: list[Series] = []
        nodes = [self._root]
        while nodes:
            node = nodes.pop()
            asked += node.rules
            for each in node.series:
                series.append(each)
                asked += _list_relevant(each, each.calls + 1)
            for branch in node.branches:
                got = branch.check.get(subject)
                match = branch.nodes.get(branch.check.read(got))
                if match is not None:
                    nodes.append(match)
                # The nearest are among the first of the first: nodes are in the order of rules.
                for other in islice(branch.nodes.values(), MAX_NEAR_MISSES + 1):
                    if other is not match:
                        missed += (
                            (-node.depth, order, active_rule, active_rule.checks[node.depth], got)
                            for order, active_rule in other.first
                        )
        missed.sort(key=lambda miss: miss[:2])
        nearest = [
            (-depth, active_rule, Mismatch(check.path, check.expected, got))
            for depth, _, active_rule, check, got in missed[:MAX_NEAR_MISSES]
        ]
        asked.sort(key=_get_order)
        return NarrowedRules([active_rule for _, active_rule in asked], nearest, series)


class _Branch(Struct):
    """Rules whose next condition looks at the same place."""

    check: Check
    rules: dict[Hashable, list[Numbered]] = field(default_factory=dict)
    nodes: dict[Hashable, _Node] = field(default_factory=dict)


class _Node:
    """Rules whose first conditions, as many as `depth`, are equal."""

    __slots__ = ("branches", "depth", "first", "rules", "series")

    def __init__(self, rules: list[Numbered], depth: int) -> None:
        self.depth = depth
        self.first = rules[:MAX_NEAR_MISSES]
        self.rules = rules
        self.series: list[Series] = []
        self.branches: list[_Branch] = []
        if len(rules) <= _MAX_BUCKET:
            return
        self.rules = []
        # Rules whose conditions end here hold for any call that comes to this node. The others are
        # divided by the place that their next condition looks at, and within it by the value that
        # it expects. A pattern, a list or a bound is no single value: such a condition has a place
        # of its own, where only "it holds" leads on.
        branches: dict[Hashable, _Branch] = {}
        fulfilled = []
        for order, active_rule in rules:
            if len(active_rule.checks) == depth:
                fulfilled.append((order, active_rule))
                continue
            check = active_rule.checks[depth]
            branch = branches.setdefault(check.place, _Branch(check))
            branch.rules.setdefault(check.value, []).append((order, active_rule))
        self._join(fulfilled)
        for branch in branches.values():
            for value, inner in branch.rules.items():
                branch.nodes[value] = _Node(inner, depth + 1)
            branch.rules.clear()
        self.branches = [*branches.values()]

    def _join(self, fulfilled: Iterable[Numbered]) -> None:
        """Make series of the rules whose conditions all hold here."""
        for run in _split(fulfilled):
            # A recording has hundreds of rules with equal conditions, one for each repetition of a
            # call: "the first time", "the second time". They form a series that counts its calls
            # once, and the number of the call finds the rule by halving, where each rule would have
            # counted for itself.
            if len(run) <= _MAX_BUCKET:
                self.rules += run
                continue
            series = Series(run[0][1].calls, run)
            for _, active_rule in run:
                active_rule.series = series
            self.series.append(series)


def _split(fulfilled: Iterable[Numbered]) -> Iterator[list[Numbered]]:
    """Yield runs of rules, each of which is for calls after those of the one before it."""
    run: list[Numbered] = []
    for each in fulfilled:
        if run and not run[-1][1].is_before(each[1]):
            yield run
            run = []
        run.append(each)
    if run:
        yield run


def _list_relevant(series: Series, number: int) -> Iterator[Numbered]:
    """Yield the rules of a series that may act on the call of a number, or be near it."""
    near = MAX_NEAR_MISSES + 1
    yield from series.rules[:near]
    at = bisect_right(series.rules, number, key=lambda each: each[1].rule.first) - 1
    if at >= near:
        yield series.rules[at]


def _get_order(each: Numbered) -> int:
    return each[0]


class _PathNode(Struct):
    """What is known of paths that begin alike."""

    named: dict[str, _PathNode] = field(default_factory=dict)
    """Longer paths, by their next segment."""
    parameter: _PathNode | None = None
    """Longer paths whose next segment is a parameter."""
    rules: dict[CustomRoute, RuleList] = field(default_factory=dict)
    """The rules for the paths that end here."""

    def lead(self, segment: str) -> _PathNode:
        """Return the node of paths that go on with a segment of a route."""
        if segment.startswith(":"):
            self.parameter = self.parameter or _PathNode()
            return self.parameter
        return self.named.setdefault(unquote(segment), _PathNode())

    def follow(self, segment: str) -> Iterator[_PathNode]:
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
        self._order = {id(active_rule): order for order, active_rule in enumerate(rules)}
        self._root = _PathNode()
        for active_rule in rules:
            for route in dict.fromkeys(active_rule.rule.routes):
                self._put(route, active_rule)

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

    def _put(self, route: CustomRoute, active_rule: ActiveRule) -> None:
        node = self._root
        for segment in route.path.split("/"):
            node = node.lead(segment)
        node.rules.setdefault(route, RuleList()).append(active_rule)

    def _list_matching(self, call: Call) -> Iterator[RuleList]:
        # Several nodes at a time, unlike the router of operations: a fixed segment and a parameter
        # may both fit, and rules of both routes are asked, in the order of the scenarios.
        nodes: Iterable[_PathNode] = [self._root]
        for segment in find_path(call).split("/"):
            nodes = [inner for node in nodes for inner in node.follow(segment)]
        for node in nodes:
            for route, rules in node.rules.items():
                if route.match(call) is not None:
                    yield rules

    def _find_order(self, active_rule: ActiveRule) -> int:
        return self._order[id(active_rule)]
