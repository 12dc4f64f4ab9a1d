"""Placement by lease: one owner for each world, found again after it has moved."""

from __future__ import annotations

import pytest

from mock_platform.serving.cluster import Place, Placement
from mock_platform.serving.cluster.by_lease import ByLease, read, write

HERE = Place("one/1", "127.0.0.1:7001")
NEAR = Place("one/2", "127.0.0.1:7002")
FAR = Place("two/1", "10.0.0.2:7001")
HIDDEN = Place("three/1", "127.0.0.1:7001")
PRIVATE = Place("three/2", "unix:/tmp/p/2.sock")


class Engine:
    """What an engine would say to the process at `HERE`."""

    def __init__(self) -> None:
        self.owners: dict[str, Place] = {}
        self.living: list[Place] | None = [HERE, NEAR, FAR, HIDDEN, PRIVATE]
        self.claims = 0

    def owns(self, world: str) -> bool:
        """Whether a world is here."""
        return self.owners.get(world) == HERE

    def claim(self, world: str) -> str | None:
        """Open a world, if it is nowhere."""
        self.claims += 1
        owner = self.owners.setdefault(world, HERE)
        return None if owner == HERE else write(owner)

    def announce(self, text: str) -> None:
        """Take how the process is reached."""

    def join(self, on_turn: object) -> None:
        """Count the process among the living."""

    def list_living(self) -> list[str] | None:
        """The texts of the living."""
        return None if self.living is None else [write(place) for place in self.living]

    def find_trouble(self) -> str | None:
        """Returns `None`: the engine can be used."""
        return None


@pytest.fixture
def engine() -> Engine:
    """An engine of four processes."""
    return Engine()


@pytest.fixture
def placement(engine: Engine) -> Placement:
    """The view of the process at `HERE`."""
    placement = ByLease(HERE, engine, b"secret")
    placement.join()
    return placement


def test_a_world_without_owner_is_claimed(placement: Placement, engine: Engine) -> None:
    """It is not known before, and here afterwards."""
    assert placement.find("w") is None
    assert HERE == placement.settle("w") == placement.find("w")
    assert 1 == engine.claims


@pytest.mark.parametrize("owner", [NEAR, FAR])
def test_an_owner_is_remembered_while_it_lives(
    placement: Placement, engine: Engine, owner: Place
) -> None:
    """The engine is asked once; not longer than the process lives."""
    engine.owners["w"] = owner
    assert owner == placement.settle("w")
    assert owner == placement.find("w")
    gone: list[Place] = []
    placement.gone_listeners.append(gone.append)
    engine.living = [HERE]
    placement.refresh()
    assert placement.find("w") is None
    assert {NEAR, FAR} == {*gone}
    del engine.owners["w"]
    assert HERE == placement.settle("w", owner)


@pytest.mark.parametrize("owner", [HIDDEN, PRIVATE])
def test_an_address_within_another_machine_is_not_used(
    placement: Placement, engine: Engine, owner: Place
) -> None:
    """This process refuses such a request, and says which one has the world."""
    engine.owners["w"] = owner
    assert HERE == placement.settle("w")
    assert [HERE, NEAR, FAR] == placement.list_places()


def test_what_is_known_stays_while_the_engine_is_gone(placement: Placement, engine: Engine) -> None:
    """Requests for worlds elsewhere still reach their owner."""
    engine.owners["w"] = NEAR
    placement.settle("w")
    engine.living = None
    placement.refresh()
    assert NEAR == placement.find("w")
    assert [HERE, NEAR, FAR] == placement.list_places()


@pytest.mark.parametrize("place", [NEAR, FAR, Place("one/3", ""), Place("x/1", "[::1]:80")])
def test_a_place_is_the_same_as_text(place: Place) -> None:
    """Also of a process that cannot be reached."""
    assert place == read(write(place))
    assert read("") is None
