"""Frames are cut, counted and refused before h2 reads them."""

from __future__ import annotations

import gc
import weakref

import hpack
import pytest
from h2.errors import ErrorCodes

from mock_platform.serving.http.http2_intake import (
    Breach,
    Frame,
    FrameAllowance,
    Intake,
    Packer,
    drop_unknown,
    free,
    new_state,
)
from tests.serving.http.frames import frame

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PING = Frame(6, 0, 0, 8, frame(6, 0, 0, bytes(8)))
RESET = Frame(3, 0, 1, 4, frame(3, 0, 1, bytes(4)))


def intake(limit: int = 1000) -> Intake:
    """An intake behind the first bytes of a connection."""
    made = Intake(limit)
    made.add(PREFACE)
    assert made.take(0.0) is not None
    return made


@pytest.mark.parametrize("size", [1, 7, 100])
def test_frames_are_found_however_the_bytes_come(size: int) -> None:
    """All bytes come out once and in order, cut where frames begin."""
    frames = [PREFACE, frame(4, 0, 0), frame(0, 1, 5, b"body"), frame(1, 4, 7, b"head")]
    wire, made, found = b"".join(frames), Intake(1000), list[bytes]()
    for start in range(0, len(wire), size):
        made.add(wire[start : start + size])
        while taken := made.take(1.0):
            found.append(bytes(taken.wire))

    assert b"".join(frames) == b"".join(found)
    assert frames[1:] == found[-3:]
    assert not made.has_frame


def test_padding_is_not_counted_as_body() -> None:
    """The size of a frame is that of its data."""
    made = intake()
    made.add(frame(0, 0x8, 1, b"\x03body" + bytes(3)))

    taken = made.take(0.0)

    assert taken is not None
    assert (4, 1) == (taken.size, taken.stream)


def test_a_large_frame_is_refused_by_its_header() -> None:
    """Nothing of the frame itself is waited for."""
    made = intake()
    made.add((16_385).to_bytes(3) + bytes(6))

    assert made.has_frame
    with pytest.raises(Breach, match="16385 bytes") as found:
        made.take(0.0)
    assert ErrorCodes.FRAME_SIZE_ERROR == found.value.code


def test_the_frames_of_a_head_have_a_limit_together() -> None:
    """Another head begins after its last frame."""
    made = intake(10)
    made.add(frame(1, 0, 1, b"12345") + frame(9, 0x4, 1, b"67890"))
    made.add(frame(1, 0, 3, b"12345") + frame(9, 0, 3, b"678901"))
    for _ in range(3):
        assert made.take(0.0) is not None

    with pytest.raises(Breach, match="more than 10 bytes"):
        made.take(0.0)


def test_it_says_when_something_began_that_is_not_complete() -> None:
    """A head until its last frame, a frame until its last byte, but no part of a body."""
    made = intake()
    made.add(frame(1, 0, 1, b"x") + frame(9, 0x4, 1, b"x") + b"\x00\x00\x08\x06")
    made.take(1.0)
    head = made.open_since
    made.take(2.0)
    between = made.open_since
    assert made.take(3.0) is None
    part = made.open_since
    made.add(bytes(13) + b"\x00\x00\x08\x00")
    made.take(4.0)
    assert made.take(5.0) is None

    assert (1.0, 0.0, 3.0, 0.0) == (head, between, part, made.open_since)


def count_until_breach(allowance: FrameAllowance, taken: Frame, *, known: bool = True) -> int:
    """Returns how many frames are allowed."""
    for count in range(100_000):
        try:
            allowance.take(taken, known=known)
        except Breach:
            return count
    raise AssertionError("there is no limit")


def test_cheap_frames_are_allowed_again_after_an_interval() -> None:
    """Each interval has its own."""
    allowance = FrameAllowance()
    allowance.begin_turn(100.0)
    first = count_until_breach(allowance, PING)
    allowance.begin_turn(101.0)
    assert 0 == count_until_breach(allowance, PING)
    allowance.begin_turn(120.0)

    assert 1000 == first == count_until_breach(allowance, PING)


def test_requests_and_answers_earn_cheap_frames() -> None:
    """A client that asks and reads may send more of them; a tiny window earns nothing."""
    allowance = FrameAllowance()
    allowance.begin_turn(100.0)
    allowance.take(Frame(1, 5, 1, 10, b""), known=False)
    allowance.earn(5120, whole=True)
    allowance.earn(1, whole=False)

    assert 1022 == count_until_breach(allowance, PING)


def test_bodies_cost_nothing() -> None:
    """Data of a request is what was asked for, and of no request it is not."""
    allowance = FrameAllowance()
    allowance.begin_turn(100.0)
    for _ in range(5000):
        allowance.take(Frame(0, 0, 1, 1, b""), known=True)

    assert 1000 == count_until_breach(allowance, Frame(0, 0, 1, 1, b""), known=False)


def test_many_headers_cost() -> None:
    """Two hundred are free."""
    allowance = FrameAllowance()
    allowance.begin_turn(100.0)
    allowance.take_headers(200)
    allowance.take_headers(300)

    assert 900 == count_until_breach(allowance, PING)


def test_resets_depend_on_what_was_opened() -> None:
    """A client that mostly waits for its answers may take some back for ever."""
    allowance = FrameAllowance()
    allowance.begin_turn(100.0)
    few = count_until_breach(allowance, RESET)
    allowance.begin_turn(120.0)
    for number in range(1, 2001, 2):
        allowance.take(Frame(1, 5, number, 10, b""), known=False)

    assert (200, 450) == (few, count_until_breach(allowance, RESET))


# What a client can make the server keep has bounds.


def unpack(block: bytes, table: int = 4096) -> hpack.Decoder:
    """Returns the client's side after a head."""
    decoder = hpack.Decoder()
    decoder.max_allowed_table_size = table
    decoder.decode(block)
    return decoder


def test_a_larger_table_is_not_used() -> None:
    """The client may allow any size."""
    packer = Packer()
    packer.header_table_size = 2**32 - 1

    assert 4096 == packer.header_table_size
    assert 4096 == unpack(packer.encode([("a", "b")]), 2**32).header_table_size


def test_the_client_is_told_the_smallest_size_and_the_last() -> None:
    """However often it changed its mind, and also if it said the same twice."""
    packer = Packer()
    for size in [*range(0, 4000, 2), 100, 100]:
        packer.header_table_size = size

    block = packer.encode([("a", "b")])

    assert bytes([0x20, 0x3F, 100 - 31]) == block[:3]
    assert 100 == unpack(block).header_table_size


def test_unknown_settings_are_forgotten() -> None:
    """Those that are known stay."""
    state = new_state(1000)
    state.remote_settings.update({4: 70_000, 4000: 1})

    drop_unknown(state, [4, 4000])

    assert 4 in state.remote_settings
    assert 4000 not in state.remote_settings


def test_the_limit_of_heads_is_that_of_the_server() -> None:
    """It holds from the first head on, before the client has confirmed it."""
    assert 2000 == new_state(1000).decoder.max_header_list_size


def test_what_an_ended_connection_kept_is_freed_at_once() -> None:
    """Without waiting for the garbage collector."""
    gc.disable()
    try:
        state = new_state(1000)
        kept = weakref.ref(state.incoming_buffer)
        free(state)

        assert kept() is None
    finally:
        gc.enable()
