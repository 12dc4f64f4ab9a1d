"""One client's HTTP/2 connection: each of its streams is answered like a connection of HTTP/1.1.

h2 reads and writes the frames and keeps their rules; this module passes requests on and opens
the client's windows again. A fault that a scenario asks for ends its stream, not the connection.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any, cast

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from h2.errors import ErrorCodes
from h2.settings import SettingCodes, Settings

from mock_platform.edge.connection import Pause
from mock_platform.server.answer import Answer
from mock_platform.server.backend import Backend
from mock_platform.server.connection import ClientConnection
from mock_platform.server.http2_stream import Header, StreamTransport
from mock_platform.world.clock import UPTIME

log = logging.getLogger(__name__)

_STREAMS = 100
"""Requests that one connection may have at the same time."""
_WINDOW = 256 * 1024
"""Bytes of a body that a client may send before they were taken; four times that in all streams."""
_RESETS = 200
"""Requests that a client may take back before it is sent away, beside those that were answered."""


class Http2Connection(asyncio.Protocol):
    """A client's connection with HTTP/2 on the event loop."""

    def __init__(self, backend: Backend, scheme: str | None = None) -> None:
        """`scheme` is that of the client's addresses, if it is not that of the server."""
        self._backend = backend
        self._scheme = scheme or backend.scheme
        self._h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding=None)
        )
        self._streams: dict[int, StreamTransport] = {}
        self._transport: asyncio.Transport | None = None
        self._address = ""
        self._deadline = UPTIME() + backend.limits.head_seconds
        self._unsent = 0
        self._clogged = self._leaving = self._reading = False
        self._answered = self._taken_back = 0

    # -- called by the loop -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet a client, or send it away if there are too many."""
        self._transport = cast("asyncio.Transport", transport)
        peer = self._transport.get_extra_info("peername") or ("", 0)
        self._address = str(peer[0])
        refusal = self._backend.admit(self, self._address)
        self._h2.local_settings = Settings(
            client=False,
            initial_values={
                SettingCodes.MAX_CONCURRENT_STREAMS: _STREAMS,
                SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW,
                SettingCodes.MAX_HEADER_LIST_SIZE: self._backend.limits.head_bytes,
            },
        )
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(4 * _WINDOW)
        self._flush()
        if refusal is not None:
            self._backend.note_refusal(refusal, self._address)
            self._leave(ErrorCodes.ENHANCE_YOUR_CALM)

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the connection and all its streams."""
        self._leaving = True
        self._backend.forget(self, self._address)
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.over = True
            stream.protocol.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read frames of the client."""
        if self._leaving:
            return
        self._reading = True
        try:
            for event in self._h2.receive_data(data):
                self._take(event)
        except h2.exceptions.ProtocolError as fault:
            log.warning("A client of %s broke the rules of HTTP/2: %s", self._address, fault)
            self._leaving = True
        finally:
            self._reading = False
        self._flush()
        if self._leaving and self._transport is not None:
            self._transport.close()
        elif not self._streams:
            self._deadline = UPTIME() + self._backend.limits.idle_seconds

    def eof_received(self) -> bool:
        """The client has left."""
        return False

    def pause_writing(self) -> None:
        """Read nothing more from a client that does not read."""
        self._clogged = True
        self._unsent = self._count_buffered()
        self._deadline = UPTIME() + self._backend.limits.write_seconds
        if self._transport is not None and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Go on: the client read what was waiting."""
        self._clogged = False
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()
        self._send_waiting()
        self._flush()

    # -- called by the server (`backend.Client`) --------------------------------------------------

    def expire(self, now: float) -> None:
        """End a connection without requests, or whose client does not read."""
        if self._deadline > now:
            return
        if self._clogged:
            unsent = self._count_buffered()
            if unsent < self._unsent:
                self._unsent = unsent
                self._deadline = now + self._backend.limits.write_seconds
            else:
                self.cut()
        elif not self._streams:
            self._leave(ErrorCodes.NO_ERROR)

    def stop(self) -> None:
        """The server stops: leave now, or after the current answers."""
        if not self._streams:
            self._leave(ErrorCodes.NO_ERROR)

    def cut(self) -> None:
        """Close the connection now."""
        if self._transport is not None:
            self._transport.abort()

    def send_pieces(self, answer: Answer, pieces: list[bytes] | Pause) -> None:
        """Never called: its streams have the answers."""

    # -- called by the streams (`http2_stream.Frames`) ---------------------------------------------

    def send_head(self, stream: StreamTransport, headers: list[Header], *, ended: bool) -> None:
        """Send the head of an answer."""
        stream.ended = ended
        with suppress(h2.exceptions.ProtocolError):  # the client took the request back just now
            self._h2.send_headers(stream.number, headers, end_stream=ended)

    def send_body(self, stream: StreamTransport) -> None:
        """Send as much of the unsent body as the client takes."""
        frames, unsent, number = self._h2, stream.unsent, stream.number
        try:
            while unsent and not self._clogged:
                size = min(frames.local_flow_control_window(number), frames.max_outbound_frame_size)
                if size <= 0:
                    break
                frames.send_data(number, bytes(unsent[:size]))
                del unsent[:size]
                self._flush()
        except h2.exceptions.ProtocolError:  # the client took the request back just now
            unsent.clear()
        self._flush()

    def finish(self, stream: StreamTransport) -> None:
        """End an answered request, and drop the stream."""
        if not stream.ended:
            with suppress(h2.exceptions.ProtocolError):  # as above
                self._h2.end_stream(stream.number)
        if not stream.received:
            # Nobody reads the rest of the body (RFC 9113, 8.1). Clients that are told so at once
            # forget the answer, so they may send for a moment.
            self._backend.call_later_in_any_case(
                self._backend.limits.linger_seconds,
                lambda: self._reset(stream.number, ErrorCodes.NO_ERROR),
            )
        self._answered += 1
        self._drop(stream)

    def break_off(self, stream: StreamTransport) -> None:
        """Reset a stream whose answer stays incomplete."""
        self._reset(stream.number, ErrorCodes.INTERNAL_ERROR)
        self._drop(stream)

    def take_more(self, stream: StreamTransport, size: int) -> None:
        """Let the client send as many bytes again."""
        with suppress(h2.exceptions.ProtocolError):  # as above
            self._h2.acknowledge_received_data(size, stream.number)
        self._flush()

    def find_info(self, name: str) -> Any:
        """Returns what the real transport says of the connection."""
        return None if self._transport is None else self._transport.get_extra_info(name)

    # -- details ---------------------------------------------------------------------------------

    def _take(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.RequestReceived):
            self._begin(event)
        elif isinstance(event, h2.events.WindowUpdated | h2.events.RemoteSettingsChanged):
            self._send_waiting()
        elif isinstance(event, h2.events.ConnectionTerminated):
            self._leaving = True
        elif isinstance(
            event, h2.events.DataReceived | h2.events.StreamEnded | h2.events.StreamReset
        ):
            self._take_of_stream(event)

    def _take_of_stream(
        self, event: h2.events.DataReceived | h2.events.StreamEnded | h2.events.StreamReset
    ) -> None:
        stream = self._streams.get(event.stream_id or 0)
        if isinstance(event, h2.events.DataReceived):
            size = event.flow_controlled_length or 0
            if stream is not None:
                stream.receive(event.data or b"", size)
            else:  # it was answered already, and what still comes is not needed
                with suppress(h2.exceptions.ProtocolError):
                    self._h2.acknowledge_received_data(size, event.stream_id or 0)
        elif stream is None:
            return
        elif isinstance(event, h2.events.StreamEnded):
            stream.receive_end()
        else:
            self._taken_back += 1
            self._streams.pop(stream.number, None)
            stream.over = True
            stream.protocol.connection_lost(ConnectionResetError("the client reset the stream"))
            if self._taken_back > _RESETS + self._answered:
                log.warning("A client of %s takes too many requests back", self._address)
                self._h2.close_connection(ErrorCodes.ENHANCE_YOUR_CALM)
                self._leaving = True

    def _begin(self, event: h2.events.RequestReceived) -> None:
        number = event.stream_id or 0
        try:
            head, is_head, chunked = write_head(
                list(event.headers or []), ended=event.stream_ended is not None
            )
        except ValueError as fault:
            log.warning("A request with HTTP/2 from %s was reset: %s", self._address, fault)
            self._reset(number, ErrorCodes.PROTOCOL_ERROR)
            return
        if self._backend.stopping.is_set():
            self._reset(number, ErrorCodes.REFUSED_STREAM)
            return
        connection = ClientConnection(self._backend, self._scheme)
        stream = StreamTransport(self, number, connection)
        stream.is_head, stream.chunked = is_head, chunked
        stream.received = event.stream_ended is not None
        self._streams[number] = stream
        connection.connection_made(stream)
        if not stream.is_closing():
            connection.read(head)

    def _send_waiting(self) -> None:
        for stream in list(self._streams.values()):
            if stream.unsent:
                self.send_body(stream)
            stream.note_sent()

    def _reset(self, number: int, code: ErrorCodes) -> None:
        with suppress(h2.exceptions.ProtocolError):  # it is closed already
            self._h2.reset_stream(number, code)
        self._flush()

    def _drop(self, stream: StreamTransport) -> None:
        """Forget a stream. Its connection learns it in the loop's next round, as from a socket."""
        self._flush()
        if self._streams.pop(stream.number, None) is None:
            return
        self._backend.call_soon(lambda: stream.protocol.connection_lost(None))
        if not self._streams:
            self._deadline = UPTIME() + self._backend.limits.idle_seconds
            if self._backend.stopping.is_set():
                self._leave(ErrorCodes.NO_ERROR)

    def _leave(self, code: ErrorCodes) -> None:
        """Say that no more requests are answered, and close."""
        if self._transport is None or self._leaving:
            return
        self._leaving = True
        with suppress(h2.exceptions.ProtocolError):  # the client closed it already
            self._h2.close_connection(code)
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        """Write the frames that wait, unless the reader does it when it has read everything."""
        if self._reading or self._transport is None:
            return
        data = self._h2.data_to_send()
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def _count_buffered(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()


def write_head(headers: list[Header], *, ended: bool) -> tuple[bytes, bool, bool]:
    """Returns the head of a request in HTTP/1.1, whether it is HEAD, and whether it is chunked.

    Raises:
        ValueError: It has no such form.
    """
    pseudo = {name: value for name, value in headers if name.startswith(b":")}
    method, path = pseudo.get(b":method", b""), pseudo.get(b":path", b"")
    if not method or not path or method == b"CONNECT":
        raise ValueError("it has no method or path, or asks for a tunnel")
    host = pseudo.get(b":authority")
    plain = [pair for pair in headers if not pair[0].startswith(b":")]
    cookies = [value for name, value in plain if name == b"cookie"]
    chunked = not ended and all(name != b"content-length" for name, _ in plain)
    lines = [b"%b %b HTTP/1.1" % (method, path)]
    if host is not None:
        lines.append(b"host: " + host)
    if cookies:  # a client may send each of them as a header of its own (RFC 9113, 8.2.3)
        lines.append(b"cookie: " + b"; ".join(cookies))
    lines += [
        b"%b: %b" % pair
        for pair in plain
        if pair[0] != b"cookie" and not (pair[0] == b"host" and host is not None)
    ]
    if chunked:
        lines.append(b"transfer-encoding: chunked")
    if any(b"\r" in line or b"\n" in line for line in lines):
        raise ValueError("a header has a line break")
    return b"\r\n".join([*lines, b"", b""]), method == b"HEAD", chunked
