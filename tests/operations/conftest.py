"""A sandbox for tests that can share one: its world is reset for each of them."""

from __future__ import annotations

import pytest

from tests.support import Sandbox, sandbox


@pytest.fixture(scope="session")
def _shared() -> Sandbox:
    return sandbox()


@pytest.fixture
def box(_shared: Sandbox) -> Sandbox:
    """A sandbox with the shipped fixtures and the default settings."""
    _shared.platform.worlds.default.reset()
    return _shared
