"""Scenario texts are checked as files are, and saved where the server reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.cli.server_context import ScenarioFiles
from mock_platform.control.refusals import ControlRefusal
from mock_platform.control.scenarios import check_scenario_text, find_scenario_folder, save_scenario
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.library import check
from mock_platform.settings import Settings
from tests.scenario.support import SOUND, write
from tests.support import make_platform

FAULTY = "name: a\nrules:\n  - on: webhooks.replya\n    then: {error: 89}\n"
ODD = "name: a\nrules:\n  - then: {error: 89}\n  - on: users.me\n    then: {error: 88}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one scenario, `known`."""
    root = tmp_path / "mine"
    write(root, "known.yaml")
    return root


@pytest.fixture
def platform(folder: Path) -> Platform:
    """A platform that begins with that folder."""
    return make_platform(Settings(scenarios=(str(folder),)))


def refused(platform: Platform, text: str, name: str, folder: Path) -> ControlRefusal:
    """The refusal to save a text."""
    with pytest.raises(ControlRefusal) as caught:
        save_scenario(platform, text, name, folder)
    return caught.value


@pytest.mark.parametrize("text", [FAULTY, ODD, "name: [", "", SOUND.format("a")])
def test_a_text_is_checked_as_its_file_is(platform: Platform, tmp_path: Path, text: str) -> None:
    """Lines, columns, fields and texts are those of `mock-platform check`."""
    file = tmp_path / "a.yaml"
    file.write_text(text)

    of_text = check_scenario_text(platform, text)
    of_file = check([file], platform.library.catalog)

    def told(complaints: object) -> list[tuple[int, int, str, str]]:
        return [(c.line, c.column, c.field, c.text) for c in complaints]  # type: ignore[attr-defined]

    assert told(of_file.complaints) == told(of_text.complaints)
    assert told(of_file.warnings) == told(of_text.warnings)
    assert (of_text.scenario is None) == bool(of_text.complaints)


def test_a_text_may_name_files_only_in_a_folder(platform: Platform, folder: Path) -> None:
    """Records in a file beside the scenario are found where the text will be saved."""
    (folder / "rows.json").write_text('[{"id": "1"}]')
    text = "name: a\nrules: [{on: /2/lists, then: {collection: rows.json}}]"

    assert check_scenario_text(platform, text).complaints
    assert not check_scenario_text(platform, text, "a.yaml", folder).complaints


def test_a_saved_scenario_is_known_at_once(platform: Platform, folder: Path) -> None:
    """It is a file of the folder, and every world can activate it."""
    saved = save_scenario(platform, SOUND.format("new"), "below/new.yaml", folder)

    assert folder / "below" / "new.yaml" == saved.file
    assert SOUND.format("new") == saved.file.read_text()
    find_engine(platform.worlds.default).activate("new")


def test_a_change_reaches_the_active_scenario(platform: Platform, folder: Path) -> None:
    """The new version of a file is active where the last one was, and is loaded only once."""
    watched = ScenarioFiles(platform)
    engine = find_engine(platform.worlds.default)
    engine.activate("known")
    text = "name: known\nrules: [{then: {error: 88}}]"

    save_scenario(platform, text, "known.yaml", folder, replace=True)
    active = engine.list_scenarios(), engine.describe("known")["active"]
    rules = engine.rules.early, engine.rules.late
    watched.reload()

    assert active[1]
    assert rules == (engine.rules.early, engine.rules.late)
    assert {"error": 88} == engine.find("known").document["rules"][0]["then"]


def test_a_file_that_was_saved_is_watched(platform: Platform, folder: Path) -> None:
    """An editor's change to a file that the console made is noticed."""
    watched = ScenarioFiles(platform)
    saved = save_scenario(platform, SOUND.format("new"), "new.yaml", folder)
    watched.reload()

    saved.file.write_text("name: new\nrules: [{then: {error: 88}}]")
    watched.reload()

    known = platform.library.find("new")
    assert known is not None
    assert {"error": 88} == known.document["rules"][0]["then"]


def test_refusals_leave_everything(platform: Platform, folder: Path) -> None:
    """Faults of the text or the name, a taken name, and an existing file write nothing."""
    faulty = refused(platform, FAULTY, "a.yaml", folder)
    taken = refused(platform, SOUND.format("known"), "other.yaml", folder)
    renamed = refused(platform, SOUND.format("other"), "known.yaml", folder)
    exists = refused(platform, SOUND.format("known"), "known.yaml", folder)
    outside = refused(platform, SOUND.format("a"), "../a.yaml", folder)

    assert 422 == faulty.status
    assert [(3, 5)] == [(each["line"], each["column"]) for each in faulty.extra["faults"]]
    assert "did you mean 'webhooks.replay'" in faulty.detail.lower()
    assert "'known' is the name of" in taken.detail
    assert "restart it for another name" in renamed.detail
    assert (409, "file") == (exists.status, exists.extra["faults"][0]["field"])
    assert 422 == outside.status
    assert ["known.yaml"] == [each.name for each in folder.iterdir()]


def test_a_scenario_of_the_start_must_not_need_parameters(tmp_path: Path) -> None:
    """A version that could not begin with the server is not saved over one that does."""
    folder = tmp_path / "mine"
    write(folder, "a.yaml")
    platform = make_platform(Settings(scenarios=(str(folder), "a")))
    text = "name: a\nparameters: {code: null}\nrules: [{then: {error: $code}}]"

    assert check_scenario_text(platform, text).scenario is not None
    with pytest.raises(ControlRefusal, match="was not saved"):
        save_scenario(platform, text, "a.yaml", folder, replace=True)
    assert SOUND.format("a") == (folder / "a.yaml").read_text()


def test_folders(platform: Platform, folder: Path) -> None:
    """The first folder is meant unless another is named; without any it is refused."""
    assert folder == find_scenario_folder(platform) == find_scenario_folder(platform, str(folder))
    with pytest.raises(ControlRefusal, match="is no folder"):
        find_scenario_folder(platform, "/etc")
    with pytest.raises(ControlRefusal, match="--scenario FOLDER"):
        find_scenario_folder(make_platform(Settings()))
