"""The page of requests: the list, one of them, and a request saved as a scenario."""

from __future__ import annotations

from mock_platform.console import entry, entry_scenario, request_list
from mock_platform.console.page import ConsolePage

PAGE = ConsolePage("Requests", "/", (*request_list.ROUTES, *entry.ROUTES, *entry_scenario.ROUTES))
