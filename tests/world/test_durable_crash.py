"""What is left of a durable store whose process was killed."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tinydb import TinyDB

from mock_platform.world.ids import Ids
from mock_platform.world.store.tinydb_archive import TinyDBArchive
from tests.world.crash_worker import FIXTURES, WORLDS, operation
from tests.world.killing import Children

pytestmark = pytest.mark.crash

KILLS_PER_FILE = 10
Items = dict[str, Any]


@pytest.fixture(scope="module")
def writer() -> Iterator[Children]:
    """One process for all kills."""
    started = Children("tests.world.crash_worker")
    yield started
    started.stop()


def after(items: dict[str, Items], run: int, number: int) -> dict[str, Items]:
    """All worlds after one more operation."""
    items = dict(items)
    world, changes = operation(run, number)
    if changes is None:
        items[world] = deepcopy(FIXTURES["items"])
        return items
    changed = items[world] = dict(items[world])
    for key, record in changes.items():
        if record is None:
            changed.pop(key, None)
        else:
            changed[key] = record
    return items


def as_lists(items: dict[str, Items]) -> dict[str, list[Any]]:
    """The same with the order made to count."""
    return {world: list(records.items()) for world, records in items.items()}


def check_plain_tinydb(path: Path) -> None:
    """Between any two instructions the snapshot is a file that TinyDB opens."""
    if path.exists():
        with TinyDB(path) as plain:
            assert {"_archive", "_worlds"} <= plain.tables()
            for table in plain.tables():
                plain.table(table).all()


@pytest.mark.parametrize("series", range(10))
@pytest.mark.parametrize("durability", ["log", "fsync"])
def test_acknowledged_commits_survive(
    writer: Children, tmp_path: Path, durability: str, series: int
) -> None:
    """Every commit that was reported is there, whole and in order, and at most one more."""
    check_kills(writer, tmp_path / "state.json", durability, series)


@pytest.mark.parametrize("series", range(2))
def test_acknowledged_snapshots_survive(writer: Children, tmp_path: Path, series: int) -> None:
    """A snapshot that was reported is there, or the next one; never half of either."""
    check_kills(writer, tmp_path / "state.json", "snapshot", series)


def check_kills(writer: Children, path: Path, durability: str, series: int) -> None:
    """Kill at moments that the series alone decides, and look each time at what is left."""
    chance = Ids(series, durability)
    items = {world: deepcopy(FIXTURES["items"]) for world in WORLDS}
    for run in range(KILLS_PER_FILE):
        patience = int(60 * chance.fraction("kill", run) ** 2)
        # Small logs are compacted all the time, so that kills meet snapshots being written.
        log_limit = 20_000 if run % 2 else 5_000_000
        _, done = writer.run_and_kill(path, durability, log_limit, run, patience=patience)
        for number in range(done):
            items = after(items, run, number)
        check_plain_tinydb(path)

        with TinyDBArchive(path) as archive:
            held = {name: archive.worlds[name].tables["items"] for name in archive.worlds}
            expected = {name: items[name] for name in held}
            if as_lists(held) != as_lists(expected):  # killed before it could tell
                items = after(items, run, done)
            assert as_lists(held) == {name: list(items[name].items()) for name in held}
            assert set(WORLDS) == set(held) or not done
            metas = [world.meta for world in archive.worlds.values()]
            told = [meta["done"] for meta in metas if meta["run"] == run]
            assert not done or max(told) in {done, done + 1}
