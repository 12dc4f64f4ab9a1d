"""The snapshot file: TinyDB's own form, written whole, read with care."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tinydb import TinyDB, where

from mock_platform.world.store.errors import StoreDamaged, StoreError, StoreForeign
from mock_platform.world.store.interface import Row
from mock_platform.world.store.snapshot_file import (
    FORMAT,
    AtomicStorage,
    Tables,
    decode,
    encode,
    seal,
)
from mock_platform.world.store.stored_worlds import Contents, StoredState, StoredWorld
from tests.world.backends import fail_with

PATH = Path("state.json")


def state(**tables: dict[str, Any]) -> StoredState:
    """A stored state with these records, placed one after another."""
    found = StoredState(seq=3, next_place=0, meta_json=b'{"ids":7}')
    place = 0
    for table, rows in tables.items():
        for key, record in rows.items():
            found.take({(table, key): Row(place, record)})
            place += 1
    return found


def encoded(**worlds: StoredState) -> Tables:
    """The tables of a snapshot that holds these worlds."""
    return encode(Contents(9, {name: StoredWorld(each) for name, each in worlds.items()}))


def through_json(**worlds: StoredState) -> dict[str, StoredState]:
    """Worlds as they are read again."""
    found = decode(PATH, orjson.loads(orjson.dumps(encoded(**worlds))))
    assert found.seq == 9
    return {name: world.now for name, world in found.worlds.items()}


class TestStorage:
    """AtomicStorage under a real TinyDB."""

    @pytest.mark.claim("Anyone can open the snapshot with `TinyDB(path)`")
    def test_as_any_storage(self, tmp_path: Path) -> None:
        """TinyDB works on it, and a plain TinyDB reads what it wrote."""
        path = tmp_path / "state.json"
        with TinyDB(path, storage=AtomicStorage) as database:
            assert database.tables() == set()
            database.table("items").insert({"id": "1"})
            database.table("items").insert({"id": "2"})
            database.table("items").remove(where("id") == "1")

        with TinyDB(path) as plain:
            assert [{"id": "2"}] == plain.table("items").all()

    @pytest.mark.parametrize("step", ["fsync", "replace"])
    def test_failing_write(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        """Whatever step fails, the old file remains and no half of a new one is left."""
        path = tmp_path / "state.json"
        storage = AtomicStorage(path)
        storage.write({"items": {"1": {"id": "old"}}})
        before = path.read_bytes()

        with monkeypatch.context() as patched:
            failing = fail_with(errno.ENOSPC)
            patched.setattr(os if step == "fsync" else Path, step, failing)
            with pytest.raises(OSError, match="No space left"):
                storage.write({"items": {"1": {"id": "new"}}})

        assert before == path.read_bytes()
        assert [path] == list(tmp_path.iterdir())

    def test_not_json(self, tmp_path: Path) -> None:
        """What JSON cannot express is refused before anything is touched."""
        path = tmp_path / "state.json"
        storage = AtomicStorage(path)
        storage.write({"items": {}})
        with pytest.raises(TypeError):
            storage.write({"items": {"1": {"id": object()}}})

        assert {"items": {}} == storage.read()
        assert [path] == list(tmp_path.iterdir())

    def test_permissions_stay(self, tmp_path: Path) -> None:
        """A file that was opened to a group stays so."""
        path = tmp_path / "state.json"
        storage = AtomicStorage(path)
        storage.write({})
        path.chmod(0o640)
        storage.write({"items": {}})

        assert path.stat().st_mode & 0o777 == 0o640


class TestForm:
    """What the file looks like to those who open it."""

    def test_document(self) -> None:
        """Records are stored as they are; the two tables of our own have what else is needed."""
        default = state(items={"1": {"id": "1"}, "2": {"id": "2"}})
        other = state(media={"m": {"media_key": "m", "n": "m2"}})

        assert {
            "_archive": {"1": {"format": FORMAT, "seq": 9, "checksum": "00000000"}},
            "_worlds": {
                "1": {
                    "name": "default", "seq": 3, "next_place": 2,
                    "keys": {"items": {"field": "id"}}, "meta": {"ids": 7},
                },
                "2": {
                    "name": "w1", "seq": 3, "next_place": 1,
                    "keys": {"media": {"field": "media_key"}}, "meta": {"ids": 7},
                },
            },
            "items": {"1": {"id": "1"}, "2": {"id": "2"}},
            "~w1/media": {"1": {"media_key": "m", "n": "m2"}},
        } == encoded(default=default, w1=other)  # fmt: skip

    def test_order_is_that_of_places(self) -> None:
        """Documents are in insertion order, also where a change came late."""
        found = state(items={"1": {"id": "1"}, "2": {"id": "2"}})
        found.take({("items", "1"): Row(5, {"id": "1"})})

        assert ["2", "6"] == list(encoded(default=found)["items"])
        assert ["2", "1"] == list(through_json(default=found)["default"].tables["items"])

    @pytest.mark.parametrize(("records", "keys"), [
        ({"1": {"id": "1"}, "2": {"id": "x"}}, {"field": "id", "exceptions": {"2": "2"}}),
        ({"1": {}, "2": {"id": "2"}}, {"field": "id", "exceptions": {"1": "1"}}),
        ({"1": {"a": "1", "b": "1"}, "2": {"b": "2"}}, {"field": "b"}),
        ({"1": {"id": 1}}, {"field": None, "exceptions": {"1": "1"}}),
        ({"": {"id": ""}}, {"field": "id"}),
    ])  # fmt: skip
    def test_where_keys_stand(self, records: dict[str, Any], keys: dict[str, Any]) -> None:
        """The field that holds the key is found, and keys that are in no field are listed."""
        found = state(items=records)

        assert keys == encoded(default=found)["_worlds"]["1"]["keys"]["items"]
        assert records == through_json(default=found)["default"].tables["items"]

    @given(
        st.dictionaries(st.sampled_from(["items", "_archive", "_worlds", "_transitions", "~w/items",
                                         "~", "a/b"]),
                        st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]),
                                                max_size=3),
                                        st.dictionaries(st.sampled_from(["id", "x"]),
                                                        st.text("12", max_size=1)), min_size=1)),
    )  # fmt: skip
    def test_round_trip(self, tables: dict[str, Any]) -> None:
        """Any tables, keys and records come back exactly, in order, from each world."""
        found = through_json(default=state(**tables), w=state(**tables))

        for name in ("default", "w"):
            assert {t: list(r.items()) for t, r in tables.items()} == {
                t: list(r.items()) for t, r in found[name].tables.items()
            }
            assert found[name].meta == {"ids": 7}
            assert found[name].seq == 3


class TestChecksum:
    """Damage is noticed, whatever it hits; what another program wrote is not reported as damage."""

    def written(self, path: Path) -> bytes:
        """A snapshot with numbers, escapes and letters beyond ASCII in it."""
        records = {"1": {"id": "1", "n": 10, "text": 'caf\u00e9 \\ "x"'}, "2": {"id": "2"}}
        AtomicStorage(path).write(encoded(default=state(items=records), w1=state(items={})))
        return path.read_bytes()

    @pytest.mark.claim("its checksum shows damage")
    def test_every_flipped_bit(self, tmp_path: Path) -> None:
        """No bit of the file can change without a refusal that names the file."""
        path = tmp_path / "state.json"
        content = self.written(path)
        for place in range(len(content) * 8):
            byte, bit = divmod(place, 8)
            damaged = bytearray(content)
            damaged[byte] ^= 1 << bit
            path.write_bytes(damaged)
            with pytest.raises((StoreDamaged, orjson.JSONDecodeError)):
                AtomicStorage(path).read()

    @given(st.data())
    def test_damaged_stretches(self, data: st.DataObject) -> None:
        """Bytes overwritten, lost or added are noticed as well."""
        content = seal(orjson.dumps(encoded(default=state(items={"1": {"id": "1", "n": 10}}))))
        start = data.draw(st.integers(0, len(content) - 1))
        end = data.draw(st.integers(start, min(len(content), start + 8)))
        put = data.draw(st.binary(max_size=8))
        damaged = content[:start] + put + content[end:]
        assume(damaged.strip() not in {b"", content})
        with TemporaryDirectory() as folder:
            path = Path(folder) / "state.json"
            path.write_bytes(damaged)
            with pytest.raises((StoreDamaged, orjson.JSONDecodeError)):
                AtomicStorage(path).read()

    def test_what_the_refusal_says(self, tmp_path: Path) -> None:
        """It names the file and says what can be done."""
        path = tmp_path / "state.json"
        path.write_bytes(self.written(path).replace(b'"n":10', b'"n":11'))

        with pytest.raises(StoreDamaged) as caught:
            AtomicStorage(path).read()

        assert (
            f"{path}: the checksum of the file is wrong: something in it is not what was written. "
            "Nothing was changed. Put back a copy of the file and of its log from the same time. "
            "If you "
            "changed it on purpose with something other than TinyDB, remove 'checksum' "
            "from the table '_archive'; or move the file away to start from scratch."
        ) == str(caught.value)

    def test_without_a_checksum(self, tmp_path: Path) -> None:
        """A file from before checksums is read, and so is one whose checksum was removed."""
        path = tmp_path / "state.json"
        content = self.written(path)
        path.write_bytes(re.sub(rb',"checksum":"[0-9a-f]{8}"', b"", content, count=1))
        storage = AtomicStorage(path)
        tables = storage.read()

        assert tables is not None
        assert tables["items"]["1"]["n"] == 10
        assert not storage.sealed

    @pytest.mark.parametrize("form", [
        {},
        {"indent": 4},
        {"indent": 2, "sort_keys": True, "ensure_ascii": False},
        {"separators": (", ", ": ")},
    ], ids=repr)  # fmt: skip
    def test_written_by_another_program(
        self, tmp_path: Path, form: dict[str, Any], caplog: pytest.LogCaptureFixture
    ) -> None:
        """What TinyDB and the usual tools wrote since is accepted, and logged."""
        path = tmp_path / "state.json"
        self.written(path)
        with TinyDB(path, encoding="utf-8", **form) as plain:
            plain.table("items").update({"n": 12}, where("id") == "1")
        storage = AtomicStorage(path)
        tables = storage.read()

        assert tables is not None
        assert tables["items"]["1"]["n"] == 12
        assert not storage.sealed
        assert f"{path} was changed by another program" in caplog.text

    @pytest.mark.parametrize("tables", [{}, {"items": {"1": {"id": "1"}}}, {"_default": {}}])
    def test_foreign_tables_have_none(self, tables: Tables) -> None:
        """JSON of another kind is neither sealed nor refused here."""
        content = orjson.dumps(tables)

        assert seal(content) == content


class TestPrivacy:
    """The file holds tokens and secrets."""

    def test_created_private(self, tmp_path: Path) -> None:
        """A new file is its owner's alone, whatever the umask."""
        before = os.umask(0)
        try:
            AtomicStorage(tmp_path / "state.json").write({})
        finally:
            os.umask(before)

        assert (tmp_path / "state.json").stat().st_mode & 0o777 == 0o600

    def test_no_link_is_followed_on_the_way(self, tmp_path: Path) -> None:
        """A link that somebody put where the new file is prepared leads nowhere."""
        other = tmp_path / "other"
        other.write_text("mine")
        (tmp_path / "state.json.tmp").symlink_to(other)
        AtomicStorage(tmp_path / "state.json").write({"items": {}})

        assert other.read_text() == "mine"
        assert {"items": {}} == AtomicStorage(tmp_path / "state.json").read()


