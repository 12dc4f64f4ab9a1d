"""Active scenarios: their rules, how often each acted, how this is kept, and what hides what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from mock_platform.core.call import Call
from mock_platform.scenario.catalog import find_route
from mock_platform.scenario.document import Rule, Scenario
from mock_platform.scenario.effects.effect import AnswerEffect
from mock_platform.scenario.match import Check, Mismatch, find_first_difference, make_checks
from mock_platform.scenario.pattern import count_pattern_steps
from mock_platform.world.clock import wire_millis
from mock_platform.world.store.interface import Beside, Record
from mock_platform.world.world import World

ALL_HOLD = 1000
"""Nearness of a rule whose conditions all hold: more than any number of conditions."""


class Series(Struct, eq=False):
    """Rules with equal conditions that act on one call after the other, and count together."""

    calls: int
    rules: list[tuple[int, ActiveRule]]
    """Each after its place in the order in which rules are asked."""


class ActiveRule(Struct):
    """A rule of an active scenario: its conditions, and how often it matched and acted."""

    active: ActiveScenario
    index: int
    rule: Rule
    checks: list[Check] = field(default_factory=list)
    pattern_steps: int = 0
    """What its regular expressions take at most, in the unit of `pattern.count_steps`."""
    fired: int = 0
    refused: int = 0
    """How many requests to its operations were refused before it could act on them."""
    series: Series | None = None
    """The series that counts its calls, if it is in one."""
    _calls: int = 0

    @property
    def calls(self) -> int:
        """How many calls fulfilled its conditions."""
        return self._calls if self.series is None else self.series.calls

    def restore_calls(self, calls: int) -> None:
        """Go on from a number of calls, which is that of all rules of a series."""
        if self.series is None:
            self._calls = calls
        else:
            self.series.calls = calls

    def leave_series(self) -> None:
        """Count its own calls from now on."""
        self._calls, self.series = self.calls, None

    def is_before(self, other: ActiveRule) -> bool:
        """Whether both count the same calls, and the other acts on later ones only.

        Their conditions must be equal.
        """
        return (
            self.active is other.active
            and self.calls == other.calls
            and self.rule.is_by_number
            and other.rule.is_by_number
            and self.rule.last is not None
            and self.rule.last < other.rule.first
        )

    @property
    def name(self) -> str:
        """The rule's name, as `X-Mock-Rule` shows it."""
        return f"{self.active.scenario.name}/{self.index}"

    def find_path_params(self, call: Call) -> Mapping[str, str]:
        """Return the path parameters of a call to one of the rule's own routes."""
        found = find_route(self.rule.routes, call)
        return call.path_params if found is None else found[1]

    def count_remaining(self, now: datetime) -> int | None:
        """Return how often the rule can still act at this moment; `None` without a limit."""
        rule = self.rule
        if rule.until is not None and now >= rule.until:
            return 0
        left = None if rule.times is None else max(0, rule.times - self.fired)
        if rule.last is None:
            return left
        behind = max(0, self.calls - rule.first + 1)
        due = max(0, (rule.last - rule.first + 1) // rule.every - behind // rule.every)
        return due if left is None else min(due, left)

    def decide(self, call: Call | Mapping[str, Any], world: World) -> tuple[int, Mismatch] | None:
        """Count a matching call; return `None` if the rule acts, else nearness and difference.

        A call is a request, or an event on its way to a webhook. Nearness is the number of
        conditions that hold, or `ALL_HOLD`.
        """
        # Cheap things first, and the count in the middle: conditions and the clock decide whether
        # this is a call of the rule at all; then it counts; only then is it asked whether it is
        # this call's turn. The count must not depend on the rule's limits, or "from call 3 on"
        # would never begin.
        found = find_first_difference(call, self.checks)
        if found is not None:
            return found
        outside = self._check_clock(world)
        if outside is not None:
            return len(self.checks), outside
        if self.series is None:  # a series counts for its rules
            self._calls += 1
        difference = self._check_due(world)
        return None if difference is None else (ALL_HOLD, difference)

    def _check_clock(self, world: World) -> Mismatch | None:
        after, before = self.rule.after, self.rule.before
        if after is None and before is None:
            return None
        now = world.clock.now()
        if after is not None and now < after:
            return _say("clock", f"it acts from {wire_millis(after)} on", _say_time(now))
        if before is not None and now >= before:
            return _say("clock", f"it acts before {wire_millis(before)}", _say_time(now))
        return None

    def _check_due(self, world: World) -> Mismatch | None:
        rule, number = self.rule, self.calls
        this = f"this was call {number}"
        is_outside = number < rule.first or (rule.last is not None and number > rule.last)
        if is_outside or (number - rule.first + 1) % rule.every:
            return _say(
                "call", f"it acts on {_describe_calls(rule.first, rule.last, rule.every)}", this
            )
        if rule.times is not None and self.fired >= rule.times:
            often = "once" if rule.times == 1 else f"{rule.times} times"
            return _say("times", f"it acts {often}, and has done so", this)
        if rule.until is not None and (now := world.clock.now()) >= rule.until:
            return _say("until", f"it acts until {wire_millis(rule.until)}", _say_time(now))
        if rule.probability is not None:
            # No draw of the world's ids: a rule with a probability must not change which ids the
            # world makes next. The number follows from scenario, rule and call, so a run repeats.
            drawn = world.ids.fraction("rule", self.active.scenario.name, self.index, number)
            if drawn >= rule.probability:
                share = f"it acts where the number drawn is below {rule.probability:g}"
                return _say("probability", share, f"{this}, and drew {drawn:.4f}")
        return None

    def as_json(self, now: datetime) -> dict[str, Any]:
        """Return the rule as the control plane shows it at this moment of its world."""
        return {
            "rule": self.index,
            "on": "*" if self.rule.everywhere else list(self.rule.on),
            "expected": self.rule.expected,
            "matched": self.calls,
            "fired": self.fired,
            "remaining": self.count_remaining(now),
            "refused": self.refused,
            "acts_on": self.describe_turn() or None,
        }

    def describe_turn(self) -> str:
        """Return on which of its calls it acts; empty if on each of them."""
        first, last, every = self.rule.first, self.rule.last, self.rule.every
        return "" if (first, last, every) == (1, None, 1) else _describe_calls(first, last, every)


def _say(path: str, wanted: str, was: str) -> Mismatch:
    return Mismatch(path, sentence=f"{wanted}; {was}")


def _say_time(now: datetime) -> str:
    return f"the world's clock was at {wire_millis(now)}"


def _describe_calls(first: int, last: int | None, every: int) -> str:
    """Return on which of its calls a rule acts.

    Example:
        >>> [_describe_calls(2, last, 1) for last in (2, None, 4)]
        ['call 2 only', 'call 2 and after', 'calls 2 to 4']
        >>> _describe_calls(1, None, 3), _describe_calls(2, None, 2)
        ('every 3rd call', 'every 2nd call from call 2 on')
    """
    if every > 1:
        calls = f"every {make_ordinal(every)} call"
        start = f" from call {first} on" if first > 1 else ""
        return calls + start + ("" if last is None else f", up to call {last}")
    if last is None:
        return f"call {first} and after"
    return f"call {first} only" if first == last else f"calls {first} to {last}"


def make_ordinal(number: int) -> str:
    """Return a number as an ordinal.

    Example:
        >>> [make_ordinal(number) for number in (1, 3, 12, 22)]
        ['1st', '3rd', '12th', '22nd']
    """
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number // 10 % 10 == 1 else ending}"


Progress = tuple[str | None, Sequence[Sequence[int]]]
"""A scenario's state, and for each rule how often it matched, acted, and lost to a refusal."""


class ActiveScenario:
    """An active scenario with its parameters, its named state and its rules."""

    def __init__(
        self,
        scenario: Scenario,
        parameters: Mapping[str, Any],
        *,
        at_start: bool = False,
        number: int = 0,
    ) -> None:
        self.scenario = scenario
        self.parameters = dict(parameters)
        self.at_start = at_start
        """Whether the server's start activated it, not a user."""
        self.number = number
        """The number of the activation: another one each time that it is switched on."""
        self.state: str | None = None
        self.rules = [
            ActiveRule(self, index, rule) for index, rule in enumerate(scenario.bind(parameters))
        ]
        for active_rule in self.rules:
            own = active_rule.find_path_params if active_rule.rule.routes else None
            active_rule.checks = make_checks(active_rule.rule.when, self.get_state, own)
            active_rule.pattern_steps = count_pattern_steps(active_rule.rule.when)

    def get_state(self) -> str | None:
        """Return the named state that it is in; `None` at the start."""
        return self.state

    def move(self, state: str) -> None:
        """Change to another named state."""
        self.state = state

    def read_progress(self) -> Progress:
        """Return the scenario's progress: its state, and what each rule counted."""
        return self.state, [(each.calls, each.fired, each.refused) for each in self.rules]

    def restore_progress(self, progress: Progress) -> None:
        """Restore what `read_progress` returned, unless the number of rules has changed."""
        state, counts = progress
        if len(counts) == len(self.rules):
            self.state = state
            for active_rule, (calls, fired, refused) in zip(self.rules, counts, strict=True):
                active_rule.restore_calls(calls)
                active_rule.fired, active_rule.refused = fired, refused


# The scenarios of a world as records: definitions, active scenarios and their progress.

DEFINED = "@scenarios"
"""Documents of scenarios that were defined in the world."""
ACTIVE = "@active"
"""Scenarios that are active: parameters, state and counts, in the order of their rules."""
START_UP = "@start_up"
"""Names of the scenarios that the server was started with when it last had the world."""

_TABLES = (DEFINED, ACTIVE, START_UP)


def as_records(
    defined: Mapping[str, Scenario], active: Mapping[str, ActiveScenario], start_up: Iterable[str]
) -> dict[tuple[str, str], Record | None]:
    """Return all records of the scenarios, by table and key."""
    found: dict[tuple[str, str], Record | None] = {
        (DEFINED, name): {"name": name, "document": scenario.document}
        for name, scenario in defined.items()
    }
    for order, (name, each) in enumerate(active.items()):
        state, counts = each.read_progress()
        found[ACTIVE, name] = {
            "name": name,
            "order": order,
            "at_start": each.at_start,
            "number": each.number,
            "parameters": each.parameters,
            "state": state,
            "counts": [list(each) for each in counts],
        }
    return found | {(START_UP, name): {"name": name} for name in start_up}


class Ledger:
    """Knows which records of a world's scenarios were stored, and so which are pending.

    Where nothing `outlives` the process, nothing is remembered.
    """

    def __init__(self, *, outlives: bool) -> None:
        self.outlives = outlives
        self.switched = False
        """Whether something was defined, activated or deactivated since it was last recorded."""
        self._before: dict[ActiveScenario, Progress] = {}
        self._recorded: Beside = {}

    def remember(self, active: ActiveScenario) -> None:
        """Note a scenario's progress before one of its rules decides."""
        if active not in self._before:
            self._before[active] = active.read_progress()

    def pending(self, whole: Callable[[], Beside]) -> Beside:
        """Return the part of the whole that is still to be recorded."""
        # `pending` runs at each commit, and nearly always only counts have changed. The progress
        # that was noted before is compared first; all records are made only if it differs.
        if not self.switched and all(a.read_progress() == b for a, b in self._before.items()):
            return {}
        now = whole()
        changed = {at: record for at, record in now.items() if self._differs(at, record)}
        return changed | {at: None for at in self._recorded if at not in now}

    def mark_recorded(self, whole: Callable[[], Beside]) -> None:
        """Note that what was pending is recorded."""
        if self.switched or self._before:
            self._recorded = whole()
            self._before.clear()
            self.switched = False

    def undo(self) -> None:
        """Restore the counts: what was pending could not be recorded."""
        for active, progress in self._before.items():
            active.restore_progress(progress)
        self._before.clear()

    def resume(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        """Read what was recorded from the tables of a store."""
        self._recorded = {
            (table, key): record
            for table in _TABLES
            for key, record in tables.get(table, {}).items()
        }

    def _differs(self, at: tuple[str, str], record: Record | None) -> bool:
        before = self._recorded.get(at)
        if before is None or record is None:
            return True
        if at[0] == DEFINED:
            # `==` does not see every difference between versions, as between 1 and true.
            return before["document"] is not record["document"]
        return (self.switched and at[0] == ACTIVE) or before != record


# Which rules can never act, because one of another scenario comes first. One rule acts on a
# request: the first of those that fit, in the order in which their scenarios were switched on.
# `advice` says the same of the rules of one document.


def find_hidden(active: Iterable[ActiveScenario]) -> Mapping[tuple[str, int], str]:
    """Return the rules that another scenario hides, and the name of the rule that does.

    Whoever asks passes the scenarios in the order of their activation.
    """
    found: dict[tuple[str, int], str] = {}
    open_rules: list[tuple[ActiveRule, frozenset[str]]] = []
    every = [active_rule for scenario in active for active_rule in scenario.rules]
    for active_rule in sorted(every, key=lambda each: not each.rule.before_auth):
        rule = active_rule.rule
        hiding = (
            other.name
            for other, on in open_rules
            if other.active is not active_rule.active and _hides(other, active_rule, on)
        )
        first = next(hiding, None) if rule.on and not rule.routes else None
        if first is not None:
            found[active_rule.active.scenario.name, active_rule.index] = first
        elif _is_open(active_rule):
            open_rules.append((active_rule, frozenset(rule.on)))
    return found


def _is_open(active_rule: ActiveRule) -> bool:
    """Return whether a rule acts on each call that it meets, for as long as it is active."""
    rule = active_rule.rule
    limits = (rule.last, rule.times, rule.until, rule.after, rule.before, rule.probability)
    return (
        not active_rule.checks
        and rule.first == rule.every == 1
        and all(limit is None for limit in limits)
        and not (rule.delivery_fault is not None and rule.delivery_fault.reorder)
    )


def _hides(one: ActiveRule, other: ActiveRule, on: frozenset[str]) -> bool:
    if not on.issuperset(other.rule.on):
        return False
    # The rules of different stages all act, until one answers.
    answers = any(isinstance(effect, AnswerEffect) for effect in one.rule.effects)
    return answers or one.rule.before_auth == other.rule.before_auth
