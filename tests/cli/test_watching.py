from __future__ import annotations

import json
import logging
import threading
from pathlib import Path

import pytest

from mock_platform.cli.server_context import Watch, reload
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.world.world import World
from tests.cli.watches import END, Changes, around_a_change, real_watches

USER = {"id": "9", "screen_name": "nine", "name": "Nine"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one user."""
    (tmp_path / "users.json").write_text(json.dumps([USER]))
    return tmp_path


@pytest.fixture
def platform(folder: Path) -> Platform:
    """A platform on that folder."""
    return Platform(Settings(fixtures=(folder,)))


def name(world: World) -> object:
    """What the user is called in a world."""
    record = world.store.get("users", "9")
    return None if record is None else record["screen_name"]


def rename(folder: Path, to: str) -> None:
    """Change the fixture."""
    (folder / "users.json").write_text(json.dumps([USER | {"screen_name": to}]))


def test_a_sound_change_resets_the_default_world(folder: Path, platform: Platform) -> None:
    """It starts again with the new files, as do worlds yet to be made; others stay."""
    default, old = platform.worlds.default, platform.worlds.create("old")
    with default.work():
        default.store.remove("users", "9")
    rename(folder, "neun")

    assert reload(platform)

    assert name(default) == "neun"
    assert name(platform.worlds.create("new")) == "neun"
    assert name(old) == "nine"
    assert name(platform.worlds.create("copy", source="old")) == "nine"
    old.reset()
    assert name(old) == "nine"
    default.reset()
    assert name(default) == "neun"


def test_new_credentials_of_fixtures_select_no_world(folder: Path, platform: Platform) -> None:
    """Credentials that come with changed files are shared by all worlds, as the others are."""
    platform.worlds.create("old")
    app = {"id": "5", "name": "x", "consumer_key": "shared-key", "consumer_secret": "s"}
    (folder / "apps.json").write_text(json.dumps([app]))

    assert reload(platform)

    platform.worlds.create("new")
    assert platform.worlds.owner_of("shared-key") is None


def test_a_bad_change_leaves_what_there_is(
    folder: Path, platform: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    """The last sound fixtures stay, changes to records included, and the faults are logged."""
    default = platform.worlds.default
    with default.work():
        default.store.put("users", "9", USER | {"screen_name": "changed"})
    (folder / "users.json").write_text('[{"id": "9"}]')

    assert not reload(platform)

    assert name(default) == "changed"
    assert f"{folder}/users.json:1:2: record 0, field " in caplog.text
    (record,) = caplog.records
    assert record.levelno == logging.ERROR


def test_a_folder_that_went_away_is_told(
    folder: Path, platform: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    """The server goes on without it."""
    (folder / "users.json").unlink()
    folder.rmdir()

    assert not reload(platform)
    assert "is no folder of fixture files" in caplog.text


def test_only_changes_reload(folder: Path, platform: Platform) -> None:
    """Signs of life change nothing; a change loads the folders that are watched."""
    default = platform.worlds.default

    found = around_a_change(
        platform, lambda: rename(folder, "neun"), "users.json", lambda: name(default)
    )

    assert ("nine", "neun", (folder,)) == found


def test_a_change_on_the_way_out_is_left(folder: Path, platform: Platform) -> None:
    """Once stopped, nothing is loaded any more."""
    changes = Changes(set())
    watch = Watch(platform, changes)
    watch.start()
    rename(folder, "neun")
    watch._stop.set()
    changes.queue.put({"users.json"})
    changes.queue.put(END)
    watch.stop()

    assert name(platform.worlds.default) == "nine"


def test_watches_that_fail_are_told(platform: Platform, caplog: pytest.LogCaptureFixture) -> None:
    """A system without watches left does not end the server."""
    watch = Watch(platform, Changes(OSError("no watches left")))
    watch.start()
    watch.stop()

    assert "can no longer be watched: no watches left" in caplog.text


def test_real_watches_see_a_change(
    folder: Path, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changes right after the start is seen."""
    loaded = threading.Event()
    monkeypatch.setattr(platform, "reload", lambda _: loaded.set())
    with real_watches(platform, loaded):
        rename(folder, "neun")
