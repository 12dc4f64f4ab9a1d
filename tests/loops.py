"""Event loops and threads for tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tests.waits import PATIENCE

T = TypeVar("T")
LoopMaker = Callable[[], asyncio.AbstractEventLoop]


def awaited(coroutine: Coroutine[Any, Any, T], loop: LoopMaker | None = None) -> T:
    """What a coroutine returns, run to its end in a thread and a loop of its own.

    A browser that other tests use leaves a loop running in the main thread.
    """

    def run() -> T:
        with asyncio.Runner(loop_factory=loop) as runner:
            return runner.run(coroutine)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def at_once(tasks: Iterable[Callable[[], T]]) -> list[T]:
    """What tasks return that begin at the same moment, each in a thread of its own."""
    tasks = list(tasks)
    gate = threading.Barrier(len(tasks))

    def begin(task: Callable[[], T]) -> T:
        gate.wait(PATIENCE)
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(begin, tasks))
