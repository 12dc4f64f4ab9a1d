"""Acknowledged records survive kills of workers and of their engine: a short benchmark run."""

from __future__ import annotations

import pytest

from benchmarks import chaos
from tests.conftest import Tool


@pytest.mark.crash
@pytest.mark.parametrize("engine", chaos.Engine.KINDS)
def test_nothing_acknowledged_is_lost(tool: Tool, engine: str) -> None:
    """Kills under load, also of an engine that comes back older: all records are there."""
    tool("redis-server")

    figures = chaos.run(rounds=2, worlds=4, clients=2, workers=2, lease="1s", engine=engine)

    assert figures.acknowledged
