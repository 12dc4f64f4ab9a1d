"""The durable store: what survives what, and what is refused."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from tinydb import TinyDB, where

from mock_platform.settings import Durability
from mock_platform.world.store.errors import StoreDamaged, StoreError, StoreForeign, StoreInUse
from mock_platform.world.store.interface import Order, Record, Snapshot
from mock_platform.world.store.memory import Base
from mock_platform.world.store.sealing import seal_line
from mock_platform.world.store.snapshot_file import AtomicStorage
from mock_platform.world.store.tinydb_archive import TinyDBArchive
from mock_platform.world.world_store import WorldStore
from tests.loops import at_once
from tests.world.backends import crash, fail_with, fixtures, open_store

LOGGED: list[Durability] = ["log", "fsync"]
ALL: list[Durability] = ["snapshot", *LOGGED]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of the store."""
    return tmp_path / "state.json"


@pytest.fixture
def base() -> Base:
    """A few fixtures."""
    return Base(fixtures())


def log_of(path: Path) -> Path:
    """The change log of a snapshot."""
    return path.with_name(f"{path.name}.log")


def lines(path: Path) -> list[dict[str, Any]]:
    """What the change log says."""
    return [orjson.loads(line) for line in log_of(path).read_bytes().splitlines()]


def record(key: str, **fields: Any) -> Record:
    """A record of table `items`."""
    return {"id": key, **fields}


def begin(archive: TinyDBArchive, base: Base, world: str = "default", **meta: Any) -> WorldStore:
    """A world's store in an archive."""
    return open_store(archive, base, world, lambda: meta)


def order(store: WorldStore) -> list[str]:
    """Keys of the items as inserted."""
    return [entry.key for entry in store.page("items")]


def stored(path: Path, world: str = "default") -> dict[str, dict[str, Record]]:
    """The tables of a world as the files have them."""
    with TinyDBArchive(path) as archive:
        return archive.worlds[world].tables


@contextmanager
def full_disk(monkeypatch: pytest.MonkeyPatch, *, snapshots: bool, log: bool) -> Iterator[None]:
    """A disk that takes no more."""
    refuse = fail_with(errno.ENOSPC)
    with monkeypatch.context() as patched:
        if snapshots:
            patched.setattr(AtomicStorage, "write", refuse)
        if log:
            patched.setattr(os, "write", refuse)
        yield


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The system takes what fits into files of this size and refuses the rest."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


