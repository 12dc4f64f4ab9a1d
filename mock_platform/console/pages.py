"""All pages of the console, in the order of the navigation. A page is added here in one line."""

from __future__ import annotations

from mock_platform.console import requests_page
from mock_platform.console.page import ConsolePage

PAGES: tuple[ConsolePage, ...] = (
    requests_page.PAGE,
)  # fmt: skip
"""Requests, Scenarios, Worlds, Clock, Records, Transitions, Replay and deliveries, Webhooks,
Streams, Rules, Coverage, Operations, Assumptions: in this order, as far as they exist.
"""
