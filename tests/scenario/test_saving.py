"""Files are written whole, and only into their folder."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from mock_platform.scenario.writing import CannotSave, FileExists, find_place, write_file


@pytest.mark.parametrize(
    "name",
    [
        "", "..", "../a.yaml", "/etc/a.yaml", "a/../../b.yaml", "a\\b.yaml", ".a.yaml", "a b.yaml",
        "a.txt", "a", "users.json", "a/b/c/d/e/f.yaml", "ä.yaml", "a\n.yaml", "a.yaml\x00", "a/",
        f"{'a' * 200}.yaml", "folder.yaml",
    ],
)  # fmt: skip
def test_names_that_are_refused(tmp_path: Path, name: str) -> None:
    """A name that leads out of the folder, or that no scenario file has, is refused."""
    (tmp_path / "folder.yaml").mkdir()

    with pytest.raises(CannotSave):
        find_place(tmp_path, name)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A subfolder that is a link to somewhere else is not written into."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "link").symlink_to(outside)

    with pytest.raises(CannotSave, match="through a link"):
        find_place(root, "link/a.yaml")
    assert root / "below" / "a.yaml" == find_place(root, "below/a.yaml")


def test_no_file_is_replaced_unless_asked(tmp_path: Path) -> None:
    """An existing file stays unless its replacement is asked for, and keeps its permissions."""
    path = tmp_path / "below" / "a.yaml"
    write_file(path, b"one", replace=False)
    path.chmod(0o600)

    with pytest.raises(FileExists, match="exists already"):
        write_file(path, b"two", replace=False)
    assert b"one" == path.read_bytes()

    write_file(path, b"two", replace=True)
    assert b"two" == path.read_bytes()
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert [path] == list(path.parent.iterdir())


def test_a_link_is_replaced_itself(tmp_path: Path) -> None:
    """A link in the folder becomes a file; what it pointed to does not change."""
    target, link = tmp_path / "target", tmp_path / "a.yaml"
    target.write_bytes(b"kept")
    link.symlink_to(target)

    write_file(link, b"new", replace=True)

    assert b"kept" == target.read_bytes()
    assert not link.is_symlink()


def test_the_system_may_refuse(tmp_path: Path) -> None:
    """A folder that is a file cannot be written into, and the text names the path."""
    (tmp_path / "a").write_text("")

    with pytest.raises(CannotSave, match=r"b\.yaml"):
        write_file(tmp_path / "a" / "b.yaml", b"", replace=False)
