from __future__ import annotations

from collections.abc import Callable

import pytest

# Imported here once: pytester forgets what is imported within an inner run.
import mock_platform.testing.shared  # noqa: F401

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
