"""A user's program under mypy and pyright, as they are published: each misspelt name is an error.

For tsc it is `node/user.mts`, which `test_javascript_package.py` checks.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.commands import environment, finished
from tests.live.conftest import NodeProject
from tests.live.pages import ROOT

pytestmark = pytest.mark.live

PROGRAM = """\
from mock_platform import MockPlatform, WorldFace
from mock_platform.names import ErrorCode, EventType, OperationId, OwnName, ScenarioName, TableName

scenario: ScenarioName = "usage-capped"
unknown: ScenarioName = "usage-caped"  # wrong
table: TableName = "acounts"  # wrong
operation: OperationId = "accounts.lst"  # wrong
event: EventType = "post.crate"  # wrong
code: ErrorCode = "NOT_FUND"  # wrong
number: ErrorCode = 89


def use(world: WorldFace, text: str) -> None:
    world.activate("usage-capped", period="Daily", on="accounts.list")
    world.activate(world.define({"name": "mine", "rules": []}), anything=1)
    world.activate(OwnName(text), anything=1)
    world.activate("outage", on=OwnName("GET /2/shops/:id"))
    for name in world.state:
        world.state[name].all()
    world.state[OwnName(text)].all()
    world.journal.find(operation="line_items.delete", limit=1)
    world.emit("post.create")
    world.activate("usage-caped")  # wrong
    world.activate(text)  # wrong
    world.activate("usage-capped", perod="Daily")  # wrong
    world.activate("usage-capped", period="daily")  # wrong
    world.activate("usage-capped", limit=1)  # wrong
    world.activate("usage-capped", on="accounts.lst")  # wrong
    world.deactivate("outtage")  # wrong
    world.state["line_itms"]  # wrong
    world.state.get("line_itms")  # wrong
    world.journal.find(operation="line_items.delet")  # wrong
    world.journal.count(operation=text)  # wrong
    world.emit("post.crate")  # wrong


def use_elsewhere() -> None:
    with MockPlatform.connect("http://127.0.0.1:8080") as platform:
        platform.activate("usage-caped")  # wrong
        platform.deactivate("outtage")  # wrong
        platform.state["line_itms"]  # wrong
        platform.journal.find(operation="line_items.delet")  # wrong
        platform.emit("post.crate")  # wrong
        platform.world("w").activate("usage-caped")  # wrong


async def use_async(platform: MockPlatform) -> int:
    async with platform.async_client("bearer") as client:
        return (await client.get("/12/accounts")).status_code
"""
WRONG = {n for n, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program, in a project of its own."""
    config = {"extraPaths": [str(ROOT)], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, "utf-8")
    return file


def test_mypy(program: Path, pytestconfig: pytest.Config) -> None:
    """Exactly the wrong lines."""
    assert pytestconfig.cache is not None
    cache = pytestconfig.cache.mkdir("mypy-of-users")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), str(program)]

    ran = finished(command, cwd=program.parent, env=environment(MYPYPATH=str(ROOT)), timeout=None)

    assert WRONG == _lines_of_errors(r"program\.py:(\d+): error", ran.stdout), ran.stderr


def test_pyright(program: Path, node_project: NodeProject) -> None:
    """Exactly the wrong lines."""
    command = ("pyright/index.js", "--pythonpath", sys.executable, "-p", program.parent)

    ran = node_project.run_tool(*command)

    assert WRONG == _lines_of_errors(r"program\.py:(\d+):\d+ - error", ran.stdout), ran.stderr


def _lines_of_errors(pattern: str, text: str) -> set[int]:
    return {int(line) for line in re.findall(pattern, text)}
