"""The sandbox with which the tests of this folder compare other servers, and such a server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.verification.compare.servers import Comparison, Differing


@pytest.fixture(scope="module")
def comparison() -> Iterator[Comparison]:
    """The sandbox with which all servers are compared."""
    found = Comparison()
    yield found
    found.close()


@pytest.fixture(scope="module")
def running(request: pytest.FixtureRequest) -> Iterator[Differing]:
    """The other server: a second sandbox, with the settings that a module names `OTHER`."""
    found = Differing(getattr(request.module, "OTHER", None))
    yield found
    found.close()


@pytest.fixture
def second(running: Differing) -> Differing:
    """The other server, as it was at first."""
    running.start_over()
    return running
