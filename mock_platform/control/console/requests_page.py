"""The page of requests: the list, one of them, and a request saved as a scenario."""

from __future__ import annotations

from mock_platform.control.console import entry, request_list
from mock_platform.control.console import entry as entry_scenario
from mock_platform.control.console.answers import ConsolePage

PAGE = ConsolePage(
    "Requests",
    "/",
    (*request_list.ROUTES, *entry.ENTRY_ROUTES, *entry_scenario.ENTRY_SCENARIO_ROUTES),
)
