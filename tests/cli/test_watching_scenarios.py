from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from mock_platform.cli.server_context import ScenarioFiles, Watch
from mock_platform.core.errors import CannotPerform
from mock_platform.platform import Platform
from mock_platform.scenario.active import ActiveScenario
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Scenario, loads
from mock_platform.scenario.engine import Engine
from mock_platform.settings import Settings
from tests.cli.watches import around_a_change, real_watches

TEXT = """\
name: bad-day
description: DESCRIPTION
parameters: {code: 89}
rules:
  - {on: accounts.get, then: {error: $code}}
"""


def write(file: Path, description: str = "First.") -> None:
    """Change the file."""
    file.write_text(TEXT.replace("DESCRIPTION", description))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A scenario's file."""
    found = tmp_path / "bad-day.yaml"
    write(found)
    return found


@pytest.fixture
def platform(file: Path) -> Platform:
    """A platform that has it from the start."""
    return Platform(Settings(scenarios=(str(file), "outage")))


@pytest.fixture
def files(platform: Platform) -> ScenarioFiles:
    """What is reloaded."""
    return ScenarioFiles(platform)


def engine(platform: Platform, world: str = "default") -> Engine:
    """The engine of a world."""
    return find_engine(platform.worlds.get(world))


def description(platform: Platform, world: str = "default") -> object:
    """What the scenario that is active there says of itself."""
    told = engine(platform, world).describe("bad-day")
    assert told["active"]
    return told["description"]


def test_a_sound_change_goes_on_with_its_parameters(
    file: Path, platform: Platform, files: ScenarioFiles
) -> None:
    """In every world where it is active, after a reset, and in worlds yet to be made."""
    platform.worlds.create("old")
    engine(platform).activate("bad-day", {"code": 32})
    write(file, "Second.")

    files.reload()

    assert ["Second."] * 2 == [description(platform), description(platform, "old")]
    assert {"code": 32} == engine(platform).describe("bad-day")["given"]
    platform.worlds.create("new")
    assert "Second." == description(platform, "new")
    platform.worlds.default.reset()
    assert "Second." == description(platform)


