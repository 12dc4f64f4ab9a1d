"""The front's half of a hop: hands a request to another process and returns what that answers.

A `HandedRequest` is the body of an answer like any other: the connection of the client reads it
piece by piece, and frames the pieces for the client. So whatever the client's protocol is, the hop
adds nothing to it.
"""

from __future__ import annotations

import logging
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, Self

from mock_platform.core.connection import Pause, Peer, Request
from mock_platform.serving.cluster import Misplaced, Place
from mock_platform.serving.cluster.frames import Kind, pack, pack_request, read_length, read_start
from mock_platform.serving.cluster.link import Link
from mock_platform.world.clock import UPTIME

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse

_LOG = logging.getLogger(__name__)
_WAIT = Pause(math.inf)
_ENDLESS = Pause(math.inf, endless=True)
_MAX_QUEUED = 64 * 1024
"""Bytes that may wait for the client here before the owner is asked to make no more."""
PATIENCE_SECONDS = 8.0
"""Seconds for which a process that cannot be reached is tried, as it may be starting again."""
_RETRY_SECONDS = 0.05
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_LAST = frozenset({Kind.ANSWER, Kind.END, Kind.BROKEN, Kind.RESET, Kind.CLOSE, Kind.HOLD})
"""What nothing follows."""


class Carrier(Protocol):
    """How requests get to other processes."""

    def open_link(self, place: Place) -> Link:
        """Return the connection to a process."""

    def is_here(self, place: Place) -> bool:
        """Whether a place is that of this process."""

    def locate(self, world: str, not_at: Place | None, act: Callable[..., object]) -> None:
        """Find out in a thread where a world lives, then call `act` on the loop with it.

        `act` gets the place, or a `Misplaced`.
        """

    def call_later(self, seconds: float, act: Callable[[], object]) -> object:
        """Run something on the loop after real seconds."""


