"""The scenarios of one world: which are defined and active, kept with the world.

Which of their rules acts is decided in `rules`. Everything here runs under the world's lock.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mock_platform.core.errors import (
    BadParameters,
    BadScenario,
    CannotPerform,
    NotDefinedHere,
    UnknownScenario,
)
from mock_platform.core.jsonio import dumps
from mock_platform.core.tables.table import Tables
from mock_platform.scenario.active import (
    ACTIVE,
    DEFINED,
    START_UP,
    ActiveRule,
    ActiveScenario,
    Ledger,
    as_records,
    find_hidden,
)
from mock_platform.scenario.deliveries import DELIVERIES, LINES
from mock_platform.scenario.document import Scenario, loads
from mock_platform.scenario.effects.collection import forget_changes
from mock_platform.scenario.failures import correct_operation, list_near_ids
from mock_platform.scenario.library import Library
from mock_platform.scenario.outline import UnfiredRule
from mock_platform.scenario.pattern import MAX_ACTIVE_STEPS
from mock_platform.scenario.rules import Rules
from mock_platform.world.attached import DeliveryFault
from mock_platform.world.store.interface import Beside, Record
from mock_platform.world.world import World

_LOG = logging.getLogger(__name__)


class Engine:
    """The scenarios of one world: which are known and active, with their rules."""

    def __init__(
        self,
        world: World,
        library: Library,
        tables: Tables,
        start_up: Sequence[str] = (),
        *,
        connections: Callable[[], bool] = lambda: True,
        on_fired: Callable[[str, int], object] = lambda _name, _rule: None,
    ) -> None:
        """`start_up` are active from the beginning and again after each reset, as they are then.

        `connections` returns whether the server can break connections. `on_fired` is called with
        the name and the number of each rule of an active scenario that acts.
        """
        self.world = world
        self._library = library
        self.start_up = start_up
        """Names of the scenarios that are active from the beginning."""
        self._connections = connections
        self._defined: Mapping[str, Scenario] = {}
        self._active: Mapping[str, ActiveScenario] = {}
        self._activations = 0
        """The number of the last activation."""
        self._ledger = Ledger(outlives=world.store.outlives)
        self.rules = Rules(world, tables, self._ledger, on_fired)
        self.begin()

    # -- switching -------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start from scratch: only the server's scenarios, of which the start-up ones are active.

        Raises:
            UnknownScenario: A start-up scenario does not exist.
            BadParameters: One requires parameters, or their regular expressions are too slow.
        """
        with self.world.lock:
            defined: Mapping[str, Scenario] = {}
            active = {
                name: ActiveScenario(self._require_scenario(name, defined), {}, at_start=True)
                for name in self.start_up
            }
            require_quick(next(reversed(active), ""), active)
            self._put(defined, active)

    def find(self, name: str) -> Scenario:
        """Return the scenario that this world knows by a name.

        Raises:
            UnknownScenario: No scenario has this name.
        """
        return self._require_scenario(name, self._defined)

    def list_defined(self) -> frozenset[str]:
        """Return the names of the scenarios that were defined in this world."""
        return frozenset(self._defined)

    def list_scenarios(self) -> list[Scenario]:
        """Return every scenario of this world, and the failures that are active, sorted by name."""
        found = {scenario.name: scenario for scenario in self._library} | dict(self._defined)
        found |= {name: active.scenario for name, active in self._active.items()}
        return [found[name] for name in sorted(found)]

    def define(self, scenario: Scenario) -> None:
        """Add a scenario to this world, or replace the one with the same name.

        If that one is active, the new one is active instead, from the beginning.

        Raises:
            BadParameters: The new one cannot be activated with the parameters of the old one.
            CannotPerform: The new one would be active, but the server cannot break connections.
        """
        with self._switch_or_undo():
            # Everything is checked with copies, and then put in place in one step: if the new
            # version cannot be active, the old one is still there, unchanged.
            active = self._restart(scenario)
            self._put({**self._defined, scenario.name: scenario}, active)

    def undefine(self, name: str) -> None:
        """Remove a scenario that was defined in this world; if it is active, it is deactivated.

        A scenario of the server with this name is known again.

        Raises:
            UnknownScenario: No scenario has this name.
            NotDefinedHere: It is one of the server's.
        """
        with self._switch_or_undo():
            self.find(name)
            if name not in self._defined:
                raise NotDefinedHere(name)
            defined = {other: one for other, one in self._defined.items() if other != name}
            active = {other: one for other, one in self._active.items() if other != name}
            self._put(defined, active)

    def activate(self, name: str, parameters: Mapping[str, Any] | None = None) -> ActiveScenario:
        """Activate a scenario; one that is active starts from the beginning.

        Raises:
            UnknownScenario: No scenario has this name.
            BadParameters: It cannot be activated with these parameters, or its regular expressions
                are too slow together with those that are active.
            CannotPerform: It breaks connections and the server cannot.
        """
        with self._switch_or_undo():
            scenario = self.find(name)
            self._check(scenario)
            active = ActiveScenario(scenario, parameters or {}, number=self._count_activation())
            others = {other: one for other, one in self._active.items() if other != name}
            self._put(self._defined, self._start({**others, name: active}, name))
            return active

    def deactivate(self, name: str | None = None) -> None:
        """Deactivate a scenario, or all of them; idempotent.

        Raises:
            UnknownScenario: No scenario has this name.
        """
        with self._switch_or_undo():
            if name is not None:
                self.find(name)
            left = {} if name is None else dict(self._active)
            left.pop(name or "", None)
            self._put(self._defined, left)

    def refresh(self, scenario: Scenario) -> None:
        """Replace an active scenario by the new version of its file, if it came from a file.

        It starts from the beginning, with the same parameters.

        Raises:
            BadParameters: It cannot be activated with these; the last version stays active.
            CannotPerform: It breaks connections and the server cannot; as above.
        """
        with self._switch_or_undo():
            if scenario.name in self._active and scenario.name not in self._defined:
                self._put(self._defined, self._restart(scenario))

    def deactivate_unperformable(self) -> None:
        """Deactivate scenarios that break connections, if the server cannot do that."""
        needing = [name for name, active in self._active.items() if not self._can_perform(active)]
        for name in needing:
            _LOG.warning("World %r: scenario off. %s", self.world.name, CannotPerform(name))
            self.deactivate(name)

    def find_rules_for_request(self, name: str) -> list[ActiveRule]:
        """Return the rules of a scenario for one request alone, with counts from zero.

        Raises:
            UnknownScenario: No scenario has this name.
            BadParameters: It requires parameters.
            CannotPerform: It breaks connections and the server cannot.
        """
        scenario = self.find(name)
        self._check(scenario)
        alone = ActiveScenario(scenario, {})
        require_quick(name, {**self._active, f"{name} for this request": alone})
        return alone.rules

    # -- looking ---------------------------------------------------------------------------------

    def as_json(self) -> list[dict[str, Any]]:
        """Return every known scenario with what its rules did."""
        with self.world.lock:
            hidden = find_hidden(self._active.values())
            return [self._describe(each.name, hidden) for each in self.list_scenarios()]

    def describe_active(self) -> list[dict[str, Any]]:
        """Return every active scenario with what its rules did; no other one is read."""
        with self.world.lock:
            hidden = find_hidden(self._active.values())
            return [self._describe(name, hidden) for name in sorted(self._active)]

    def describe(self, name: str) -> dict[str, Any]:
        """Return one scenario with what its rules did.

        Raises:
            UnknownScenario: No scenario has this name.
        """
        with self.world.lock:
            return self._describe(name, find_hidden(self._active.values()))

    def _describe(self, name: str, hidden: Mapping[tuple[str, int], str]) -> dict[str, Any]:
        active = self._active.get(name)
        scenario = self.find(name) if active is None else active.scenario
        now = self.world.clock.now()
        return {
            "name": scenario.name,
            "description": scenario.description,
            "spec": scenario.spec,
            "parameters": dict(scenario.parameters),
            "active": active is not None,
            "given": {} if active is None else active.parameters,
            "state": None if active is None else active.state,
            "rules": [
                active_rule.as_json(now) | {"hidden_by": hidden.get((name, active_rule.index))}
                for active_rule in (() if active is None else active.rules)
            ],
        }

    def unfired_expectations(self) -> list[UnfiredRule]:
        """Return the rules of active scenarios that were expected to act and did not."""
        with self.world.lock:
            unfired = [
                active_rule
                for active in self._active.values()
                for active_rule in active.rules
                if active_rule.rule.expected and not active_rule.fired
            ]
            hidden = find_hidden(self._active.values()) if unfired else {}
            return [
                UnfiredRule(
                    active_rule.active.scenario.name,
                    active_rule.index,
                    active_rule.calls,
                    active_rule.refused,
                    active_rule.describe_turn(),
                    hidden.get((active_rule.active.scenario.name, active_rule.index), ""),
                )
                for active_rule in unfired
            ]

    # -- deciding --------------------------------------------------------------------------------

    def on_delivery(self, event: Mapping[str, Any], *, holding: bool) -> DeliveryFault | None:
        """Return the fault of an event's delivery, if any; decided once for all its attempts.

        While an event is held back (`holding`), no rule holds another one back: the held one goes
        out after it.
        """
        return self.rules.find_fault(DELIVERIES, event, holding=holding)

    def on_line(self, line: Mapping[str, Any], *, holding: bool) -> DeliveryFault | None:
        """Return the fault of a stream's line, if any; decided once."""
        return self.rules.find_fault(LINES, line, holding=holding)

    # -- kept with the world ---------------------------------------------------------------------

    def mark(self) -> tuple[Mapping[str, Scenario], Mapping[str, ActiveScenario]]:
        """Return what is defined and active, for `put_back`."""
        return self._defined, self._active

    def put_back(self, mark: tuple[Mapping[str, Scenario], Mapping[str, ActiveScenario]]) -> None:
        """Restore the definitions and active scenarios that `mark` returned."""
        self._put(*mark)

    def read_records(self) -> Beside:
        """Return everything that is defined and active, in recorded form."""
        return as_records(self._defined, self._active, self.start_up)

    def pending(self) -> Beside:
        """Return what changed since it was last recorded."""
        return self._ledger.pending(self.read_records)

    def mark_recorded(self) -> None:
        """Note that what was pending is recorded."""
        self._ledger.mark_recorded(self.read_records)

    def undo(self) -> None:
        """Undo what rules counted meanwhile: what was pending could not be recorded."""
        self._ledger.undo()

    def resume(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        """Continue with the recorded scenarios, and with the start-up scenarios of this start.

        A start-up scenario that is new becomes active; one that is no longer named becomes
        inactive, unless a user activated it. What cannot continue is inactive, which is logged.
        """
        defined: dict[str, Scenario] = {}
        active: dict[str, ActiveScenario] = {}
        for name, record in tables.get(DEFINED, {}).items():
            try:
                text = dumps(record["document"])
                defined[name] = loads(text, self._library.catalog, f"{name}.json")
            except BadScenario as error:
                self._log_loss(f"the definition of {name!r} has faults now: {error}")
        for record in sorted(tables.get(ACTIVE, {}).values(), key=lambda each: each["order"]):
            name, at_start = record["name"], record["at_start"]
            if at_start and name not in self.start_up:
                continue
            try:
                scenario = self._require_scenario(name, defined)
                self._check(scenario)
                number = record.get("number", 0)
                restored = ActiveScenario(
                    scenario, record["parameters"], at_start=at_start, number=number
                )
                restored.restore_progress((record["state"], record["counts"]))
                require_quick(name, {**active, name: restored})
                active[name] = restored
            except (UnknownScenario, BadParameters, CannotPerform) as error:
                self._log_loss(f"{name!r} was active and is off. {error}")
        known = tables.get(START_UP, {})
        for name in self.start_up:
            if name not in active and name not in known:
                active[name] = ActiveScenario(
                    self._require_scenario(name, defined), {}, at_start=True
                )
        self._ledger.resume(tables)
        self._activations = max([self._activations, *(each.number for each in active.values())])
        self._put(defined, active)

    def repeat_switches(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        """Continue as `resume` does, in a world in which they were switched meanwhile."""
        with self._ending_windows():
            self.resume(tables)

    def _log_loss(self, what: str) -> None:
        _LOG.warning("World %r cannot go on with a scenario: %s", self.world.name, what)

    # -- within ----------------------------------------------------------------------------------

    @contextmanager
    def _switch_or_undo(self) -> Iterator[None]:
        """Hold the world's lock; changes within are recorded, or undone if that fails."""
        with self.world.lock:
            mark = self.mark()
            try:
                with self.world.work(), self._ending_windows():
                    yield
            except BaseException:
                self.put_back(mark)
                raise

    @contextmanager
    def _ending_windows(self) -> Iterator[None]:
        """Forget the rate windows of scenarios that are switched off or on within.

        A scenario starts from the beginning each time, and so do its windows.
        """
        before = self._active
        yield
        for name in before.keys() | self._active.keys():
            old, new = before.get(name), self._active.get(name)
            if old is None or new is None or old.number != new.number:
                self.world.windows.forget(("scenario", name))

    def _count_activation(self) -> int:
        self._activations += 1
        return self._activations

    def _restart(self, scenario: Scenario) -> Mapping[str, ActiveScenario]:
        """Return what is active with another version of a scenario, from its beginning."""
        running = self._active.get(scenario.name)
        if running is None:
            return self._active
        self._check(scenario)
        again = ActiveScenario(
            scenario,
            running.parameters,
            at_start=running.at_start,
            number=self._count_activation(),
        )
        return self._start({**self._active, scenario.name: again}, scenario.name)

    def _start(
        self, active: Mapping[str, ActiveScenario], name: str
    ) -> Mapping[str, ActiveScenario]:
        """Return what is to be active, after checks; the records of one scenario start again."""
        require_quick(name, active)
        forget_changes(self.world, name)
        return active

    def _put(self, defined: Mapping[str, Scenario], active: Mapping[str, ActiveScenario]) -> None:
        self._defined, self._active = defined, active
        self._ledger.switched = True
        self.rules.index(active)

    def _require_scenario(self, name: str, defined: Mapping[str, Scenario]) -> Scenario:
        found = defined.get(name) or self._library.find(name)
        if found is None:
            known = {scenario.name for scenario in self._library} | defined.keys()
            meant = correct_operation(name, self._library.catalog)
            failures = list_near_ids(meant, self._library.catalog)
            raise UnknownScenario(name, failures or known, meant)
        return found

    def _can_perform(self, active: ActiveScenario) -> bool:
        return self._connections() or not active.scenario.needs_connection

    def _check(self, scenario: Scenario) -> None:
        if scenario.needs_connection and not self._connections():
            raise CannotPerform(scenario.name)


def require_quick(name: str, active: Mapping[str, ActiveScenario]) -> None:
    """Require that the regular expressions that one request can meet do not take too long.

    `active` are the scenarios that would be active with the one of this name.

    Raises:
        BadParameters: They could; the scenario cannot be activated.
    """
    # A world answers one request at a time, so a request that asks hundreds of slow rules would
    # keep all others waiting. Each pattern has a bound of its own (`pattern_steps`), calculated
    # when it was read. One request meets the rules of one operation, so the bounds are added up for
    # each operation, over all scenarios that would be active together. Whether the rules' other
    # conditions exclude each other is not looked at: the sum is what the worst request could cost.
    steps: Counter[str] = Counter()
    for scenario in active.values():
        for active_rule in scenario.rules:
            if active_rule.pattern_steps:
                for operation in active_rule.rule.on:
                    steps[operation] += active_rule.pattern_steps
    if not steps:
        return
    ((operation, most),) = steps.most_common(1)
    if most > MAX_ACTIVE_STEPS:
        text = (
            f"the regular expressions (matches) of all active rules on {operation} could take "
            f"{most:,} steps for one request, and {MAX_ACTIVE_STEPS:,} are allowed. Use fewer "
            "open repetitions such as .*, equals or in, or fewer active rules"
        )
        raise BadParameters(name, [("", text)])