def test_what_is_off_or_defined_in_the_world_stays_so(
    file: Path, platform: Platform, files: ScenarioFiles
) -> None:
    """A reload switches nothing on, and takes no definition of a world's own."""
    platform.worlds.create("own")
    own = loads(TEXT.replace("DESCRIPTION", "Own."), platform.library.catalog)
    engine(platform, "own").define(own)
    engine(platform).deactivate("bad-day")
    write(file, "Second.")

    files.reload()

    told = engine(platform).describe("bad-day")
    assert (False, "Second.") == (told["active"], told["description"])
    assert "Own." == description(platform, "own")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TEXT.replace("$code", "$kode"), "bad-day.yaml:5:31: rules[0].then.error: $kode is no"),
        (TEXT.replace("bad-day", "other"), "the server began with 'bad-day' from this file"),
        (TEXT.replace("code: 89", "code: 90"), "code: 90 is not allowed"),
        ("name: [", "bad-day.yaml:1:"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_bad_file_leaves_the_last_good_version(
    file: Path,
    platform: Platform,
    files: ScenarioFiles,
    text: str | None,
    told: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its complaint is logged once, and a correct file is loaded again."""
    if text is None:
        file.unlink()
    else:
        file.write_text(text)

    files.reload()
    files.reload()

    (record,) = caplog.records
    assert logging.ERROR == record.levelno
    assert told in caplog.text
    assert "First." == description(platform)
    platform.worlds.default.reset()
    assert "First." == description(platform)
    write(file, "Third.")
    files.reload()
    assert "Third." == description(platform)


def test_parameters_that_are_gone_keep_the_version_that_has_them(
    file: Path, platform: Platform, files: ScenarioFiles, caplog: pytest.LogCaptureFixture
) -> None:
    """Only the world that uses them stays behind, and is named."""
    platform.worlds.create("other")
    engine(platform).activate("bad-day", {"code": 32})
    file.write_text(TEXT.replace("code", "number").replace("DESCRIPTION", "Second."))

    files.reload()

    assert ["First.", "Second."] == [description(platform), description(platform, "other")]
    assert "World 'default' goes on with the last version." in caplog.text


def test_a_server_without_connections_takes_no_faults(
    file: Path, platform: Platform, files: ScenarioFiles, caplog: pytest.LogCaptureFixture
) -> None:
    """What the server cannot perform is refused, as at the start."""
    platform.disable_connections()
    file.write_text(TEXT.replace("error: $code", "fault: reset"))

    files.reload()

    assert "breaks connections" in caplog.text
    assert "First." == description(platform)


def test_a_touch_changes_nothing(
    file: Path, platform: Platform, files: ScenarioFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same content does not restart the scenario."""
    made: list[object] = []
    monkeypatch.setattr(ActiveScenario, "__init__", lambda *_: made.append(None))
    write(file)

    files.reload()

    assert [] == made


def test_watching_needs_no_fixtures(file: Path, platform: Platform) -> None:
    """The file's folder is watched; signs of life load nothing."""
    found = around_a_change(
        platform, lambda: write(file, "Second."), "bad-day.yaml", lambda: description(platform)
    )

    assert ("First.", "Second.", (file.parent,)) == found


def test_real_watches_see_a_file_that_is_put_in_place(
    file: Path, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As editors do: a new file is renamed to the old one's name."""
    loaded = threading.Event()
    reload = platform.reload_scenario

    def noticed(which: Path) -> list[str]:
        try:
            return reload(which)
        finally:
            loaded.set()

    monkeypatch.setattr(platform, "reload_scenario", noticed)
    with real_watches(platform, loaded):
        new = file.with_suffix(".new")
        write(new, "Second.")
        new.replace(file)

    assert "Second." == description(platform)


def test_scenarios_in_a_fixture_folder_reset_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder may hold both: a changed scenario is loaded, and the records stay."""
    (tmp_path / "users.json").write_text('[{"id": "9", "screen_name": "nine", "name": "Nine"}]')
    file = tmp_path / "bad-day.yaml"
    write(file)
    platform = Platform(Settings(fixtures=(tmp_path,), scenarios=(str(file),)))
    world, loaded = platform.worlds.default, threading.Event()
    with world.work():
        world.store.remove("users", "9")
    monkeypatch.setattr(platform.library, "put", lambda _: loaded.set())
    with real_watches(platform, loaded):
        write(file, "Second.")

    assert world.store.get("users", "9") is None


# -- folders -------------------------------------------------------------------------------------


@pytest.fixture
def known(file: Path) -> Platform:
    """A platform that knows the file's folder."""
    return Platform(Settings(scenarios=(str(file.parent),)))


def told(platform: Platform) -> list[tuple[str, object, object]]:
    """What a world knows from the folder: name, description, whether it is active."""
    listed = engine(platform).as_json()
    return [
        (each["name"], each["description"], each["active"])
        for each in listed
        if each["name"].startswith(("bad", "good"))
    ]


def test_a_file_that_comes_into_a_folder_becomes_known(
    file: Path, known: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    """So does a changed one; nothing is switched on, and what is on goes on as the new one says."""
    files = ScenarioFiles(known)
    (file.parent / "below").mkdir()
    good = file.parent / "below" / "good-day.yml"
    good.write_text(TEXT.replace("bad-day", "good-day").replace("DESCRIPTION", "Good."))
    files.reload()
    assert [("bad-day", "First.", False), ("good-day", "Good.", False)] == told(known)

    engine(known).activate("bad-day", {"code": 32})
    write(file, "Second.")
    files.reload()

    assert ("bad-day", "Second.", True) == told(known)[0]
    assert {"code": 32} == engine(known).describe("bad-day")["given"]
    assert not [record for record in caplog.records if record.levelno == logging.ERROR]


def test_a_bad_file_that_comes_into_a_folder_is_told(
    file: Path, known: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    """One with faults, or with a name that another has, is not known before it is fixed."""
    files = ScenarioFiles(known)
    copy = file.with_name("copy.yaml")
    write(copy, "Copy.")
    files.reload()
    files.reload()
    assert [f"{copy}:1:1: name: 'bad-day' is the name of {file} already"] == [
        record.getMessage().partition("\n")[2] for record in caplog.records
    ]
    assert [("bad-day", "First.", False)] == told(known)

    copy.write_text(TEXT.replace("bad-day", "good-day").replace("DESCRIPTION", "Good."))
    files.reload()

    assert [("bad-day", "First.", False), ("good-day", "Good.", False)] == told(known)


def test_a_known_scenario_may_need_parameters_or_connections(file: Path, known: Platform) -> None:
    """What only an active scenario must do without is asked for when it is switched on."""
    files = ScenarioFiles(known)
    known.disable_connections()
    file.write_text(TEXT.replace("error: $code", "fault: reset").replace("DESCRIPTION", "Second."))

    files.reload()

    assert [("bad-day", "Second.", False)] == told(known)
    with pytest.raises(CannotPerform):
        engine(known).activate("bad-day")


def test_a_file_that_went_from_a_folder_stays_known(
    file: Path, known: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    """Its absence is logged once."""
    files = ScenarioFiles(known)
    file.unlink()

    files.reload()
    files.reload()

    assert [("bad-day", "First.", False)] == told(known)
    assert 1 == caplog.text.count("cannot be read: No such file")


def test_real_watches_see_into_a_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in a folder below is seen, and the folder is not watched twice."""
    folder = file.parent
    known = Platform(Settings(scenarios=(str(folder), str(file))))
    below, loaded = folder / "below", threading.Event()
    below.mkdir()
    put = known.library.put

    def noticed(scenario: Scenario) -> None:
        put(scenario)
        loaded.set()

    monkeypatch.setattr(known.library, "put", noticed)
    with real_watches(known, loaded):
        (below / "new.yaml").write_text("name: good-day\nrules: [{then: {error: 89}}]")

    assert ["bad-day", "good-day"] == [name for name, *_ in told(known)]
    assert 1 == len(Watch(known)._threads)


def test_records_of_a_collection_are_read_again(tmp_path: Path) -> None:
    """A change of the file that a collection names loads the scenario again."""
    (tmp_path / "lists.json").write_text('[{"id": "1"}]')
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nrules: [{on: /2/shops, then: {collection: lists.json}}]\n")
    platform = Platform(Settings(scenarios=(str(file),)))
    files = ScenarioFiles(platform)

    def records() -> object:
        found = engine(platform).find("mine").document["rules"][0]["then"]["collection"]["items"]
        return [record["id"] for record in found]

    (tmp_path / "lists.json").write_text('[{"id": "1"}, {"id": "2"}]')
    files.reload()
    assert ["1", "2"] == records()
    (tmp_path / "lists.json").write_text("[")
    files.reload()
    assert ["1", "2"] == records()
    (tmp_path / "lists.json").write_text('[{"id": "3"}]')
    files.reload()
    assert ["3"] == records()
