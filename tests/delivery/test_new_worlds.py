"""A new world is searched for what is due, unless another with the same fixtures showed nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mock_platform.api.ads.catalogs.scheduled_feeds import TABLE as FEEDS
from mock_platform.delivery.agenda import Agenda, DueAct, DueStart
from mock_platform.platform import Platform, load_base
from mock_platform.settings import DeliverySettings, Settings
from mock_platform.world import clock
from mock_platform.world.clock import wire_seconds

Start = Callable[..., Platform]
Watched = Callable[..., list[str]]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    """The names of the worlds for which something of a kind is watched; nothing is ever done."""
    entries: list[Any] = []
    monkeypatch.setattr(Agenda, "watch", lambda _, *more: entries.extend(more))
    return lambda kind, table=None: [
        entry.world.name
        for entry in entries
        if type(entry) is kind and table in {None, getattr(entry, "table", None)}
    ]


@pytest.fixture
def start(tmp_path: Path, watched: Watched) -> Iterator[Start]:
    """Starts a platform on fixtures in which a post is planned for a moment."""
    started: list[Platform] = []

    def start(planned: str, **settings: Any) -> Platform:
        _plan(tmp_path, planned)
        started.append(Platform(Settings(fixtures=(tmp_path,), **settings)))
        return started[-1]

    yield start
    for platform in started:
        platform.close()


def _plan(folder: Path, planned: str) -> None:
    packaged = Path(__file__).parents[2] / "fixtures" / "scheduled_posts.json"
    record = json.loads(packaged.read_text())[-1]
    record["scheduled_at"] = planned
    (folder / "scheduled_posts.json").write_text(json.dumps([record]))


def _in(**distance: float) -> str:
    return wire_seconds(clock.machine_now() + timedelta(**distance))


@pytest.mark.parametrize(("planned", "names"), [("now+2h", ["default", "one"]), ("now+30d", [])])
def test_what_is_due_soon_is_watched_in_each_world(
    start: Start, watched: Watched, planned: str, names: list[str]
) -> None:
    """A moment that counts from now is as near, or as far, in the second world as in the first."""
    start(planned).worlds.create("one")

    assert names == watched(DueAct)


def test_what_was_far_comes_near(
    start: Start, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that runs for long looks again when something is due within a day."""
    platform = start(_in(hours=36))
    now: Callable[[], datetime] = clock.machine_now

    monkeypatch.setattr(clock, "machine_now", lambda: now() + timedelta(hours=11))
    platform.worlds.create("before")
    monkeypatch.setattr(clock, "machine_now", lambda: now() + timedelta(hours=13))
    platform.worlds.create("after")

    assert watched(DueAct) == ["after"]


def test_a_stopped_clock_has_its_own_distance(start: Start, watched: Watched) -> None:
    """A world whose clock is stopped shortly before a moment is searched."""
    platform = start(_in(days=30))
    platform.worlds.create("running")
    platform.worlds.create("stopped", freeze=clock.machine_now() + timedelta(days=29, hours=23))
    platform.worlds.create("running-too")

    assert {*watched(DueAct)} == {"stopped"}


def test_other_fixtures_are_searched(start: Start, watched: Watched, tmp_path: Path) -> None:
    """New fixtures of the server may contain what is due."""
    platform = start("now+30d")
    _plan(tmp_path, "now+2h")
    platform.reload(load_base(platform.settings))
    platform.worlds.create("one")

    assert "one" in watched(DueAct)


def test_feeds_that_may_be_read_are_watched_in_each_world(start: Start, watched: Watched) -> None:
    """Fixtures with such a feed are never taken for quiet."""
    platform = start("now+30d", delivery=DeliverySettings(allow_hosts=("*",)))
    platform.worlds.create("one")
    worlds = watched(DueStart, FEEDS)

    assert worlds.count("one") == worlds.count("default") > 0
