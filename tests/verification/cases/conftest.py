from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mock_platform.client.interface import WorldFace
from mock_platform.verification.cases.document import read_case
from mock_platform.verification.cases.replay import Replay, replay


@pytest.fixture
def repeat(tmp_path: Path) -> Callable[[WorldFace], Replay]:
    """Saves a world, and repeats its case."""

    def start(world: WorldFace) -> Replay:
        done = replay(read_case(world.save_case(tmp_path / "case.zip")))
        done.platform.close()
        return done

    return start
