"""The sandbox with which the tests of this folder compare other servers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.verification.compare.servers import Comparison


@pytest.fixture(scope="module")
def comparison() -> Iterator[Comparison]:
    """The sandbox with which all servers are compared."""
    found = Comparison()
    yield found
    found.close()
