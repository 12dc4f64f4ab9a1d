"""What a server begins with: names, files and folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.core.errors import BadScenario, UnknownScenario
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.settings import Settings
from tests.scenario.support import SOUND, write
from tests.support import make_platform


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
