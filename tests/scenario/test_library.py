from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.core.errors import BadScenario
from mock_platform.scenario.document import load
from mock_platform.scenario.library import Library, check, list_files, list_scenario_files
from mock_platform.scenario.name_or_file import is_file
from tests.scenario.support import CATALOG, SOUND, write


def test_shipped_and_given(tmp_path: Path) -> None:
    """Scenarios of a folder and of single files are known by name; a single file comes first."""
    write(tmp_path / "shipped", "b.yaml")
    write(tmp_path / "shipped", "a.json", '{"name": "a", "rules": [{"then": {"error": 89}}]}')
    write(tmp_path / "shipped", "README.md", "no scenario")
    library = Library(tmp_path / "shipped", CATALOG)
    own = load(write(tmp_path, "b.yml"), CATALOG)
    library.put(own)

    assert ["a", "b"] == [scenario.name for scenario in library]
    assert own is library.find("b")
    assert library.find("c") is None


def test_read_late(tmp_path: Path) -> None:
    """The folder is read when it is first needed, so that a start costs nothing."""
    library = Library(tmp_path, CATALOG)
    write(tmp_path, "a.yaml", "name: A")

    with pytest.raises(BadScenario):
        library.find("a")


def test_one_is_read_by_its_file(tmp_path: Path) -> None:
    """A scenario is found without reading the others, and stays the same when all are read."""
    library = Library(tmp_path, CATALOG)
    write(tmp_path, "a.yaml")
    write(tmp_path, "b.yaml", "name: B")
    found = library.find("a")
    write(tmp_path, "b.yaml", SOUND.format("c"))

    assert found is not None
    assert ["a", "c"] == [scenario.name for scenario in library]
    assert found is next(iter(library))
    assert library.find("b") is None


def test_no_way_out(tmp_path: Path) -> None:
    """A link out of the folder is not followed."""
    folder = tmp_path / "folder"
    inside = write(folder, "a.yaml")
    outside = write(tmp_path, "b.yaml")
    (folder / "c.yaml").symlink_to(outside)
    (folder / "d.yaml").symlink_to(inside)

    assert [folder / "a.yaml", folder / "d.yaml"] == list_scenario_files(folder)


def test_fixtures_are_no_scenarios(tmp_path: Path) -> None:
    """A folder may hold both: what is called like a table or is a list is left out."""
    write(tmp_path, "a.yaml")
    write(tmp_path, "b.json", '\ufeff {"name": "b", "rules": [{"then": {"error": 89}}]}')
    write(tmp_path, "users.json", "{}")
    write(tmp_path, "c.json", "[]")

    assert ["a.yaml", "b.json"] == [file.name for file in list_scenario_files(tmp_path)]
    assert 4 == len(list_files(tmp_path))


def test_check(tmp_path: Path) -> None:
    """Every fault of every file, and names that occur twice."""
    write(tmp_path, "a.yaml")
    write(tmp_path, "b.yaml", SOUND.format("a"))
    bad = write(tmp_path, "c.yaml", "name: c\nrules: [{then: {eror: 89}}]")

    found = check([tmp_path], CATALOG).complaints

    assert [("b.yaml", "name"), ("c.yaml", "rules[0].then.eror")] == [
        (each.file.name, each.field) for each in found
    ]
    assert f"{bad}:2:17: rules[0].then.eror" in str(found[1])
    assert [] == check([tmp_path / "a.yaml"], CATALOG).complaints


@pytest.mark.parametrize(
    ("text", "file"),
    [("usage-capped", False), ("a.yaml", True), ("a.json", True), ("./a", True), ("a.b", False)],
)
def test_names_and_files(text: str, file: bool) -> None:
    """A file differs from a name by its suffix or its folder."""
    assert file == is_file(text)
