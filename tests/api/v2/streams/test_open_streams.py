"""A stream is open from the commit of its request to its end; its lines as bytes."""

from __future__ import annotations

import pytest

from mock_platform.api.v2.streams.open_streams import OpenStreams
from mock_platform.api.v2.streams.stream import encode_line, find_cut, make_ending
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


def test_a_line_ends_with_cr_lf() -> None:
    """It is JSON in UTF-8, as it is, and CR LF."""
    assert '{"text":"Café"}\r\n'.encode() == encode_line({"text": "Café"})


@pytest.mark.parametrize(("text", "parts"), [("aé", (b"a\xc3", b"\xa9")), ("abcd", (b"ab", b"cd"))])
def test_a_cut(text: str, parts: tuple[bytes, bytes]) -> None:
    """A line is cut inside its first character of several bytes, else in the middle."""
    data = text.encode()
    at = find_cut(data)
    assert parts == (data[:at], data[at:])


def test_an_ending() -> None:
    """The last line has the problem without a status: the answer had its own."""
    ending = make_ending("reset", "ForceDisconnect", "http://x")
    assert b'"status"' not in ending.last_line
    assert b'"type":"http://x/2/problems/operational-disconnect"' in ending.last_line
