"""The directory that the workers of a machine share."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from mock_platform.serving.cluster.directory import Directory
from mock_platform.world.worlds import Owners, OwnersInMemory


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a server."""
    found = tmp_path / "directory.sqlite"
    Directory.create(found)
    return found


@pytest.fixture(params=["memory", "directory"])
def owners(request: pytest.FixtureRequest, path: Path) -> Iterator[Owners]:
    """Each implementation: of one process, and of several."""
    if request.param == "memory":
        yield OwnersInMemory()
        return
    directory = Directory(path, 0)
    yield directory
    directory.close()


def test_a_credential_of_one_world_finds_it(owners: Owners) -> None:
    """One that two worlds have finds neither, until one of them loses it."""
    assert owners.is_empty()
    owners.add("key", "w1")
    assert not owners.is_empty()
    assert "w1" == owners.find("key")
    owners.add("key", "w1")
    owners.add("key", "w2")
    assert owners.find("key") is None
    owners.remove("key", "w1")
    assert "w2" == owners.find("key")
    owners.remove("other", "w2")
    owners.forget("w2")
    assert owners.find("key") is None
    assert owners.is_empty()


def test_workers_see_one_another_at_once(path: Path) -> None:
    """What one worker records the others find; a worker that starts again begins with nothing."""
    first, second = Directory(path, 0), Directory(path, 1)
    first.add("key", "w1")
    second.add("token", "w2")
    assert ("w1", "w2") == (second.find("key"), first.find("token"))
    second.forget("w1")  # is not its own
    assert "w1" == second.find("key")

    again = Directory(path, 0)

    assert second.find("key") is None
    assert "w2" == again.find("token")
    for each in (first, second, again):
        each.close()


def test_kept_worlds_are_listed_with_their_workers(path: Path) -> None:
    """Every worker learns what the files of the others have."""
    first, second = Directory(path, 0), Directory(path, 1)
    first.keep(["a", "b"])
    second.keep(["c"])
    assert {"a": 0, "b": 0, "c": 1} == first.list_kept() == second.list_kept()
    first.close()
    second.close()


def test_only_its_owner_reads_the_file(path: Path) -> None:
    """It contains credentials."""
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
