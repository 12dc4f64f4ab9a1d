"""Decides in each world which rule acts on a request, and counts every decision exactly once.

Rules stand under the ids of the operations that they act on: a request to any other operation pays
for one look into a dict. Everything here runs under the world's lock.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from mock_platform.core.call import Call, Reply
from mock_platform.core.jsonio import dumps
from mock_platform.records.table import Tables
from mock_platform.scenario.armed import DECIDED, Active, Armed, Unfired
from mock_platform.scenario.deliveries import DELIVERIES
from mock_platform.scenario.document import BadParameters, BadScenario, Scenario, loads
from mock_platform.scenario.effects.effect import Staging
from mock_platform.scenario.kept import Ledger, Recorded, as_records
from mock_platform.scenario.library import Library, UnknownScenario
from mock_platform.scenario.match import Difference
from mock_platform.scenario.performance import perform
from mock_platform.store.errors import StoreUnwritable
from mock_platform.store.interface import Beside, Record
from mock_platform.world.mishaps import Mishap
from mock_platform.world.names import UnknownWorld
from mock_platform.world.world import World

_NEAREST = 3
_LOG = logging.getLogger(__name__)


class CannotPerform(ValueError):
    """The server cannot do what a scenario wants done."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The scenario {name!r} breaks connections, which this server cannot do. Serve with "
            "`mock-platform serve` to use it."
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
        self._defined: Mapping[str, Scenario] = {}
        self._active: Mapping[str, Active] = {}
        self._ledger = Ledger(outlives=world.store.outlives)
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
            defined: Mapping[str, Scenario] = {}
            active = {
                name: Active(self._found(name, defined), {}, at_start=True)
                for name in self._start_up
            }
            self._put(defined, active)

    def find(self, name: str) -> Scenario:
        """The scenario that this world knows by a name.

        Raises:
            UnknownScenario: There is none.
        """
        return self._found(name, self._defined)

    def known(self) -> list[Scenario]:
        """Every scenario of this world, by name."""
        found = {scenario.name: scenario for scenario in self._library} | dict(self._defined)
        return [found[name] for name in sorted(found)]

    def define(self, scenario: Scenario) -> None:
        """Know a scenario in this world, in place of one of the same name.

        One that is active goes on as the new one says, from the beginning.

        Raises:
            BadParameters: An active one cannot go on with the parameters that it has.
            CannotPerform: An active one breaks connections and the server cannot.
        """
        with self._switching():
            active = dict(self._active)
            running = active.get(scenario.name)
            if running is not None:
                self._check(scenario)
                active[scenario.name] = running.again(scenario)
            self._put({**self._defined, scenario.name: scenario}, active)

    def activate(self, name: str, parameters: Mapping[str, Any] | None = None) -> Active:
        """Switch a scenario on; one that is on begins anew.

        Raises:
            UnknownScenario: There is none of that name.
            BadParameters: It cannot be activated with these.
            CannotPerform: It breaks connections and the server cannot.
        """
        with self._switching():
            scenario = self.find(name)
            self._check(scenario)
            active = Active(scenario, parameters or {})
            others = {other: one for other, one in self._active.items() if other != name}
            self._put(self._defined, {**others, name: active})
            return active

    def deactivate(self, name: str | None = None) -> None:
        """Switch a scenario off, or all of them; one that is off stays so.

        Raises:
            UnknownScenario: There is none of that name.
        """
        with self._switching():
            if name is not None:
                self.find(name)
            left = {} if name is None else dict(self._active)
            left.pop(name or "", None)
            self._put(self._defined, left)

    def refresh(self, scenario: Scenario) -> None:
        """Go on with a file's new version, if the one of this name that is active is the file's.

        It begins anew with the parameters that it has.

        Raises:
            BadParameters: It cannot go on with these; the last version stays active.
            CannotPerform: It breaks connections and the server cannot; as above.
        """
        with self._switching():
            running = self._active.get(scenario.name)
            if running is not None and scenario.name not in self._defined:
                self._check(scenario)
                self._put(self._defined, {**self._active, scenario.name: running.again(scenario)})

    def switch_off_unperformable(self) -> None:
        """Switch off what needs a server that can break connections, if this one cannot."""
        needing = [name for name, active in self._active.items() if not self._performable(active)]
        for name in needing:
            _LOG.warning("World %r: scenario off. %s", self.world.name, CannotPerform(name))
            self.deactivate(name)

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
            found = self._decide(armed, call)
            if found is not None:
                missed.append((found[0], armed, found[1]))
            elif acting is None:
                acting = armed
                armed.fired += 1
            else:
                missed.append((DECIDED, armed, Difference("order", "no rule before it to act",
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
        rules = self.late.get(DELIVERIES, ())
        if not rules:
            return None
        acting: Armed | None = None
        with self.world.work():
            for armed in rules:
                if self._decide(armed, event) is not None or acting is not None:
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
        # A count for who wonders: what cannot be recorded is not counted, and the refusal stands.
        with suppress(UnknownWorld, StoreUnwritable), self.world.work():
            for armed in rules:
                self._remember(armed)
                armed.refused += 1
        why = Difference("stage", "a request that nothing else refuses", f"status {status}")
        missed = nearest([(0, armed, why) for armed in rules])
        call.near_misses = [*call.near_misses, *missed][:_NEAREST]

    # -- kept with the world ---------------------------------------------------------------------

    def mark(self) -> tuple[Mapping[str, Scenario], Mapping[str, Active]]:
        """What is defined and active, for `put_back`."""
        return self._defined, self._active

    def put_back(self, mark: tuple[Mapping[str, Scenario], Mapping[str, Active]]) -> None:
        """Know and do again what `mark` returned."""
        self._put(*mark)

    def whole(self) -> Beside:
        """All that is defined and active, as it is recorded."""
        return as_records(self._defined, self._active, self._start_up)

    def pending(self) -> Beside:
        """What changed since it was last recorded."""
        return self._ledger.pending(self.whole)

    def recorded(self) -> None:
        """What was pending is recorded."""
        self._ledger.recorded(self.whole)

    def undo(self) -> None:
        """What was pending could not be recorded: what rules counted meanwhile is undone."""
        self._ledger.undo()

    def resume(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        """Go on with what was recorded, and with the start-up scenarios of this start.

        One that is named for the first time is switched on; one that is named no longer is off,
        unless somebody switched it on by hand. What cannot go on is off, and the log says why.
        """
        recorded = Recorded(tables)
        defined: dict[str, Scenario] = {}
        active: dict[str, Active] = {}
        for name, document in recorded.documents():
            try:
                defined[name] = loads(dumps(document), self._library.operations, f"{name}.json")
            except BadScenario as fault:
                self._lose(f"the definition of {name!r} has faults now: {fault}")
        for record in recorded.active():
            name = record.name
            if record.at_start and name not in self._start_up:
                continue
            try:
                scenario = self._found(name, defined)
                self._check(scenario)
                active[name] = record.active(scenario)
            except (UnknownScenario, BadParameters, CannotPerform) as fault:
                self._lose(f"{name!r} was active and is off. {fault}")
        for name in self._start_up:
            if name not in active and name not in recorded.start_up():
                active[name] = Active(self._found(name, defined), {}, at_start=True)
        self._ledger.resume(tables)
        self._put(defined, active)

    def _lose(self, what: str) -> None:
        _LOG.warning("World %r cannot go on with a scenario: %s", self.world.name, what)

    # -- within ----------------------------------------------------------------------------------

    @contextmanager
    def _switching(self) -> Iterator[None]:
        """Hold the world; what is switched within is recorded, or stays as it was."""
        with self.world.lock:
            mark = self.mark()
            try:
                with self.world.work():
                    yield
            except BaseException:
                self.put_back(mark)
                raise

    def _put(self, defined: Mapping[str, Scenario], active: Mapping[str, Active]) -> None:
        self._defined, self._active = defined, active
        self._ledger.switched = True
        self._index()

    def _found(self, name: str, defined: Mapping[str, Scenario]) -> Scenario:
        found = defined.get(name) or self._library.find(name)
        if found is None:
            known = {scenario.name for scenario in self._library} | defined.keys()
            raise UnknownScenario(name, sorted(known))
        return found

    def _decide(
        self, armed: Armed, subject: Call | Mapping[str, Any]
    ) -> tuple[int, Difference] | None:
        self._remember(armed)
        return armed.decide(subject, self.world)

    def _remember(self, armed: Armed) -> None:
        """Note what a rule counted, before it counts more; not of a rule for one request alone."""
        if self._ledger.outlives and self._active.get(armed.active.scenario.name) is armed.active:
            self._ledger.remember(armed.active)

    def _performable(self, active: Active) -> bool:
        return self._connections() or not active.scenario.needs_connection

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
