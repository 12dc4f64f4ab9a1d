from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from marshmallow import Schema

from mock_platform.core.fields import Instant, Text, Timed
from mock_platform.core.tables import fixtures
from mock_platform.core.tables.table import Table
from mock_platform.serving.restoring import open_platform
from mock_platform.settings import Settings
from mock_platform.world import clock
from mock_platform.world.blueprint import Blueprint, WorldSettings
from mock_platform.world.clock import epoch_millis, wire_millis
from mock_platform.world.store.memory import Base
from mock_platform.world.world import World

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Happening(Schema):
    """Something with moments."""

    id = Text(required=True)
    at = Instant(millis=True, required=True)
    until = Instant(load_default=None, allow_none=True)
    note = Text(load_default="")
    content = Timed({"at": wire_millis, "stamp": epoch_millis}, load_default=dict)


HAPPENINGS = Table("happenings", Happening)


def load(folder: Path, *records: dict[str, str], now: datetime = NOON) -> Base:
    """The fixtures of one file."""
    (folder / "happenings.json").write_text(json.dumps(records))
    return fixtures.load([folder], [HAPPENINGS], now)


def world(base: Base, freeze: datetime = NOON) -> World:
    """A world on these fixtures whose clock is frozen."""
    return World("default", Blueprint(base, settings=WorldSettings(freeze=freeze)))


def test_a_world_counts_from_its_own_start(tmp_path: Path) -> None:
    """Relative moments are those of the world's clock at its start, in the field's own form."""
    base = load(tmp_path, {"id": "1", "at": "now-2h", "until": "now+1d"})

    later = world(base, NOON + timedelta(hours=5)).store.get("happenings", "1")

    assert {
        "id": "1", "at": "2026-11-20T15:00:00.000Z", "until": "2026-11-21T17:00:00Z", "note": "",
        "content": {},
    } == later  # fmt: skip


def test_a_reset_counts_anew(tmp_path: Path) -> None:
    """After a reset the moments count from the clock's new beginning, whatever was there."""
    place = world(load(tmp_path, {"id": "1", "at": "now"}))
    with place.work():
        place.store.put("happenings", "1", {"id": "1", "at": "gone"})

    place.reset()

    assert {"at": "2026-11-20T12:00:00.000Z"}.items() <= place.store.get("happenings", "1").items()  # type: ignore[union-attr]


