"""Bounds what one request may cost because of active scenarios, before they are active.

A world answers one request at a time, so a request that asks hundreds of slow rules would keep all
others waiting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mock_platform.core.errors import BadParameters
from mock_platform.scenario.active import ActiveScenario
from mock_platform.scenario.pattern import MAX_ACTIVE_STEPS


def require_quick(name: str, active: Mapping[str, ActiveScenario]) -> None:
    """Require that the regular expressions that one request can meet do not take too long.

    `active` are the scenarios that would be active with the one of this name.

    Raises:
        BadParameters: They could; the scenario cannot be activated.
    """
    # Each pattern has a bound of its own (`pattern_steps`), calculated when it was read. One
    # request meets the rules of one operation, so the bounds are added up for each operation, over
    # all scenarios that would be active together. Whether the rules' other conditions exclude each
    # other is not looked at: the sum is what the worst request could cost.
    steps: Counter[str] = Counter()
    for scenario in active.values():
        for armed in scenario.rules:
            if armed.pattern_steps:
                for operation in armed.rule.on:
                    steps[operation] += armed.pattern_steps
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
