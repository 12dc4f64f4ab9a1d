from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from mock_platform.cli.watching import ScenarioFiles, Watch
from mock_platform.platform import Platform
from mock_platform.scenario.director import engine_of
from mock_platform.scenario.document import loads
from mock_platform.scenario.engine import Active, Engine
from mock_platform.settings import Settings
from tests.cli.test_watching import END, Changes

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
    return engine_of(platform.worlds.get(world))


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
    own = loads(TEXT.replace("DESCRIPTION", "Own."), platform.library.operations)
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
    """Its complaint is logged once, and a sound file is taken again."""
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
    platform.without_connections()
    file.write_text(TEXT.replace("error: $code", "fault: reset"))

    files.reload()

    assert "breaks connections" in caplog.text
    assert "First." == description(platform)


def test_a_touch_changes_nothing(
    file: Path, platform: Platform, files: ScenarioFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same content does not begin the scenario anew."""
    made: list[object] = []
    monkeypatch.setattr(Active, "__init__", lambda *_: made.append(None))
    write(file)

    files.reload()

    assert [] == made


def test_watching_needs_no_fixtures(file: Path, platform: Platform) -> None:
    """The file's folder is watched; signs of life load nothing."""
    changes = Changes()
    changes.queue.put(set())
    watch = Watch(platform, changes)
    watch.start()
    write(file, "Second.")
    changes.queue.put(set())
    assert changes.seen.acquire(timeout=10)
    assert changes.seen.acquire(timeout=10)
    before = description(platform)
    changes.queue.put({"bad-day.yaml"})
    assert changes.seen.acquire(timeout=10)
    changes.queue.put(END)
    watch.stop()

    assert ("First.", "Second.") == (before, description(platform))
    assert (file.parent,) == changes.folders


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
    watch = Watch(platform)
    watch.start()
    try:
        new = file.with_suffix(".new")
        write(new, "Second.")
        new.replace(file)

        assert loaded.wait(30)
        assert "Second." == description(platform)
    finally:
        watch.stop()


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
    watch = Watch(platform)
    monkeypatch.setattr(platform.library, "put", lambda _: loaded.set())
    watch.start()
    try:
        write(file, "Second.")

        assert loaded.wait(30)
    finally:
        watch.stop()
    assert world.store.get("users", "9") is None
