"""What several folders read: the traffic of all operations, recorded once for each test process."""

from __future__ import annotations

import pytest

from mock_platform.settings import Settings
from tests.support import Sandbox
from tests.test_kept_worlds import NOON
from tests.verification.importing.support import list_operations, send_sample


@pytest.fixture(scope="session")
def traffic() -> Sandbox:
    """A sandbox that was asked once for every operation that has a sample. It is only read."""
    box = Sandbox(Settings(freeze=NOON, limits="off"))
    for operation in list_operations():
        send_sample(box, operation)
    return box
