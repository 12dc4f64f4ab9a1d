"""Counts of a server by worlds: apart, together, bounded."""

from __future__ import annotations

from collections import Counter

import pytest

from mock_platform.core.world_counts import EARLIER, MAX_WORLDS, WorldCounts


@pytest.mark.parametrize(("more", "first"), [(0, ["w0", "w1"]), (1, ["w1", "w2"])])
def test_the_number_of_worlds_is_bounded(more: int, first: list[str]) -> None:
    """Beyond it the oldest world is counted with the earlier ones; no request is lost."""
    counts: WorldCounts[Counter[str]] = WorldCounts(Counter, Counter.update)
    for number in range(MAX_WORLDS + more):
        with counts.lock:
            counts.find(f"w{number}")["requests"] += 1

    worlds = counts.list_worlds()
    assert first == worlds[:2]
    assert (EARLIER in worlds) == (more > 0)
    assert counts.merge()["requests"] == MAX_WORLDS + more
    assert set(counts.read_each(Counter.total).values()) == {1}
