from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.console.scenario_files import find_folder, save_scenario
from mock_platform.control.refusal import ControlRefusal
from mock_platform.settings import Settings

TEXT = "name: mine\nrules:\n  - on: line_items.list\n    then: {delay: 2s}\n"


def test_saved_in_the_given_folder(tmp_path: Path) -> None:
    """The file is named after the scenario; names of scenarios and files are no folders."""
    settings = Settings(scenarios=("outage", str(tmp_path)))

    file = save_scenario(settings, "mine", TEXT)

    assert tmp_path == find_folder(settings)
    assert (tmp_path.resolve() / "mine.yaml", TEXT) == (file, file.read_text("utf-8"))
    assert [file.name] == [each.name for each in tmp_path.iterdir()]


def test_no_folder() -> None:
    """Without a folder the refusal says how to give one."""
    with pytest.raises(ControlRefusal, match="--scenario FOLDER") as refused:
        save_scenario(Settings(), "mine", TEXT)
    assert 409 == refused.value.status


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    """A file that is there is replaced only on request."""
    settings = Settings(scenarios=(str(tmp_path),))
    (tmp_path / "mine.yaml").write_text("old")

    with pytest.raises(ControlRefusal, match="already") as refused:
        save_scenario(settings, "mine", TEXT)
    assert 409 == refused.value.status
    assert "name" == refused.value.extra["faults"][0]["field"]
    assert TEXT == save_scenario(settings, "mine", TEXT, replaces=True).read_text("utf-8")


@pytest.mark.parametrize("name", ["../mine", "/tmp/mine", "a/b", "", "..", "a\x00b", "Mine"])
def test_only_names_of_scenarios(tmp_path: Path, name: str) -> None:
    """No name leads out of the folder."""
    with pytest.raises(ControlRefusal) as refused:
        save_scenario(Settings(scenarios=(str(tmp_path),)), name, TEXT)
    assert 422 == refused.value.status
    assert [] == list(tmp_path.iterdir())


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link in the folder could lead anywhere."""
    folder, other = tmp_path / "scenarios", tmp_path / "other.yaml"
    folder.mkdir()
    other.write_text("other")
    (folder / "mine.yaml").symlink_to(other)

    with pytest.raises(ControlRefusal, match="is a link"):
        save_scenario(Settings(scenarios=(str(folder),)), "mine", TEXT, replaces=True)
    assert "other" == other.read_text()
