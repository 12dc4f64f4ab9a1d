"""Remembers OAuth nonces, so that a signed request cannot be sent twice."""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import Protocol


class KeptNonces(Protocol):
    """The nonces of a world that outlive this process."""

    def use(self, nonce: str, mark: float, *, now: int, until: int) -> bool:
        """Returns whether a nonce is new; remembers it until then, epoch seconds.

        `mark`, from 0 up to 1, is of this use: a repetition of it finds the nonce new as well.
        """

    def give_back(self, nonce: str) -> bool:
        """Forget a nonce, as if it had not been used; returns whether that was possible."""

    def clear(self) -> None:
        """Delete all nonces of the world."""


Nonce = tuple[str, str, str, int]
"""A nonce with its key, its token and its timestamp."""
_MARKS = 1 << 20
"""So many marks fit into a floating-point number beside the seconds since 1970."""


class Nonces:
    """Nonces within the timestamp tolerance; older ones need not be remembered. Thread-safe."""

    def __init__(self) -> None:
        self._seen: dict[Nonce, float] = {}
        """Those that were used, with the marks of their uses."""
        self._doubtful: dict[Nonce, float] = {}
        """Those that count as new, and may be kept all the same, with the marks of their uses."""
        self._queue: deque[tuple[int, Nonce]] = deque()
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
                _, old = self._queue.popleft()
                self._seen.pop(old, None)
                self._doubtful.pop(old, None)
            if entry in self._seen:
                return False
            # A timestamp may be up to `keep` in the future and is accepted for `keep` after that.
            until = now + 2 * keep + 1
            self._queue.append((until, entry))
            if self.kept is None:
                self._seen[entry] = 0.0
                return True
            mark = self._doubtful.get(entry)
            if mark is None:
                mark = self._doubtful[entry] = int.from_bytes(os.urandom(3)) % _MARKS / _MARKS
            fresh = self.kept.use(_write(entry), mark, now=now, until=until)
            self._seen[entry] = self._doubtful.pop(entry)
            return fresh

    def give_back(self, consumer_key: str, token: str, nonce: str, timestamp: int) -> None:
        """Forget a combination whose request changed nothing, so that it can be sent again."""
        entry = (consumer_key, token, nonce, timestamp)
        with self._lock:
            mark = self._seen.pop(entry, None)
            if mark is None or self.kept is None or self.kept.give_back(_write(entry)):
                return
            self._doubtful[entry] = mark

    def clear(self) -> None:
        """Delete all nonces of the world."""
        with self._lock:
            self._seen.clear()
            self._queue.clear()
            self._doubtful.clear()
            if self.kept is not None:
                self.kept.clear()


def _write(entry: Nonce) -> str:
    consumer_key, token, nonce, timestamp = entry
    return "\n".join((consumer_key, token, str(timestamp), nonce))