class TestByHand:
    """Files that someone changed with TinyDB."""

    def test_insert_change_remove(self, tmp_path: Path) -> None:
        """Documents inserted, changed and removed by hand are accepted as they are."""
        path = tmp_path / "state.json"
        AtomicStorage(path).write(
            encoded(default=state(items={"1": {"id": "1"}, "2": {"id": "2"}}))
        )
        with TinyDB(path) as plain:
            plain.table("items").insert({"id": "new"})
            plain.table("items").update({"n": 1}, where("id") == "2")
            plain.table("items").remove(where("id") == "1")
            plain.table("things").insert({"id": "t"})
        found = decode(path, AtomicStorage(path).read()).worlds

        assert {
            "items": {"2": {"id": "2", "n": 1}, "new": {"id": "new"}},
            "things": {"t": {"id": "t"}},
        } == found["default"].now.tables
        assert found["default"].now.next_place == 3

    @pytest.mark.parametrize(
        "document", [{"name": "no id"}, {"id": 5}, {"id": "1"}, "text"], ids=repr
    )
    def test_without_a_key(self, document: Any) -> None:
        """A document without a key of its own is refused by table and number."""
        tables = encoded(default=state(items={"1": {"id": "1"}}))
        tables["items"]["7"] = document

        with pytest.raises(
            StoreDamaged, match="table 'items', document 7 needs a text in field 'i"
        ):
            decode(PATH, tables)

    @pytest.mark.parametrize("table", ["~w9/items", "~w9"])
    def test_of_no_world(self, table: str) -> None:
        """A table of a world that is not listed is refused, not dropped."""
        tables = encoded(w1=state()) | {table: {"1": {"id": "1"}}}

        with pytest.raises(StoreDamaged, match="does not list"):
            decode(PATH, tables)


