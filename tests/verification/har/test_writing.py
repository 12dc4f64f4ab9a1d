"""Files that grow: readable after each exchange, private, and whole."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from mock_platform.verification.har import read_har
from mock_platform.verification.har.writing import HarFile, Secrets
from tests.verification.har.test_secrets import exchange


def open_file(path: Path, *, overwrite: bool = False) -> HarFile:
    """A file with a limit of ten bytes for each body."""
    return HarFile(path, overwrite=overwrite, max_body_bytes=10, secrets=Secrets())


def test_a_file_is_whole_after_each_exchange(tmp_path: Path) -> None:
    """Whoever is killed between two exchanges leaves an archive that everyone can read."""
    path = tmp_path / "a.har"
    file = open_file(path)
    for count in range(4):
        assert count == len(json.loads(path.read_text())["log"]["entries"])
        assert count == len(list(read_har(path)))
        file.append(exchange(response_body=b"{}"))
    file.close()
    file.close()

    assert 4 == len(list(read_har(path)))


def test_a_file_is_private(tmp_path: Path) -> None:
    """Nobody else may read it, and an existing one, or its link, is not written to."""
    path = tmp_path / "a.har"
    open_file(path).close()

    assert 0o600 == path.stat().st_mode & 0o777
    with pytest.raises(FileExistsError):
        open_file(path)
    (tmp_path / "victim").write_text("kept")
    link = tmp_path / "link.har"
    link.symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        open_file(link)
    open_file(link, overwrite=True).close()
    assert "kept" == (tmp_path / "victim").read_text()
    assert not link.is_symlink()


def test_exchanges_of_many_threads(tmp_path: Path) -> None:
    """Exchanges that end at the same time are all in the file."""
    file = open_file(tmp_path / "a.har")

    def append() -> None:
        for _ in range(20):
            file.append(exchange())

    threads = [threading.Thread(target=append) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert 80 == file.count == len(list(read_har(tmp_path / "a.har")))


def test_bodies_are_read_back(tmp_path: Path) -> None:
    """Bytes come back as they were; a long body says that it was cut."""
    file = open_file(tmp_path / "a.har")
    file.append(exchange(request_body=b"\xff\x00", response_body=b"\x00\xff"))
    file.append(exchange(response_body="aaaaaaaaaé…".encode(), status=0))

    bytes_, cut = read_har(tmp_path / "a.har")

    assert (b"\xff\x00", b"\x00\xff") == (bytes_.request.body, bytes_.response.body)
    assert (b"a" * 9, False, 0) == (cut.response.body, cut.response.is_whole, cut.response.status)
