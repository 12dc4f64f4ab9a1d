from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support_receiver import Receiver
from tests.support_replay import Desk


@pytest.fixture
def desk(receiver: Receiver) -> Iterator[Desk]:
    """A sandbox that delivers to it, whose jobs end with their last attempt."""
    with Desk(receiver.url) as found:
        found.pace("immediate")
        yield found
        assert [] == found.platform.errors
