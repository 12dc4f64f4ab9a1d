"""Reading fixture folders: every complaint names its place and what to do."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mock_platform.api.served import TABLES
from mock_platform.api.v2.objects.users import USERS
from mock_platform.core import installed as shipped
from mock_platform.core.errors import BadFixtures
from mock_platform.core.tables import fixtures

USER = {"id": "1", "screen_name": "ada", "name": "Ada"}
APP = {"id": "7", "name": "App", "consumer_key": "k", "consumer_secret": "s", "_owner_user_id": "1"}


def write(folder: Path, **tables: object) -> Path:
    """A folder of fixture files; texts are written as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, records in tables.items():
        text = records if isinstance(records, str) else json.dumps(records, indent=1)
        (folder / f"{name}.json").write_text(text)
    return folder


def complaints(folder: Path) -> list[str]:
    """Everything said about a folder, with file names only."""
    return [
        f"{c.file.name}:{c.line}:{c.column}: {c.text}" for c in fixtures.check([folder], TABLES)
    ]


def test_the_shipped_fixtures_are_sound() -> None:
    """The default world passes its own checks."""
    assert fixtures.check([shipped.folder("fixtures")], TABLES) == []


def test_the_shipped_fixtures_are_taken_as_if_they_were_checked() -> None:
    """They are written out in full, so a start that trusts them has the same rows and moments."""
    folder, now = shipped.folder("fixtures"), datetime(2026, 7, 1, tzinfo=UTC)

    trusted = fixtures.load([], TABLES, now, shipped=folder)
    checked = fixtures.load([folder], TABLES, now)

    assert repr(trusted.rows) == repr(checked.rows)
    later = now + timedelta(days=1)
    assert trusted.make_relative_rows(later) == checked.make_relative_rows(later)


def test_defaults_are_filled_in(tmp_path: Path) -> None:
    """Fields that a record leaves out get their defaults; its own order stays."""
    base = fixtures.load([write(tmp_path, users=[USER])], TABLES)

    record = base.rows["users"]["1"].record

    assert list(record)[:3] == ["id", "screen_name", "name"]
    assert record["_password"] == "password"


def test_a_later_folder_lies_over_an_earlier_one(tmp_path: Path) -> None:
    """Records are overlaid by table and id; the others stay."""
    below = write(tmp_path / "a", users=[USER, USER | {"id": "2", "name": "Bob"}])
    above = write(tmp_path / "b", users=[USER | {"name": "Ada L."}])

    rows = fixtures.load([below, above], TABLES).rows["users"]

    assert {"1": "Ada L.", "2": "Bob"} == {key: row.record["name"] for key, row in rows.items()}


@pytest.mark.parametrize(("tables", "expected"), [
    ({"users": '[\n  {"id": "1", "screen_name": "a b", "name": "A"}\n]'},
     "users.json:2:15: record 0, field screen_name: Expected 1 to 15 word characters, "
     'got "a b" for screen_name'),
    ({"users": '[\n {"id": "1", "name": "A"}]'},
     'users.json:2:2: record 0, field screen_name: "screen_name" is a required parameter'),
    ({"users": '[{"id": "1", "screen_name": "a", "name": "A", "nmae": 1}]'},
     "users.json:1:47: record 0, field nmae: 'nmae' is no field of users. Did you mean "
     f"'name'? Its fields: {', '.join(USERS.fields)}"),
    ({"users": [USER, USER]},
     "users.json:8:3: record 1, field id: id '1' occurs twice in this file"),
    ({"users": "[{]"}, "users.json:1:3: not valid JSON"),
    ({"users": "{}"}, "users.json:1:1: a fixture file is an array of records"),
    ({"users": "[5]"}, "users.json:1:2: record 0: a record is an object, got 5"),
    ({"usres": []}, "usres.json:1:1: no table is called 'usres'. Did you mean 'users.json'?"),
    ({"apps": [APP]},
     "apps.json:7:3: record 0, field _owner_user_id: _owner_user_id refers to '1', which "
     "is not in users"),
    ({"apps": [APP | {"_owner_user_id": None, "callback_urls": ["https://a.example", 5]}]},
     "apps.json:10:4: record 0, field callback_urls[1]: Expected String, got 5 for "
     "callback_urls[1]"),
])  # fmt: skip
def test_each_fault_names_file_line_column_record_and_field(
    tmp_path: Path, tables: dict[str, object], expected: str
) -> None:
    """A fault is reported with its exact place, what is wrong and what is allowed."""
    found = complaints(write(tmp_path, **tables))

    assert len(found) == 1
    assert found[0].startswith(expected)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """One run shows everything that is wrong."""
    write(tmp_path, users=[{"id": "x"}], apps=[{"id": "7"}])

    assert len(complaints(tmp_path)) == 6
    with pytest.raises(BadFixtures) as caught:
        fixtures.load([tmp_path], TABLES)
    assert len(caught.value.complaints) == 6


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    """A path that is no folder is a complaint, not an empty world."""
    found = fixtures.check([tmp_path / "nowhere"], TABLES)

    assert [c.text for c in found] == ["is no folder of fixture files: it does not exist"]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A folder that is called like a file, or a link to nothing, is a complaint of its own."""
    (tmp_path / "users.json").mkdir()
    (tmp_path / "apps.json").symlink_to(tmp_path / "gone")

    assert [
        "apps.json:1:1: cannot be read: No such file or directory",
        "users.json:1:1: cannot be read: Is a directory",
    ] == complaints(tmp_path)


@pytest.mark.parametrize(
    ("text", "place"),
    [('[{"id":1,}]', "1:9"), ("[\n  {]", "2:4"), ("", "1:1"), ("\ufeff[", "1:2")],
)
def test_what_is_no_json_is_told_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    """The complaint's place is the one that its words name."""
    (tmp_path / "users.json").write_text(text, "utf-8")
    line, column = place.split(":")

    (found,) = complaints(tmp_path)

    assert found.startswith(f"users.json:{place}: not valid JSON: ")
    assert f" at line {line}, column {column}" in found


def test_files_of_windows_are_read(tmp_path: Path) -> None:
    """A byte order mark and the ends of lines there change nothing, as in YAML."""
    (tmp_path / "iab_categories.json").write_bytes(b"\xef\xbb\xbf[\r\n]\r\n")

    assert [] == complaints(tmp_path)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """Paths stay under their root."""
    outside = write(tmp_path / "outside", users=[USER])
    folder = write(tmp_path / "inside")
    (folder / "users.json").symlink_to(outside / "users.json")

    assert complaints(folder) == ["users.json:1:1: leads out of its folder"]
