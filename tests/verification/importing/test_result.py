"""A folder that takes its place as a whole, also if the import is killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mock_platform.verification.importing.result import (
    ImportReport,
    remove_leftovers,
    replace_folder,
)
from tests.waits import PATIENCE

_WRITE = """
import sys
from pathlib import Path
from mock_platform.verification.importing.result import replace_folder

folder = Path(sys.argv[1])
rename = Path.rename

def stop_at(path, to):
    found = rename(path, to)
    if sys.argv[2] == "between":
        print("here", flush=True)
        sys.stdin.read()
    return found

Path.rename = stop_at
with replace_folder(folder) as made:
    (made / "half.json").write_text("[", "utf-8")
    if sys.argv[2] == "half":
        print("here", flush=True)
        sys.stdin.read()
"""


def list_names(folder: Path) -> list[str]:
    """What is in a folder."""
    return sorted(each.name for each in folder.iterdir())


@contextmanager
def replacing(folder: Path, stops: str) -> Iterator[subprocess.Popen[str]]:
    """A process that replaces a folder, and waits half-way, or between the two names."""
    command = [sys.executable, "-c", _WRITE, str(folder), stops]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout is not None
            assert "here\n" == process.stdout.readline()
            yield process
        finally:
            process.kill()


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a process as the system does when memory is short."""
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)


def write(folder: Path, said: list[str]) -> None:
    """Replace a folder by one with a file."""
    remove_leftovers(folder, said.append)
    with replace_folder(folder) as made:
        (made / "new.json").write_text("[]", "utf-8")


@pytest.mark.parametrize("before", [True, False])
def test_a_killed_import_leaves_nothing_under_the_name(tmp_path: Path, before: bool) -> None:
    """What was there stays, and the next import removes what is left and says so."""
    folder = tmp_path / "out"
    if before:
        folder.mkdir()
        (folder / "old.json").touch()
    with replacing(folder, "half") as process:
        kill(process)
    assert (["old.json"] if before else None) == (list_names(folder) if folder.exists() else None)
    (left,) = tmp_path.glob(".out.import-*")
    said: list[str] = []
    write(folder, said)

    assert ["out"] == list_names(tmp_path)
    assert ["new.json"] == list_names(folder)
    assert [f"Removed {left}, which an import that was ended left."] == said


def test_what_was_there_comes_back(tmp_path: Path) -> None:
    """After a kill between the two names: the next import finds the folder as before."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "old.json").touch()
    with replacing(folder, "between") as process:
        kill(process)
    assert not folder.exists()
    said: list[str] = []
    remove_leftovers(folder, said.append)

    assert ["out"] == list_names(tmp_path)
    assert ["old.json"] == list_names(folder)
    assert "what was there is back" in said[0]


def test_a_running_import_keeps_its_folder(tmp_path: Path) -> None:
    """Another one beside it removes nothing of it."""
    folder = tmp_path / "out"
    said: list[str] = []
    with replacing(folder, "half"):
        write(folder, said)
        assert 1 == len([*tmp_path.glob(".out.import-*")])
    assert [] == said


def test_only_ones_own_leftovers_are_removed(tmp_path: Path) -> None:
    """A link, a file, or the folder of another name stay."""
    (tmp_path / "kept").mkdir()
    (tmp_path / ".out.import-link").symlink_to(tmp_path / "kept")
    (tmp_path / ".out.import-file").touch()
    (tmp_path / ".other.import-1").mkdir()
    write(tmp_path / "out", [])
    names = [".other.import-1", ".out.import-file", ".out.import-link", "kept", "out"]
    assert names == list_names(tmp_path)


def test_the_command_can_be_copied() -> None:
    """The folder is one word of the command, whatever its name."""
    report = ImportReport(Path("my recording"), scenarios=["scenarios/as-recorded.yaml"])

    assert (
        "mock-platform serve --no-default-fixtures --fixtures 'my recording' "
        "--scenario 'my recording/scenarios/as-recorded.yaml'"
    ) == report.command
