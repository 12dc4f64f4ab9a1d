"""The owner's half of a hop: answers requests that other processes read.

The application cannot see the difference: it gets the request with the client's address, and a
connection on which it may pause, break off, or send raw bytes. The pieces it makes are sent to the
front unframed, because the front talks with the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from mock_platform.core.connection import Direct, Pause, Peer, Request
from mock_platform.serving.cluster import Place
from mock_platform.serving.cluster.channel import (
    FRONT,
    NONCE_BYTES,
    OWNER,
    Greeting,
    draw,
    is_stranger,
)
from mock_platform.serving.cluster.frames import Kind, pack, pack_start, read_length, read_request
from mock_platform.serving.cluster.link import FrameProtocol
from mock_platform.serving.http.answer import Answer, ExcInfo, Pair
from mock_platform.serving.http.backend import Backend, Timer
from mock_platform.serving.http.client_socket import Handle
from mock_platform.world.clock import UPTIME

_PEER_TEXTS = 5
_HELLO_SECONDS = 5.0


class Owner(Protocol):
    """What this process answers for others."""

    secret: bytes
    channel: bytes
    """The fingerprint of this process's certificate, or `channel.LOCAL`."""
    backend: Backend
    is_leaving: bool
    """Whether this process takes no more requests of others."""

    @property
    def here(self) -> Place:
        """The place of this process."""

    def lives_here(self, world: str) -> bool:
        """Whether a world lives in this process, as far as is known."""

    def answer_here(self, request: Request) -> Direct | None:
        """Return what answers a request on the loop; `None` if that needs a thread."""

    def answer_question(self, payload: bytes, reply: Callable[[bytes], object]) -> None:
        """Answer a question in a thread; `reply` may be called there."""


