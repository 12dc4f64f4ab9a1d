"""One client's HTTP/2 connection: each of its streams is answered like a connection of HTTP/1.1.

h2 reads and writes the frames and keeps their rules; this module passes requests on and opens
the client's windows again. A fault that a scenario asks for ends its stream, not the connection.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any, cast

import h2.events
import h2.exceptions
from h2.errors import ErrorCodes

from mock_platform.serving.http.backend import Backend
from mock_platform.serving.http.connection import ClientConnection
from mock_platform.serving.http.http2_intake import (
    DATA,
    END_STREAM,
    STREAMS,
    WINDOW,
    Breach,
    Frame,
    FrameAllowance,
    Intake,
    drop_unknown,
    free,
    is_farewell,
    limit_block,
    new_state,
)
from mock_platform.serving.http.http2_stream import Header, StreamTransport
from mock_platform.world.clock import UPTIME

log = logging.getLogger(__name__)

_TURN_WORK = 96 * 1024
"""Bytes that are read from one client before other connections are served."""
_FRAME_WORK, _HEADER_WORK = 2048, 64
"""As how many bytes a frame counts beside its own, and each header of a request."""
_OfRequest = h2.events.DataReceived | h2.events.StreamEnded | h2.events.TrailersReceived
_BODY_BYTES = 8
"""Bytes of a body that count as one: they are only passed on."""


class Http2Connection(asyncio.Protocol):
    """A client's connection with HTTP/2 on the event loop."""

    def __init__(self, backend: Backend, scheme: str | None = None) -> None:
        """`scheme` is that of the client's addresses, if it is not that of the server."""
        self._backend = backend
        self._scheme = scheme or backend.scheme
        self._h2 = new_state(backend.limits.head_bytes)
        self._intake = Intake(limit_block(backend.limits.head_bytes))
        self._allowance = FrameAllowance()
        self._streams: dict[int, StreamTransport] = {}
        self._refused: dict[int, StreamTransport] = {}
        """Streams that were answered while the client still sends; for a moment that is taken."""
        self._transport: asyncio.Transport | None = None
        self._address = ""
        self._deadline = UPTIME() + backend.limits.idle_seconds
        self._unsent = self._work = 0
        self._clogged = self._leaving = self._lost = self._reading = False
        self._waits = self._paused = self._reopened = self._farewell = False

    # -- called by the loop -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Greet a client, or send it away if there are too many."""
        self._transport = cast("asyncio.Transport", transport)
        peer = self._transport.get_extra_info("peername") or ("", 0)
        self._address = str(peer[0])
        refusal = self._backend.admit(self, self._address)
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(4 * WINDOW)
        self._flush()
        if refusal is not None:
            self._backend.note_refusal(refusal, self._address)
            self._end(ErrorCodes.ENHANCE_YOUR_CALM, refusal.text)

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the connection and all its streams."""
        self._leaving = self._lost = True
        self._backend.forget(self, self._address)
        self._drop_all(exc)
        free(self._h2)

    def data_received(self, data: bytes) -> None:
        """Read frames of the client: some now, the rest after others were served."""
        if self._leaving:
            return
        self._intake.add(data)
        # What one client sends is read in turns of limited work: with HTTP/2 a single connection
        # can carry the requests of many, and it must not keep the loop from the others. The rest
        # waits in the intake.
        if not self._waits and not self._clogged:
            self._take_turn()

    def pause_writing(self) -> None:
        """Read nothing more from a client that does not read."""
        self._clogged = True
        self._unsent = self._count_buffered()
        self._deadline = UPTIME() + self._backend.limits.write_seconds
        self._set_reading()

    def resume_writing(self) -> None:
        """Go on: the client read what was waiting."""
        self._clogged = False
        self._note_idle()
        self._set_reading()
        self._send_waiting()
        self._read_on()

    # -- called by the server (`backend.AnyConnection`) --------------------------------------------

    def expire(self, now: float) -> None:
        """End a connection without requests, or whose client does not read or sends too slowly."""
        limits = self._backend.limits
        if self._leaving:
            # From the end to the beginning of a connection's life: one that is leaving, one whose
            # client does not read, one that sends a head too slowly, one with streams (each has its
            # own limits), and one that is idle.
            if self._deadline <= now:
                self.cut()
        elif self._clogged:
            unsent = self._count_buffered()
            if unsent < self._unsent:
                self._unsent, self._deadline = unsent, now + limits.write_seconds
            elif self._deadline <= now:
                self.cut()
        elif self._intake.open_since and self._intake.open_since + limits.head_seconds <= now:
            self._end(ErrorCodes.ENHANCE_YOUR_CALM, "The headers of a request came too slowly.")
        elif self._streams:
            self._end_unread(now)
        elif self._deadline <= now:
            self._leave()

    def stop(self) -> None:
        """The server stops: leave now, or after the current answers."""
        if not self._streams:
            self._leave()

    def cut(self) -> None:
        """Close the connection now."""
        if self._transport is not None:
            self._transport.abort()

    # -- called by the streams (`http2_stream.Frames`) ---------------------------------------------

    def send_head(self, stream: StreamTransport, headers: list[Header], *, ended: bool) -> None:
        """Send the head of an answer."""
        stream.ended = ended
        with suppress(h2.exceptions.ProtocolError):  # the client took the request back just now
            self._h2.send_headers(stream.number, headers, end_stream=ended)

    def send_body(self, stream: StreamTransport) -> None:
        """Send as much of the unsent body as the client takes."""
        frames, unsent, number = self._h2, stream.unsent, stream.number
        before = len(unsent)
        try:
            while unsent and not self._clogged:
                largest = frames.max_outbound_frame_size
                size = min(frames.local_flow_control_window(number), largest, len(unsent))
                if size <= 0:
                    break
                stream.ended = stream.complete and size == len(unsent)
                frames.send_data(number, bytes(unsent[:size]), end_stream=stream.ended)
                self._allowance.earn(size, whole=size in {largest, len(unsent)})
                del unsent[:size]
                self._flush()
        except h2.exceptions.ProtocolError:  # the client took the request back just now
            unsent.clear()
        if not unsent:
            stream.deadline = 0.0
        elif len(unsent) < before or not stream.deadline:
            stream.deadline = UPTIME() + self._backend.limits.write_seconds
        self._flush()

    def finish(self, stream: StreamTransport) -> None:
        """End an answered request, and drop the stream."""
        if not stream.ended:
            with suppress(h2.exceptions.ProtocolError):  # as above
                self._h2.end_stream(stream.number)
        if not stream.received:
            # Nobody reads the rest of the body (RFC 9113, 8.1). Clients that are told so at once
            # forget the answer, so they may send for a moment.
            self._refused[stream.number] = stream
            self._backend.call_later_in_any_case(
                self._backend.limits.linger_seconds,
                lambda: self._end_refused(stream.number),
            )
            self._count_reset()
        self._drop(stream)

    def break_off(self, stream: StreamTransport) -> None:
        """Reset a stream whose answer stays incomplete."""
        self._reset(stream.number, ErrorCodes.INTERNAL_ERROR)
        self._drop(stream)

    def take_more(self, stream: StreamTransport, size: int) -> None:
        """Let the client send as many bytes again."""
        if self._lost:
            return
        with suppress(h2.exceptions.ProtocolError):  # as above
            self._h2.acknowledge_received_data(size, stream.number)
        self._flush()

    def find_info(self, name: str) -> Any:
        """Return what the real transport says of the connection."""
        return None if self._transport is None else self._transport.get_extra_info(name)

    # -- reading ---------------------------------------------------------------------------------

    def _read_on(self) -> None:
        """Read what is left, unless the client must read first."""
        self._waits = False
        if not self._leaving and not self._clogged:
            self._take_turn()

    def _take_turn(self) -> None:
        """Read some frames, and let the other connections go on before the next ones.

        The system may have megabytes of a client's frames; read in a row they would keep all others
        waiting for many seconds.
        """
        self._reading = True
        try:
            self._read_frames()
        except Breach as breach:
            self._end(breach.code, str(breach))
        except h2.exceptions.ProtocolError as fault:
            log.warning("A client of %s broke the rules of HTTP/2: %s", self._address, fault)
            self._part()
        except Exception as fault:  # noqa: BLE001 - the others go on
            self._backend.report(fault)
            self.cut()
        finally:
            self._reading = False
        if self._reopened:
            self._reopened = False
            self._send_waiting()
        self._flush()
        if self._leaving:
            return
        if self._intake.has_frame and not self._clogged:
            self._waits = True
            self._backend.call_soon(self._read_on)
        self._set_reading()

    def _read_frames(self) -> None:
        now = UPTIME()
        self._allowance.begin_turn(now)
        self._work = 0
        while self._work < _TURN_WORK and not self._leaving:
            frame = self._intake.take(now)
            if frame is None:
                return
            size = len(frame.wire)
            self._work += _FRAME_WORK + (size // _BODY_BYTES if frame.kind == DATA else size)
            self._take_frame(frame)

    def _take_frame(self, frame: Frame) -> None:
        number = frame.stream
        stream = self._streams.get(number) or self._refused.get(number)
        self._allowance.take(frame, known=stream is not None)
        if stream is not None and frame.kind == DATA:
            ended = bool(frame.flags & END_STREAM)
            if not stream.fits(frame.size, ended=ended):
                # h2 would end the whole connection; of a stream that was reset it only counts.
                stream.refuse_body(stream.arrived + frame.size)
                self._reset(number, ErrorCodes.PROTOCOL_ERROR)
        if is_farewell(frame) and self._streams:
            self._farewell = True
            return
        for event in self._h2.receive_data(frame.wire):
            self._take(event)

    def _take(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.RequestReceived):
            self._begin(event)
        elif isinstance(event, h2.events.WindowUpdated):
            self._reopened = True
        elif isinstance(event, h2.events.RemoteSettingsChanged):
            self._reopened = True
            drop_unknown(self._h2, event.changed_settings)
        elif isinstance(event, h2.events.ConnectionTerminated):
            self._part()
        elif isinstance(event, h2.events.StreamReset):
            if not event.remote_reset:
                self._allowance.count_reset()
            stream = self._streams.pop(event.stream_id, None)
            if stream is not None:
                stream.lose(ConnectionResetError("the client reset the stream"))
                self._note_idle()
        elif isinstance(event, _OfRequest):
            self._take_of_request(event)

    def _take_of_request(self, event: _OfRequest) -> None:
        stream = self._streams.get(event.stream_id or 0)
        if isinstance(event, h2.events.DataReceived):
            data, size = event.data or b"", event.flow_controlled_length or 0
            if stream is not None:
                stream.received = event.stream_ended is not None  # it may be answered with this
                stream.receive(data, size)
                return
            # It was answered already, and what still comes is not needed.
            stream = self._refused.get(event.stream_id or 0)
            if stream is not None:
                stream.arrived += len(data)
            with suppress(h2.exceptions.ProtocolError):
                self._h2.acknowledge_received_data(size, event.stream_id or 0)
        elif stream is None:
            return
        elif isinstance(event, h2.events.TrailersReceived):
            stream.receive_trailers(list(event.headers or []))
        else:
            stream.receive_end()

    def _begin(self, event: h2.events.RequestReceived) -> None:
        number = event.stream_id or 0
        if self._backend.stopping.is_set():
            self._reset(number, ErrorCodes.REFUSED_STREAM)
            return
        if self._h2.open_before >= STREAMS:
            log.info(
                "A client of %s has %d requests open; one more was refused", self._address, STREAMS
            )
            self._reset(number, ErrorCodes.REFUSED_STREAM)
            self._allowance.count_reset()
            return
        connection = ClientConnection(self._backend, self._scheme)
        stream = self._streams[number] = StreamTransport(self, number, connection)
        headers = list(event.headers or [])
        self._work += len(headers) * _HEADER_WORK
        self._allowance.take_headers(len(headers))
        stream.begin(headers, ended=event.stream_ended is not None)

    def _set_reading(self) -> None:
        """Read, unless enough waits here: further bytes stay with the client."""
        paused = (self._clogged or self._waits) and not self._leaving
        if paused == self._paused or self._transport is None or self._transport.is_closing():
            return
        self._paused = paused
        if paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    # -- details ---------------------------------------------------------------------------------

    def _send_waiting(self) -> None:
        for stream in list(self._streams.values()):
            if stream.unsent:
                self.send_body(stream)
            stream.note_sent()

    def _end_unread(self, now: float) -> None:
        """Reset streams whose answers are not read; if no others are left, end the connection."""
        unread = [s for s in self._streams.values() if s.unsent and s.deadline <= now]
        for stream in unread:
            stream.protocol.give_up()
        if unread and not self._streams:
            self._end(ErrorCodes.NO_ERROR, "No answer was read for too long.")

    def _count_reset(self) -> None:
        """Count a stream that the server resets; called while a stream writes, so it ends later."""
        try:
            self._allowance.count_reset()
        except Breach as breach:
            code, text = breach.code, str(breach)
            self._backend.call_soon(lambda: self._end(code, text))

    def _end_refused(self, number: int) -> None:
        if number in self._refused:
            self._reset(number, ErrorCodes.NO_ERROR)

    def _reset(self, number: int, code: ErrorCodes) -> None:
        self._refused.pop(number, None)
        if self._lost:
            return
        with suppress(h2.exceptions.ProtocolError):  # it is closed already
            self._h2.reset_stream(number, code)
        self._flush()

    def _drop(self, stream: StreamTransport) -> None:
        """Forget a stream. Its connection learns it in the loop's next round, as from a socket."""
        self._flush()
        if self._streams.pop(stream.number, None) is None:
            return
        self._backend.call_soon(lambda: stream.lose(None))
        self._note_idle()

    def _drop_all(self, fault: Exception | None) -> None:
        self._intake.clear()
        self._refused.clear()
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            stream.lose(fault)

    def _note_idle(self) -> None:
        """Begin to wait for the next request, if none is in work; other frames do not count."""
        if self._streams or self._leaving:
            return
        self._deadline = UPTIME() + self._backend.limits.idle_seconds
        if self._backend.stopping.is_set():
            self._leave()
        elif self._farewell:
            self._say_goodbye(ErrorCodes.NO_ERROR)
            self._part()

    def _leave(self) -> None:
        """Say that no more requests are answered, and close."""
        if self._transport is None or self._leaving:
            return
        self._leaving = True
        self._deadline = UPTIME() + self._backend.limits.write_seconds
        self._say_goodbye(ErrorCodes.NO_ERROR)
        self._transport.close()

    def _end(self, code: ErrorCodes, text: str) -> None:
        """Tell a client why its connection ends."""
        if self._leaving:
            return
        log.warning("A client of %s was sent away: %s", self._address, text)
        self._say_goodbye(code, text)
        self._part()

    def _part(self) -> None:
        """Drop all requests and read nothing more, but let the client learn why.

        What it still sends is discarded for a moment: closing now would reset the connection, and
        the client could lose the last frame.
        """
        if self._leaving or self._transport is None:
            return
        self._reading, self._leaving = False, True
        self._deadline = UPTIME() + self._backend.limits.linger_seconds
        self._drop_all(ConnectionResetError("the client was sent away"))
        self._flush()
        self._set_reading()
        if self._transport.can_write_eof():
            self._transport.write_eof()
        else:
            self._transport.close()

    def _say_goodbye(self, code: ErrorCodes, text: str = "") -> None:
        with suppress(h2.exceptions.ProtocolError):  # the client closed it already
            self._h2.close_connection(code, additional_data=text.encode() or None)
        self._reading = False
        self._flush()

    def _flush(self) -> None:
        """Write the frames that wait, unless the reader does it when it has read everything."""
        if self._reading or self._transport is None or self._lost:
            return
        data = self._h2.data_to_send()
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def _count_buffered(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()
