"""The scenarios that all worlds of a server share."""

from __future__ import annotations

from pathlib import Path

import pytest

from mock_platform.core.errors import CannotPerform
from tests.scenario.support import LINE_ITEMS
from tests.support import sandbox


def test_connections_at_start_up(tmp_path: Path) -> None:
    """A start-up scenario that breaks connections needs a server that can."""
    file = tmp_path / "lost.yaml"
    file.write_text("name: lost\nrules: [{then: {fault: reset}}]")
    box = sandbox(scenarios=(str(file),))

    with pytest.raises(CannotPerform):
        box.platform.disable_connections()


def test_rules_that_acted_are_noted_for_all_worlds(tmp_path: Path) -> None:
    """The name of a scenario and the number of its rule are noted once one acts in any world."""
    file = tmp_path / "failing.yaml"
    file.write_text("name: failing\nrules: [{on: line_items.list, then: {error: 89}}]")
    box = sandbox(scenarios=(str(file),), auth="off")
    box.platform.worlds.create("w1")
    before = set(box.platform.fired_rules)

    box.call("GET", f"/~w1{LINE_ITEMS}", keys=None)

    assert (set(), {("failing", 0)}) == (before, box.platform.fired_rules)
