"""Which documented failures of an operation a scenario provokes, and with which parameters.

The effects of its rules say what they would answer. Failures that depend on what happens to records
or connections meanwhile are not known beforehand, and no scenario is named for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct

from mock_platform.core.call import Call
from mock_platform.core.errors import BadParameters
from mock_platform.core.failures.errors import Failure
from mock_platform.core.failures.rendering import render
from mock_platform.core.operation import Operation
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.checking import find_unread_names
from mock_platform.scenario.document import Rule, Scenario
from mock_platform.scenario.effects.effect import RefusingEffect
from mock_platform.scenario.library import Library
from mock_platform.verification.coverage.contract import Outcome, find_codes, make_call


class Provocation(Struct, frozen=True):
    """A scenario that provokes an outcome of an operation."""

    scenario: str
    parameters: Mapping[str, str]
    """What points it at the operation; empty if it acts there anyway."""
    outcomes: frozenset[Outcome]

    @property
    def query(self) -> str:
        """The query with which the scenario's page points it there."""
        named = list(self.parameters.values())
        return f"?{urlencode({'operation': named[0]})}" if named else ""

    def __str__(self) -> str:
        given = ", ".join(f"{name}: {value}" for name, value in self.parameters.items())
        return f"{self.scenario} ({given})" if given else self.scenario


def find_provocations(
    library: Library, operation: Operation, documented: Sequence[Outcome]
) -> Iterator[Provocation]:
    """Yields the scenarios that provoke documented outcomes of an operation.

    Those that act on it without parameters come first.
    """
    pointed = []
    for scenario in library:
        rules = library.bind_defaults(scenario)
        acting = [rule for rule in rules if _acts_on(rule, operation, library.catalog)]
        outcomes = _foresee(acting, operation, documented)
        if outcomes:
            yield Provocation(scenario.name, {}, outcomes)
        elif not acting:
            pointed += list(_point(scenario, rules, operation, documented))
    yield from pointed


def find_operation_parameter(scenario: Scenario) -> str | None:
    """Returns the parameter that names the operation on which a rule acts, if there is one."""
    for rule in scenario.document["rules"]:
        on = rule.get("on")
        if isinstance(on, str) and on.startswith("$"):
            return on[1:]
    return None


def _acts_on(rule: Rule, operation: Operation, catalog: Catalog) -> bool:
    """Returns whether a request to the operation can meet the conditions of a rule."""
    if operation.id not in rule.on:
        return False
    when: Mapping[str, Any] = rule.when
    scheme = when.get("caller", {}).get("scheme")
    return (
        (not isinstance(scheme, str) or scheme in operation.auth.schemes)
        and set(when.get("path", {})) <= set(operation.path_names)
        and not find_unread_names({"on": operation.id, "when": when}, catalog)
    )


def _point(
    scenario: Scenario,
    rules: Sequence[Rule],
    operation: Operation,
    documented: Sequence[Outcome],
) -> Iterator[Provocation]:
    """Yields the scenario with the parameter that names its operation, if it has one."""
    parameter = find_operation_parameter(scenario)
    if parameter is None:
        return
    pointed = [
        rule
        for raw, rule in zip(scenario.document["rules"], rules, strict=True)
        if raw.get("on") == f"${parameter}"
    ]
    outcomes, parameters = _foresee(pointed, operation, documented), {parameter: operation.id}
    if outcomes and _can_bind(scenario, parameters):
        yield Provocation(scenario.name, parameters, outcomes)


def _can_bind(scenario: Scenario, parameters: Mapping[str, str]) -> bool:
    try:
        scenario.bind(parameters)
    except BadParameters:  # this operation cannot have the effect
        return False
    return True


def _foresee(
    rules: Sequence[Rule], operation: Operation, documented: Sequence[Outcome]
) -> frozenset[Outcome]:
    """Returns the documented outcomes that the effects of rules answer with."""
    effects = [effect for rule in rules for effect in rule.effects]
    return frozenset(
        outcome
        for effect in effects
        if isinstance(effect, RefusingEffect)
        for outcome in _list_outcomes(effect, make_call(operation))
        if outcome in documented
    )


def _list_outcomes(effect: RefusingEffect, call: Call) -> Iterator[Outcome]:
    found = effect.foresee(call)
    reply = render(found, call) if isinstance(found, Failure) else found
    if reply.status >= 400:
        yield from (Outcome(reply.status, code) for code in find_codes(reply.status, reply.body))
