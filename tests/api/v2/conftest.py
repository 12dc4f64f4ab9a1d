"""Sandboxes with a frozen clock for each test of the v2 interface, and a client of one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.api.oauth.app_client import AppClient
from tests.support import Sandbox, Sandboxes
from tests.support_replay import Desk

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def box(request: pytest.FixtureRequest, sandboxes: Sandboxes) -> Sandbox:
    """A sandbox on a Sunday at noon with the `SETTINGS` of the module, without what is `EMPTY`."""
    found = sandboxes.get(**{"freeze": NOON} | getattr(request.module, "SETTINGS", {}))
    found.clear(*getattr(request.module, "EMPTY", ()))
    return found


@pytest.fixture
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A sandbox with the `SETTINGS` of the module, without the records of its tables in `EMPTY`.

    If the test or its module uses the receiver, the well-known webhook leads there.
    """
    receives = "receiver" in request.fixturenames
    url = request.getfixturevalue("receiver").url if receives else None
    with Desk(url, **getattr(request.module, "SETTINGS", {})) as found:
        found.clear(*getattr(request.module, "EMPTY", ()))
        yield found
        assert [] == found.platform.errors


@pytest.fixture
def client(request: pytest.FixtureRequest, desk: Desk) -> AppClient:
    """A client of that sandbox, of the class that the module calls `Client`."""
    found: AppClient = request.module.Client(desk)
    return found