class TestRefusals:
    """Files that are not read."""

    @pytest.mark.parametrize(
        "tables", [[], 5, "x", {"items": {}}, {"_default": {"1": {}}}, {"_archive": 1}], ids=repr
    )
    def test_foreign(self, tables: Any) -> None:
        """A file of something else is recognized as such."""
        with pytest.raises(StoreForeign, match=r"^state\.json was not written by this program"):
            decode(PATH, tables)

    @pytest.mark.parametrize("format_", [0, FORMAT + 1, "1"])
    def test_other_format(self, format_: Any) -> None:
        """A format of another version is refused with the number of both."""
        tables = encoded(default=state()) | {"_archive": {"1": {"format": format_, "seq": 9}}}

        with pytest.raises(StoreError, match=f"has format {format_}; this version reads format 1"):
            decode(PATH, tables)

    @pytest.mark.parametrize("part", [
        {"_archive": {}},
        {"_archive": {"1": {"format": 1}}},
        {"_archive": {"1": {"format": 1, "seq": "x"}}},
        {"_worlds": None},
        {"_worlds": {"1": {"name": "default"}}},
        {"_worlds": {"1": []}},
        {"items": {"x": {"id": "1"}}},
        {"items": [1]},
    ], ids=repr)  # fmt: skip
    def test_incomplete(self, part: Tables) -> None:
        """A file of ours that lacks something essential is damaged."""
        tables = encoded(default=state(items={"1": {"id": "1"}})) | part

        with pytest.raises(StoreDamaged, match=r"Put back a copy of the file, or move it away"):
            decode(PATH, tables)

    def test_no_worlds_table(self) -> None:
        """The list of worlds may be empty but not absent."""
        tables = encoded()
        assert Contents(9) == decode(PATH, tables)

        del tables["_worlds"]
        with pytest.raises(StoreDamaged):
            decode(PATH, tables)