class PeerConnection(FrameProtocol):
    """A connection that another process opened."""

    def __init__(self, owner: Owner, open_connections: set[PeerConnection]) -> None:
        super().__init__()
        self._owner = owner
        self._all = open_connections
        self._text = draw()
        self._requests: dict[int, TakenRequest] = {}
        self._is_over = False
        self._hello = self._loop.call_later(_HELLO_SECONDS, self._expect_hello)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection, so that a stop ends it, and ask for a proof of the secret."""
        super().connection_made(transport)
        self._all.add(self)
        assert self.transport is not None
        if is_stranger(self.transport):
            self.refuse_stranger()
            return
        self.transport.write(pack(Kind.CHALLENGE, 0, self._text))

    def connection_lost(self, exc: Exception | None) -> None:
        """End what was being answered: the front, and so its clients, are gone."""
        self._hello.cancel()
        self._all.discard(self)
        for request in list(self._requests.values()):
            request.leave(slow=False)
        self._owner.backend.finish_answer(self)

    def take(self, kind: int, number: int, payload: bytes) -> None:
        """Take a frame of the front."""
        # Nothing of a stranger is interpreted: the first frame has to be the proof, and everything
        # else ends the connection.
        if not self.is_known:
            self._greet(kind, payload)
        elif kind == Kind.REQUEST:
            self._begin(number, payload)
        elif kind == Kind.BYE:
            self._is_over = True
            self._close_if_answered()
        elif kind == Kind.QUESTION:
            loop = self._loop

            def reply(answer: bytes) -> None:
                loop.call_soon_threadsafe(self.write, pack(Kind.REPLY, number, answer))

            self._owner.answer_question(payload, reply)
        else:
            taken = self._requests.get(number)
            if taken is not None:
                taken.hear(kind, payload)

    def forget(self, number: int) -> None:
        """Forget a request that is answered."""
        self._requests.pop(number, None)
        self._close_if_answered()

    def hurry(self) -> None:
        """End the pauses of all requests, because this process stops."""
        for request in list(self._requests.values()):
            request.hear(Kind.HURRY, b"")

    def leave(self) -> None:
        """Say that this process stops, and let the stop wait until the front has all answers.

        A front that is not known yet has sent no request: it finds out where the world is by then.
        """
        if self.is_known:
            self._owner.backend.hold(self)
            self.write(pack(Kind.LEAVING, 0))

    def _greet(self, kind: int, payload: bytes) -> None:
        """Let the front in if its proof is right, and prove the same to it."""
        text, code = payload[:NONCE_BYTES], payload[NONCE_BYTES:]
        owner = self._owner
        greeting = Greeting(self._text, text, owner.here, owner.channel)
        if kind != Kind.HELLO or not greeting.is_proof(code, owner.secret, FRONT):
            self.refuse_stranger()
            return
        if owner.is_leaving:
            # A request after the welcome could be cut off by the end of this process.
            self.abort()
            return
        self.trust()
        self.write(pack(Kind.WELCOME, 0, greeting.prove(owner.secret, OWNER)))

    def _begin(self, number: int, payload: bytes) -> None:
        world, peer, request = read_request(payload, _PEER_TEXTS)
        owner = self._owner
        # The front decided by what it knew. If the world has moved since, nothing was done yet, so
        # the front may ask again where it is and send the request there.
        if world and not owner.lives_here(world):
            self.write(pack(Kind.MOVED, number))
            return
        self._requests[number] = taken = TakenRequest(self, number, owner.backend, peer)
        taken.begin(request, owner.answer_here(request))

    def _close_if_answered(self) -> None:
        """Close after the last byte of the last answer, when the front sends no more requests."""
        if self._is_over and not self._requests and self.transport is not None:
            self._flush()
            self.transport.close()

    def _expect_hello(self) -> None:
        if not self.is_known:
            self.abort()


class TakenAnswer(Answer):
    """An answer whose pieces are not framed: the front does that."""

    broken = False
    """Whether the application failed after a part of the answer was sent."""

    def _pack(self, pieces: list[bytes]) -> list[bytes]:
        if not self._started:
            if any(pieces):
                return self._fail(RuntimeError("WSGI: the body began before start_response"))
            return []
        self.body_bytes += sum(map(len, pieces))
        return pieces

    def _start_response(
        self, status: str, headers: list[Pair], exc_info: ExcInfo | None = None, /
    ) -> Callable[[bytes], object]:
        """Start the answer; its last piece is read together with its end, and both go at once."""
        written = super()._start_response(status, headers, exc_info)
        self._length = read_length(headers)
        return written

    def _fail(self, fault: BaseException) -> list[bytes]:
        self.broken = self.head_sent
        return super()._fail(fault)


class TakenHandle(Handle):
    """The client's connection, which another process has."""

    hurried = False
    """Whether the front stops."""

    @property
    def is_stopping(self) -> bool:
        """Whether this process or the front stops."""
        return self.hurried or super().is_stopping

    def is_gone(self) -> bool:
        """Whether the front said that the client has left."""
        return self.gone


