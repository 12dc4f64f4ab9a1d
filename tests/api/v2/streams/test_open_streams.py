"""A stream is open from the commit of its request to its end."""

from __future__ import annotations

import pytest

from mock_platform.api.v2.streams.open_streams import OpenStreams
from tests.support_replay import Desk
from tests.support_streams import StreamClient


def test_a_request_that_fails_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is undone after its stream was made leaves neither stream nor connection."""
    with Desk() as desk:
        client = StreamClient(desk)
        made = OpenStreams.open

        def fail(streams: OpenStreams, *args: object) -> None:
            made(streams, *args)  # type: ignore[arg-type]
            raise RuntimeError("the disk is full")

        monkeypatch.setattr(OpenStreams, "open", fail)
        assert 500 == client.call("GET").status_code
        monkeypatch.undo()

        assert [] == client.connections()
        client.open(), client.open()
        assert 2 == len(desk.world.find_attachment(OpenStreams))


def test_strict() -> None:
    """With --strict a stream is refused: the specification does not show its form."""
    with Desk(strict=True) as desk:
        assert 501 == StreamClient(desk).call("GET").status_code
        assert 0 == len(desk.world.find_attachment(OpenStreams))
