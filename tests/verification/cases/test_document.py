"""A file that is no case is refused with its place, whatever it does."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mock_platform.core.errors import BadCase
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.verification.cases import document
from mock_platform.verification.cases.document import read_case
from mock_platform.verification.cases.replay import replay
from mock_platform.verification.cases.writing import write_case

Members = dict[str, bytes]
Change = Callable[[Any], Any]


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    """The members of a case with two small tables."""
    platform = Platform(Settings(dataset="small"))
    file = tmp_path_factory.mktemp("case") / "case.zip"
    file.write_bytes(write_case(platform, platform.worlds.default))
    with zipfile.ZipFile(file) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def write(folder: Path, members: Members) -> Path:
    """A zip archive with these members."""
    file = folder / "case.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    return file


def refuse(file: Path) -> str:
    """Why a file cannot be opened."""
    with pytest.raises(BadCase) as refusal:
        replay(read_case(file)).platform.close()
    text = str(refusal.value)
    assert text.startswith(str(file))
    return text


def test_the_members_are_a_case(tmp_path: Path, members: Members) -> None:
    """What the other tests change can be opened."""
    done = replay(read_case(write(tmp_path, members)))
    done.platform.close()

    assert [] == done.differences


@pytest.mark.parametrize(("name", "text"), [
    ("../case.json", "'../case.json' is no member of a case; members: case.json, state.json"),
    ("/etc/passwd", "'/etc/passwd' is no member"),
    ("case.json/", "'case.json/' is no member"),
    ("x" * 5000, "is no member"),
])  # fmt: skip
def test_other_members(tmp_path: Path, members: Members, name: str, text: str) -> None:
    """Paths and whatever else a case does not have."""
    assert text in refuse(write(tmp_path, members | {name: b"1"}))


@pytest.mark.parametrize("name", document.MEMBERS)
def test_a_missing_member(tmp_path: Path, members: Members, name: str) -> None:
    """Each of the three must be there."""
    left = {other: data for other, data in members.items() if other != name}

    assert f"{name} is missing, so this is no case." in refuse(write(tmp_path, left))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_twice(tmp_path: Path, members: Members) -> None:
    """One of the two would be ignored."""
    file = write(tmp_path, members)
    with zipfile.ZipFile(file, "a") as packed:
        packed.writestr("state.json", b"{}")

    assert "'state.json' is in it twice" in refuse(file)


def test_a_bomb(tmp_path: Path, members: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes count unpacked, also if the archive lies about them."""
    monkeypatch.setattr(document, "MAX_BYTES", 3_000_000)
    bomb = members | {"journal.har": b" " * 4_000_000}
    file = write(tmp_path, bomb)
    honest = refuse(file)
    data = bytearray(file.read_bytes())
    at = data.rindex(b"journal.har") - 46 + 24  # its size in the central directory
    data[at : at + 4] = struct.pack("<I", 10)
    file.write_bytes(data)
    lying = refuse(file)

    assert "unpacks to more than 2 MB" in honest
    assert "journal.har" in lying or "unpacks to more" in lying


@pytest.mark.parametrize(("spoil", "text"), [
    (lambda data: data[:-200], "no zip archive, or a damaged one"),
    (lambda _: b"", "no zip archive, or a damaged one"),
    (lambda _: b"{}", "`mock-platform case FILE` writes one"),
    (lambda data: data[:60] + bytes(100) + data[160:], "case.json is damaged"),
])  # fmt: skip
def test_damage(tmp_path: Path, members: Members, spoil: Change, text: str) -> None:
    """A file that is cut off, empty, something else, or broken inside."""
    file = write(tmp_path, members)
    file.write_bytes(spoil(file.read_bytes()))

    assert text in refuse(file)


