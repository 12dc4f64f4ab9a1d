"""The change log: sealed lines, cut short and damaged ones, failing writes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.world.store.errors import StoreDamaged
from mock_platform.world.store.files import ChangeLog
from mock_platform.world.store.sealing import open_line, seal_line
from tests.world.backends import fail_with

Write = Callable[[int, bytes], int]


def body(number: int, text: str = "") -> bytes:
    """A change; the inner seal must never be read as the line's own."""
    inner = {"x": text, "crc": "12345678"}
    return orjson.dumps({"seq": number, "after": inner})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of the log."""
    return tmp_path / "state.json.log"


@pytest.fixture
def log(path: Path) -> Iterator[ChangeLog]:
    """An empty log."""
    opened_log = ChangeLog(path, sync=False)
    yield opened_log
    opened_log.close()


def read(path: Path) -> list[int]:
    """The numbers of the changes in a log that was opened again."""
    log = ChangeLog(path, sync=False)
    found: list[int] = []
    try:
        log.replay(lambda _, change: found.append(change["seq"]))
    finally:
        log.close()
    return found


class FullDisk:
    """Replaces `os.write`: accepts so many bytes more, then says that the disk is full."""

    def __init__(self, room: int, write: Write) -> None:
        self._room = room
        self._write = write

    def __call__(self, handle: int, content: bytes) -> int:
        """Write what fits."""
        if not self._room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = self._write(handle, content[: self._room])
        self._room -= taken
        return taken


class TestSeal:
    """A line and its checksum."""

    @given(
        st.dictionaries(st.text(max_size=3), st.text(max_size=9) | st.integers(-9, 9), min_size=1)
    )
    def test_round_trip(self, change: dict[str, Any]) -> None:
        """What was sealed is one line of JSON, and opens as it was."""
        content = orjson.dumps(change)
        line = seal_line(content)

        assert line.count(b"\n") == 1
        assert content == open_line(line.removesuffix(b"\n"))
        assert change | {"crc": orjson.loads(line)["crc"]} == orjson.loads(line)

    def test_every_byte_counts(self) -> None:
        """A line with any one byte changed or missing does not open."""
        line = seal_line(body(1)).removesuffix(b"\n")

        for place in range(len(line)):
            changed = line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]
            assert open_line(changed) is None
            assert open_line(line[:place]) is None
            assert open_line(line[:place] + line[place + 1 :]) is None

    @pytest.mark.parametrize("line", [b"", b"{}", b"\0" * 40, b'{"seq":1}'])
    def test_unsealed(self, line: bytes) -> None:
        """What carries no seal does not open."""
        assert open_line(line) is None


class TestReplay:
    """Reading a log again."""

    def test_all_lines(self, path: Path, log: ChangeLog) -> None:
        """Every line comes back, in order and numbered."""
        for number in (1, 2, 3):
            log.append(body(number, "ß\n\u2028"))
        found: list[tuple[int, Any]] = []
        again = ChangeLog(path, sync=False)
        held = again.replay(lambda number, change: found.append((number, change["seq"])))
        again.close()

        assert held
        assert [(1, 1), (2, 2), (3, 3)] == found
        assert path.stat().st_size == again.size == log.size

    def test_empty(self, log: ChangeLog) -> None:
        """A new log holds nothing and says so."""
        assert not log.replay(lambda *_: pytest.fail("there is no line"))

    def test_cut_short_at_every_byte(
        self, path: Path, log: ChangeLog, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Wherever the last line was cut, the others stay, it goes, and a warning says so."""
        log.append(body(1))
        kept = log.append(body(2)) + log.size - len(seal_line(body(2)))
        log.append(body(3))
        whole = path.read_bytes()
        for end in range(kept, len(whole)):
            caplog.clear()
            path.write_bytes(whole[:end])

            assert [1, 2] == read(path)
            assert whole[:kept] == path.read_bytes()
            assert (1 if end > kept else 0) == len(caplog.records)
            if end > kept:
                assert f"({end - kept} bytes from byte {kept} on)" in caplog.text

        path.write_bytes(whole)
        assert [1, 2, 3] == read(path)

    def test_written_on_after_a_cut(self, path: Path, log: ChangeLog) -> None:
        """The next line is where the one that was cut short began."""
        log.append(body(1))
        log.append(body(2))
        path.write_bytes(path.read_bytes()[:-5])
        again = ChangeLog(path, sync=True)
        again.replay(lambda *_: None)
        again.append(body(2, "again"))
        again.close()

        assert [1, 2] == read(path)
        assert b"again" in path.read_bytes()

    @pytest.mark.parametrize("tail", [b"\0" * 4096, b"\n", b'{"seq":4', b"{}\n"])
    def test_debris_at_the_end(self, path: Path, log: ChangeLog, tail: bytes) -> None:
        """What a loss of power leaves behind the last line is no line."""
        for number in (1, 2, 3):
            log.append(body(number))
        with path.open("ab") as file:
            file.write(tail)

        assert [1, 2, 3] == read(path)

    def test_damage_at_every_byte(self, path: Path, log: ChangeLog) -> None:
        """A change to any byte of a line before the last is refused, and nothing is written."""
        log.append(body(1))
        start, length = log.size, log.append(body(2))
        log.append(body(3))
        whole = path.read_bytes()
        for place in range(start, start + length):
            damaged = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
            path.write_bytes(damaged)
            with pytest.raises(StoreDamaged) as caught:
                read(path)

            assert caught.value.line == 2
            assert path == caught.value.path
            assert damaged == path.read_bytes()

    def test_damage_in_words(self, path: Path, log: ChangeLog) -> None:
        """The refusal says where, what and what to do."""
        for number in (1, 2, 3):
            log.append(body(number))
        path.write_bytes(path.read_bytes().replace(b'"seq":2', b'"seq":5'))
        with pytest.raises(StoreDamaged) as caught:
            read(path)

        assert (
            f"{path}, line 2: the checksum of the line is wrong, and more lines follow, so it was "
            "not just cut short. Nothing was changed. Put back a copy from before the damage; or "
            "keep the lines before it with `head -n 1`, which drops this change and all "
            "later ones."
        ) == str(caught.value)


