"""A client's socket as its connection uses it: what is written and closed on it keeps its order."""

from __future__ import annotations

import asyncio
import select
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from mock_platform.serving.http.backend import Backend
from mock_platform.serving.http.scheduling import Rounds
from mock_platform.world.clock import UPTIME
from mock_platform.world.journal import JournalEntry

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with time 0: closing discards unsent data and sends a reset."""


class ClientSocket:
    """Writes to a client and closes its socket; a kept answer is sent before what follows it."""

    def __init__(self, transport: asyncio.Transport, rounds: Rounds) -> None:
        self._transport = transport
        self._rounds = rounds
        self._keeps = False
        self._reading = True
        self._unsent = 0

    @property
    def is_closing(self) -> bool:
        """Whether it is closed, or will be when all is sent."""
        return self._transport.is_closing()

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream of HTTP/2."""
        return bool(self._transport.get_extra_info("stream"))

    @property
    def has_unread(self) -> bool:
        """Whether it is a stream of HTTP/2 whose client did not take everything.

        How much a client got of what went to the system is not known.
        """
        return self.is_stream and self._transport.get_write_buffer_size() > 0

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

    def write_if_open(self, data: bytes) -> None:
        """Write now, unless the client has left."""
        if not self.is_closing:
            self.write(data)

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
        """Return the number of bytes that wait until the client reads."""
        self._write_earlier()
        return self._transport.get_write_buffer_size()

    def takes_more(self) -> bool:
        """Whether fewer bytes wait than when this was asked last."""
        # Progress is what counts. A client that reads anything between two looks gets the time
        # again; one that reads nothing is ended, as its answer would stay in memory.
        before, self._unsent = self._unsent, self.count_unsent()
        return self._unsent < before

    def find_descriptor(self) -> int:
        """Return the socket's descriptor; a negative number if it is closed."""
        found = None if self.is_closing else self._transport.get_extra_info("socket")
        return -1 if found is None else int(found.fileno())

    def is_refused(self) -> bool:
        """Whether what was written last was refused: the client's socket is closed."""
        descriptor = self.find_descriptor()
        return descriptor < 0 or _has_event(descriptor, select.POLLERR)

    def _write_earlier(self) -> None:
        if self._keeps:
            self._rounds.write()


class BodyWatch:
    """The body that a client sends: there must be space for it, and it must come fast enough."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._begun = 0.0
        self.counted = 0
        """Bytes that were counted last."""

    def begin(self, now: float) -> None:
        """Measure the time from now on."""
        self._begun = now

    def is_too_slow(self, size: int, now: float) -> bool:
        """Whether so few bytes have come by now that the request is refused."""
        # A body has no single deadline: a large one over a slow line may take minutes. It has to
        # keep up a minimum rate instead, so that a client cannot hold memory with a byte now and
        # then.
        limits, took = self._backend.limits, now - self._begun
        due = (took - limits.head_seconds) * limits.body_bytes_per_second
        return took > limits.body_seconds or size < due

    def count(self, size: int) -> bool:
        """Count the bytes that have come; return whether there is space for them."""
        counted, self.counted = self.counted, size
        return self._backend.count_body(size - counted)


# What an application may do to the connection that it answers on.

_LEFT = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR
"""What the system reports of a connection whose other side has ended (elsewhere than on Linux: only
of one that is broken)."""


class Handle:
    """A `core.connection.Connection`: its methods may be called from any thread.

    The server acts on the loop's thread, by what it passes here.
    """

    pauses = True
    skipped = 0.0

    def __init__(
        self,
        backend: Backend,
        *,
        reset: Callable[[], object],
        end: Callable[[], object],
        write: Callable[[bytes], object],
        resume: Callable[..., object],
        descriptor: Callable[[], int],
        is_stream: bool = False,
    ) -> None:
        self._backend = backend
        self.is_stream = is_stream
        self._reset = reset
        self._end = end
        self._write = write
        self._resume = resume
        self._descriptor = descriptor
        self.is_slow = False
        """Whether it was ended because its client does not read."""
        self.is_taken = False
        """Whether nothing more is answered on the connection."""
        self.held = False
        """Whether it stays open without an answer."""
        self.gone = False
        """Whether it has ended."""
        self.entry: JournalEntry | None = None
        self._held_since = 0.0

    def lose_answer(self, sent: int | None = None, waited: float = 0.0) -> None:
        """Note that the client left before it had the answer.

        `waited` is for how many seconds it had waited in all, if that is known.
        """
        if self.entry is not None:
            self.entry.lose(sent, waited * 1000 - self.entry.handler_milliseconds)

    def leave(self) -> None:
        """The connection has ended: nothing more can be done to it."""
        self.gone = self.is_taken = True
        if self.held and self.entry is not None:
            self.entry.prolong((UPTIME() - self._held_since) * 1000)
        # They refer to the connection, which refers to this: without them both are freed at once,
        # not by the garbage collector, for whose scans all requests wait.
        self._reset = self._end = self._write = self._resume = self._descriptor = _do_nothing

    @property
    def stopping(self) -> threading.Event:
        """Set when the server starts to stop."""
        return self._backend.stopping

    @property
    def is_stopping(self) -> bool:
        """Whether the server stops."""
        return self._backend.stopping.is_set()

    def is_gone(self) -> bool:
        """Whether the client has ended its side, also if the loop did not read that yet."""
        if self.gone:
            return True
        # The loop learns that a client has left only when it reads, which it may not do while an
        # answer is being made. The system knows it at once, so it is asked.
        descriptor = self._descriptor()
        if descriptor < 0:
            return True
        return _has_event(descriptor, _LEFT)

    def resume(self, *, urgent: bool) -> None:
        """Read an endless body again."""
        self._backend.on_loop_soon(partial(self._resume, urgent=urgent))

    def wait_for(self, ready: threading.Event, seconds: float) -> None:
        """Wait in a worker."""
        ready.wait(seconds)

    def wait(self, seconds: float, closing: threading.Event) -> None:
        """Wait in a worker. The server is stopped before the platform is closed."""
        self._backend.stopping.wait(seconds)

    def reset(self) -> None:
        """Break the connection at once."""
        if self._take():
            self._backend.on_loop(self._reset)

    def close(self) -> None:
        """Close the connection regularly: what was sent arrives. Idempotent."""
        if self._take():
            self._backend.on_loop(self._end)

    def hold(self) -> None:
        """Never answer; the connection stays open without a thread until the client closes it."""
        if self._take():
            self._held_since = UPTIME()
            self.held = True

    def send_raw(self, data: bytes) -> None:
        """Send bytes unchanged. A client that has left is not an error."""
        self.is_taken = True
        self._backend.on_loop(self._write, data)

    def _take(self) -> bool:
        """Answer nothing more on the connection; return whether it is still there."""
        self.is_taken = True
        return not self.gone


def _has_event(descriptor: int, events: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, events)
    return bool(poll.poll(0))


def _do_nothing(*_: object, **__: object) -> int:
    return -1
