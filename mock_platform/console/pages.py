"""All pages of the console, in the order of the navigation. A page is added here in one line."""

from __future__ import annotations

from mock_platform.console import (
    assumptions_page,
    clock,
    coverage_page,
    operations_page,
    records,
    replay,
    requests_page,
    rules,
    scenario_editor,
    streams,
    transitions,
    webhooks,
    worlds,
)
from mock_platform.console.page import ConsolePage

PAGES: tuple[ConsolePage, ...] = (
    requests_page.PAGE,
    scenario_editor.PAGE,
    worlds.PAGE,
    clock.PAGE,
    records.PAGE,
    transitions.PAGE,
    replay.PAGE,
    webhooks.PAGE,
    streams.PAGE,
    rules.PAGE,
    coverage_page.PAGE,
    operations_page.PAGE,
    assumptions_page.PAGE,
)  # fmt: skip
"""Requests, Scenarios, Worlds, Clock, Records, Transitions, Replay and deliveries, Webhooks,
Streams, Rules, Coverage, Operations, Assumptions: in this order, as far as they exist.
"""
