"""Fixtures of the live tests: clients of other languages."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import finished
from tests.conftest import Tool
from tests.serving import LiveWorld

NODE = Path(__file__).parent / "node"

NodeStep = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def node_modules(
    tool: Tool, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The installed packages of `node/package-lock.json`, made by one process only.

    They are kept in pytest's cache; a run without one installs them for itself.
    """
    npm, lock = tool("npm"), NODE / "package-lock.json"
    if pytestconfig.pluginmanager.hasplugin("cacheprovider"):
        assert pytestconfig.cache is not None
        digest = hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
        folder = pytestconfig.cache.mkdir(f"node-{digest}")
    else:
        folder = tmp_path_factory.mktemp("node")
    with (folder / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = folder / "done"
        if not done.exists():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(NODE / name, folder)
            command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            ran = finished(command, cwd=folder, timeout=None)
            assert ran.returncode == 0, ran.stderr
            done.touch()
    return folder / "node_modules"


@pytest.fixture
def node(tool: Tool, node_modules: Path) -> NodeStep:
    """Takes one step of the flow with node's OAuth client."""
    program = tool("node")

    def take(step: str, world: LiveWorld, **more: str) -> dict[str, Any]:
        asked = {"step": step, "base_url": world.base_url, "key": world.key} | more
        environment = dict(os.environ, NODE_PATH=str(node_modules))
        if world.ca is not None:
            environment["NODE_EXTRA_CA_CERTS"] = world.ca
        sent = json.dumps(asked | {"secret": world.secret} | more)
        ran = finished([program, str(NODE / "flow.cjs"), sent], env=environment)
        assert ran.returncode == 0, ran.stderr
        found: dict[str, Any] = json.loads(ran.stdout)
        return found

    return take
