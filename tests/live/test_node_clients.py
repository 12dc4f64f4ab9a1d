"""Clients of node as published: each of their methods once, under the real hosts.

Each client runs in one process of node, in a world of its own; one server has both worlds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mock_platform import MockPlatform
from mock_platform.core.auth.tester_access import environment
from tests.commands import finished
from tests.conftest import Tool
from tests.live.sandboxes import starting
from tests.live.test_vendor_methods import fits

pytestmark = pytest.mark.live

PROGRAMS = Path(__file__).parent / "node"
CANNOT_PASS: Mapping[str, str] = {}
"""Methods that cannot pass, by their names, each with the reason."""

Run = Callable[[str], tuple[Any, list[str]]]


platform = starting(names="original")
"""A sandbox with original names."""


@pytest.fixture
def run(platform: MockPlatform, tool: Tool, node_modules: Path) -> Run:
    """Return a function that runs a program in a new world: its output and its warnings."""

    def run_program(name: str) -> tuple[Any, list[str]]:
        world = platform.world(Path(name).stem)
        with world.intercept():
            more = {**environment(world.credentials), "NODE_PATH": str(node_modules)}
            command = [tool("node"), str(PROGRAMS / name)]
            ran = finished(command, env={**os.environ, **more}, check=True)
        return json.loads(ran.stdout), [text for each in world.journal for text in each.warnings]

    return run_program


def test_twitter_api_v2(run: Run) -> None:
    """Each of its routes is called, by each of its methods, and answers what was done before."""
    told, warnings = run("v2.cjs")

    assert {} == {name: why for name, why in told["failed"].items() if name not in CANNOT_PASS}
    assert set() == set(CANNOT_PASS) - set(told["failed"])
    assert [] == told["missed"] == warnings
    assert 82 == len(told["offered"])
    assert set() == set(told["offered"]) - set(told["routes"])


def test_twitter_api_v2_of_the_older_interface(run: Run) -> None:
    """Each of its methods for version 1.1 answers what was done before, without a warning."""
    told, warnings = run("v1.cjs")

    assert {} == told["failed"]
    assert [] == told["missed"] == warnings


def is_answered(asked: Sequence[Mapping[str, Any]] | str) -> bool:
    """Whether the operation of the path has answered a method once, if only with a refusal."""
    if isinstance(asked, str) or len(asked) != 1:
        return False
    (only,) = asked
    return only["status"] < 500 and fits(only["path"], only["operation"], ["1"])


def test_every_method_of_the_vendors_sdk_is_served(run: Run) -> None:
    """Each is answered by the operation of its path: no 405, no 501, no 404 for the path itself."""
    told, _ = run("xdk.cjs")

    assert 170 < len(told)
    assert {} == {name: asked for name, asked in told.items() if not is_answered(asked)}
