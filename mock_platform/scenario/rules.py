"""Which rule of a world's active scenarios acts, and what happens then.

Rules are indexed by the ids of the operations that they act on: a request to any other operation
costs one look into a dict. Everything here runs under the world's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from msgspec.structs import replace

from mock_platform.core.call import Call, Reply
from mock_platform.core.failures.errors import Failure
from mock_platform.core.failures.rendering import render
from mock_platform.core.tables.table import Tables
from mock_platform.scenario.active import ALL_HOLD, ActiveRule, ActiveScenario, Ledger
from mock_platform.scenario.effects.effect import (
    AnswerEffect,
    ChangeEffect,
    Effect,
    GateEffect,
    Staging,
    TreatmentEffect,
)
from mock_platform.scenario.effects.fault import FaultEffect
from mock_platform.scenario.match import Mismatch
from mock_platform.scenario.rule_index import (
    MAX_NEAR_MISSES,
    CustomRules,
    JoinedRules,
    Missed,
    RuleList,
)
from mock_platform.world.attached import DeliveryFault
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreError
from mock_platform.world.world import World

# Runs a rule that acts: changes, gate, its answer or the handler's, then treatments.


class _UndoAttempt(Exception):
    """Carries a reply out of an attempt that is to be undone."""

    def __init__(self, reply: Reply) -> None:
        super().__init__()
        self.reply = reply


def perform(
    effects: Sequence[Effect], staging: Staging, proceed: Callable[[Call, World], Reply]
) -> Reply:
    """Return the reply to a request on which a rule acts.

    Changes of the rule stay even if the request fails; changes of the handler are undone then, as
    always, and also by a fault before the commit.
    """
    for effect in effects:
        # Three stages whatever the order in which a scenario lists its effects: changes of records,
        # so that the handler sees them; then the answer; then what is done to the answer. The
        # changes are outside of the attempt below, so they stay even if the handler fails.
        if isinstance(effect, ChangeEffect):
            effect.change(staging)
    undo = any(isinstance(effect, FaultEffect) and effect.undoes_changes for effect in effects)
    reply = _answer(effects, staging, proceed, undo=undo)
    for effect in effects:
        if isinstance(effect, TreatmentEffect):
            reply = effect.treat(staging, reply)
    return reply


def _answer(
    effects: Sequence[Effect],
    staging: Staging,
    proceed: Callable[[Call, World], Reply],
    *,
    undo: bool,
) -> Reply:
    call, world = staging.call, staging.world

    def handle() -> Reply:
        return proceed(call, world)

    answer = next((effect for effect in effects if isinstance(effect, AnswerEffect)), None)
    gate = next((effect for effect in effects if isinstance(effect, GateEffect)), None)

    def reply_beyond_gate() -> Reply:
        return handle() if answer is None else answer.answer(staging, handle)

    try:
        with world.attempt():
            # The handler runs in an attempt of its own, because its failure becomes a reply here
            # and no exception reaches the transaction: without it, half of its changes would be
            # committed. A fault "before the commit" needs the opposite, an undo although there is a
            # good reply; only an exception undoes, so one carries the reply out.
            try:
                reply = (
                    reply_beyond_gate() if gate is None else gate.admit(staging, reply_beyond_gate)
                )
            except Failure as failure:
                if not failure.keeps_changes:
                    raise
                reply = render(failure, call)
            if undo:
                raise _UndoAttempt(reply)  # noqa: TRY301 - only an exception undoes an attempt
            return reply
    except Failure as failure:
        return render(failure, call)
    except _UndoAttempt as undone:
        return undone.reply


class Rules:
    """The rules of a world's active scenarios; each decision is counted exactly once."""

    def __init__(
        self,
        world: World,
        tables: Tables,
        ledger: Ledger,
        on_fired: Callable[[str, int], object],
    ) -> None:
        """`on_fired` is called with scenario and number of each rule that acts.

        `ledger` notes the counts of rules before they change.
        """
        self._world = world
        self._tables = tables
        self._ledger = ledger
        self._on_fired = on_fired
        self._active: Mapping[str, ActiveScenario] = {}
        self.early: dict[str, RuleList] = {}
        """Rules that act before authentication, by operation id."""
        self.late: dict[str, RuleList] = {}
        """All other rules, by operation id."""
        self.custom = CustomRules(())
        """Rules on paths that no operation serves."""
        self.everywhere: list[ActiveRule] = []
        """Rules that act on every request."""

    def index(self, active: Mapping[str, ActiveScenario]) -> None:
        """Take the rules of these scenarios in place of those before."""
        self._active = active
        early: dict[str, RuleList] = {}
        late: dict[str, RuleList] = {}
        every = [active_rule for each in active.values() for active_rule in each.rules]
        for active_rule in every:
            # A series belongs to the index that is replaced now. Its rules take their count with
            # them, and the new index forms series again from rules whose counts are equal.
            active_rule.leave_series()
            table = early if active_rule.rule.before_auth else late
            for operation in active_rule.rule.on:
                table.setdefault(operation, RuleList()).append(active_rule)
        self.early, self.late = early, late
        self.custom = CustomRules(
            sort_by_stage(active_rule for active_rule in every if active_rule.rule.routes)
        )
        self.everywhere = sort_by_stage(
            active_rule for active_rule in every if active_rule.rule.everywhere
        )

    def act(
        self,
        rules: Iterable[ActiveRule] | JoinedRules,
        call: Call,
        proceed: Callable[[Call, World], Reply],
        first: Iterable[ActiveRule] = (),
    ) -> Reply:
        """Let the first matching rule act; every matching rule counts the call.

        Rules in `first` are asked before the others.
        """
        # Every rule whose conditions hold counts the call, also those after the one that acts: "the
        # third call" means the third that matches, whatever another rule did with the first two. So
        # the loop goes on after the first hit, and what it finds then are near misses that say why.
        acting: ActiveRule | None = None
        asked, missed = self._narrow(rules, call)
        for active_rule in chain(first, asked):
            found = self._decide(active_rule, call)
            if found is not None:
                missed.append((found[0], active_rule, found[1]))
            elif acting is None:
                acting = active_rule
                self._fire(active_rule)
            else:
                missed.append((ALL_HOLD, active_rule, Mismatch("order", "no rule before it to act",
                                                           acting.name)))  # fmt: skip
        if missed:
            call.near_misses = find_nearest([*missed])
        if acting is None:
            self._tell_count(call, missed)
            return proceed(call, self._world)
        call.path_params = acting.find_path_params(call)
        call.rule = {
            "scenario": acting.active.scenario.name,
            "rule": acting.index,
            "call": acting.calls,
        }
        return perform(acting.rule.effects, self._make_staging(acting, call), proceed)

    def find_fault(
        self, on: str, event: Mapping[str, Any], *, holding: bool
    ) -> DeliveryFault | None:
        """Return the fault of an event's delivery or of a stream's line, if a rule has one.

        While an event is held back (`holding`), no rule holds another one back.
        """
        rules = self.late.get(on, ())
        if not rules:
            return None
        acting: ActiveRule | None = None
        with self._world.work():
            # A delivery has no request, so it opens a transaction itself: the counts of rules are
            # recorded by a commit like any other.
            for active_rule in rules:
                if self._decide(active_rule, event) is not None or acting is not None:
                    continue
                assert active_rule.rule.delivery_fault is not None
                if not (holding and active_rule.rule.delivery_fault.reorder):
                    acting = active_rule
                    self._fire(active_rule)
            if acting is None or acting.rule.delivery_fault is None:
                return None
            if acting.rule.next_state is not None:
                acting.active.move(acting.rule.next_state)
            return replace(acting.rule.delivery_fault, rule=acting.name)

    def explain_refusal(self, call: Call, status: int) -> None:
        """Record for the rules that a refused request did not reach why they did not act.

        They count such requests.
        """
        if call.operation is None or call.rule is not None or call.rules_asked:
            return
        rules = self.late.get(call.operation)
        if not rules:
            return
        # The count is only information: if it cannot be recorded, the refusal is still answered.
        with suppress(UnknownWorld, StoreError), self._world.work():
            for active_rule in rules:
                self._remember(active_rule)
                active_rule.refused += 1
        why = Mismatch("stage", "a request that nothing else refuses", f"status {status}")
        missed = find_nearest([(0, active_rule, why) for active_rule in rules[:MAX_NEAR_MISSES]])
        call.near_misses = [*call.near_misses, *missed][:MAX_NEAR_MISSES]

    def _tell_count(self, call: Call, missed: Sequence[Missed]) -> None:
        """Say of a call that a rule counted, without it being its turn, which call it was."""
        counted = [each for each in missed if each[0] == ALL_HOLD]
        if counted and call.without_effect is None:
            _, active_rule, why = counted[0]
            name, index = active_rule.active.scenario.name, active_rule.index
            call.without_effect = f"Rule {index} of scenario {name} did not act: {why}"

    def _narrow(
        self, rules: Iterable[ActiveRule] | JoinedRules, call: Call
    ) -> tuple[Iterable[ActiveRule], list[Missed]]:
        """Return the rules to ask, and of the others those that came nearest."""
        if not isinstance(rules, RuleList | JoinedRules):
            return rules, []
        # A series counts here, once, for all its rules; the rules it names are then asked with that
        # number.
        found = rules.narrow(call)
        for series in found.series:
            self._remember(series.rules[0][1])
            series.calls += 1
        return found.asked, found.missed

    def _decide(
        self, active_rule: ActiveRule, subject: Call | Mapping[str, Any]
    ) -> tuple[int, Mismatch] | None:
        self._remember(active_rule)
        return active_rule.decide(subject, self._world)

    def _fire(self, active_rule: ActiveRule) -> None:
        active_rule.fired += 1
        if self._is_lasting(active_rule):
            self._on_fired(active_rule.active.scenario.name, active_rule.index)

    def _remember(self, active_rule: ActiveRule) -> None:
        """Note a rule's counts before they change, except of rules for one request alone."""
        # Rules for one request alone are in no scenario that is active, so nothing of them is
        # stored.
        if self._ledger.outlives and self._is_lasting(active_rule):
            self._ledger.remember(active_rule.active)

    def _is_lasting(self, active_rule: ActiveRule) -> bool:
        """Return whether a rule is one of an active scenario, not for one request alone."""
        return self._active.get(active_rule.active.scenario.name) is active_rule.active

    def _make_staging(self, active_rule: ActiveRule, call: Call) -> Staging:
        return Staging(
            call=call,
            world=self._world,
            tables=self._tables,
            rule=(active_rule.active.scenario.name, active_rule.index),
            number=active_rule.calls,
            set_state=active_rule.active.move,
            alone=not self._is_lasting(active_rule),
        )


def sort_by_stage(rules: Iterable[ActiveRule]) -> list[ActiveRule]:
    """Return rules in the order in which they are asked: those before authentication first."""
    return sorted(rules, key=lambda active_rule: not active_rule.rule.before_auth)


def find_nearest(missed: list[Missed]) -> list[dict[str, Any]]:
    """Return the rules that came nearest to acting, each with its first difference in words."""
    missed.sort(key=lambda miss: -miss[0])
    return [
        {
            "scenario": active_rule.active.scenario.name,
            "rule": active_rule.index,
            "difference": str(difference),
        }
        for _, active_rule, difference in missed[:MAX_NEAR_MISSES]
    ]
