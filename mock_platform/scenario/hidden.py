"""Which rules of active scenarios can never act, because one of another scenario comes first.

One rule acts on a request: the first of those that fit, in the order in which their scenarios were
switched on. `advice` says the same of the rules of one document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mock_platform.scenario.active import ActiveRule, ActiveScenario
from mock_platform.scenario.effects.effect import AnswerEffect


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
