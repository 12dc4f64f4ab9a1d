"""One client's connection on the event loop: reads requests and writes their answers.

Everything here runs on the loop's thread; what an application may do from another is in `handle`.
A request reaches the application only when it came in whole. One answer is written at a time, in
the order of the requests, and the next one begins when the client has taken the last. So a slow
client costs a descriptor and a small buffer, no thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from functools import partial
from typing import cast

from mock_platform.core.connection import Pause, Peer, Request
from mock_platform.serving.http.answer import Answer
from mock_platform.serving.http.backend import Backend, Journey, Timer
from mock_platform.serving.http.client_socket import BodyWatch, ClientSocket, Handle
from mock_platform.serving.http.reader import Refusal, RequestReader, refuse_overload
from mock_platform.world.clock import UPTIME

log = logging.getLogger(__name__)

_TLS_HANDSHAKE = 0x16
_BODY_GRACE_SECONDS = 0.25
"""Seconds that a stop waits for a body whose headers have arrived."""
_MAX_IN_A_ROW = 32
"""Maximum number of pipelined requests that are answered before other connections are served."""
_MOST_AHEAD = 64 * 1024
"""Bytes of a body that are read while an earlier request is answered."""
_TURN_BYTES = 32 * 1024
"""Bytes that are read from one client before other connections are served."""


class ClientConnection(asyncio.Protocol):
    """A client's connection on the event loop."""

    _client: ClientSocket
    _handle: Handle
    _peer: Peer

    def __init__(
        self, backend: Backend, scheme: str | None = None, *, trail: Journey | None = None
    ) -> None:
        """`scheme` is that of the client's addresses, if it is not that of the server.

        With a `trail` the connection may move to another process.
        """
        self._backend = backend
        self._rounds = backend.rounds
        self._gathered = False
        self._rest = b""
        """What the client sent and is read after others were served."""
        self._trail = trail
        self._scheme = scheme or backend.scheme
        self._reader = RequestReader(backend.limits)
        self._waiting: deque[Request | Refusal] = deque()
        self._answer: Answer | None = None
        self._timer: Timer | None = None
        self._clogged = self._discarding = self._half_closed = self._in_a_row = False
        self._waits = self._is_ahead = False
        self._body = BodyWatch(backend)
        self._endless = self._resumed = self._woken = False
        self._left_at, self._left_with = 0.0, 0
        self.deadline = 0.0
        """When the loop ends the connection, on the clock `UPTIME`; 0 for never."""

    # -- called by the loop -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a client, or refuse it if there are too many."""
        # uvloop's transports behave like asyncio's, but are not subclasses of them.
        self._client = client = ClientSocket(cast("asyncio.Transport", transport), self._rounds)
        peer = transport.get_extra_info("peername") or ("", 0)
        backend = self._backend
        self._handle = Handle(
            backend,
            reset=self._reset,
            end=self._part,
            write=client.write_if_open,
            resume=self._resume,
            descriptor=client.find_descriptor,
            is_stream=client.is_stream,
        )
        address, port = str(peer[0]), str(peer[1])
        self._peer = Peer(self._handle, address, port, self._scheme, backend.listens_at)
        refusal = backend.admit(self, address)
        if refusal is not None:
            self._reader.refuse(refusal)
            self._take_ready()
        elif self._waiting:
            self._next()
        else:
            self._expect_request()

    def begin_with(self, request: Request) -> None:
        """Answer a request first, which another process read; called before there is a client."""
        self._waiting.append(request)

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop all state; later pieces of the application are discarded."""
        self._read_gathered()
        self._handle.leave()
        self._reader.leave()
        self._backend.forget(self, self._peer.address)
        self._body.count(0)
        if self._timer is not None:
            self._timer.cancel()
        answer, self._answer = self._answer, None
        if answer is None:
            if self._clogged or self._client.has_unread:
                self._handle.lose_answer()
        elif not self._backend.is_running(answer):
            if self._half_closed and not self._endless:  # it had left by then
                self._handle.lose_answer(self._left_with, self._left_at - answer.began)
            self._drop(answer)
        self._waiting.clear()
        self._backend.finish_answer(self)

    def data_received(self, data: bytes) -> None:
        """Read what the client sent, perhaps together with what others send."""
        self._gathered = True
        if self._waits:  # it was on its way when reading was paused
            self._rest += data
        elif self._rounds.gather(self, data):
            return
        elif len(data) <= _TURN_BYTES or self._reader.is_mere_body(len(data)):
            self.read(data)
        else:
            self._rest = data
            self._take_turn()

    def eof_received(self) -> bool:
        """The client ended its side: incomplete requests are dropped, complete ones answered."""
        self._read_gathered()
        self._half_closed, self._left_at = True, UPTIME()
        self._left_with = 0 if self._answer is None else self._answer.body_bytes
        if self._endless or (self._answer is None and not self._waiting):
            return False  # a stream's client has left, or nothing is left to answer
        return self._scheme == "http" and not self._handle.held

    def pause_writing(self) -> None:
        """Start to wait for a client that does not read its answer."""
        self._clogged = True
        self._client.takes_more()
        self.deadline = UPTIME() + self._backend.limits.write_seconds

    def resume_writing(self) -> None:
        """Continue: the client read what was waiting."""
        self._clogged = False
        linger = UPTIME() + self._backend.limits.linger_seconds
        self.deadline = linger if self._discarding else 0.0
        if self._answer is not None and self._answer.head_sent:
            self._continue()
        else:
            self._next()

    # -- called for what was gathered (`rounds.Reader`) -------------------------------------------

    def read(self, data: bytes) -> None:
        """Read what the client sent, and answer complete requests."""
        self._gathered = False
        if self._discarding or self._handle.held:
            return
        reader = self._reader
        if not reader.has_begun and not self._waiting and self._answer is None:
            if data[0] == _TLS_HANDSHAKE and self._scheme == "http":
                log.warning("A client spoke TLS to a plain port: call it with http://")
                self._abort()
                return
            self.deadline = UPTIME() + self._backend.limits.head_seconds
        was_in_body = reader.in_body
        reader.feed(data)
        if reader.ready:
            self._take_ready()
        elif reader.in_body:
            if not was_in_body:
                self._body.begin(UPTIME())
            if self._answer is None and not self._waiting:
                self._watch_body()
            elif reader.body_bytes > _MOST_AHEAD:  # else many large bodies would wait in memory
                self._is_ahead = True
                self._set_reading()

    def fail(self, fault: Exception) -> None:
        """End the connection: it could not be read."""
        self._backend.report(fault)
        self._abort()

    # -- deadlines --------------------------------------------------------------------------------

    def expire(self, now: float) -> None:
        """End what takes too long; called regularly, with the current time."""
        if self.deadline > now:  # most of them, and there may be thousands
            return
        reader = self._reader
        if reader.in_body and self._answer is None and not self._waiting and not self._discarding:
            if self._body.is_too_slow(reader.body_bytes, now):
                self.refuse(Refusal(408, "The body came too slowly."))
            return
        if not self.deadline:
            return
        if self._clogged:
            if self._client.takes_more():  # slowly, but it does
                self.deadline = now + self._backend.limits.write_seconds
            else:
                self.give_up()
        elif self._discarding:
            self._abort()
        elif reader.has_begun:
            self.refuse(Refusal(408, "The headers of the request came too slowly."))
        elif self._answer is None:
            self._close()

    def give_up(self) -> None:
        """End the connection: its client does not read."""
        self._handle.is_slow = True
        self._abort()

    # -- requests ---------------------------------------------------------------------------------

    def _read_gathered(self) -> None:
        """Read what the client sent before it left."""
        if self._gathered:
            self._rounds.run()
        rest, self._rest = self._rest, b""
        if rest:
            self.read(rest)

    def _take_turn(self) -> None:
        """Read a part of what the client sent, and the next one after others were served.

        The system may have megabytes of it, and the loop reads up to eight of them before it comes
        back to the others. With chunks of one byte, or heads of thousands of headers, that took
        many seconds.
        """
        self._waits = True
        self._set_reading()
        data, self._rest = self._rest[:_TURN_BYTES], self._rest[_TURN_BYTES:]
        self._backend.call_soon(self._read_on)
        try:
            self.read(data)
        except Exception as fault:  # noqa: BLE001 - the others go on
            self.fail(fault)

    def _read_on(self) -> None:
        """Go on after others were served."""
        if self._rest:
            self._take_turn()
            return
        self._waits = False
        self._set_reading()

    def _take_ready(self) -> None:
        ready = self._reader.ready
        self._waiting.extend(ready)
        ready.clear()
        if self._body.counted:
            self._body.count(0)
        self._set_reading()
        self._next()

    def _next(self) -> None:
        """Answer the waiting requests, one after the other."""
        # An answer that is complete at once calls `send_pieces`, which calls this method again;
        # with a client that sends a thousand requests in a row, that would be a thousand nested
        # calls. So the inner call returns, and the loop below takes the next one. After some the
        # loop of the server gets a turn.
        if self._in_a_row:
            return  # called from within: the loop below goes on
        self._in_a_row = True
        try:
            for _ in range(_MAX_IN_A_ROW):
                if (
                    self._answer is not None
                    or self._clogged
                    or self._handle.is_taken
                    or not self._waiting
                ):
                    break
                item = self._waiting.popleft()
                if isinstance(item, Refusal):
                    self._send_refusal(item)
                    return
                self._begin(item)
            else:
                self._backend.call_soon(self._next)
                return
        finally:
            self._in_a_row = False
        if (
            self._answer is None
            and not self._waiting
            and not self._handle.is_taken
            and not self._clogged
        ):
            self._is_ahead = False
            self._set_reading()
            self._expect_request()

    def _begin(self, request: Request) -> None:
        self.deadline = 0.0
        self._handle.entry = None
        if self._timer is not None:
            self._timer.cancel()
        backend = self._backend
        keep = request.keep_alive and not backend.stopping.is_set()
        answer = backend.answer(request, keep_alive=keep)
        # A connection may move to the process that has the world, with its socket, so that later
        # requests need no hop. Only between two requests, with nothing read ahead and nothing
        # unsent: no byte is lost or out of order.
        if self._trail is not None and self._trail.leads_away(answer.direct) and self._move(answer):
            return
        self._answer = answer
        backend.run(answer, self._peer, self)

    def _move(self, answer: Answer) -> bool:
        """Move to the process that answers a request; return whether that was possible."""
        assert self._trail is not None
        if (
            not answer.keep_alive
            or self._waiting
            or self._waits
            or self._reader.has_begun
            or self._half_closed
            or self._client.count_unsent()
            or not self._trail.move(self._client.find_descriptor(), answer.request)
        ):
            return False
        self._abort()  # the client does not notice: the other process has the socket as well
        return True

    def send_pieces(self, answer: Answer, pieces: list[bytes] | Pause) -> None:
        """Send what the application made; the server calls this after a run or a step."""
        if self._answer is not answer:  # the client has left meanwhile
            if answer.complete:
                self._handle.lose_answer(0)
            self._drop(answer)
            return
        if self._handle.is_taken:
            self._backend.close(answer)
            self._end_taken()
            return
        if isinstance(pieces, Pause):
            self._pause(pieces)
            return
        if answer.given_up:
            self._finish()
            self._close()
            return
        if self._backend.stopping.is_set() and not answer.complete:
            answer.keep_alive = False
        if pieces:
            data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            self._client.send(data, last=answer.complete and answer.keep_alive)
        if not answer.complete:
            self._go_on(answer)
            return
        keep = answer.keep_alive
        self._finish()
        if self._half_closed and not self._waiting and not self._backend.stopping.is_set():
            self._backend.call_soon(partial(self._close_last, self._left_at - answer.began))
        elif not keep:
            self._part()
        elif self._half_closed and not self._waiting:
            self._close()
        else:
            self._next()

    def _pause(self, pause: Pause) -> None:
        """Read the next piece after a pause, or earlier if the body has something to send."""
        self._endless = pause.endless
        if pause.endless and self._half_closed:
            self._abort()
        elif self._resumed:
            self._resumed = False
            self._backend.call_soon(self._continue)
        else:
            self._timer = self._backend.call_later(pause.seconds, self._wake)

    def _go_on(self, answer: Answer) -> None:
        """Read the next piece, if the client reads; mostly after others were served."""
        if self._clogged:
            return
        if self._woken:
            self._woken = False
            self._backend.step(answer, self)
        else:
            self._backend.call_soon(self._continue)

    def _wake(self) -> None:
        """Go on after a pause: what follows the piece is read at once, as it is mostly a pause."""
        self._woken = True
        self._continue()

    def _resume(self, *, urgent: bool) -> None:
        """The body of an answer has something to send."""
        answer = self._answer
        if answer is None or self._handle.gone:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._continue()
        elif urgent and self._clogged and not self._backend.is_running(answer):
            self._backend.step(answer, self)
        else:
            self._resumed = True

    def _continue(self) -> None:
        """Ask the application for the next piece, unless the client does not read at present."""
        self._timer = None
        answer = self._answer
        if answer is None or self._handle.gone or (self._clogged and answer.head_sent):
            return
        self._backend.step(answer, self)

    def _close_last(self, waited: float) -> None:
        """Close after the last answer to a client that had ended its side after these seconds.

        Whether it had left, or only has nothing more to send, is known when it got the answer.
        """
        if not self._handle.is_taken:
            if self._client.is_refused():
                self._handle.lose_answer(self._left_with, waited)
            self._close()

    def _drop(self, answer: Answer) -> None:
        """Give up an answer whose client has left."""
        self._backend.drop(answer, self._handle.entry)

    def _finish(self) -> None:
        assert self._answer is not None
        self._backend.note(self._answer, self._handle.entry)
        self._answer = None
        self._endless = self._resumed = self._woken = False
        self._backend.finish_answer(self)

    def _expect_request(self) -> None:
        """Wait for the next request, and send `100 Continue` to a client that waits for it."""
        if self._half_closed or self._backend.stopping.is_set():
            self._close()
            return
        now, limits, reader = UPTIME(), self._backend.limits, self._reader
        if reader.in_body:
            self._body.begin(now)
            self._watch_body()
        else:
            self.deadline = now + (limits.head_seconds if reader.has_begun else limits.idle_seconds)

    def _watch_body(self) -> None:
        self.deadline = 0.0
        if self._reader.wants_continue and not self._clogged:
            self._reader.wants_continue = False
            self._client.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if not self._body.count(self._reader.body_bytes):
            self.refuse(refuse_overload("Too many large bodies are on their way at once."))

    # -- closing ----------------------------------------------------------------------------------

    def refuse(self, refusal: Refusal) -> None:
        """Read no more, and answer so."""
        self._reader.refuse(refusal)
        self._take_ready()

    def _send_refusal(self, refusal: Refusal) -> None:
        """Send why no more is read, and give a client that is still sending time to read it."""
        self._backend.note_refusal(refusal, self._peer.address)
        self._client.write(refusal.wire(self._backend.date_line()))
        self._linger()

    def _part(self) -> None:
        """Close after an answer: at once if the client is done, else when it could read it."""
        if self._half_closed or not (self._reader.has_begun or self._waiting):
            self._close()
        else:
            self._linger()

    def _linger(self) -> None:
        """End our side and discard what still arrives: closing now would reset the connection."""
        # Closing a socket with unread bytes makes the system send a reset, which may overtake the
        # answer: the client would see a broken connection in place of a refusal. So only our side
        # ends, and what arrives is read and thrown away until the client closes or the time is
        # over.
        self._handle.is_taken = self._discarding = True
        self._waiting.clear()
        self._body.count(0)
        self.deadline = UPTIME() + self._backend.limits.linger_seconds
        self._set_reading()
        if self._half_closed or self._backend.stopping.is_set():
            self._close()
        else:
            self._client.end()

    def _close(self) -> None:
        self._handle.is_taken = self._discarding = True
        self._client.close()
        self.deadline = UPTIME() + self._backend.limits.write_seconds

    def _abort(self) -> None:
        self._handle.is_taken = True
        self._client.abort()

    def _end_taken(self) -> None:
        """The application ended the connection itself, or keeps it open without an answer."""
        if self._answer is not None:
            self._finish()
        if self._handle.held:
            self.deadline = 0.0
            self._set_reading()
        elif not self._discarding:
            self._part()  # raw bytes were sent, and nothing follows them

    def _set_reading(self) -> None:
        """Read, unless enough is waiting: further bytes stay with the client."""
        if not self._handle.gone:
            enough = self._is_ahead or len(self._waiting) >= _MAX_IN_A_ROW
            self._client.set_reading(
                wanted=not self._waits and (not enough or self._discarding or self._handle.held)
            )

    def stop(self) -> None:
        """The server stops: close now, or after the current answer."""
        answer = self._answer
        self._waiting.clear()
        if answer is None and self._reader.in_body and not self._discarding:
            # The headers have arrived, so the body is probably on its way. Wait a moment for it.
            self._backend.hold(self)
            self._timer = self._backend.call_later_in_any_case(_BODY_GRACE_SECONDS, self.cut)
        elif answer is None or self._handle.held:
            self._close()
        else:
            answer.keep_alive = answer.keep_alive and answer.head_sent
            if self._timer is not None:  # nobody waits any longer
                self._timer.cancel()
                self._continue()
            elif self._endless:
                self._resume(urgent=True)

    def cut(self) -> None:
        """The time of a graceful stop is over."""
        self._backend.finish_answer(self)
        self._abort()

    # -- what an application may have done (`Handle`) --------------------------------------------

    def _reset(self) -> None:
        if not self._handle.gone:
            self._client.reset()