class TakenRequest:
    """One request of another process's client, while it is answered."""

    def __init__(
        self, connection: PeerConnection, number: int, backend: Backend, peer: list[str]
    ) -> None:
        """`peer` is the client: address, port, scheme, server's address, any text for HTTP/2."""
        *told, stream = peer
        self._connection = connection
        self._number = number
        self._backend = backend
        self._answer: TakenAnswer | None = None
        self._timer: Timer | None = None
        self._clogged = self._resumed = self._ended = self._is_final = False
        self._is_endless = self._is_due = False
        self._handle = TakenHandle(
            backend,
            reset=lambda: self._say_last(Kind.RESET),
            end=lambda: self._say_last(Kind.CLOSE),
            write=lambda data: self._say(Kind.RAW, data),
            resume=self._resume,
            descriptor=lambda: -1,
            is_stream=bool(stream),
        )
        self._peer = Peer(self._handle, *told)

    def begin(self, request: Request, direct: Direct | None) -> None:
        """Let the application answer."""
        backend = self._backend
        self._answer = answer = TakenAnswer(
            request, direct, UPTIME(), backend.report, backend.date_line, keep_alive=True
        )
        backend.run(answer, self._peer, self)

    def hear(self, kind: int, payload: bytes) -> None:
        """Do what the front says of the client."""
        if kind == Kind.LEFT:
            self.leave(slow=bool(payload))
        elif kind == Kind.CLOGGED:
            self._clogged = True
        elif kind == Kind.READING:
            self._clogged = False
            if self._timer is None:
                self._continue_soon()
        elif kind == Kind.HURRY:
            self._handle.hurried = True
            if self._timer is not None:
                self._timer.cancel()
                self._continue()
            elif self._is_endless:
                self._resume(urgent=True)

    def leave(self, *, slow: bool) -> None:
        """Drop the answer: the client has left."""
        handle, answer = self._handle, self._answer
        handle.is_slow = handle.is_slow or slow
        handle.leave()
        if not self._ended and answer is not None and not self._backend.is_running(answer):
            self._backend.close(answer)
        self._finish()

    # -- as a connection of the backend -----------------------------------------------------------

    def send_pieces(self, answer: Answer, pieces: list[bytes] | Pause) -> None:
        """Send what the application made to the front."""
        assert isinstance(answer, TakenAnswer)
        if self._ended:  # the client has left meanwhile
            if answer.complete:
                self._handle.lose_answer(0)
            self._backend.close(answer)
            return
        if self._handle.is_taken:
            self._backend.close(answer)
            if not self._is_final:
                self._say_last(Kind.HOLD if self._handle.held else Kind.CLOSE)
            self._finish()
            return
        if isinstance(pieces, Pause):
            self._pause(pieces)
            return
        self._write(answer, b"".join(pieces))
        if answer.complete:
            self._finish()
        elif not self._clogged:
            self._continue_soon()

    # -- details ----------------------------------------------------------------------------------

    def _write(self, answer: TakenAnswer, body: bytes) -> None:
        # An answer that is complete at its first piece goes in one frame, as nearly all do.
        # Otherwise head, data and end are frames of their own, and `BROKEN` in place of the end
        # says that the front must not end the answer properly: its client would take half of it for
        # the whole.
        number, write = self._number, self._connection.write
        if not answer.head_sent and answer.status:
            answer.head_sent = True
            kind = Kind.ANSWER if answer.complete and not answer.broken else Kind.START
            write(pack_start(kind, number, answer.status, answer.headers, body))
            if kind == Kind.ANSWER:
                return
        elif body:
            write(pack(Kind.DATA, number, body))
        if answer.complete:
            write(pack(Kind.BROKEN if answer.broken else Kind.END, number))

    def _pause(self, pause: Pause) -> None:
        if pause.endless and not self._is_endless:
            self._is_endless = True
            self._say(Kind.ENDLESS)
        if self._resumed:
            self._resumed = False
            self._continue_soon()
        else:
            seconds = 0 if self._handle.hurried else pause.seconds
            self._timer = self._backend.call_later(seconds, self._continue)

    def _resume(self, *, urgent: bool) -> None:
        answer = self._answer
        if answer is None or self._ended:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._continue(urgent=urgent)
        elif urgent and self._clogged and not self._backend.is_running(answer):
            self._backend.step(answer, self)
        else:
            self._resumed = True

    def _continue_soon(self) -> None:
        """Ask for the next piece in the loop's next round, unless one is being made or asked for.

        The front may say at any moment that its client reads again.
        """
        answer = self._answer
        # `READING` may come while a piece is being made, or twice in a row. Two steps at once would
        # run the application's iterator in two threads.
        if self._is_due or answer is None or self._backend.is_running(answer):
            return
        self._is_due = True
        self._backend.call_soon(self._continue)

    def _continue(self, *, urgent: bool = False) -> None:
        self._timer = None
        self._is_due = False
        answer = self._answer
        if answer is None or self._ended:
            return
        if not (self._clogged and answer.head_sent and not urgent):
            self._backend.step(answer, self)

    def _say(self, kind: int, payload: bytes = b"") -> None:
        self._connection.write(pack(kind, self._number, payload))

    def _say_last(self, kind: int) -> None:
        self._is_final = True
        self._say(kind)

    def _finish(self) -> None:
        if self._ended:
            return
        self._ended = True
        if self._timer is not None:
            self._timer.cancel()
        self._answer = None
        self._connection.forget(self._number)
        self._backend.finish_answer(self)
