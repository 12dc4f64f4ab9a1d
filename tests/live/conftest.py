"""Fixtures of the live tests: clients of other languages."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.commands import environment, finished
from tests.conftest import Tool, find_shared_folder
from tests.live.processes import Served, quick, serving
from tests.live_servers import LiveWorld
from tests.prepared_commands import PreparedCommands
from tests.prepared_python import PreparedPython

NODE = Path(__file__).parent / "node"
REQUIREMENTS = Path(__file__).parent / "python" / "requirements.txt"
JAVASCRIPT = Path(__file__).parents[2] / "clients" / "javascript"
JAVASCRIPT_NAME = "mock-platform"

NodeStep = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A server with the usual settings, for all tests of a module."""
    with serving(command=quick) as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def quick_java() -> Iterator[None]:
    """Programs of Java end soon: to make them fast would take half of their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture(scope="package", autouse=True)
def commands_are_quick(quick_commands: None) -> None:
    """The commands of pages, and the servers that other languages start, start in a moment."""


@pytest.fixture(scope="session")
def loaded_python() -> Iterator[PreparedPython]:
    """Runs programs of Python by themselves, without the time that loading the sandbox takes."""
    loaded = PreparedPython(
        "import mock_platform\nwith mock_platform.MockPlatform.start(): pass\ndel mock_platform"
    )
    yield loaded
    loaded.close()


@pytest.fixture(scope="session")
def node_modules(
    tool: Tool, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The installed packages of `node/package-lock.json`, made by one process only."""
    npm = tool("npm")

    def install(folder: Path) -> list[str]:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(NODE / name, folder)
        return [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]

    return _install_once(pytestconfig, tmp_path_factory, NODE / "package-lock.json", install) / (
        "node_modules"
    )


@pytest.fixture(scope="session")
def python_libraries(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages of `python/requirements.txt`, made by one process only."""
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    return _install_once(
        pytestconfig, tmp_path_factory, REQUIREMENTS,
        lambda folder: [*pip, "--target", str(folder), "-r", str(REQUIREMENTS)],
    )  # fmt: skip


def _install_once(
    config: pytest.Config,
    temporary: pytest.TempPathFactory,
    wanted: Path,
    install: Callable[[Path], list[str]],
) -> Path:
    """Return the folder in which a command has installed what a file lists.

    It is kept in pytest's cache; a run without one has it in its own folder.
    """
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()[:16]
    name = f"{wanted.parent.name}-{digest}"
    if config.pluginmanager.hasplugin("cacheprovider"):
        assert config.cache is not None
        folder = config.cache.mkdir(name)
    else:
        folder = find_shared_folder(temporary) / name
        folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = folder / "done"
        if not done.exists():
            ran = finished(install(folder), cwd=folder, timeout=None)
            assert ran.returncode == 0, ran.stderr
            done.touch()
    return folder


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


@dataclass(frozen=True)
class NodeProject:
    """A folder in which the JavaScript package and the runners of its tests are installed."""

    folder: Path
    program: str
    server: Path
    """The command that starts servers."""

    def add(self, source: Path) -> Path:
        """Copy a folder or a file into the project, under its own name; returns its path."""
        copy = self.folder / source.name
        if not source.is_dir():
            return Path(shutil.copy(source, copy))
        ignored = shutil.ignore_patterns("node_modules")
        return Path(shutil.copytree(source, copy, ignore=ignored, dirs_exist_ok=True))

    @property
    def package(self) -> Path:
        """The installed package."""
        return self.folder / "node_modules" / JAVASCRIPT_NAME

    def run(
        self, *command: object, folder: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """A command of npm or node in the project."""
        words = [self.program, *map(str, command)]
        started = {"MOCK_PLATFORM_COMMAND": str(self.server)}
        more = {"npm_config_update_notifier": "false", "NO_COLOR": "1", **started, **env}
        return finished(words, cwd=folder or self.folder, env=environment(**more))

    def run_tool(self, name: str, *words: object) -> subprocess.CompletedProcess[str]:
        """A program of the installed packages, such as `tsc`."""
        return self.run(self.folder.parent / "node_modules" / name, *words)


@pytest.fixture(scope="session")
def node_project(
    tool: Tool,
    node_modules: Path,
    prepared_commands: PreparedCommands,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[NodeProject]:
    """A project with the JavaScript package as npm packs it.

    It is in the folder of the installed packages, because node looks for packages upwards.
    """
    tarballs = tmp_path_factory.mktemp("packed")
    command = [tool("npm"), "pack", "--ignore-scripts", "--pack-destination", tarballs]
    packed = finished(command, cwd=JAVASCRIPT, env=environment(npm_config_update_notifier="false"))
    assert packed.returncode == 0, packed.stderr
    (tarball,) = tarballs.iterdir()
    folder = Path(tempfile.mkdtemp(prefix="project-", dir=node_modules.parent))
    project = NodeProject(folder, tool("node"), prepared_commands.command)
    # Python before 3.11.4 has no filter for archives, and later ones warn without one.
    unpacked = finished([tool("tar"), "-xzf", tarball, "-C", folder])
    assert unpacked.returncode == 0, unpacked.stderr
    project.package.parent.mkdir()
    (folder / "package").rename(project.package)
    yield project
    shutil.rmtree(folder)