def test_worlds_of_one_second_share_their_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the clock runs, moments count from its last whole second, and are computed once."""
    place = Blueprint(load(tmp_path, {"id": "1", "at": "now-2h"}))
    found = []
    for seconds in (3600.25, 3600.75, 3601.5):
        monkeypatch.setattr(clock, "machine_seconds", partial(float, NOON.timestamp() + seconds))
        found.append(World("default", place).store.get("happenings", "1") or {})

    first, second, third = found
    assert "2026-11-20T11:00:00.000Z" == first["at"]
    assert first is second
    assert "2026-11-20T11:00:01.000Z" == third["at"]


def test_a_stopped_clock_counts_to_the_microsecond(tmp_path: Path) -> None:
    """Nothing is rounded where somebody said the moment."""
    base = load(tmp_path, {"id": "1", "at": "now"})

    place = world(base, NOON + timedelta(milliseconds=250))

    assert "2026-11-20T12:00:00.250Z" == (place.store.get("happenings", "1") or {})["at"]


def test_absolute_moments_cost_a_new_world_nothing(tmp_path: Path) -> None:
    """Fixtures without relative moments leave a fresh world without changes."""
    place = world(load(tmp_path, {"id": "1", "at": "2026-11-20T10:00Z"}))

    assert 0 == place.store.snapshot().size


def test_a_world_that_starts_with_the_server_costs_nothing(tmp_path: Path) -> None:
    """Where the clock is frozen at one moment, the fixtures are as they were loaded."""
    place = world(load(tmp_path, {"id": "1", "at": "now-2h"}))

    assert 0 == place.store.snapshot().size
    assert "2026-11-20T10:00:00.000Z" == (place.store.get("happenings", "1") or {})["at"]


def test_a_saved_state_keeps_its_moments(tmp_path: Path) -> None:
    """Going back to a saved state calculates nothing again, however the clock moved meanwhile."""
    place = world(load(tmp_path, {"id": "1", "at": "now-2h"}), NOON + timedelta(hours=1))
    saved = place.save()
    place.clock.advance(3600)
    place.load(saved)

    assert "2026-11-20T11:00:00.000Z" == (place.store.get("happenings", "1") or {})["at"]


def test_a_record_of_a_later_folder_takes_the_moments_along(tmp_path: Path) -> None:
    """An overlay that has an absolute moment is not counted from now."""
    below, above = tmp_path / "below", tmp_path / "above"
    for folder, at in ((below, "now"), (above, "2026-01-01T00:00:00Z")):
        folder.mkdir()
        (folder / "happenings.json").write_text(json.dumps([{"id": "1", "at": at}]))

    base = fixtures.load([below, above], [HAPPENINGS], NOON)

    assert {} == base.relative
    assert "2026-01-01T00:00:00.000Z" == base.rows["happenings"]["1"].record["at"]


def test_a_wrong_moment_is_complained_of(tmp_path: Path) -> None:
    """What looks like a relative moment but is not one is refused with its place."""
    (tmp_path / "happenings.json").write_text('[\n {"id": "1", "at": "now-2 h"}]')

    complaints = fixtures.check([tmp_path], [HAPPENINGS])

    assert [(2, 14)] == [(c.line, c.column) for c in complaints]
    assert (
        'record 0, field at: Expected time, got "now-2 h" for at. Not an ISO 8601 date-time such '
        "as 2026-11-20T10:00:00Z" == complaints[0].text
    )


def test_only_moments_count_from_now(tmp_path: Path) -> None:
    """A text that reads like a relative moment stays a text."""
    base = load(tmp_path, {"id": "1", "at": "now", "note": "now-2h"})

    assert "now-2h" == base.rows["happenings"]["1"].record["note"]


def test_a_durable_world_keeps_its_moments_over_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stored world keeps the moments of its own beginning; a reset calculates them again."""
    settings = Settings(store=f"tinydb:{tmp_path / 'state.json'}")

    def moments(*, reset: bool = False) -> list[str]:
        with open_platform(settings) as opened:
            place = opened.platform.worlds.default
            if reset:
                place.reset()
            return [entry.record["created_at"] for entry in place.store.page("events")]

    first = moments()
    now = clock.machine_seconds
    monkeypatch.setattr(clock, "machine_seconds", lambda: now() + 60)
    assert first == moments()
    assert all(old < new for old, new in zip(first, moments(reset=True), strict=True))


def test_moments_inside_an_object_count_too(tmp_path: Path) -> None:
    """Keys that hold moments are counted at any depth, in their own form; others stay."""
    content = {
        "at": "now-1h",
        "note": "now-1h",
        "all": [{"stamp": "now+90s", "at": "2026-01-01T00:00:00.000Z"}, "now"],
    }
    (tmp_path / "happenings.json").write_text(
        json.dumps([{"id": "1", "at": "now", "content": content}])
    )
    base = fixtures.load([tmp_path], [HAPPENINGS], NOON)
    later = world(base, NOON + timedelta(days=1))

    def counted(day: int) -> dict[str, object]:
        stamp = int(datetime(2026, 11, day, 12, 1, 30, tzinfo=UTC).timestamp()) * 1000
        return {
            "at": f"2026-11-{day}T11:00:00.000Z",
            "note": "now-1h",
            "all": [{"stamp": str(stamp), "at": "2026-01-01T00:00:00.000Z"}, "now"],
        }

    assert counted(20) == base.rows["happenings"]["1"].record["content"]
    assert counted(21) == (later.store.get("happenings", "1") or {})["content"]
