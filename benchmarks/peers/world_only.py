"""The plugin without a request: a fresh world for each test, which does nothing with it."""

from __future__ import annotations

from mock_platform import WorldFace


def test_world(mock_platform: WorldFace, number: int) -> None:
    """A world is there."""
    assert mock_platform.base_url
