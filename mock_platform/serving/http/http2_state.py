"""The state of one HTTP/2 connection in h2, with bounds for what a client can make it keep."""

from __future__ import annotations

from collections.abc import Iterable

import hpack
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.settings import SettingCodes, Settings

STREAMS = 100
"""Requests that one connection may have at the same time."""
WINDOW = 256 * 1024
"""Bytes of a body that a client may send before they were taken; four times that in all streams."""
_TABLE_BYTES = 4096
"""Bytes of the headers of answers that are kept to be sent shorter; what HTTP/2 begins with."""
_KNOWN = frozenset(SettingCodes)


class Http2State(H2Connection):
    """The state of a connection that remembers fewer closed streams: only late frames need them."""

    MAX_CLOSED_STREAMS = 1000


class Packer(hpack.Encoder):
    """Packs the headers of answers with a small table, however large the client would have it.

    A client can name any size up to 4 GB. Each header is searched for in the whole table, so that
    answers became slower with each one before.
    """

    @property
    def header_table_size(self) -> int:
        """Bytes of the table."""
        return super().header_table_size

    @header_table_size.setter
    def header_table_size(self, value: int) -> None:
        """Take the size that the client asked for, up to the bound."""
        # The client may allow any size, and choosing a smaller one is always right; it is told with
        # the next head.
        size = min(value, _TABLE_BYTES)
        if size == self.header_table.maxsize:
            return  # hpack would forget an earlier change that the client was not told yet
        self.header_table.maxsize = size
        # The client needs the smallest size since the last head, and the last (RFC 7541, 4.2).
        smallest = min([*self.table_size_changes, size])
        self.table_size_changes = [smallest] if smallest == size else [smallest, size]
        self.header_table.resized = True


def new_state(head_bytes: int) -> Http2State:
    """Returns the state of a new connection whose requests may have heads of so many bytes."""
    # Heads are checked when they become requests: then only their stream is refused, with a reason.
    # The heads of answers have no more than `http2_stream` lets through.
    state = Http2State(
        H2Configuration(
            client_side=False,
            header_encoding=None,
            validate_inbound_headers=False,
            validate_outbound_headers=False,
        )
    )
    state.local_settings = Settings(
        client=False,
        initial_values={
            SettingCodes.MAX_CONCURRENT_STREAMS: STREAMS,
            SettingCodes.INITIAL_WINDOW_SIZE: WINDOW,
            SettingCodes.MAX_HEADER_LIST_SIZE: head_bytes,
        },
    )
    state.encoder = Packer()
    state.decoder.max_header_list_size = limit_block(head_bytes)
    return state


def limit_block(head_bytes: int) -> int:
    """Returns how many bytes of a head are read at most, packed or not.

    That is more than it may have: so most heads that are too large are answered (431). Beyond it
    the connection ends, because what a head adds to the table would be unknown.
    """
    return 2 * head_bytes


def drop_unknown(state: Http2State, changed: Iterable[int]) -> None:
    """Forget settings of a client that mean nothing here; h2 would keep each of the 65,536."""
    for code in list(changed):
        if code not in _KNOWN:
            del state.remote_settings[code]


def free(state: Http2State) -> None:
    """Drop what the state of an ended connection keeps; it cannot be used again.

    It refers to itself, so else it would wait for the garbage collector, which runs rarely.
    """
    vars(state).clear()
