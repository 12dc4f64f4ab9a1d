"""Threads for work that must not run under a world's lock.

Tasks of one lane run one after the other, in the order in which they came; lanes take turns. No
thread exists before the first task.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable

from mock_platform.world.clock import UPTIME

Task = Callable[[], None]


class DeliveryWorkers:
    """At most `count` daemon threads. Exceptions of tasks go to `on_error`."""

    def __init__(self, count: int, on_error: Callable[[BaseException], None]) -> None:
        self._count = count
        self._on_error = on_error
        self._changed = threading.Condition()
        self._lanes: dict[Hashable, deque[Task]] = {}
        self._ready: deque[Hashable] = deque()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._stopped = False

    def submit(self, lane: Hashable, task: Task) -> None:
        """Queue a task in a lane; after `stop`, it is ignored."""
        with self._changed:
            if self._stopped:
                return
            if lane in self._lanes:  # the lane's worker continues with this task
                self._lanes[lane].append(task)
                return
            self._lanes[lane] = deque([task])
            self._ready.append(lane)
            if self._idle < len(self._ready) and len(self._threads) < self._count:
                name = f"mock-platform-delivery-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()

    def wait_until_idle(self, seconds: float) -> bool:
        """Wait up to so many real seconds; return whether everything submitted is done.

        What a stop dropped is not waited for.
        """
        with self._changed:
            return self._changed.wait_for(lambda: not self._lanes, seconds)

    def stop(self, seconds: float) -> None:
        """Drop waiting tasks, and wait up to so many real seconds for running ones."""
        with self._changed:
            self._stopped = True
            for lane in self._ready:
                del self._lanes[lane]
            self._ready.clear()
            for tasks in self._lanes.values():  # of these lanes one task runs
                tasks.clear()
            self._changed.notify_all()
        end = UPTIME() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - UPTIME()))

    def _run(self) -> None:
        while True:
            with self._changed:
                self._idle += 1
                self._changed.wait_for(lambda: self._ready or self._stopped)
                self._idle -= 1
                if self._stopped:
                    return
                lane = self._ready.popleft()
                task = self._lanes[lane].popleft()
            try:
                task()
            except Exception as fault:  # noqa: BLE001 - reported to the server's owner
                self._on_error(fault)
            with self._changed:
                if self._lanes[lane]:
                    self._ready.append(lane)
                else:
                    del self._lanes[lane]
                self._changed.notify_all()
