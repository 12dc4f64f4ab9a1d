"""Decides in each world which rule acts on a request, and counts every decision exactly once.

Rules stand under the ids of the operations that they act on: a request to any other operation pays
for one look into a dict. Everything here runs under the world's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mock_platform.core.call import Call, Reply
from mock_platform.core.table import Tables
from mock_platform.scenario.deliveries import DELIVERIES
from mock_platform.scenario.document import Rule, Scenario
from mock_platform.scenario.effects.effect import Staging
from mock_platform.scenario.library import Library, UnknownScenario
from mock_platform.scenario.match import Check, Difference, checks, first_difference
from mock_platform.scenario.performance import perform
from mock_platform.world.mishaps import Mishap
from mock_platform.world.world import World

_NEAREST = 3
_DECIDED = 1000
"""Closeness of a rule whose conditions all hold, above that of any number of conditions."""


class CannotPerform(ValueError):
    """The server cannot do what a scenario wants done."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The scenario {name!r} breaks connections, which this server cannot do. Serve with "
            "`mock-platform serve --server cheroot` (the default) to use it."
        )


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
        return None if difference is None else (_DECIDED, difference)

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


class Active:
    """A scenario that is switched on, with its named state."""

    def __init__(self, scenario: Scenario, parameters: Mapping[str, Any]) -> None:
        self.scenario = scenario
        self.parameters = dict(parameters)
        self.state: str | None = None
        self.armed = [
            Armed(self, index, rule) for index, rule in enumerate(scenario.bind(parameters))
        ]
        for armed in self.armed:
            armed.checks = checks(armed.rule.when, lambda: self.state)

    def move(self, state: str) -> None:
        """Go to another named state."""
        self.state = state


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


