from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from mock_platform.core.tables.fixtures import Overlays
from mock_platform.world.store.memory import Base


class Reader:
    """Reads nothing, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, folders: Sequence[Path]) -> Base:
        """Fixtures without a record."""
        self.asked.append([folder.name for folder in folders])
        return Base({}, {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one table."""
    tmp_path.joinpath("users.json").write_text("[]")
    return tmp_path


def test_a_folder_is_read_once(folder: Path) -> None:
    """As long as its files stay as they are, the same fixtures are returned."""
    reader = Reader()
    overlays = Overlays(reader)

    first, second = overlays.load([folder]), overlays.load([folder])

    assert first is second
    assert 1 == len(reader.asked)


@pytest.mark.parametrize("change", ["touched", "longer", "another", "gone"])
def test_a_changed_folder_is_read_again(folder: Path, change: str) -> None:
    """A file that was written, grew, came or went."""
    reader = Reader()
    overlays = Overlays(reader)
    first = overlays.load([folder])
    users = folder / "users.json"
    status = users.stat()
    if change == "touched":
        os.utime(users, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    elif change == "longer":
        users.write_text("[ ]")
        os.utime(users, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif change == "another":
        folder.joinpath("apps.json").write_text("[]")
    else:
        users.unlink()

    assert overlays.load([folder]) is not first


def test_the_order_of_folders_counts(folder: Path) -> None:
    """The last one is on top, so the same two in the other order are another set."""
    reader = Reader()
    overlays = Overlays(reader)
    other = folder / "other"
    other.mkdir()

    overlays.load([folder, other])
    overlays.load([other, folder])

    assert [[folder.name, "other"], ["other", folder.name]] == reader.asked


def test_what_was_used_last_is_kept(tmp_path: Path) -> None:
    """Beyond 32 sets the one that was not used for longest goes."""
    reader = Reader()
    overlays = Overlays(reader)
    folders = [tmp_path / str(number) for number in range(33)]
    for each in folders[:32]:
        each.mkdir()
        overlays.load([each])
    overlays.load([folders[0]])
    folders[32].mkdir()
    overlays.load([folders[32]])
    before = len(reader.asked)

    overlays.load([folders[0]])
    assert before == len(reader.asked)
    overlays.load([folders[1]])
    assert before + 1 == len(reader.asked)