def test_encrypted_and_packed_otherwise(tmp_path: Path, members: Members) -> None:
    """What no case is."""
    file = tmp_path / "case.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
    otherwise = refuse(file)
    flagged = bytearray(write(tmp_path, members).read_bytes())
    flagged[flagged.index(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(flagged)

    assert "case.json is packed in a way that cases do not use" in otherwise
    assert "case.json is encrypted; a case is not." in refuse(file)


FILE = {
    "name": "x",
    "at_start": True,
    "document": {"rules": [{"on": "/a", "then": [{"collection": {"file": "/etc/hosts"}}]}]},
}


def put(*path: Any) -> Change:
    """Sets the last value at the place before it."""

    def change(value: Any) -> None:
        for step in path[:-2]:
            value = value[step]
        value[path[-2]] = path[-1]

    return change


@pytest.mark.parametrize(("member", "change", "text"), [
    ("case.json", put("format", 2), "case.json: format 2 is of a later mock_platform"),
    ("case.json", put("format", True), "case.json: format must be 1, not True"),
    ("case.json", put("seed", "x"), "case.json: Expected `int`, got `str` - at `$.seed`"),
    ("case.json", put("seed", 2**70), "case.json: "),
    ("case.json", put("world", "../x"), "case.json: world: "),
    ("case.json", put("clock", "now", "noon"), "case.json: clock.now: not an ISO 8601"),
    ("case.json", put("settings", "port", 1), "settings.port is no setting of a case"),
    ("case.json", put("settings", "control_token", "x"), "settings.control_token is no"),
    ("case.json", put("settings", "auth", "no"), "case.json: settings.auth: Invalid enum"),
    ("case.json", put("next_place", -1), "case.json: next_place: must be a count"),
    ("case.json", put("places", "users", [[0, 10**15]]), "tables.users: case.json has places"),
    ("case.json", put("places", "users", [[0, -1]]), "tables.users: case.json has places"),
    ("case.json", put("rules", [{"name": "x", "document": {}, "at_start": True}]), "rules"),
    ("case.json", put("rules", [FILE]), "rules[0]: its collection names a file"),
    ("state.json", put("ids", -1), "state.json: state"),
    ("state.json", put("clock", {"offset_seconds": 1e300}), "state.json: state"),
    ("state.json", put("paces", {"audience": {"progression": "?"}}), "state.json: state"),
    ("state.json", put("tables", "users", 0, []), "tables.users: a record must be an object"),
    ("state.json", put("tables", "users", {}), "tables.users: is no table, or not a list"),
    ("state.json", put("tables", "nonsense", []), "tables.nonsense: is no table"),
    ("state.json", put("tables", "\x1b[2J\x9b\n", []), r"tables.\x1b[2J\x9b\n: is no table"),
])  # fmt: skip
def test_values_that_no_world_has(
    tmp_path: Path, members: Members, member: str, change: Change, text: str
) -> None:
    """The refusal names the member and the place in it."""
    value = json.loads(members[member])
    change(value)

    assert text in refuse(write(tmp_path, members | {member: json.dumps(value).encode()}))


@pytest.mark.parametrize("member", ["case.json", "state.json"])
@pytest.mark.parametrize(
    ("data", "text"),
    [(b"{", "not valid JSON"), (b"[" * 500 + b"]" * 500, "nested"), (b"[]", ""), (b"\xff", "not")],
)
def test_no_json(tmp_path: Path, members: Members, member: str, data: bytes, text: str) -> None:
    """Or are nested too deeply, or another value."""
    found = refuse(write(tmp_path, members | {member: data}))

    assert f"{member}: " in found
    assert text in found


@pytest.mark.parametrize("data", [b"{", b"{}", b"[]", b"x" * 1000])
def test_a_journal_that_is_none(tmp_path: Path, members: Members, data: bytes) -> None:
    """It is named with its line."""
    assert "journal.har: line 1: " in refuse(write(tmp_path, members | {"journal.har": data}))


def test_what_another_version_has_is_left_out(tmp_path: Path, members: Members) -> None:
    """A table and a setting that this version does not know."""
    case, state = json.loads(members["case.json"]), json.loads(members["state.json"])
    case["versions"]["mock_platform"] = "99.0"
    case["settings"]["new_setting"] = 1
    state["tables"]["new_table"] = [{"id": "1"}]
    changed = {"case.json": json.dumps(case).encode(), "state.json": json.dumps(state).encode()}
    done = replay(read_case(write(tmp_path, members | changed)))
    done.platform.close()

    assert done.case.is_of_another_version
    assert "new_table" not in done.world.store.tables()
