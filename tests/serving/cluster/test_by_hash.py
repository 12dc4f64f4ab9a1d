"""Placement by hash: the same place in every process, and a share of the worlds for each."""

from __future__ import annotations

from collections import Counter

import pytest

from mock_platform.serving.cluster import Place, Placement
from mock_platform.serving.cluster.by_hash import ByHash

PLACES = [Place(str(number), f"unix:/run/{number}") for number in (1, 2, 3)]


def test_every_process_finds_the_same_place() -> None:
    """What one process computes for a name, the others compute as well."""
    views: list[Placement] = [ByHash(PLACES, index, b"secret") for index in range(3)]
    for number in range(200):
        assert 1 == len({view.find(f"w{number}") for view in views})
        assert views[0].find(f"w{number}") == views[1].settle(f"w{number}", PLACES[0])


def test_each_process_has_a_share() -> None:
    """No process has many more worlds than another."""
    placement = ByHash(PLACES, 0, b"secret")
    counts = Counter(placement.find(f"test-{number}").label for number in range(3000))
    assert all(800 < count < 1200 for count in counts.values())
    assert 3 == len(counts)


def test_the_default_world_lives_in_the_first_process() -> None:
    """Requests that name no world have one place, whatever the number of processes."""
    for count in (1, 2, 3):
        assert PLACES[0] == ByHash(PLACES[:count], 0, b"secret").find("default")


def test_kept_worlds_stay_where_they_are() -> None:
    """A world in the file of a process stays with it; the others do not move."""
    plain = ByHash(PLACES, 0, b"secret")
    index = PLACES.index(plain.find("orders"))
    other = (index + 1) % 3
    placed = ByHash(PLACES, 0, b"secret", {"orders": other})
    assert PLACES[other] == placed.find("orders")
    assert plain.find("bills") == placed.find("bills")


@pytest.mark.parametrize("name", ["", "\udcff", "ü" * 70, "a/b"])
def test_a_name_that_no_world_can_have_has_a_place(name: str) -> None:
    """Somebody must say that there is no such world."""
    assert ByHash(PLACES, 1, b"secret").find(name) in PLACES


def test_nothing_is_claimed() -> None:
    """Giving back and closing change nothing."""
    placement = ByHash(PLACES, 1, b"secret")
    placement.give_back("w1")
    placement.close()
    assert PLACES[1] == placement.here
    assert PLACES == list(placement.list_places())
    assert b"secret" == placement.secret
    assert placement.find_trouble() is None
