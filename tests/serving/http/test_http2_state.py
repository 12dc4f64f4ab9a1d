"""What a client of HTTP/2 can make the server keep has bounds."""

from __future__ import annotations

import gc
import weakref

import hpack

from mock_platform.serving.http.http2_state import Packer, drop_unknown, free, new_state


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
