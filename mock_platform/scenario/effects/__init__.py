"""All effects: one module each, and the table of them."""

from __future__ import annotations

from importlib import import_module

from mock_platform.scenario.effects.effect import EffectKind

EFFECTS = (
    "problem",
    "error",
    "respond",
    "collection",
    "patch",
    "delay",
    "fault",
    "disconnect",
    "rate_limit",
    "items",
    "set_state",
    "set_records",
)
"""The modules that declare an effect. Each has a `KIND`."""

_KINDS: tuple[EffectKind, ...] = tuple(import_module(f"{__name__}.{name}").KIND for name in EFFECTS)

KINDS: dict[str, EffectKind] = {kind.keyword: kind for kind in _KINDS}
"""Every kind of effect by its keyword."""
