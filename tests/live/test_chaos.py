"""Acknowledged records survive kills of workers and of their engine: a short benchmark run."""

from __future__ import annotations

import pytest

from benchmarks import chaos
from tests.conftest import Tool


@pytest.mark.crash
def test_nothing_acknowledged_is_lost(tool: Tool) -> None:
    """Two kills under load: all records are there, and no world had two owners."""
    tool("redis-server")

    figures = chaos.run(rounds=2, worlds=4, clients=2, workers=2, lease="1s")

    assert figures.acknowledged