class TestReopening:
    """What is there again."""

    @pytest.mark.parametrize("durability", ALL)
    def test_after_close(self, path: Path, base: Base, durability: Durability) -> None:
        """Records, their order, what is kept with them and cursors are as before."""
        with TinyDBArchive(path, durability) as archive:
            store = begin(archive, base, ids=5)
            with store.transaction():
                store.put("items", "n", record("n", name="new"))
                store.remove("items", "f1")
                store.put("items", "f1", record("f1", name="back"))
                store.put("items", "f2", record("f2", name="changed"))
            expected = {how: store.page("items", order=how) for how in (Order(), Order("name"))}
            places = store.snapshot().next_seq

        with TinyDBArchive(path, durability) as archive:
            meta = archive.worlds["default"].meta
            store = begin(archive, base)

            assert meta == {"ids": 5}
            assert expected == {how: store.page("items", order=how) for how in expected}
            assert places == store.snapshot().next_seq
            assert ["f2", "f3", "f4", "n", "f1"] == order(store)

    def test_after_crash_without_a_log(self, path: Path, base: Base) -> None:
        """Under "snapshot" the last snapshot is there, whole, and nothing later."""
        archive = TinyDBArchive(path, "snapshot")
        store = begin(archive, base)
        store.put("items", "kept", record("kept"))
        archive.snapshot()
        store.put("items", "lost", record("lost"))
        crash(archive)

        assert log_of(path).read_bytes() == b""
        assert ["f1", "f2", "f3", "f4", "kept"] == list(stored(path)["items"])

    @pytest.mark.parametrize("restored", [True, False])
    @pytest.mark.parametrize("compacted", [True, False])
    def test_a_position_is_never_given_twice(
        self, path: Path, base: Base, restored: bool, compacted: bool
    ) -> None:
        """A cursor behind a record that was removed does not hide the next one after a restart."""
        archive = TinyDBArchive(path)
        store = begin(archive, base)
        store.put("items", "n", record("n"))
        after = store.page("items")[-1].position
        store.remove("items", "n")
        if restored:
            store.restore(store.snapshot())
        if compacted:
            archive.snapshot()
        crash(archive)
        with TinyDBArchive(path) as archive:
            store = begin(archive, base)
            store.put("items", "m", record("m"))

            assert ["m"] == [entry.key for entry in store.page("items", after=after)]

    def test_other_fixtures(self, path: Path, base: Base) -> None:
        """A stored world keeps its records when the fixtures change; its reset takes the new."""
        with TinyDBArchive(path) as archive:
            store = begin(archive, base)
            store.put("items", "n", record("n"))
            before = [(e.key, e.record) for e in store.page("items")]
        others = Base({"items": {"f9": record("f9"), "f2": record("f2", name="other")}})
        with TinyDBArchive(path) as archive:
            store = begin(archive, others)

            assert before == [(e.key, e.record) for e in store.page("items")]
            assert store.tables() == ["items", "things"]

            store.clear()

            assert ["f9", "f2"] == order(store)
        assert ["f9", "f2"] == list(stored(path)["items"])

    def test_reset_before_the_fixtures_changed(self, path: Path, base: Base) -> None:
        """What a reset led to before a crash is there, though the fixtures are others since."""
        archive = TinyDBArchive(path)
        store = begin(archive, base)
        archive.snapshot()
        store.clear()
        store.put("items", "n", record("n"))
        crash(archive)
        with TinyDBArchive(path) as archive:
            assert ["f1", "f2", "f3", "f4", "n"] == order(begin(archive, Base()))

    def test_rebase(self, path: Path, base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
        """Other fixtures are stored, too; where they cannot be, the old ones stay."""
        others = Base({"items": {"g1": record("g1")}})
        archive = TinyDBArchive(path)
        store = begin(archive, base)
        with (
            full_disk(monkeypatch, snapshots=False, log=True),
            pytest.raises(OSError, match="space"),
        ):
            store.restore(Snapshot({}, others.next_seq), base=others)
        assert ["f1", "f2", "f3", "f4"] == order(store)

        store.restore(Snapshot({}, others.next_seq), base=others)
        store.put("items", "n", record("n"))
        crash(archive)

        assert {"items": {"g1": record("g1"), "n": record("n")}} == stored(path)

    def test_nothing_to_write(self, path: Path, base: Base) -> None:
        """Opening and closing a file without a change leaves it alone."""
        with TinyDBArchive(path) as archive:
            begin(archive, base)
            archive.snapshot()
            before = path.stat()
        with TinyDBArchive(path) as archive:
            begin(archive, base)

        after = path.stat()  # of which reading changes the time of access alone
        assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)

    def test_types(self, path: Path) -> None:
        """A record that merely equals its fixture comes back as it was put."""
        base = Base({"items": {"1": record("1", n=1)}})
        with TinyDBArchive(path) as archive:
            begin(archive, base).put("items", "1", record("1", n=1.0))
        with TinyDBArchive(path) as archive:
            assert repr(record("1", n=1.0)) == repr(begin(archive, base).get("items", "1"))

    def test_in_tinydb(self, path: Path, base: Base) -> None:
        """A plain TinyDB shows the records of every world."""
        with TinyDBArchive(path) as archive:
            begin(archive, base).put("items", "n", record("n"))
            begin(archive, Base(), "w1").put("items", "m", record("m"))
        with TinyDB(path) as plain:
            items = plain.table("items").all()
            worlds = plain.table("_worlds").all()

            assert [*fixtures()["items"].values(), record("n")] == items
            assert [record("m")] == plain.table("~w1/items").all()
            assert [("default", 3), ("w1", 5)] == [(w["name"], w["seq"]) for w in worlds]


