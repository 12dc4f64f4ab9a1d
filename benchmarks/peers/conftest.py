"""What the suites share: how many tests each has, and where programs are that they start.

`python benchmarks/suites.py` runs them. Each is one test, made as often as `--tests` says: a fresh
state, then the same five requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import Programs


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that the runner passes."""
    parser.addoption("--tests", type=int, default=200, help="How many tests a suite has.")
    parser.addoption("--node-modules", default="node_modules", help="Where npm put its packages.")
    parser.addoption("--openapi", default="openapi.json", help="The description to mock from.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make as many tests as wanted."""
    metafunc.parametrize("number", range(metafunc.config.getoption("--tests")))


@pytest.fixture(scope="session")
def node_modules(pytestconfig: pytest.Config) -> Path:
    """The folder of the npm packages."""
    return Path(pytestconfig.getoption("--node-modules"))


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    """Programs that end with the run."""
    programs = Programs(tmp_path_factory.mktemp("programs"))
    yield programs
    programs.stop()
