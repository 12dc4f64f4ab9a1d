"""Fixtures of all tests: running servers and the tools that some tests need."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

import tests.generated  # noqa: F401 - its settings are for every test, whichever are run
from mock_platform.core.journal_entries import sort_assumptions
from mock_platform.platform import Platform
from tests.api.oauth.app_client import AppClient
from tests.commands import FEW_PLUGINS
from tests.compiling import TESTS, import_from
from tests.engine import EngineServer
from tests.lanes import arrange
from tests.live_servers import LiveServer, LiveWorld, serving
from tests.made_once import (
    DESCRIBING,
    LOADING,
    describe_once,
    list_plugins_once,
    load_once,
    load_scenario_once,
    read_packaged_once,
)
from tests.prepared_commands import PreparedCommands
from tests.support import Sandbox, Sandboxes
from tests.support_receiver import Receiver
from tests.support_replay import Desk

Tool = Callable[..., str]

pytest_plugins = ["pytester"]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect the tests: nothing of that is garbage. Several processes share what they compile."""
    gc.disable()
    shared = getattr(session.config, "workerinput", None)
    if shared is not None and session.config.args == [TESTS.name]:
        import_from(int(shared["workerid"].removeprefix("gw")), shared["workercount"])
    found = yield
    gc.enable()
    return found


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest tests where several processes share them."""
    shared = getattr(config, "workerinput", None)
    if shared is not None:
        arrange(items, shared["workercount"])


def pytest_collection_finish() -> None:
    """Leave what is kept for the whole run out of garbage collections: they took a fifth of it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)


def find_shared_folder(temporary: pytest.TempPathFactory) -> Path:
    """The folder of this run, for all of its processes."""
    own = temporary.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session", autouse=True)
def few_plugins() -> Iterator[None]:
    """A pytest that a test starts loads few plugins besides that of the sandbox."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", FEW_PLUGINS)
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Programs that tests start share what Python compiles, where it is to keep nothing here."""
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("PYTHONDONTWRITEBYTECODE"):
            patch.delenv("PYTHONDONTWRITEBYTECODE")
            shared = find_shared_folder(tmp_path_factory)
            patch.setenv("PYTHONPYCACHEPREFIX", str(shared / "compiled"))
        yield


@pytest.fixture(scope="session", autouse=True)
def made_once() -> Iterator[None]:
    """What is packaged is read, and each description is made, once for each test process."""
    with pytest.MonkeyPatch.context() as patch:
        for module in LOADING:
            patch.setattr(f"{module}.load_base", load_once)
        patch.setattr("mock_platform.scenario.document.read_source", read_packaged_once)
        patch.setattr("mock_platform.scenario.library.load", load_scenario_once)
        for module in DESCRIBING:
            patch.setattr(f"{module}.describe", describe_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def assumptions_are_registered() -> Iterator[None]:
    """Whatever an answer of a platform in this process rests on is in the register."""
    register = cache(lambda: Platform().assumptions().keys())

    @cache
    def check(ids: tuple[str, ...]) -> Sequence[str]:
        unknown = sorted(set(ids) - register())
        assert not unknown, f"an answer names assumptions that are in no register: {unknown}"
        return sort_assumptions(ids)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mock_platform.platform.sort_assumptions", check)
        yield


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """The fixture of pytest, which forgets the options of the environment, with quicker starts."""
    monkeypatch.setenv("PYTEST_ADDOPTS", FEW_PLUGINS)
    monkeypatch.setattr("importlib.metadata.distributions", list_plugins_once)
    return pytester


@pytest.fixture(scope="session")
def prepared_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PreparedCommands]:
    """A `mock-platform` that starts in a moment, one for each test process."""
    with PreparedCommands(tmp_path_factory.mktemp("commands")) as commands:
        yield commands


@pytest.fixture(scope="package")
def quick_commands(prepared_commands: PreparedCommands) -> Iterator[None]:
    """On the path of the tests of a package is the `mock-platform` that starts in a moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(prepared_commands.folder), prepend=os.pathsep)
        yield


@pytest.fixture(scope="session")
def live_server(prepared_commands: PreparedCommands) -> Iterator[LiveServer]:
    """`mock-platform serve` over http, one for each test process."""
    yield from serving(command=prepared_commands.command)


@pytest.fixture(scope="session")
def live_server_tls(prepared_commands: PreparedCommands) -> Iterator[LiveServer]:
    """`mock-platform serve --tls --require-https`; its `ca` is the file to trust."""
    yield from serving("--tls", "--require-https", command=prepared_commands.command)


@pytest.fixture(scope="session")
def engine(tool: Tool) -> Iterator[EngineServer]:
    """A Redis server, one for each test process; each test has keys of its own."""
    tool("redis-server")
    server = EngineServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def sandboxes() -> Sandboxes:
    """The sandboxes that tests of this process share."""
    return Sandboxes()


@pytest.fixture
def box(request: pytest.FixtureRequest, sandboxes: Sandboxes) -> Sandbox:
    """A sandbox with the packaged fixtures and the `SETTINGS` of the module, as it starts."""
    return sandboxes.get(**getattr(request.module, "SETTINGS", {}))


@pytest.fixture
def noon(box: Sandbox) -> None:
    """The clock of the sandbox is frozen at noon."""
    box.world.clock.freeze(datetime(2026, 11, 20, 12, tzinfo=UTC))


@pytest.fixture
def hurried_threads() -> Iterator[None]:
    """Threads take turns so often that each is cut off in the middle of its requests."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of webhooks that takes everything."""
    with Receiver() as found:
        yield found


@pytest.fixture
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A sandbox with the `SETTINGS` of the module, without the records of its tables in `EMPTY`.

    If the test or its module uses the receiver, the well-known webhook leads there.
    """
    receives = "receiver" in request.fixturenames
    url = request.getfixturevalue("receiver").url if receives else None
    with Desk(url, **getattr(request.module, "SETTINGS", {})) as found:
        found.clear(*getattr(request.module, "EMPTY", ()))
        yield found
        assert [] == found.platform.errors


@pytest.fixture
def client(request: pytest.FixtureRequest, desk: Desk) -> AppClient:
    """A client of that sandbox, of the class that the module calls `Client`."""
    found: AppClient = request.module.Client(desk)
    return found


@pytest.fixture
def live_world(live_server: LiveServer) -> LiveWorld:
    """A fresh world over http, at an address with its prefix."""
    return live_server.world()


@pytest.fixture
def live_world_tls(live_server_tls: LiveServer) -> LiveWorld:
    """A fresh world over https."""
    return live_server_tls.world()


@pytest.fixture(scope="session")
def tool() -> Tool:
    """Finds a program by one of its names; without it the test is skipped.

    With MOCK_PLATFORM_REQUIRE_TOOLS set the test fails instead.
    """

    def find(*names: str) -> str:
        for name in names:
            path = shutil.which(name)
            if path is not None:
                return path
        missing = f"{' or '.join(names)} is not installed"
        if os.environ.get("MOCK_PLATFORM_REQUIRE_TOOLS"):
            pytest.fail(f"{missing}, and MOCK_PLATFORM_REQUIRE_TOOLS is set")
        pytest.skip(missing)

    return find
