from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.core.errors import BadScenario, CannotPerform, UnknownScenario
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import load
from mock_platform.scenario.library import Library, check, list_files, list_scenario_files
from mock_platform.scenario.outline import is_file
from mock_platform.settings import Settings
from tests.scenario.support import CATALOG, LINE_ITEMS, SOUND, write
from tests.support import make_platform, sandbox


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


def started(*scenarios: object) -> Platform:
    """A platform that begins with these."""
    return make_platform(Settings(scenarios=tuple(str(each) for each in scenarios)))


def active(platform: Platform) -> list[str]:
    """Names of the scenarios that are active."""
    return [
        each["name"] for each in find_engine(platform.worlds.default).as_json() if each["active"]
    ]


def faults(*scenarios: object) -> list[str]:
    """What a platform that begins with these complains of."""
    with pytest.raises(BadScenario) as caught:
        started(*scenarios)
    return [str(complaint) for complaint in caught.value.complaints]


def test_names_and_files_are_active_folders_known(tmp_path: Path) -> None:
    """A folder's scenarios wait for their names, those of folders below and all endings too."""
    folder = tmp_path / "mine"
    one = write(folder, "one.yaml")
    write(folder, "two.yml")
    write(folder / "below", "three.json", '{"name": "three", "rules": [{"then": {"error": 89}}]}')
    single = write(tmp_path, "single.yaml")

    platform = started(folder, single, "outage")
    known = [scenario.name for scenario in platform.library]

    assert ["outage", "single"] == active(platform)
    assert {"one", "two", "three", "single", "outage"} <= set(known)
    platform.worlds.default.reset()
    assert ["outage", "single"] == active(platform)
    find_engine(platform.worlds.default).activate("three")
    assert ["one", "outage"] == active(started("outage", folder, "one"))
    assert ["one"] == active(started(folder, one)) == active(started(one, f"{folder}/"))


def test_a_known_scenario_comes_before_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bare word is a scenario's name first; a folder of that name is written with a slash."""
    monkeypatch.chdir(tmp_path)
    for folder in ("outage", "mine"):
        write(tmp_path / folder, "one.yaml")

    assert ["outage"] == active(started("outage"))
    assert None is started("outage").library.find("one")
    assert None is not started("./outage").library.find("one")
    assert None is not started("mine").library.find("one")
    with pytest.raises(UnknownScenario, match="There is no scenario 'min'"):
        started("min")


def test_all_faults_are_told(tmp_path: Path) -> None:
    """Of all files and folders at once, each with its place, names that occur twice included."""
    folder = tmp_path / "mine"
    one = write(folder, "one.yaml")
    bad = write(folder, "bad.yaml", "name: bad\nrules: [{then: {eror: 89}}]")
    twice = write(tmp_path, "twice.yaml", SOUND.format("one"))
    (tmp_path / "empty").mkdir()

    found = faults(folder, twice, tmp_path / "empty")

    assert [
        f"{tmp_path}/empty:1:1: holds no scenario file (.yaml, .yml, .json)",
        f"{bad}:2:17: rules[0].then.eror: ",
        f"{one}:1:1: name: 'one' is the name of {twice} already",
    ] == [found[0], found[1][: len(f"{bad}:2:17: rules[0].then.eror: ")], found[2]]


def test_a_path_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    """Neither a file nor a folder."""
    assert [f"{tmp_path}/no:1:1: there is no such file or folder"] == faults(f"{tmp_path}/no/")
    assert ["cannot be read: No such file or directory"] == [
        text.partition(":1:1: ")[2] for text in faults(tmp_path / "no.yaml")
    ]


def test_what_is_odd_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A start says of a file what `check` says, with its place, also when it is loaded again."""
    rule = "{on: line_items.list, then: {disconnect: {}}}"
    file = write(tmp_path, "odd.yaml", f"name: odd\nrules:\n- {rule}\n")
    said = (
        f"{file}:3:32: rules[0].then.disconnect: has no effect: none of the operations is a stream"
    )

    platform = make_platform(Settings(scenarios=(str(file),)))
    assert [said] == [record.getMessage() for record in caplog.records]
    file.write_text(file.read_text() + "- {then: {error: 89}}\n")
    platform.reload_scenario(file)
    assert [said, said] == [record.getMessage() for record in caplog.records]


def test_one_that_is_named_twice(tmp_path: Path) -> None:
    """A scenario of the start is active once, however often it is named, in the order of names."""
    file = write(tmp_path, "mine.yaml")
    named = ("outage", str(file), "outage", "mine")

    assert ["outage", "mine"] == make_platform(Settings(scenarios=named)).start_up.active


def test_connections_at_start_up(tmp_path: Path) -> None:
    """A start-up scenario that breaks connections needs a server that can."""
    file = tmp_path / "lost.yaml"
    file.write_text("name: lost\nrules: [{then: {fault: reset}}]")
    box = sandbox(scenarios=(str(file),))

    with pytest.raises(CannotPerform):
        box.platform.disable_connections()


def test_rules_that_acted_are_noted_for_all_worlds(tmp_path: Path) -> None:
    """The name of a scenario and the number of its rule are noted once one acts in any world."""
    file = tmp_path / "failing.yaml"
    file.write_text("name: failing\nrules: [{on: line_items.list, then: {error: 89}}]")
    box = sandbox(scenarios=(str(file),), auth="off")
    box.platform.worlds.create("w1")
    before = set(box.platform.fired_rules)

    box.call("GET", f"/~w1{LINE_ITEMS}", keys=None)

    assert (set(), {("failing", 0)}) == (before, box.platform.fired_rules)
