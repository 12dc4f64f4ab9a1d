"""Threads that run what might block: started when needed, at most a given number, kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

from mock_platform.world.clock import UPTIME

Job = Callable[[], None]


class Workers:
    """A pool of daemon threads, so that a server nobody stopped does not keep its process alive.

    `concurrent.futures` would join its threads at the interpreter's end, however stuck they are.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._outstanding = 0

    def put(self, job: Job) -> None:
        """Have a thread do a job. The job must not raise."""
        with self._lock:
            self._outstanding += 1
            if self._outstanding > len(self._threads) < self._limit:
                name = f"mock-platform-worker-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._work, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queue.put(job)

    def dismiss(self, seconds: float) -> None:
        """Let the threads end once they are free, and wait at most so long for all of them."""
        threads = [thread for thread in self._threads if thread is not threading.current_thread()]
        for _ in threads:
            self._queue.put(None)
        deadline = UPTIME() + seconds
        for thread in threads:
            thread.join(max(0.0, deadline - UPTIME()))

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            job()
            with self._lock:
                self._outstanding -= 1