class Engine:
    """The scenarios of one world: known, active, deciding."""

    def __init__(
        self,
        world: World,
        library: Library,
        tables: Tables,
        start_up: Sequence[str] = (),
        *,
        connections: Callable[[], bool] = lambda: True,
    ) -> None:
        """`start_up` are active from the beginning and again after each reset.

        `connections` tells whether the server can break connections.
        """
        self.world = world
        self._library = library
        self._tables = tables
        self._start_up = tuple(start_up)
        self._connections = connections
        self._defined: dict[str, Scenario] = {}
        self._active: dict[str, Active] = {}
        self.early: dict[str, list[Armed]] = {}
        """Rules that act before authentication, by operation id."""
        self.late: dict[str, list[Armed]] = {}
        """All other rules, by operation id."""
        self.begin()

    # -- switching -------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin anew: no definitions but the server's, the start-up scenarios active.

        Raises:
            UnknownScenario: There is no start-up scenario of that name.
            BadParameters: One cannot do without parameters.
        """
        with self.world.lock:
            self._defined.clear()
            self._active = {name: Active(self.find(name), {}) for name in self._start_up}
            self._index()

    def find(self, name: str) -> Scenario:
        """The scenario that this world knows by a name.

        Raises:
            UnknownScenario: There is none.
        """
        found = self._defined.get(name) or self._library.find(name)
        if found is None:
            raise UnknownScenario(name, [scenario.name for scenario in self.known()])
        return found

    def known(self) -> list[Scenario]:
        """Every scenario of this world, by name."""
        found = {scenario.name: scenario for scenario in self._library} | self._defined
        return [found[name] for name in sorted(found)]

    def define(self, scenario: Scenario) -> None:
        """Know a scenario in this world, in place of one of the same name.

        One that is active goes on as the new one says, from the beginning.

        Raises:
            BadParameters: An active one cannot go on with the parameters that it has.
            CannotPerform: An active one breaks connections and the server cannot.
        """
        with self.world.lock:
            running = self._active.get(scenario.name)
            if running is not None:
                self._check(scenario)
                self._active[scenario.name] = Active(scenario, running.parameters)
            self._defined[scenario.name] = scenario
            self._index()

    def activate(self, name: str, parameters: Mapping[str, Any] | None = None) -> Active:
        """Switch a scenario on; one that is on begins anew.

        Raises:
            UnknownScenario: There is none of that name.
            BadParameters: It cannot be activated with these.
            CannotPerform: It breaks connections and the server cannot.
        """
        with self.world.lock:
            scenario = self.find(name)
            self._check(scenario)
            active = Active(scenario, parameters or {})
            self._active.pop(name, None)
            self._active[name] = active
            self._index()
            return active

    def deactivate(self, name: str | None = None) -> None:
        """Switch a scenario off, or all of them; one that is off stays so.

        Raises:
            UnknownScenario: There is none of that name.
        """
        with self.world.lock:
            if name is None:
                self._active.clear()
            else:
                self.find(name)
                self._active.pop(name, None)
            self._index()

    def refresh(self, scenario: Scenario) -> None:
        """Go on with a file's new version, if the one of this name that is active is the file's.

        It begins anew with the parameters that it has.

        Raises:
            BadParameters: It cannot go on with these; the last version stays active.
            CannotPerform: It breaks connections and the server cannot; as above.
        """
        with self.world.lock:
            running = self._active.get(scenario.name)
            if running is not None and scenario.name not in self._defined:
                self._check(scenario)
                self._active[scenario.name] = Active(scenario, running.parameters)
                self._index()

    def asked_for(self, name: str) -> list[Armed]:
        """The rules of a scenario for one request alone, counting from the beginning.

        Raises:
            UnknownScenario: There is none of that name.
            BadParameters: It cannot do without parameters.
            CannotPerform: It breaks connections and the server cannot.
        """
        scenario = self.find(name)
        self._check(scenario)
        return Active(scenario, {}).armed

    # -- looking ---------------------------------------------------------------------------------

    def as_json(self) -> list[dict[str, Any]]:
        """Every known scenario with what its rules did."""
        with self.world.lock:
            return [self.describe(scenario.name) for scenario in self.known()]

    def describe(self, name: str) -> dict[str, Any]:
        """One scenario with what its rules did.

        Raises:
            UnknownScenario: There is none of that name.
        """
        with self.world.lock:
            scenario = self.find(name)
            active = self._active.get(name)
            if active is not None:
                scenario = active.scenario
            rules: list[dict[str, Any]] = (
                [] if active is None else [armed.as_json() for armed in active.armed]
            )
            return {
                "name": scenario.name,
                "description": scenario.description,
                "spec": scenario.spec,
                "parameters": dict(scenario.parameters),
                "active": active is not None,
                "given": {} if active is None else active.parameters,
                "state": None if active is None else active.state,
                "rules": rules,
            }

    def unfired_expectations(self) -> list[Unfired]:
        """Rules of active scenarios that were expected to act and did not."""
        with self.world.lock:
            return [
                Unfired(active.scenario.name, armed.index, armed.calls, armed.refused)
                for active in self._active.values()
                for armed in active.armed
                if armed.rule.expected and not armed.fired
            ]

    # -- deciding --------------------------------------------------------------------------------

    def act(
        self, rules: Iterable[Armed], call: Call, proceed: Callable[[Call, World], Reply]
    ) -> Reply:
        """Let the first rule that fits act; all that fit count the call."""
        acting: Armed | None = None
        missed: list[tuple[int, Armed, Difference]] = []
        for armed in rules:
            found = armed.decide(call, self.world)
            if found is not None:
                missed.append((found[0], armed, found[1]))
            elif acting is None:
                acting = armed
                armed.fired += 1
            else:
                missed.append((_DECIDED, armed, Difference("order", "no rule before it to act",
                                                           acting.name)))  # fmt: skip
        if missed:
            call.near_misses = nearest([*missed])
        if acting is None:
            return proceed(call, self.world)
        call.rule = {
            "scenario": acting.active.scenario.name,
            "rule": acting.index,
            "call": acting.calls,
        }
        return perform(acting.rule.effects, self._staging(acting, call), proceed)

    def on_delivery(self, event: Mapping[str, Any], *, holding: bool) -> Mishap | None:
        """What befalls the delivery of an event; decided once for all its attempts.

        While one is held back (`holding`), no rule holds another: the first one goes out after it.
        """
        acting: Armed | None = None
        for armed in self.late.get(DELIVERIES, ()):
            if armed.decide(event, self.world) is not None or acting is not None:
                continue
            assert armed.rule.mishap is not None
            if not (holding and armed.rule.mishap.reorder):
                acting = armed
                armed.fired += 1
        if acting is None or acting.rule.mishap is None:
            return None
        if acting.rule.next_state is not None:
            acting.active.move(acting.rule.next_state)
        return replace(acting.rule.mishap, rule=acting.name)

    def explain_refusal(self, call: Call, status: int) -> None:
        """Say of the rules that a refused request never came to that this is why they did not act.

        They count such requests.
        """
        if call.operation is None or call.rule is not None or call.rules_asked:
            return
        rules = self.late.get(call.operation.id)
        if not rules:
            return
        with self.world.lock:
            for armed in rules:
                armed.refused += 1
        why = Difference("stage", "a request that nothing else refuses", f"status {status}")
        missed = nearest([(0, armed, why) for armed in rules])
        call.near_misses = [*call.near_misses, *missed][:_NEAREST]

    def _staging(self, armed: Armed, call: Call) -> Staging:
        return Staging(
            call=call,
            world=self.world,
            tables=self._tables,
            rule=(armed.active.scenario.name, armed.index),
            number=armed.calls,
            set_state=armed.active.move,
        )

    def _check(self, scenario: Scenario) -> None:
        if scenario.needs_connection and not self._connections():
            raise CannotPerform(scenario.name)

    def _index(self) -> None:
        early: dict[str, list[Armed]] = {}
        late: dict[str, list[Armed]] = {}
        for active in self._active.values():
            for armed in active.armed:
                table = early if armed.rule.before_auth else late
                for operation in armed.rule.on:
                    table.setdefault(operation, []).append(armed)
        self.early, self.late = early, late


def nearest(missed: list[tuple[int, Armed, Difference]]) -> list[dict[str, Any]]:
    """The rules that came nearest to acting, each with its first difference in words."""
    missed.sort(key=lambda miss: -miss[0])
    return [
        {
            "scenario": armed.active.scenario.name,
            "rule": armed.index,
            "difference": str(difference),
        }
        for _, armed, difference in missed[:_NEAREST]
    ]
