"""A client's socket as its connection uses it: what is written and closed on it keeps its order."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Any

from mock_platform.serving.http.batching import Rounds

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with time 0: closing discards unsent data and sends a reset."""


class ClientSocket:
    """Writes to a client and closes its socket; a kept answer is sent before what follows it."""

    def __init__(self, transport: asyncio.Transport, rounds: Rounds) -> None:
        self._transport = transport
        self._rounds = rounds
        self._keeps = False
        self._reading = True

    @property
    def is_closing(self) -> bool:
        """Whether it is closed, or will be when all is sent."""
        return self._transport.is_closing()

    def send(self, data: bytes, *, last: bool) -> None:
        """Write a piece of an answer; the last one perhaps with the answers to other clients."""
        # Only a last piece may wait for the end of the round: anything that is written to this
        # client before then first sends what was kept, so bytes keep their order.
        if last and self._rounds.keep(self, data):
            self._keeps = True
        else:
            self.write(data)

    def write(self, data: bytes) -> None:
        """Write now, after what was kept."""
        self._write_earlier()
        self._transport.write(data)

    def write_kept(self, data: bytes) -> None:
        """Send an answer that was kept."""
        self._keeps = False
        if not self.is_closing:
            self._transport.write(data)

    def end(self) -> None:
        """End our side, if that is possible; what the client still sends is read."""
        self._write_earlier()
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def close(self) -> None:
        """Close when all is sent."""
        self._write_earlier()
        self._transport.close()

    def abort(self) -> None:
        """Close now; what was not sent yet is lost."""
        self._write_earlier()
        self._transport.abort()

    def reset(self) -> None:
        """Break the connection: the client gets an error, not an end."""
        self._write_earlier()
        found: Any = self._transport.get_extra_info("socket")
        with suppress(OSError):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()

    def set_reading(self, *, wanted: bool) -> None:
        """Read what the client sends, or leave it there for now."""
        if wanted != self._reading and not self.is_closing:
            self._reading = wanted
            if wanted:
                self._transport.resume_reading()
            else:
                self._transport.pause_reading()

    def count_unsent(self) -> int:
        """Returns the number of bytes that wait until the client reads."""
        self._write_earlier()
        return self._transport.get_write_buffer_size()

    def find_descriptor(self) -> int:
        """Returns the socket's descriptor; a negative number if it is closed."""
        found = None if self.is_closing else self._transport.get_extra_info("socket")
        return -1 if found is None else int(found.fileno())

    def _write_earlier(self) -> None:
        if self._keeps:
            self._rounds.write()
