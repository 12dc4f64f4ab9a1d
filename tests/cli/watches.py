"""What the tests of watching share: watches that a test speaks for, and waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import TypeVar

from mock_platform.cli.server_context import Watch
from mock_platform.platform import Platform
from tests.waits import PATIENCE

T = TypeVar("T")
END = None


class Changes:
    """Replaces the system's watches: a test says what changed and when."""

    def __init__(self, *first: Collection[object] | Exception) -> None:
        self.queue: Queue[Collection[object] | Exception | None] = Queue()
        self.seen = threading.Semaphore(0)
        self.folders: Sequence[Path] = ()
        for each in first:
            self.queue.put(each)

    def __call__(
        self, folders: Sequence[Path], stop: threading.Event
    ) -> Iterable[Collection[object]]:
        """Return what the test puts into the queue."""
        self.folders = folders
        while (told := self.queue.get()) is not END:
            if isinstance(told, Exception):
                raise told
            yield told
            self.seen.release()

    def tell(self, what: Collection[object]) -> None:
        """Say that this changed, or nothing if empty, and wait until it was acted on."""
        self.queue.put(what)
        assert self.seen.acquire(timeout=PATIENCE)


def around_a_change(
    platform: Platform, change: Callable[[], object], name: str, look: Callable[[], T]
) -> tuple[T, T, Sequence[Path]]:
    """What is seen behind a sign of life, what behind a change, and which folders were watched."""
    changes = Changes()
    watch = Watch(platform, changes)
    changes.queue.put(set())
    watch.start()
    assert changes.seen.acquire(timeout=PATIENCE)
    change()
    changes.tell(set())
    before = look()
    changes.tell({name})
    changes.queue.put(END)
    watch.stop()
    return before, look(), changes.folders


@contextmanager
def real_watches(platform: Platform, done: threading.Event) -> Iterator[None]:
    """Watch with the system's own watches; what is done within must lead to `done`."""
    watch = Watch(platform)
    watch.start()
    try:
        yield
        assert done.wait(PATIENCE)
    finally:
        watch.stop()
