"""A scenario that is switched on: its rules at work, how often each was met and acted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mock_platform.core.call import Call
from mock_platform.scenario.document import Rule, Scenario
from mock_platform.scenario.match import Check, Difference, checks, first_difference
from mock_platform.world.world import World

DECIDED = 1000
"""Closeness of a rule whose conditions all hold, above that of any number of conditions."""


@dataclass(slots=True)
class Armed:
    """A rule at work: its conditions bound, and how often it was met and acted."""

    active: Active
    index: int
    rule: Rule
    checks: list[Check] = field(default_factory=list)
    calls: int = 0
    fired: int = 0
    refused: int = 0
    """How many requests to its operations were refused before it could act on them."""

    @property
    def name(self) -> str:
        """The rule as `X-Mock-Rule` names it."""
        return f"{self.active.scenario.name}/{self.index}"

    @property
    def remaining(self) -> int | None:
        """How often it may act yet; `None` where there is no end."""
        rule = self.rule
        left = None if rule.times is None else max(0, rule.times - self.fired)
        if rule.last is None:
            return left
        behind = max(0, self.calls - rule.first + 1)
        due = max(0, (rule.last - rule.first + 1) // rule.every - behind // rule.every)
        return due if left is None else min(due, left)

    def decide(self, call: Call | Mapping[str, Any], world: World) -> tuple[int, Difference] | None:
        """Count the call if it fits; `None` if the rule acts on it, else how near it came and why.

        A call is a request, or an event on its way to a webhook.

        Nearness is the number of conditions that hold, or more than any if all of them do.
        """
        found = first_difference(call, self.checks)
        if found is not None:
            return found
        self.calls += 1
        difference = self._not_due(world)
        return None if difference is None else (DECIDED, difference)

    def _not_due(self, world: World) -> Difference | None:
        rule, number = self.rule, self.calls
        if number < rule.first or (rule.last is not None and number > rule.last):
            last = "on" if rule.last is None else f"to {rule.last}"
            wanted = str(rule.first) if rule.first == rule.last else f"{rule.first} {last}"
            return Difference("call", wanted, number)
        if (number - rule.first + 1) % rule.every:
            return Difference("call", f"every {rule.every}th", number)
        if rule.times is not None and self.fired >= rule.times:
            return Difference("times", f"no more than {rule.times}", self.fired + 1)
        if rule.probability is not None:
            drawn = world.ids.fraction("rule", self.active.scenario.name, self.index, number)
            if drawn >= rule.probability:
                return Difference("probability", f"below {rule.probability:g}", round(drawn, 4))
        return None

    def as_json(self) -> dict[str, Any]:
        """The rule as the control plane shows it."""
        return {
            "rule": self.index,
            "on": "*" if self.rule.everywhere else list(self.rule.on),
            "expected": self.rule.expected,
            "matched": self.calls,
            "fired": self.fired,
            "remaining": self.remaining,
            "refused": self.refused,
        }


Progress = tuple[str | None, list[tuple[int, int, int]]]
"""A scenario's state, and how often each rule was met, acted, and came too late for a refusal."""


class Active:
    """A scenario that is switched on, with its named state."""

    def __init__(
        self, scenario: Scenario, parameters: Mapping[str, Any], *, at_start: bool = False
    ) -> None:
        self.scenario = scenario
        self.parameters = dict(parameters)
        self.at_start = at_start
        """Whether the server's start switched it on, not somebody by hand."""
        self.state: str | None = None
        self.armed = [
            Armed(self, index, rule) for index, rule in enumerate(scenario.bind(parameters))
        ]
        for armed in self.armed:
            armed.checks = checks(armed.rule.when, lambda: self.state)

    def move(self, state: str) -> None:
        """Go to another named state."""
        self.state = state

    def again(self, scenario: Scenario) -> Active:
        """The same from its beginning, as another version of the scenario says.

        Raises:
            BadParameters: That one cannot do with these parameters.
        """
        return Active(scenario, self.parameters, at_start=self.at_start)

    def progress(self) -> Progress:
        """How far it came: its state, and what each rule counted."""
        return self.state, [(each.calls, each.fired, each.refused) for each in self.armed]

    def go_on(self, progress: Progress) -> None:
        """Be as far as `progress` said; where there are other rules now, at the beginning."""
        state, counts = progress
        if len(counts) == len(self.armed):
            self.state = state
            for armed, (calls, fired, refused) in zip(self.armed, counts, strict=True):
                armed.calls, armed.fired, armed.refused = calls, fired, refused


@dataclass(frozen=True, slots=True)
class Unfired:
    """A rule with `expect: fired` that did not act.

    `matched` calls fitted it, `refused` ones were refused before it could act on them.
    """

    scenario: str
    rule: int
    matched: int
    refused: int = 0

    def __str__(self) -> str:
        met = f"{self.matched} call{'' if self.matched == 1 else 's'} matched it"
        return (
            f"Scenario {self.scenario}, rule {self.rule}, was expected to act but never did; {met}"
            f"{describe_refusals(self.refused)}."
        )


def describe_refusals(refused: int) -> str:
    """How many requests were refused before a rule could act on them; empty for none."""
    if not refused:
        return ""
    were = "request was" if refused == 1 else "requests were"
    return (
        f"; {refused} {were} refused before it could act: without `stage: before_auth` a rule acts "
        "only on requests that nothing else refuses"
    )
