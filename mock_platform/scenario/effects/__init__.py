"""All effects: one module each, and the table of them."""

from __future__ import annotations

from mock_platform.scenario.effects import (
    delay,
    error,
    fault,
    items,
    patch,
    problem,
    rate_limit,
    respond,
    set_records,
    set_state,
)
from mock_platform.scenario.effects.effect import EffectKind

_MODULES = (
    problem, error, respond, patch, delay, fault, rate_limit, items, set_state, set_records,
)  # fmt: skip

KINDS: dict[str, EffectKind] = {module.KIND.keyword: module.KIND for module in _MODULES}
"""Every kind of effect by its keyword."""
