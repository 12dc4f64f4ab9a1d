"""When and where the server works: rounds of the loop, and threads for work that may block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

from mock_platform.world.clock import UPTIME

# Answers together what arrived in one round of the loop, and sends these answers together.
#
# A write to a socket makes the system deliver to the other side and wake it. With many busy clients
# that took an eighth of the time, and what was cached for making answers was lost in between; one
# write directly after the other takes a fraction. With one or two clients there is nothing to
# gather, so requests are answered as they arrive; now and then a round shows whether that is still
# so.

_FEW = 3
"""Number of requests in a round from which on it saves time."""
_DIRECT = 256
"""Number of requests that are answered as they arrive before the next attempt."""
_MAX_GATHERED = 64
"""Maximum number of requests in a round: the first of them waits for the last."""
_MAX_BYTES = 16_384
"""Size of what is gathered or kept at most; larger pieces are read and written at once."""


class Reader(Protocol):
    """The methods of a connection that this module calls."""

    def read(self, data: bytes) -> None:
        """Read what the client sent, and answer complete requests."""

    def fail(self, fault: Exception) -> None:
        """End the connection: it could not be read."""


class Writer(Protocol):
    """The method of a client's socket that this module calls."""

    def write_kept(self, data: bytes) -> None:
        """Send an answer that was kept."""


class Rounds:
    """What arrived and was answered in this round of the loop."""

    def __init__(self, call_soon: Callable[[Callable[[], object]], None]) -> None:
        self._call_soon = call_soon
        self._gathers = True
        self._direct = 0
        self._arrived: list[tuple[Reader, bytes]] = []
        self._kept: list[tuple[Writer, bytes]] = []
        self._runs = False

    def gather(self, reader: Reader, data: bytes) -> bool:
        """Keep what a client sent until `run`; returns whether it is kept."""
        # Gathering costs each request a turn of the loop, so it has to pay. It is tried for one
        # round; if that round had few requests, the next 256 are answered as they arrive, and then
        # it is tried again. So a lone client pays for it once in 256 requests, and a crowd is
        # noticed soon.
        if not self._gathers:
            self._direct += 1
            if self._direct < _DIRECT:
                return False
            self._gathers = True
        # A large piece is read at once, to keep memory small. What was gathered before it is
        # answered first: it may be the beginning of the same request, of the same connection.
        if len(data) > _MAX_BYTES:
            self.run()
            return False
        arrived = self._arrived
        arrived.append((reader, data))
        # The first one orders the end of the round. The loop calls it after all sockets that are
        # ready now were read, so by then everything that arrived together is here.
        if len(arrived) == 1:
            self._call_soon(self.run)
        elif len(arrived) == _MAX_GATHERED:
            self.run()
        return True

    def run(self) -> None:
        """Answer what was gathered, then send the answers. Does nothing within another call."""
        # `gather` calls this as well, and a reader may cause that while a round runs. The list is
        # taken out before it is worked on, so what arrives meanwhile begins the next round.
        if self._runs or not self._arrived:
            return
        arrived, self._arrived = self._arrived, []
        if len(arrived) < _FEW:
            self._gathers, self._direct = False, 0
        self._runs = True
        try:
            for reader, data in arrived:
                try:
                    reader.read(data)
                except Exception as fault:  # noqa: BLE001 - the others go on
                    reader.fail(fault)
        finally:
            # Answers are sent after the last request was read, and also if something unexpected was
            # raised: clients whose requests were done before must not wait for ever.
            self._runs = False
            self.write()

    def keep(self, writer: Writer, data: bytes) -> bool:
        """Keep an answer until the end of `run`; returns whether it is kept."""
        if not self._runs or len(data) > _MAX_BYTES:
            return False
        self._kept.append((writer, data))
        return True

    def write(self) -> None:
        """Send the answers that are kept."""
        kept, self._kept = self._kept, []
        for writer, data in kept:
            writer.write_kept(data)


# Threads for work that may block: started on demand up to a maximum, then kept.

Job = Callable[[], None]


class Workers:
    """A pool of daemon threads, so that a forgotten server does not keep its process alive.

    `concurrent.futures` would wait for its threads at the end of the interpreter, even for blocked
    ones.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._outstanding = 0

    def put(self, job: Job) -> None:
        """Run a job in a thread. The job must not raise."""
        with self._lock:
            # Jobs that wait or run are counted, and a thread is started only if there are more of
            # them than threads. A free thread then takes the job from the queue, whichever it is.
            self._outstanding += 1
            if self._outstanding > len(self._threads) < self._limit:
                name = f"mock-platform-worker-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._work, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queue.put(job)

    def dismiss(self, seconds: float) -> None:
        """Let the threads end when they are free, and wait up to `seconds` for all of them."""
        threads = [thread for thread in self._threads if thread is not threading.current_thread()]
        for _ in threads:
            self._queue.put(None)
        deadline = UPTIME() + seconds
        for thread in threads:
            thread.join(max(0.0, deadline - UPTIME()))

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            job()
            del job  # a free worker keeps no request and no connection in memory
            with self._lock:
                self._outstanding -= 1
