"""Remembers OAuth nonces, so that a signed request cannot be sent twice."""

from __future__ import annotations

import threading
from collections import deque
from typing import Protocol


class KeptNonces(Protocol):
    """The nonces of a world that outlive this process."""

    def use(self, nonce: str, *, now: int, until: int) -> bool:
        """Returns whether a nonce is new; remembers it until then, epoch seconds."""

    def clear(self) -> None:
        """Delete all nonces of the world."""


class Nonces:
    """Nonces within the timestamp tolerance; older ones need not be remembered. Thread-safe."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str, str, int]] = set()
        self._queue: deque[tuple[int, tuple[str, str, str, int]]] = deque()
        self._lock = threading.Lock()
        self.kept: KeptNonces | None = None
        """Those that earlier owners of the world saw as well; `None` if none are kept."""

    def first_use(
        self, consumer_key: str, token: str, nonce: str, timestamp: int, *, now: int, keep: int
    ) -> bool:
        """Returns whether this combination is new; remembers it while its timestamp is valid.

        Args:
            consumer_key: The app's key.
            token: The token of the request, or an empty text.
            nonce: The client's nonce.
            timestamp: The client's timestamp, epoch seconds.
            now: The machine's time, epoch seconds.
            keep: The tolerance for timestamps in seconds.
        """
        entry = (consumer_key, token, nonce, timestamp)
        with self._lock:
            while self._queue and self._queue[0][0] < now:
                self._seen.discard(self._queue.popleft()[1])
            if entry in self._seen:
                return False
            self._seen.add(entry)
            until = now + 2 * keep + 1
            if self.kept is not None:
                text = "\n".join((consumer_key, token, str(timestamp), nonce))
                if not self.kept.use(text, now=now, until=until):
                    return False
            # A timestamp may be up to `keep` in the future and is accepted for `keep` after that.
            self._queue.append((until, entry))
            return True

    def clear(self) -> None:
        """Delete all nonces of the world."""
        with self._lock:
            self._seen.clear()
            self._queue.clear()
            if self.kept is not None:
                self.kept.clear()
