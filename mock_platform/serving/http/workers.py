"""Threads for work that may block: started on demand up to a maximum, then kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from mock_platform.world.clock import UPTIME

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
