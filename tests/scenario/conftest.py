"""What the tests of scenarios about streams share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support_replay import Desk
from tests.support_streams import StreamClient, clear_subscriptions


@pytest.fixture
def client() -> Iterator[StreamClient]:
    """A client of a sandbox with one subscription."""
    with Desk(stream_keepalive=0.001) as desk:
        clear_subscriptions(desk)
        found = StreamClient(desk)
        found.subscribe()
        yield found
        assert [] == desk.platform.errors
