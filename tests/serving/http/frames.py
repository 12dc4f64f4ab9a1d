"""A client of HTTP/2 that chooses its frames itself."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any, Self

import h2.config
import h2.connection
import h2.events

from mock_platform.serving.http import ServerThread
from tests.waits import PATIENCE

HEAD = ((":method", "GET"), (":path", "/"), (":scheme", "http"), (":authority", "a.test"))


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """One frame in bytes."""
    head = bytes([kind, flags]) + stream.to_bytes(4)
    return len(payload).to_bytes(3) + head + payload


class Frames:
    """One connection; `h2` makes frames that keep the rules, `socket` takes any bytes."""

    def __init__(self, server: ServerThread) -> None:
        self.socket = socket.create_connection((server.host, server.port), PATIENCE)
        self.h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(header_encoding="utf-8", validate_outbound_headers=False)
        )
        self.h2.initiate_connection()
        self.send()

    def send(self) -> Self:
        """Send the frames that wait."""
        self.socket.sendall(self.h2.data_to_send())
        return self

    def ask(self, *headers: tuple[str, str], method: str = "GET", ended: bool = True) -> int:
        """Send the head of a request; returns the number of its stream."""
        return self.ask_with([(":method", method), *HEAD[1:], *headers], ended=ended)

    def ask_with(self, headers: list[tuple[str, str]], *, ended: bool = True) -> int:
        """Send a head with these headers only; returns the number of its stream."""
        number = self.h2.get_next_available_stream_id()
        self.h2.send_headers(number, headers, end_stream=ended)
        self.send()
        return number

    def read_until(self, kind: type[h2.events.Event]) -> Any:
        """Read frames until an event of this kind."""
        while True:
            data = self.socket.recv(65_536)
            assert data, f"the server closed before {kind.__name__}"
            for event in self.h2.receive_data(data):
                if isinstance(event, kind):
                    return event
            self.send()

    def events(self) -> Iterator[Any]:
        """All events, one by one, until the server ends the connection."""
        while data := self.socket.recv(65_536):
            yield from self.h2.receive_data(data)
            self.send()

    def read_status(self) -> str:
        """Read until an answer is complete; returns its status."""
        status = dict(self.read_until(h2.events.ResponseReceived).headers)[":status"]
        return str(status)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
