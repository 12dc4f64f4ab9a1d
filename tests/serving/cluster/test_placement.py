"""Placement by hash: the same place in every process, and a share of the worlds for each."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

import pytest

from mock_platform.serving.cluster import Place, Placement
from mock_platform.serving.cluster.placement import ByHash, ByLease, read_place, write_place

if TYPE_CHECKING:
    from mock_platform.serving.cluster.shared_worlds import EngineLeases


PLACES = [Place(str(number), f"unix:/run/{number}") for number in (1, 2, 3)]


def test_every_process_finds_the_same_place() -> None:
    """What one process computes for a name, the others compute as well."""
    views: list[Placement] = [ByHash(PLACES, index, b"secret") for index in range(3)]
    for number in range(200):
        assert 1 == len({view.find(f"w{number}") for view in views})
        assert views[0].find(f"w{number}") == views[1].locate(f"w{number}", PLACES[0])


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
    """Each process knows all places from the start, and has no trouble."""
    placement = ByHash(PLACES, 1, b"secret")
    assert PLACES[1] == placement.here
    assert PLACES == list(placement.list_places())
    assert b"secret" == placement.secret
    assert placement.find_trouble() is None


# By lease: one owner for each world, found again after it has moved.

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
        return None if owner == HERE else write_place(owner)

    def announce(self, text: str) -> None:
        """Take how the process is reached."""

    def join(self, on_turn: object) -> None:
        """Count the process among the living."""

    def list_living(self) -> list[str] | None:
        """The texts of the living."""
        return None if self.living is None else [write_place(place) for place in self.living]

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
    placement = ByLease(HERE, cast("EngineLeases", engine), b"secret")
    placement.join()
    return placement


def test_a_world_without_owner_is_claimed(placement: Placement, engine: Engine) -> None:
    """It is not known before, and here afterwards."""
    assert placement.find("w") is None
    assert HERE == placement.locate("w") == placement.find("w")
    assert 1 == engine.claims


@pytest.mark.parametrize("owner", [NEAR, FAR])
def test_an_owner_is_remembered_while_it_lives(
    placement: Placement, engine: Engine, owner: Place
) -> None:
    """The engine is asked once; not longer than the process lives."""
    engine.owners["w"] = owner
    assert owner == placement.locate("w")
    assert owner == placement.find("w")
    gone: list[Place] = []
    placement.gone_listeners.append(gone.append)
    engine.living = [HERE]
    placement.refresh()
    assert placement.find("w") is None
    assert {NEAR, FAR} == {*gone}
    del engine.owners["w"]
    assert HERE == placement.locate("w", owner)


@pytest.mark.parametrize("owner", [HIDDEN, PRIVATE])
def test_an_address_within_another_machine_is_not_used(
    placement: Placement, engine: Engine, owner: Place
) -> None:
    """This process refuses such a request, and says which one has the world."""
    engine.owners["w"] = owner
    assert HERE == placement.locate("w")
    assert [HERE, NEAR, FAR] == placement.list_places()


def test_what_is_known_stays_while_the_engine_is_gone(placement: Placement, engine: Engine) -> None:
    """Requests for worlds elsewhere still reach their owner."""
    engine.owners["w"] = NEAR
    placement.locate("w")
    engine.living = None
    placement.refresh()
    assert NEAR == placement.find("w")
    assert [HERE, NEAR, FAR] == placement.list_places()


@pytest.mark.parametrize("place", [NEAR, FAR, Place("one/3", ""), Place("x/1", "[::1]:80")])
def test_a_place_is_the_same_as_text(place: Place) -> None:
    """Also of a process that cannot be reached."""
    assert place == read_place(write_place(place))
    assert read_place("") is None
