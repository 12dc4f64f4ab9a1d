"""The body of a stream's answer: reads the stream, and waits where it has nothing to send.

On our server a wait is a `Pause`, which holds no thread. Elsewhere the caller waits.
"""

from __future__ import annotations

import threading
from typing import Self

from mock_platform.core.call import LiveBody
from mock_platform.edge.connection import Connection, Pause
from mock_platform.edge.faults import break_connection


class StreamBody:
    """An iterator over the pieces of a stream."""

    def __init__(self, stream: LiveBody, connection: Connection | None) -> None:
        self._stream = stream
        self._connection = connection
        self._ready = threading.Event()
        if connection is not None and connection.pauses:
            stream.attach(connection.resume, connection.is_gone)
        else:
            stream.attach(lambda **_: self._ready.set(), lambda: False)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes | Pause:
        """Return the next piece."""
        connection = self._connection
        while True:
            if connection is not None and connection.is_stopping:
                self._stream.end_for_stop()
            self._ready.clear()
            piece = self._stream.read()
            if piece is None:
                fault = self._stream.fault
                if fault is not None:
                    break_connection(connection, fault)
                raise StopIteration
            if piece:
                return piece
            seconds = self._stream.wait_seconds()
            if connection is None:
                self._ready.wait(seconds)
            elif connection.pauses:
                return Pause(seconds, endless=True)
            else:
                connection.wait_for(self._ready, seconds)

    def close(self) -> None:
        """End the stream: the client has left."""
        connection = self._connection
        self._stream.close(slow=connection is not None and connection.is_slow)
