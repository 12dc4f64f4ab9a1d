"""The files of a store: regular, private, and one server's at a time whatever they are called."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from mock_platform.world.store.errors import StoreError, StoreInUse
from mock_platform.world.store.files import (
    StoreLock,
    make_sibling_path,
    open_beside,
)
from mock_platform.world.store.memory import Base
from mock_platform.world.store.tinydb_archive import TinyDBArchive
from tests.world.backends import open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is to be."""
    return tmp_path / "state.json"


def change(archive: TinyDBArchive) -> None:
    """Have the archive write a snapshot that replaces its file."""
    name = f"w{len(archive.worlds)}"
    open_store(archive, Base(), name, dict).put("items", "1", {"id": "1"})
    archive.snapshot()


def listen(path: Path) -> None:
    """Leave the name of a socket."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path.name)  # names of sockets are short


def make_folder(path: Path) -> None:
    """Make a folder in the place of the log."""
    path.with_name("state.json.log").mkdir()


@pytest.mark.parametrize(("make", "said"), [
    pytest.param(lambda path: path.symlink_to("/dev/null"),
                 "is a device, where a store needs a regular file", id="a device"),
    pytest.param(os.mkfifo, r"state\.json is a pipe, where a store needs a regular file",
                 id="a pipe, which is not waited for"),
    pytest.param(listen, "is a socket", id="a socket"),
    pytest.param(make_folder, r"state\.json\.log is a folder, where a store needs", id="a folder"),
    pytest.param(lambda path: path.symlink_to(path), "its symbolic links form a circle",
                 id="links in a circle"),
])  # fmt: skip
def test_what_is_no_regular_file_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], said: str
) -> None:
    """What would be replaced must be a regular file; it is named, and nothing happens to it."""
    monkeypatch.chdir(path.parent)
    make(path)
    before = list(path.parent.iterdir())

    with pytest.raises(StoreError, match=said):
        TinyDBArchive(path)

    assert before == list(path.parent.iterdir())
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("suffix", [".log", ".lock"])
@pytest.mark.parametrize("way", ["symbolic", "hard", "dangling"])
def test_a_planted_link_is_refused(path: Path, suffix: str, way: str) -> None:
    """Whoever may write into the folder cannot make a store write to another file."""
    other = path.with_name("other")
    if way != "dangling":
        other.write_text("precious", "utf-8")
    link = path.with_name(f"{path.name}{suffix}")
    if way == "hard":
        link.hardlink_to(other)
    else:
        link.symlink_to(other)

    with pytest.raises(StoreError, match="link") as caught:
        TinyDBArchive(path)

    assert str(link) in str(caught.value)
    assert ("precious" if way != "dangling" else None) == (
        other.read_text("utf-8") if other.exists() else None
    )


@pytest.mark.parametrize("suffix", ["log", "lock"])
def test_a_link_that_is_planted_after_the_check_is_refused(path: Path, suffix: str) -> None:
    """What was opened is checked, not what had the name before."""
    other = path.with_name("other")
    other.write_text("precious", "utf-8")
    link = make_sibling_path(path, suffix)
    link.symlink_to(other)

    with pytest.raises(StoreError, match="is a symbolic link"):
        open_beside(link)

    assert other.read_text("utf-8") == "precious"


def test_a_file_of_another_user_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """He could read the tokens in it; the folder's owner can replace everything in any case."""
    link = make_sibling_path(path, "log")
    link.touch()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    os.close(open_beside(link))
    monkeypatch.setattr(Path, "stat", lambda _: os.stat_result([0] * 4 + [os.getuid() + 2] * 6))

    with pytest.raises(StoreError, match="a file of another user"):
        open_beside(link)


def test_every_file_is_its_owners_alone(path: Path) -> None:
    """Store, log and lock hold secrets or are written by one, so no one else reads them."""
    before = os.umask(0)
    try:
        with TinyDBArchive(path) as archive:
            change(archive)
            modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
    finally:
        os.umask(before)

    assert {"state.json": 0o600, "state.json.log": 0o600, "state.json.lock": 0o600} == modes


@pytest.mark.parametrize("snapshots", [0, 1, 2])
def test_a_hard_link_does_not_get_past_the_lock(path: Path, snapshots: int) -> None:
    """The file is locked, not its name, also after it was replaced."""
    other = path.with_name("other.json")
    TinyDBArchive(path).close()
    with TinyDBArchive(path) as archive:
        for _ in range(snapshots):
            change(archive)
        other.hardlink_to(path)

        for _ in range(2):
            with pytest.raises(StoreInUse, match="by another name") as caught:
                TinyDBArchive(other)
        assert str(caught.value).startswith(f"{other} is in use by another server")

    TinyDBArchive(other).close()


def test_a_symbolic_link_does_not_get_past_the_lock(path: Path) -> None:
    """Neither to the file nor to its folder."""
    to_file, to_folder = path.with_name("link.json"), path.with_name("folder")
    to_file.symlink_to(path)
    to_folder.symlink_to(path.parent)
    with TinyDBArchive(path):
        for each in (to_file, to_folder / path.name, to_folder / "link.json"):
            with pytest.raises(StoreInUse, match=f"{path} is in use by process {os.getpid()}"):
                TinyDBArchive(each)


def test_a_removed_lock_file_does_not_let_a_second_server_in(path: Path) -> None:
    """The file itself is locked as well."""
    with TinyDBArchive(path):
        path.with_name("state.json.lock").unlink()

        with pytest.raises(StoreInUse, match="whose lock file was removed"):
            TinyDBArchive(path)


def test_a_failed_snapshot_leaves_the_lock_on_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock passes on only when the new file is in its place."""
    other = path.with_name("other.json")
    TinyDBArchive(path).close()
    with TinyDBArchive(path) as archive:
        other.hardlink_to(path)

        def refuse(*_: object) -> None:
            raise OSError("no")

        with monkeypatch.context() as patched:
            patched.setattr(Path, "replace", refuse)
            with pytest.raises(OSError, match="no"):
                archive.snapshot()
        with pytest.raises(StoreInUse):
            TinyDBArchive(other)


def test_a_backup_by_hard_link_can_be_opened_later(path: Path) -> None:
    """After the next snapshot it is a file of its own, as it was when the link was made."""
    with TinyDBArchive(path) as archive:
        change(archive)
        backup = path.with_name("backup.json")
        backup.hardlink_to(path)
        change(archive)

        with TinyDBArchive(backup) as copy:
            assert ["w0"] == list(copy.worlds)
        assert ["w0", "w1"] == list(archive.worlds)


def test_a_lock_is_released(path: Path) -> None:
    """Whoever comes next has it."""
    path.write_text("{}")
    StoreLock(path).release()
    again = StoreLock(path)
    with pytest.raises(StoreInUse):
        StoreLock(path)
    again.release()
