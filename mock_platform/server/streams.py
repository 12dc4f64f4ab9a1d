"""A socket as a pair of files: what the client sent, and what it is sent."""

from __future__ import annotations

import errno
import io
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from socket import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_READ = 65_536
"""Room for more than a TLS record, so that no read leaves a part of one in the TLS layer."""
_WRITE = 262_144


class _Source(io.RawIOBase):
    """The bytes of a socket; while `dry` is set, as though none had arrived."""

    def __init__(self, sock: socket) -> None:
        self._sock = sock
        self.dry = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        if self.dry:
            return None
        try:
            return self._sock.recv_into(buffer)
        except ssl.SSLError as fault:
            raise ConnectionResetError(
                errno.ECONNRESET, f"TLS connection broke: {fault}"
            ) from fault


class Reader(io.BufferedReader):
    """What the client sent. Closing it leaves the socket open."""

    def __init__(self, sock: socket) -> None:
        self._source = _Source(sock)
        super().__init__(self._source, _READ)

    def has_data(self) -> bool:
        """Whether bytes were taken from the system that nobody has read yet."""
        self._source.dry = True
        try:
            return bool(self.peek(1))
        finally:
            self._source.dry = False


class Writer:
    """What the client is sent, at once or, while corked, together at the end."""

    def __init__(self, sock: socket) -> None:
        self._sock = sock
        self._corked: list[bytes] | None = None

    def write(self, data: bytes) -> int:
        """Send bytes.

        Raises:
            OSError: The client is gone, or took nothing for as long as the socket's timeout.
        """
        if self._corked is not None:
            self._corked.append(data)
        else:
            self._send(data)
        return len(data)

    @contextmanager
    def corked(self) -> Iterator[None]:
        """Send what is written inside in one go, which spares the client a second packet."""
        held: list[bytes] = []
        self._corked = held
        try:
            yield
        finally:
            self._corked = None
        self._send(b"".join(held))

    def _send(self, data: bytes) -> None:
        # sendall() would apply the timeout to the whole; in parts it applies to each.
        view = memoryview(data)
        try:
            for start in range(0, len(view), _WRITE):
                self._sock.sendall(view[start : start + _WRITE])
        except TimeoutError as fault:
            # cheroot knows timeouts by this text; a TLS socket has another.
            raise TimeoutError("timed out") from fault
        except ssl.SSLError as fault:
            raise BrokenPipeError(errno.EPIPE, f"TLS connection is gone: {fault}") from fault