class TestLog:
    """What is written, and when."""

    def test_a_commit_is_a_line(self, path: Path) -> None:
        """A transaction writes one line with the last state of each record."""
        with TinyDBArchive(path) as archive:
            store = begin(archive, Base({"items": {"f": record("f")}}), ids=1)
            with store.transaction():
                store.put("items", "1", record("1"))
                store.put("items", "1", record("1", name="x"))
                store.remove("items", "f")
            found = lines(path)[-1]
            del found["crc"]

        assert {
            "seq": 3,
            "kind": "commit",
            "world": "default",
            "changes": [
                {"table": "items", "key": "1", "place": 1, "after": record("1", name="x")},
                {"table": "items", "key": "f", "after": None},
            ],
        } == found

    def test_nothing_new(self, path: Path, base: Base) -> None:
        """Neither reading nor an undone transaction writes anything."""
        with TinyDBArchive(path) as archive:
            store = begin(archive, base, ids=1)
            before = log_of(path).read_bytes()
            with store.transaction():
                store.page("items")
                store.remove("items", "unknown")
            store.record()

            def fail() -> None:
                with store.transaction():
                    store.put("items", "1", record("1"))
                    raise KeyError

            with pytest.raises(KeyError):
                fail()
            with store.transaction(), pytest.raises(RuntimeError):
                store.clear()

            assert before == log_of(path).read_bytes()

    def test_meta(self, path: Path, base: Base) -> None:
        """What is kept with the records is written when it changed, with records or alone."""
        meta = {"ids": 1}
        archive = TinyDBArchive(path)
        store = open_store(archive, base, meta=lambda: meta)
        store.put("items", "1", record("1"))
        meta["ids"] = 2
        store.put("items", "2", record("2"))
        meta["clock"] = 3
        store.record()
        archive.commit("default", 1, {}, {"ids": 4})
        crash(archive)

        assert [None, {"ids": 2}, {"ids": 2, "clock": 3}, {"ids": 4}] == [
            line.get("meta") for line in lines(path)[-4:]
        ]
        with TinyDBArchive(path) as archive:
            assert archive.worlds["default"].meta == {"ids": 4}

    def test_reset_is_small(self, path: Path) -> None:
        """Resets cost what changed: the fixtures are written once, however often one resets."""
        base = Base({"items": {str(n): record(str(n), text="x" * 50) for n in range(1000)}})
        with TinyDBArchive(path) as archive:
            store = begin(archive, base)
            sizes = []
            for _ in range(3):
                before = log_of(path).stat().st_size
                store.put("items", "0", record("0", name="changed"))
                store.clear()
                sizes.append(log_of(path).stat().st_size - before)

            assert max(sizes) < 500
            assert [line["kind"] for line in lines(path)].count("fixtures") == 1

    def test_compaction(self, path: Path) -> None:
        """A log that passes its limit becomes a snapshot; one that only reaches it stays."""
        probe = path.with_name("probe.json")
        with TinyDBArchive(probe) as archive:
            begin(archive, Base()).put("items", "1", record("1"))
            limit = log_of(probe).stat().st_size
        for log_limit, held in ((limit, limit), (limit - 1, 0)):
            path.unlink(missing_ok=True)
            archive = TinyDBArchive(path, log_limit=log_limit)
            begin(archive, Base()).put("items", "1", record("1"))
            size = log_of(path).stat().st_size
            crash(archive)

            assert held == size
            assert {"items": {"1": record("1")}} == stored(path)

    def test_fixtures_do_not_count(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Fixtures larger than the limit do not turn each reset into a snapshot."""
        base = Base({"items": {str(n): record(str(n)) for n in range(100)}})
        snapshots: list[Any] = []
        with TinyDBArchive(path, log_limit=1_000) as archive:
            store = begin(archive, base)
            monkeypatch.setattr(AtomicStorage, "write", lambda _, data: snapshots.append(data))
            for _ in range(20):
                store.put("items", "new", record("new"))
                store.clear()

        assert 2 <= len(snapshots) <= 8

    def test_the_limit_holds_for_ever(self, path: Path, base: Base) -> None:
        """Each compaction begins a log that has the same limit again."""
        sizes = []
        with TinyDBArchive(path, log_limit=1_000) as archive:
            store = begin(archive, base)
            for number in range(200):
                store.put("items", "new", record("new", number=number))
                store.clear()
                sizes.append(log_of(path).stat().st_size)

        assert 1_000 < max(sizes) < 1_500

    @pytest.mark.parametrize("durability", LOGGED)
    def test_crash_before_the_cut(
        self, path: Path, base: Base, durability: Durability, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Lines that the snapshot contains already are passed over."""
        archive = TinyDBArchive(path, durability)
        store = begin(archive, base)
        store.put("items", "n", record("n"))
        store.remove("items", "f1")
        shutil.copy(log_of(path), path.with_name("old.log"))
        archive.snapshot()
        crash(archive)
        shutil.copy(path.with_name("old.log"), log_of(path))
        caplog.set_level("INFO")

        assert ["f2", "f3", "f4", "n"] == list(stored(path)["items"])
        assert "4 changes are already in the snapshot" in caplog.text

    def test_crash_while_writing_a_snapshot(self, path: Path, base: Base) -> None:
        """Half a new snapshot next to the old one is not looked at."""
        archive = TinyDBArchive(path)
        begin(archive, base).put("items", "n", record("n"))
        crash(archive)
        path.with_name("state.json.tmp").write_bytes(path.read_bytes()[:20])

        assert ["f1", "f2", "f3", "f4", "n"] == list(stored(path)["items"])
        assert not path.with_name("state.json.tmp").exists()


class TestWorlds:
    """Several worlds in one set of files."""

    def test_fork(self, path: Path, base: Base) -> None:
        """A world that begins as another goes its own way, also in the files."""
        archive = TinyDBArchive(path)
        one = begin(archive, base, ids=1)
        one.put("items", "n", record("n"))
        two = WorldStore(base, archive, "w1", lambda: {"ids": 2})
        two.restore(one.snapshot())
        two.begin({})
        one.remove("items", "n")
        two.put("items", "m", record("m"))
        crash(archive)
        with TinyDBArchive(path) as archive:
            found = archive.worlds

            assert ["default", "w1"] == list(found)
            assert ["f1", "f2", "f3", "f4"] == list(found["default"].tables["items"])
            assert ["f1", "f2", "f3", "f4", "n", "m"] == list(found["w1"].tables["items"])
            assert found["w1"].meta == {"ids": 2}

    @pytest.mark.parametrize("clean", [True, False])
    def test_drop(self, path: Path, base: Base, clean: bool) -> None:
        """A dropped world is gone from the files, and its name is free again."""
        archive = TinyDBArchive(path)
        store = begin(archive, base)
        store.put("items", "n", record("n"))
        archive.drop("default", 1)
        archive.close() if clean else crash(archive)

        with TinyDBArchive(path) as archive:
            assert archive.worlds == {}
            assert ["f1", "f2", "f3", "f4"] == order(begin(archive, base))
        assert ["f1", "f2", "f3", "f4"] == list(stored(path)["items"])

    def test_reserved_tables(self, path: Path) -> None:
        """Tables named like those of the file itself come back as what they are."""
        tables = {
            name: {"1": record("1", table=name)} for name in ("_worlds", "_archive", "~w1/items")
        }
        with TinyDBArchive(path) as archive:
            begin(archive, Base()).adopt(tables)
            begin(archive, Base(), "w1").adopt(tables)

        assert tables == stored(path)
        assert tables == stored(path, "w1")

    def test_at_once(self, path: Path) -> None:
        """Worlds that commit at the same time, with snapshots between, lose nothing."""
        archive = TinyDBArchive(path, log_limit=5_000)
        stores = [begin(archive, Base(), f"w{n}") for n in range(4)]

        def work(store: WorldStore) -> None:
            for number in range(50):
                store.put("items", str(number), record(str(number)))

        at_once(partial(work, store) for store in stores)
        crash(archive)

        expected = {"items": {str(n): record(str(n)) for n in range(50)}}
        for number in range(len(stores)):
            assert expected == stored(path, f"w{number}")


class TestFullDisk:
    """A disk that takes no more."""

    @pytest.mark.parametrize("durability", LOGGED)
    def test_commit(
        self, path: Path, base: Base, durability: Durability, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A commit that cannot be written raises and is undone; later ones are not affected."""
        archive = TinyDBArchive(path, durability)
        store = begin(archive, base)
        store.put("items", "before", record("before"))

        def commit() -> None:
            with store.transaction():
                store.put("items", "n", record("n"))
                store.remove("items", "f1")

        with full_disk(monkeypatch, snapshots=False, log=True):
            with pytest.raises(OSError, match="No space left"):
                commit()
            with pytest.raises(OSError, match="No space left"):
                store.put("items", "n", record("n"))
            with pytest.raises(OSError, match="No space left"):
                store.clear()
            with pytest.raises(OSError, match="No space left"):
                archive.drop("default", 1)
            with pytest.raises(OSError, match="No space left"):
                begin(archive, base, "w1")
        assert ["f1", "f2", "f3", "f4", "before"] == order(store)
        assert store.count("items") == 5

        store.put("items", "after", record("after"))
        crash(archive)

        assert ["f1", "f2", "f3", "f4", "before", "after"] == list(stored(path)["items"])

    def test_compaction(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Where no snapshot can be written the log goes on, with a warning but not with each."""
        archive = TinyDBArchive(path, log_limit=2_000)
        store = begin(archive, Base())
        with full_disk(monkeypatch, snapshots=True, log=False):
            for number in range(60):
                store.put("items", str(number), record(str(number)))
        crash(archive)

        assert "Nothing is lost: state.json.log holds what is missing from it" in caplog.text
        assert 1 < len(caplog.records) < 6
        assert [str(number) for number in range(60)] == list(stored(path)["items"])

    @pytest.mark.parametrize("durability", LOGGED)
    def test_close(
        self,
        path: Path,
        durability: Durability,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        """With a log, closing without room warns and loses nothing; so does opening."""
        archive = TinyDBArchive(path, durability)
        begin(archive, Base()).put("items", "1", record("1"))
        with full_disk(monkeypatch, snapshots=True, log=False):
            archive.close()
            assert len(caplog.records) == 1

            archive = TinyDBArchive(path, durability)
            begin(archive, Base()).put("items", "2", record("2"))
            crash(archive)
            assert len(caplog.records) == 2

        assert ["1", "2"] == list(stored(path)["items"])

    def test_close_without_a_log(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a log closing raises, and can be tried again once there is room."""
        archive = TinyDBArchive(path, "snapshot")
        begin(archive, Base()).put("items", "1", record("1"))
        with (
            full_disk(monkeypatch, snapshots=True, log=False),
            pytest.raises(OSError, match="No space left"),
        ):
            archive.close()
        archive.close()

        assert ["1"] == list(stored(path)["items"])

    @pytest.mark.parametrize("value", [datetime(2026, 1, 1, tzinfo=UTC), {1}, 2**64, "\ud800"])
    @pytest.mark.parametrize("durability", ALL)
    def test_not_json(self, path: Path, durability: Durability, value: Any) -> None:
        """What JSON cannot express is refused at the commit under every durability, and undone."""
        with TinyDBArchive(path, durability) as archive:
            store = begin(archive, Base())
            with pytest.raises(TypeError):
                store.put("items", "1", record("1", value=value))

            assert store.get("items", "1") is None


class TestRefusals:
    """Files that are not opened, and what they say."""

    def written(self, path: Path, base: Base) -> list[bytes]:
        """A store that was killed; its log has four lines."""
        archive = TinyDBArchive(path)
        store = begin(archive, base)
        store.put("items", "1", record("1"))
        store.put("items", "2", record("2"))
        crash(archive)
        return log_of(path).read_bytes().splitlines(keepends=True)

    def refused(self, path: Path, kind: type[StoreError]) -> str:
        """What opening says; nothing is changed, and the files are free again afterwards."""
        before = {p.name: p.read_bytes() for p in path.parent.iterdir() if p.suffix != ".lock"}
        for _ in range(2):
            with pytest.raises(kind) as caught:
                TinyDBArchive(path)
        after = {p.name: p.read_bytes() for p in path.parent.iterdir() if p.suffix != ".lock"}

        assert before == after
        return str(caught.value)

    def test_in_use(self, path: Path) -> None:
        """A second server learns who has the file."""
        with TinyDBArchive(path):
            said = self.refused(path, StoreInUse)
        TinyDBArchive(path).close()

        assert (
            f"{path} is in use by process {os.getpid()}: stop that server, or name another file"
        ) == said

    @pytest.mark.parametrize("content", [b'{"accounts": []}', b"[]", b'{"_default": {"1": {}}}'])
    def test_foreign(self, path: Path, content: bytes) -> None:
        """A file that something else wrote is left as it is."""
        path.write_bytes(content)

        assert f"{path} was not written by this program" in self.refused(path, StoreForeign)

    @pytest.mark.parametrize("content", [b"{", b"hello", b"\xff\xfe", b'{"_archive": NaN}'])
    def test_no_json(self, path: Path, content: bytes) -> None:
        """A snapshot that cannot be read is named, with what to do."""
        path.write_bytes(content)
        said = self.refused(path, StoreDamaged)

        assert said.startswith(f"{path}: this is not JSON (")
        assert said.endswith(
            "). Nothing was changed. Put back a copy of the file, or move it away to start from "
            "scratch."
        )

    @pytest.mark.parametrize("content", [b"", b"{}", b" \n"])
    def test_empty_file(self, path: Path, content: bytes) -> None:
        """A file with nothing in it is as good as none."""
        path.write_bytes(content)
        with TinyDBArchive(path) as archive:
            begin(archive, Base()).put("items", "1", record("1"))

        assert {"items": {"1": record("1")}} == stored(path)

    def test_changed_by_hand(self, path: Path, base: Base) -> None:
        """What TinyDB wrote is accepted, and has a checksum again from the moment it is opened."""
        with TinyDBArchive(path) as archive:
            begin(archive, base).put("items", "1", record("1", n=10))
        with TinyDB(path) as plain:
            plain.table("items").update({"n": 11}, where("id") == "1")
        crash(TinyDBArchive(path))

        assert stored(path)["items"]["1"] == record("1", n=11)
        path.write_bytes(path.read_bytes().replace(b'"n":11', b'"n":13'))
        assert f"{path}: the checksum of the file is wrong" in self.refused(path, StoreDamaged)

    def test_missing_line(self, path: Path, base: Base) -> None:
        """A line that is missing between others is noticed."""
        found = self.written(path, base)
        del found[2]
        log_of(path).write_bytes(b"".join(found))

        assert f"{log_of(path)}, line 3: change 2 is followed by change 4" in self.refused(
            path, StoreDamaged
        )

    def test_missing_first_line(self, path: Path, base: Base) -> None:
        """A log that does not begin where the snapshot ends is noticed."""
        found = self.written(path, base)
        log_of(path).write_bytes(b"".join(found[1:]))

        assert (
            f"{log_of(path)}, line 1: change 2 does not follow change 0 of state.json. Nothing was "
            "changed. state.json and the log belong together: put back both from the same time, or "
            "move the log away, which drops the changes that only the log has."
        ) == self.refused(path, StoreDamaged)

    def test_snapshot_gone(self, path: Path, base: Base) -> None:
        """A log without its snapshot is replayed if it says all, and refused if it does not."""
        self.written(path, base)
        path.unlink()
        assert ["f1", "f2", "f3", "f4", "1", "2"] == list(stored(path)["items"])

        archive = TinyDBArchive(path)
        begin(archive, base).put("items", "3", record("3"))
        crash(archive)
        path.unlink()

        assert "line 1: change 5 does not follow change 0" in self.refused(path, StoreDamaged)

    @pytest.mark.parametrize("change", [
        {"kind": "invented"},
        {"world": "default"},
        {"kind": "commit", "world": "w9", "changes": []},
        {"kind": "drop", "world": "w9"},
        {"kind": "state", "world": "default", "base": 99, "next_place": 0},
        {"kind": "commit", "world": "default", "changes": [{"table": "items"}]},
    ], ids=repr)  # fmt: skip
    def test_nonsense(self, path: Path, base: Base, change: dict[str, Any]) -> None:
        """A sound line that makes no sense is refused, not skipped."""
        self.written(path, base)
        with log_of(path).open("ab") as log:
            log.write(seal_line(orjson.dumps({"seq": 5, **change})))

        assert "line 5: it does not match the changes before it (" in self.refused(
            path, StoreDamaged
        )

    def test_no_folder(self, tmp_path: Path) -> None:
        """A folder that does not exist is not made up."""
        with pytest.raises(StoreError, match="nowhere does not exist: create the folder first"):
            TinyDBArchive(tmp_path / "nowhere" / "state.json")

    def test_unknown_durability(self, path: Path) -> None:
        """A misspelt durability is answered with the choices."""
        with pytest.raises(ValueError, match="'sync' is not one of snapshot, log, fsync"):
            TinyDBArchive(path, "sync")  # type: ignore[arg-type]

    def test_closed(self, path: Path) -> None:
        """A closed archive takes no changes; closing it again does nothing."""
        archive = TinyDBArchive(path)
        store = begin(archive, Base())
        archive.close()
        archive.close()

        with pytest.raises(StoreError, match="has been closed; open it again"):
            store.put("items", "1", record("1"))
        with pytest.raises(StoreError, match="has been closed; open it again"):
            archive.snapshot()
        assert store.get("items", "1") is None

    def test_link(self, tmp_path: Path) -> None:
        """A link to the file stays a link, and the lock is that of the file."""
        (tmp_path / "data").mkdir()
        target, link = tmp_path / "data" / "state.json", tmp_path / "link.json"
        link.symlink_to(target)
        with TinyDBArchive(link) as archive:
            begin(archive, Base()).put("items", "1", record("1"))
            with pytest.raises(StoreInUse):
                TinyDBArchive(target)

        assert link.is_symlink()
        assert {"items": {"1": record("1")}} == stored(target)
