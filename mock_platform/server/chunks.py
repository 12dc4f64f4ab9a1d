"""Where the chunks of a body are, without IO: finds its end, and what is too large in time.

llhttp reads chunks strictly, but does not tell their sizes: of a chunk that is announced with more
bytes than a body may have, only a reader that knows its size can say so before the bytes come. What
is malformed is left to llhttp, which reads the same bytes.
"""

from __future__ import annotations

import re

from mock_platform.server.refusal import Refusal
from mock_platform.settings import ConnectionSettings

_SIZE = re.compile(rb"[0-9a-fA-F]+")
_MOST_DIGITS = 16
_END_OF_LINE = b"\r\n"


class Chunks:
    """The chunks of one body, and the headers behind them."""

    def __init__(self, limits: ConnectionSettings) -> None:
        self.refusal: Refusal | None = None
        """Why the body is not read further, once `find_end` has found that out."""
        self._limits = limits
        self._line = b""
        self._content = 0
        self._announced = 0
        self._trailers: int | None = None

    def find_end(self, data: bytes, start: int) -> int:
        """Returns where the body ends in these bytes, from `start` on; their length if it goes on.

        If more is announced or sent than is allowed, there is a `refusal` afterwards, and the place
        is where that was found out: what is malformed until there is refused for that.
        """
        place, size = start, len(data)
        while place < size:
            if self._content:
                passed = min(self._content, size - place)
                self._content -= passed
                place += passed
                continue
            newline = data.find(b"\n", place)
            end = size if newline < 0 else newline + 1
            self._line += data[place:end]
            place = end
            if self._is_too_long():
                return place
            if newline < 0:
                break
            line, self._line = self._line, b""
            if self._trailers is not None:
                self._trailers += len(line)
                if line == _END_OF_LINE:
                    return place
            elif not self._begin_chunk(line):
                return size if self.refusal is None else place
        return size

    def _begin_chunk(self, line: bytes) -> bool:
        """Read the line before a chunk; returns whether the chunk is wanted, and well-formed."""
        found = _SIZE.match(line)
        if found is None or len(found[0].lstrip(b"0")) > _MOST_DIGITS:  # llhttp refuses it
            return False
        size = int(found[0], 16)
        if size == 0:
            self._trailers = 0
            return True
        self._announced += size
        if self._announced > self._limits.body_bytes:
            text = f"A body may have {self._limits.body_bytes} bytes, and its chunks announce more."
            self.refusal = Refusal(413, text)
            return False
        self._content = size + len(_END_OF_LINE)
        return True

    def _is_too_long(self) -> bool:
        limit, size = self._limits.head_bytes, len(self._line)
        if self._trailers is not None and self._trailers + size > limit:
            text = f"The headers behind a body may have {limit} bytes together."
            self.refusal = Refusal(431, text)
        elif size > limit:
            text = f"The size of a chunk may have {limit} bytes together with its extensions."
            self.refusal = Refusal(400, text)
        return self.refusal is not None
