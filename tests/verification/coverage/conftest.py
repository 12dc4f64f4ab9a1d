"""A sandbox that has counted nothing yet."""

from __future__ import annotations

import pytest

from tests.control.support import call
from tests.support import Sandbox, Sandboxes


@pytest.fixture
def box(sandboxes: Sandboxes) -> Sandbox:
    """The shared sandbox; a reset leaves its counts, so they are deleted."""
    found = sandboxes.get()
    assert 204 == call(found, "DELETE", "/coverage").status_code
    return found
