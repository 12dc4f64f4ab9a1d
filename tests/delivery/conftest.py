from __future__ import annotations

import pytest

from tests.support_receiver import Receiver
from tests.support_replay import Desk


@pytest.fixture
def desk(desk: Desk, receiver: Receiver) -> Desk:
    """A sandbox that delivers to it, whose jobs end with their last attempt."""
    desk.pace("immediate")
    return desk
