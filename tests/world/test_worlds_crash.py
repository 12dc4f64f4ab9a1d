"""What is left of a kept server that was killed while worlds were made, reset, dropped, switched.

`MOCK_PLATFORM_TEST_KILLS` says how many kills there are; in the usual run there are a few.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from werkzeug.test import Client

from mock_platform.platform import Platform
from mock_platform.scenario.library import Library
from mock_platform.serving.app import create_app
from mock_platform.world.ids import Ids
from tests.world.killing import Children
from tests.world.worlds_crash_worker import (
    described,
    load_few,
    no_scenarios,
    operation,
    perform,
    settings,
)

pytestmark = pytest.mark.crash

KILLS_PER_FILE = 20
KILLS = int(os.environ.get("MOCK_PLATFORM_TEST_KILLS", "20"))


@pytest.fixture(scope="module")
def server() -> Iterator[Children]:
    """One process for all kills."""
    started = Children("tests.world.worlds_crash_worker")
    yield started
    started.stop()


@pytest.mark.parametrize("series", range(max(1, KILLS // KILLS_PER_FILE)))
def test_acknowledged_requests_survive(
    server: Children, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, series: int
) -> None:
    """Every answered request had its whole effect, and at most one more had it, none a part."""
    monkeypatch.setattr(Library, "_load_packaged", no_scenarios)
    chance, path = Ids(series, "kills"), tmp_path / "state.json"
    platform = Platform(settings("memory"), base=load_few())
    client = Client(create_app(platform))
    last: tuple[int, int] | None = None
    for turn in range(KILLS_PER_FILE + 1):
        run = series * 1000 + turn
        patience = int(80 * chance.fraction("kill", turn) ** 2)
        # Small logs are compacted all the time, so that kills meet snapshots being written.
        log_limit = 60_000 if turn % 2 else 64_000_000
        found, done = server.run_and_kill(path, log_limit, run, patience=patience, reports=True)
        expected = described(platform)
        if found != expected and last is not None:  # killed before it could answer
            perform(client, operation(*last))
            expected = described(platform)
        assert expected == found or orjson.loads(expected) == orjson.loads(found)
        for number in range(done):
            perform(client, operation(run, number))
        last = run, done
