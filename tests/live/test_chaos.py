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

    # Who waits for the lease of a killed owner wants a short one. An engine that forgets must find
    # the owners alive, so there the lease is longer than a busy machine makes them wait.
    lease = "1s" if engine == "always" else "30s"
    figures = chaos.run(rounds=2, worlds=4, clients=2, workers=2, lease=lease, engine=engine)

    assert figures.acknowledged
