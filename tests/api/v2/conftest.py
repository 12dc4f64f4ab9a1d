"""A sandbox with a frozen clock for each test of the v2 interface."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.support import Sandbox, Sandboxes

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def box(request: pytest.FixtureRequest, sandboxes: Sandboxes) -> Sandbox:
    """A sandbox on a Sunday at noon with the `SETTINGS` of the module, without what is `EMPTY`."""
    found = sandboxes.get(**{"freeze": NOON} | getattr(request.module, "SETTINGS", {}))
    found.clear(*getattr(request.module, "EMPTY", ()))
    return found
