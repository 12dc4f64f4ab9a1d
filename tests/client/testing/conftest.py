from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

# Imported here once: pytester forgets what is imported within an inner run.
import trustme  # noqa: F401

import mock_platform.client.testing.servers  # noqa: F401
from mock_platform import MockPlatform

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Runs pytest on the source of a test file, in this process and in the order written."""

    def start(source: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=source)
        return pytester.runpytest_inprocess(
            "-p", "no:randomly", "--strict-markers", "--strict-config", *options
        )

    return start


@pytest.fixture
def shared() -> Iterator[MockPlatform]:
    """A running server that the inner runs share."""
    with MockPlatform.start() as platform:
        yield platform


@pytest.fixture(params=["own", "shared"])
def wherever(request: pytest.FixtureRequest, run: Run) -> Run:
    """Runs like `run`: once with a server of the run's own, once with one elsewhere."""
    if request.param == "own":
        return run
    shared: MockPlatform = request.getfixturevalue("shared")
    return lambda source, *options: run(source, f"--mock-platform-url={shared.base_url}", *options)
