"""Frames between processes: what was packed is read again, however the bytes arrive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_platform.core.connection import Request
from mock_platform.serving.cluster.frames import (
    MAX_PAYLOAD,
    FrameReader,
    Kind,
    pack,
    pack_request,
    pack_start,
    read_frame,
    read_request,
    read_start,
)

PAYLOADS = st.lists(st.binary(max_size=40), max_size=8)


@given(PAYLOADS, st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_frames_are_read_in_any_parts(payloads: list[bytes], sizes: list[int]) -> None:
    """Wherever the bytes are cut, the same frames come out, in their order."""
    frames = [(Kind.DATA, number, payload) for number, payload in enumerate(payloads)]
    wire = b"".join(pack(*frame) for frame in frames)
    reader, at = FrameReader(), 0
    found: list[tuple[int, int, bytes]] = []
    while at < len(wire):
        size = sizes[at % len(sizes)]
        found += reader.feed(wire[at : at + size])
        at += size
    assert frames == found


@pytest.mark.parametrize("body", [b"", b"\0\n\xff", b"x" * 100_000])
def test_a_request_is_the_same_afterwards(body: bytes) -> None:
    """Method, target, headers of any bytes, body and client arrive unchanged."""
    headers = [(b"Host", b"a"), (b"X-Empty", b""), (b"X-Any", bytes(range(0x80, 0x100)))]
    request = Request("POST", "/a?b=\xff", "", "1.1", headers, body, keep_alive=False)
    client = ["::1", "4711", "https", "127.0.0.1:8080"]

    (frame,) = FrameReader().feed(pack_request(7, "w\udcff", request, client))

    assert frame[:2] == (Kind.REQUEST, 7)
    assert ("w\udcff", client, request) == read_request(frame[2], 4)


def test_the_start_of_an_answer_is_the_same_afterwards() -> None:
    """Status, headers and the first part of the body arrive unchanged."""
    headers = [("A", "b, c"), ("Set-Cookie", ""), ("X", "\xe9")]
    (frame,) = FrameReader().feed(pack_start(Kind.START, 1, "200 OK", headers, b"\0rest"))
    assert ("200 OK", headers, b"\0rest") == read_start(frame[2])
    (bare,) = FrameReader().feed(pack_start(Kind.ANSWER, 1, "204 No Content", [], b""))
    assert ("204 No Content", [], b"") == read_start(bare[2])


def test_what_is_not_ours_is_refused() -> None:
    """A length that no frame has ends the reading, before any memory is taken."""
    wire = (MAX_PAYLOAD + 1).to_bytes(4, "big") + b"\1\0\0\0\0"
    with pytest.raises(ValueError, match="a frame of"):
        list(FrameReader().feed(wire))


@pytest.mark.parametrize("wire", [pack(Kind.DATA, 1, b"x"), pack(Kind.REQUEST, 1, b"x")[:-1]])
def test_a_message_that_is_not_one_whole_frame_is_refused(wire: bytes) -> None:
    """Another kind, or a part that is missing."""
    assert (Kind.REQUEST, 1, b"x") == read_frame(pack(Kind.REQUEST, 1, b"x"), Kind.REQUEST)
    with pytest.raises(ValueError, match="a message of"):
        read_frame(wire, Kind.REQUEST)
