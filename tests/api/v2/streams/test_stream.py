"""Lines as bytes."""

from __future__ import annotations

import pytest

from mock_platform.api.v2.streams.stream import encode_line, find_cut, make_ending


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