class TestAppend:
    """Writing a line, or failing to."""

    @pytest.mark.parametrize("room", [0, 1, 20, len(seal_line(body(2))) - 1])
    def test_full_disk(
        self, path: Path, log: ChangeLog, monkeypatch: pytest.MonkeyPatch, room: int
    ) -> None:
        """A line that does not fit raises and leaves no trace; with room again, all goes on."""
        log.append(body(1))
        before = path.read_bytes()
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", FullDisk(room, os.write))
            with pytest.raises(OSError, match="No space left"):
                log.append(body(2))

        assert before == path.read_bytes()
        assert len(before) == log.size

        log.append(body(2, "again"))

        assert [1, 2] == read(path)

    def test_written_in_pieces(
        self, path: Path, log: ChangeLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A system that takes a line in pieces gets all of them."""
        write = os.write
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", lambda handle, content: write(handle, content[:7]))
            log.append(body(1))

        assert [1] == read(path)

    def test_one_write(self, log: ChangeLog, monkeypatch: pytest.MonkeyPatch) -> None:
        """A line is one write, which a kill of the process cannot split."""
        writes: list[bytes] = []

        def write(_: int, content: bytes) -> int:
            writes.append(content)
            return len(content)

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", write)
            log.append(body(1))

        assert [seal_line(body(1))] == writes

    def test_debris_that_cannot_be_removed_at_once(
        self, path: Path, log: ChangeLog, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where even cutting back fails, it is made good before the next line is written."""
        log.append(body(1))
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", FullDisk(9, os.write))
            patched.setattr(os, "ftruncate", fail_with(errno.EIO))
            with pytest.raises(OSError, match="No space left"):
                log.append(body(2))
            with pytest.raises(OSError, match="Input/output error"):
                log.append(body(2))
        assert path.stat().st_size == log.size + 9

        log.append(body(2))

        assert [1, 2] == read(path)

    @pytest.mark.parametrize(("sync", "times"), [(False, 0), (True, 2)])
    def test_sync(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, sync: bool, times: int
    ) -> None:
        """Only a log that is to survive a loss of power waits for the disk, once a line."""
        synced: list[int] = []
        with monkeypatch.context() as patched:
            patched.setattr(os, "fdatasync", synced.append)
            log = ChangeLog(path, sync=sync)
            log.append(body(1))
            log.append(body(2))
            log.close()

        assert times == len(synced)

    def test_failing_sync(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A line that the disk did not confirm is removed."""
        log = ChangeLog(path, sync=True)
        log.append(body(1))
        with monkeypatch.context() as patched:
            patched.setattr(os, "fdatasync", fail_with(errno.EIO))
            with pytest.raises(OSError, match="Input/output error"):
                log.append(body(2))
        log.close()

        assert [1] == read(path)

    def test_cut(self, path: Path, log: ChangeLog) -> None:
        """A log that was cut starts from scratch."""
        log.append(body(1))
        log.cut()
        assert b"" == path.read_bytes()

        log.append(body(2))

        assert [2] == read(path)
