"""A world for the tests of authentication."""

from __future__ import annotations

import pytest

from mock_platform.platform import Platform
from mock_platform.world.world import World


@pytest.fixture
def world() -> World:
    """A world with the default fixtures."""
    return Platform().worlds.default
