"""Cuts what a client sends with HTTP/2 into frames, and refuses what costs more than it may.

h2 keeps the rules of the protocol. But it looks at a frame only when it is there as a whole, up to
16 MB of it, and takes frames that ask for nothing without end. So frames pass through here first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import hpack
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.settings import SettingCodes, Settings

DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, CONTINUATION = 0, 1, 3, 4, 7, 9
"""Kinds of frames (RFC 9113, 6)."""
END_STREAM, _END_HEADERS, _PADDED = 0x1, 0x4, 0x8
"""Flags of frames."""
_PREFACE_BYTES = len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
_HEADER_BYTES = 9
_SETTING_BYTES = 6
_GOAWAY_CODE = slice(_HEADER_BYTES + 4, _HEADER_BYTES + 8)
FRAME_BYTES = 16_384
"""Bytes of a frame behind its header; clients are told no other number."""

_INTERVAL_SECONDS = 10.0
"""Real seconds after which counting begins again."""
_CHEAP = 1000
"""Frames that ask for nothing which a client may send in an interval, beside those it earns."""
_MANY_HEADERS = 200
"""Headers of a request beyond which each counts as such a frame."""
_EARNED_BY_REQUEST = 10
_EARNED_BY_FRAME = 2
_BYTES_PER_EARNED = 512
"""Bytes of answers for which a client may send one such frame more: it opens its window again."""
_RESETS = 200
"""Streams that may be reset in an interval, beside a part of those that were opened."""
_OPENED_PER_RESET = 4


class Breach(Exception):
    """Why a connection is ended: `code` and the text are for the client."""

    def __init__(self, code: ErrorCodes, text: str) -> None:
        super().__init__(text)
        self.code = code


class Frame(NamedTuple):
    """One whole frame, or a part of what a client sends before the first one (as `DATA` of 0)."""

    kind: int
    flags: int
    stream: int
    size: int
    """Bytes without those of its header and the padding."""
    wire: bytes | bytearray


class Intake:
    """The bytes of one client that are not read yet: never more than a frame beside the last ones.

    `block_bytes` is how many bytes the frames of one head may have together.
    """

    def __init__(self, block_bytes: int) -> None:
        self._bytes = bytearray()
        self._preface = _PREFACE_BYTES
        self._limit = block_bytes
        self._block = 0
        self._block_begun = self._part_begun = 0.0

    @property
    def open_since(self) -> float:
        """When a head or a frame began that is not complete; 0 if all are.

        It does not count for parts of bodies, which have a limit of their own.
        """
        return self._block_begun or self._part_begun

    @property
    def has_frame(self) -> bool:
        """Whether `take` returns a frame, or raises."""
        length = self._length()
        return length is not None and (
            length > FRAME_BYTES or len(self._bytes) >= _HEADER_BYTES + length
        )

    def add(self, data: bytes) -> None:
        """Add what the client sent."""
        self._bytes += data

    def clear(self) -> None:
        """Drop all bytes, and forget what began with them."""
        self._bytes = bytearray()
        self._block_begun = self._part_begun = 0.0

    def take(self, now: float) -> Frame | None:
        """Return the next frame, if there is a whole one.

        Raises:
            Breach: It is too large, or it makes a head too large.
        """
        # Before its first frame a client sends a fixed text. h2 checks it; it only must not be
        # taken for the header of a frame.
        if self._preface and self._bytes:
            start = self._bytes[: self._preface]
            del self._bytes[: len(start)]
            self._preface -= len(start)
            return Frame(DATA, 0, 0, len(start), start)
        length = self._length()
        if length is not None and length > FRAME_BYTES:
            raise Breach(
                ErrorCodes.FRAME_SIZE_ERROR,
                f"A frame has {length} bytes. Send at most {FRAME_BYTES} in one.",
            )
        if length is None or len(self._bytes) < _HEADER_BYTES + length:
            self._note_part(now)
            return None
        self._part_begun = 0.0
        wire = self._bytes[: _HEADER_BYTES + length]
        del self._bytes[: _HEADER_BYTES + length]
        kind, flags = wire[3], wire[4]
        if kind in {HEADERS, CONTINUATION}:
            self._count_block(length, flags, now)
        size = length
        if kind == DATA and flags & _PADDED and length:
            size = max(0, length - 1 - wire[_HEADER_BYTES])
        stream = (wire[5] & 0x7F) << 24 | wire[6] << 16 | wire[7] << 8 | wire[8]
        return Frame(kind, flags, stream, size, wire)

    # -- details ---------------------------------------------------------------------------------

    def _length(self) -> int | None:
        data = self._bytes
        return data[0] << 16 | data[1] << 8 | data[2] if len(data) >= _HEADER_BYTES else None

    def _note_part(self, now: float) -> None:
        # Parts of bodies have a limit of their own, a minimum rate, so the clock here is only for
        # frames that block all streams: settings, heads, and frames whose kind is not known yet.
        part = self._bytes
        if not part or (len(part) > 3 and part[3] == DATA):
            self._part_begun = 0.0
        elif not self._part_begun:
            self._part_begun = now

    def _count_block(self, length: int, flags: int, now: float) -> None:
        # A head may come in any number of frames, which h2 keeps until the last one. So they are
        # counted here as they come, and a head that never ends is noticed by the time at which it
        # began.
        self._block += length
        if self._block > self._limit:
            raise Breach(
                ErrorCodes.ENHANCE_YOUR_CALM,
                f"The headers of a request have more than {self._limit} bytes. Send fewer.",
            )
        if flags & _END_HEADERS:
            self._block, self._block_begun = 0, 0.0
        elif not self._block_begun:
            self._block_begun = now


class FrameAllowance:
    """What one client may still send in this interval that costs work and asks for nothing."""

    def __init__(self) -> None:
        self._ends = 0.0
        self._cheap = _CHEAP
        self._opened = self._resets = 0
        self._highest = 0

    def begin_turn(self, now: float) -> None:
        """Begin to count again if the interval is over."""
        if now >= self._ends:
            self._ends = now + _INTERVAL_SECONDS
            self._cheap = _CHEAP
            self._opened = self._resets = 0

    def take(self, frame: Frame, *, known: bool) -> None:
        """Count a frame; `known`: its stream is one whose request still comes or is answered.

        Raises:
            Breach: There were too many.
        """
        kind = frame.kind
        # Clients earn what they spend: each request allows some frames without content, and so does
        # each part of an answer, for which a client has to open its window. Only frames beyond that
        # are suspicious, so a busy client is not mistaken for a hostile one.
        if kind == HEADERS and frame.stream > self._highest:
            self._highest = frame.stream
            self._opened += 1
            self._cheap += _EARNED_BY_REQUEST
            return
        if kind == DATA and (
            not frame.stream or (known and (frame.size or frame.flags & END_STREAM))
        ):
            return
        if kind == RST_STREAM:
            self.count_reset()
        # Each setting costs as much as a frame.
        self._spend(1 + (frame.size // _SETTING_BYTES if kind == SETTINGS else 0))

    def take_headers(self, count: int) -> None:
        """Count the headers of a request: unpacking many takes long.

        Raises:
            Breach: There were too many.
        """
        self._spend(max(0, count - _MANY_HEADERS))

    def count_reset(self) -> None:
        """Count a stream that the client took back, or that it made the server reset.

        Such streams do not count as open ones, so without a limit a client could keep any number of
        requests in work (CVE-2023-44487, CVE-2025-8671).

        Raises:
            Breach: There were too many.
        """
        self._resets += 1
        if self._resets > _RESETS + self._opened // _OPENED_PER_RESET:
            raise Breach(
                ErrorCodes.ENHANCE_YOUR_CALM,
                "Too many requests were taken back. Wait for answers, or open a new connection.",
            )

    def earn(self, size: int, *, whole: bool) -> None:
        """Count bytes that were sent: the client lets more come by small frames.

        `whole`: not only the client's window made their frame so small.
        """
        self._cheap += size // _BYTES_PER_EARNED + (_EARNED_BY_FRAME if whole else 0)

    def _spend(self, cost: int) -> None:
        self._cheap -= cost
        if self._cheap < 0:
            raise Breach(
                ErrorCodes.ENHANCE_YOUR_CALM,
                "Too many frames ask for nothing (such as PING, SETTINGS, or DATA without bytes), "
                "or too many headers. Send fewer of them, or open a new connection.",
            )


# The state of a connection in h2, with bounds for what a client can make it keep.

STREAMS = 100
"""Requests that one connection may have at the same time."""
WINDOW = 256 * 1024
"""Bytes of a body that a client may send before they were taken; four times that in all streams."""
_TABLE_BYTES = 4096
"""Bytes of the headers of answers that are kept to be sent shorter; what HTTP/2 begins with."""
_KNOWN = frozenset(SettingCodes)


class Http2State(H2Connection):
    """The state of a connection that remembers fewer closed streams: only late frames need them.

    A request beyond the number of streams is passed on: h2 would end the connection because of it.
    Clients may send more before they know how many are allowed.
    """

    MAX_CLOSED_STREAMS = 1000
    open_before = 0
    """How many streams were open when the newest one came."""

    @property
    def open_inbound_streams(self) -> int:
        """The number of open streams, as far as h2 compares it with the number allowed."""
        self.open_before = super().open_inbound_streams
        return min(self.open_before, STREAMS - 1)


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
    """Return the state of a new connection whose requests may have heads of so many bytes."""
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


def is_farewell(frame: Frame) -> bool:
    """Whether a client says that it will ask for no more, and waits for the answers it has asked.

    h2 would send nothing after such a frame.
    """
    if frame.kind != GOAWAY or frame.stream:
        return False
    return frame.wire[_GOAWAY_CODE] == ErrorCodes.NO_ERROR.to_bytes(4)


def limit_block(head_bytes: int) -> int:
    """Return how many bytes of a head are read at most, packed or not.

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