class HandedRequest:
    """A request that another process answers, and the pieces of the answer as they arrive."""

    def __init__(self, carrier: Carrier, world: str, place: Place | None) -> None:
        """`place` is where the world lives; `None` if that is to be found out."""
        self._carrier = carrier
        self._world = world
        self.place = place
        """Where the world lives, as far as is known."""
        self.is_stream = False
        """Whether it asks for a stream, of which an app may have only so many."""
        self._link: Link | None = None
        self._number = 0
        self._queue: deque[tuple[int, bytes]] = deque()
        self._queued = 0
        self._clogged = False
        self._started = False
        self._ended = False
        self._missing: float = math.inf
        self._is_raw = False
        self._wait = _WAIT
        self._hurried = False
        self._until = 0.0
        self._moved_from: Place | None = None
        self._denials = Counter[Place]()
        """How often processes said that they do not have the world."""

    def __call__(
        self, request: Request, peer: Peer, start_response: StartResponse
    ) -> Iterable[bytes | Pause]:
        """Hand the request over; return the body of its answer."""
        self._request, self._peer, self._start_response = request, peer, start_response
        self._send()
        return self

    # -- read by the connection of the client -----------------------------------------------------

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes | Pause:
        """Return the next piece, or a pause until one has arrived."""
        while self._queue:
            # Frames wait in a queue because the client's connection reads when its client does.
            # Above a limit the owner is asked to pause; as the connection reads, it is asked to go
            # on.
            kind, payload = self._queue.popleft()
            piece = self._perform(kind, payload)
            self._note_read(len(payload))
            if piece:
                return piece
            if self._ended:
                raise StopIteration
        if self._ended:
            raise StopIteration
        if not self._hurried and self._peer.connection.is_stopping:
            self._hurried = True
            self._tell(Kind.HURRY)
        return self._wait

    def close(self) -> None:
        """Tell the owner that the client has left, unless the answer is complete."""
        if not self._ended:
            self._ended = True
            self._tell(Kind.LEFT, b"slow" if self._peer.connection.is_slow else b"")
        self._forget()

    # -- called by the link -----------------------------------------------------------------------

    def take_frame(self, kind: int, payload: bytes) -> None:
        """Take a part of the answer."""
        # The owner has done nothing with the request, so it can be sent to where the world is now.
        if kind == Kind.MOVED:
            self._forget()
            self._moved_from = place = self.place
            assert place is not None
            self._denials[place] += 1
            self._carrier.locate(self._world, self.place, self._take_place)
            return
        self._is_raw = self._is_raw or kind == Kind.RAW
        urgent = self._clogged and kind not in {Kind.DATA, Kind.START}
        self._queue.append((kind, payload))
        self._queued += len(payload)
        if self._queued > _MAX_QUEUED and not self._clogged:
            self._clogged = True
            self._tell(Kind.CLOGGED)
        resume = self._peer.connection.resume
        resume(urgent=urgent)
        if urgent:  # the end is a step of its own, after what is queued
            self._merge()
            resume(urgent=True)

    def lose(self, *, sent: bool) -> None:
        """Try again, or end: the process has ended, or cannot be reached.

        The connection of the client ends without an answer only if a part of it was sent.
        """
        self._link = None
        # Whether a lost request may be sent again depends on how much is known. After a part of the
        # answer: no, the client has seen it. After it was sent, for a method that changes things:
        # no, it may have been executed; the client is told so. In all other cases yes, until the
        # patience is over.
        if self._ended or (self._queue and self._queue[-1][0] in _LAST):
            return
        if self._started or self._is_raw:
            self.take_frame(Kind.BROKEN, b"")
            return
        self._queue.clear()  # the first part of an answer whose rest is lost
        self._queued, self._clogged = 0, False
        if sent and self._request.method not in _SAFE:
            self._refuse(
                "The process with this world ended before it answered. Whether the request was "
                "executed is not known."
            )
        elif UPTIME() > self._until or self._peer.connection.is_stopping:
            self._refuse("The process with this world cannot be reached; try again.")
        else:
            self._carrier.call_later(_RETRY_SECONDS, self._try_again)

    # -- details ----------------------------------------------------------------------------------

    def _send(self) -> None:
        """Send the request to the owner, as soon as it is known."""
        if self._ended:
            return
        self._until = self._until or UPTIME() + PATIENCE_SECONDS
        if self.place is None:
            self._carrier.locate(self._world, None, self._take_place)
            return
        peer = self._peer
        self._link = link = self._carrier.open_link(self.place)
        self._number = number = link.add(self)
        stream = "stream" if peer.connection.is_stream else ""
        told = (peer.address, peer.port, peer.scheme, peer.server, stream)
        # This process answers for a world that is nowhere else, even if it does not exist. Another
        # one may be the owner without knowing it, if it never had the engine's answer: it opens the
        # world when it is asked to answer in any case.
        insists = self._denials[self.place] > 1 or self._carrier.is_here(self.place)
        world = "" if insists else self._world
        link.write(pack_request(number, world, self._request, told))

    def _try_again(self) -> None:
        if not self._ended:
            self._carrier.locate(self._world, self.place, self._take_place)

    def _take_place(self, found: Place | Misplaced) -> None:
        if self._ended:
            return
        if isinstance(found, Misplaced):
            self._refuse(str(found))
        elif UPTIME() > self._until:
            self._refuse("The process with this world changes too often; try again.")
        elif found == self._moved_from and self._denials[found] == 1:  # it is giving the world back
            self._moved_from = None
            self._carrier.call_later(_RETRY_SECONDS, self._try_again)
        else:
            self.place = found
            self._send()

    def _perform(self, kind: int, payload: bytes) -> bytes:
        """Do what a frame says; return the bytes for the client, if it has some."""
        connection = self._peer.connection
        if kind in {Kind.ANSWER, Kind.START}:
            status, headers, body = read_start(payload)
            self._started = True
            self._start_response(status, headers)
            self._ended = kind == Kind.ANSWER
            length = None if self._request.method == "HEAD" else read_length(headers)
            self._missing = math.inf if length is None else length
            self._count(body)
            return body
        if kind == Kind.DATA:
            self._count(payload)
            return payload
        if kind == Kind.ENDLESS:
            self._wait = _ENDLESS
            return b""
        if kind == Kind.RAW:
            connection.send_raw(payload)
            return b""
        self._ended = True
        if kind == Kind.RESET:
            connection.reset()
        elif kind in {Kind.CLOSE, Kind.BROKEN}:
            connection.close()
        elif kind == Kind.HOLD:
            connection.hold()
        return b""

    def _count(self, body: bytes) -> None:
        """End with the last byte: the client has its answer then, and may send a request.

        The owner says so as well. But if it hangs meanwhile, that request would wait for it.
        """
        self._missing -= len(body)
        self._ended = self._ended or self._missing <= 0

    def _note_read(self, size: int) -> None:
        self._queued -= size
        if self._clogged and self._queued <= 0:
            self._clogged = False
            self._tell(Kind.READING)

    def _merge(self) -> None:
        """Make one piece of all parts of the body that wait, so that one step reads them."""
        parts = [payload for kind, payload in self._queue if kind == Kind.DATA]
        if len(parts) > 1:
            others = [entry for entry in self._queue if entry[0] != Kind.DATA]
            at = 1 if others and others[0][0] == Kind.START else 0
            others.insert(at, (Kind.DATA, b"".join(parts)))
            self._queue = deque(others)

    def _refuse(self, text: str) -> None:
        """Answer in place of the owner."""
        _LOG.warning("A request for world %r could not be handed over: %s", self._world, text)
        self._ended = True
        if self._started:
            self._peer.connection.close()
        else:
            body = f"{text}\n".encode()
            self._started = True
            self._start_response(
                "503 Service Unavailable",
                [
                    ("Content-Type", "text/plain; charset=utf-8"),
                    ("Content-Length", str(len(body))),
                    ("Retry-After", "1"),
                ],
            )
            self._queue.append((Kind.DATA, body))
        self._peer.connection.resume(urgent=False)

    def _tell(self, kind: int, payload: bytes = b"") -> None:
        if self._link is not None:
            self._link.write(pack(kind, self._number, payload))

    def _forget(self) -> None:
        if self._link is not None:
            self._link.forget(self._number)
            self._link = None
