"""How long tests wait for what must come: so long that only a test that hangs runs into it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 300.0
"""Real seconds after which a test that hangs fails. No test takes that long, however busy the
machine is; what would be waited for wrongly is made to take a multiple of it."""


def in_thread(act: Callable[[], T]) -> T:
    """What `act` returns in a thread of its own.

    The browser of other tests leaves a loop in the main thread, in which no other one can run.
    """
    context = copy_context()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(context.run, act).result()


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, on a loop in a thread of its own."""
    return in_thread(lambda: asyncio.run(coroutine))
