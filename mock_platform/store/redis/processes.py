"""The processes that share an engine: which of them live, and what they prove to one another."""

from __future__ import annotations

import os

from mock_platform.store.redis.engine import EngineLink

_NUMBERS = 1000
"""Processes are numbered up to this, then again from 1."""


class Processes:
    """The living processes of an engine, by what each says of itself in the key of its lease."""

    def __init__(self, engine: EngineLink) -> None:
        self._engine = engine
        self._names = engine.key("processes")
        self._secret = b""

    def enter(self, process: str) -> None:
        """Let the others find a process as long as its lease holds."""
        self._engine.call("SADD", self._names, process)

    def list_living(self) -> list[str]:
        """Returns what the living processes say of themselves; those that are gone are removed."""
        names = sorted(
            self._engine.read_text(name, self._names)
            for name in self._engine.call("SMEMBERS", self._names)
        )
        keys = [self._engine.key("process", name) for name in names]
        found = self._engine.call("MGET", *keys) if keys else []
        gone = [name for name, text in zip(names, found, strict=True) if text is None]
        if gone:
            self._engine.call("SREM", self._names, *gone)
        return [
            self._engine.read_text(text, key)
            for key, text in zip(keys, found, strict=True)
            if text is not None
        ]

    def find_secret(self) -> bytes:
        """Returns what only the processes of this engine know, and whoever may use the engine."""
        key = self._engine.key("secret")
        # An engine that came back without it gets the one that this process has used so far.
        self._engine.call("SET", key, self._secret or os.urandom(32).hex(), "NX")
        self._secret = self._engine.call("GET", key)
        return self._secret

    def draw_number(self) -> tuple[int, int]:
        """Returns a number for a process, and how many there are before they repeat."""
        drawn = int(self._engine.call("INCR", self._engine.key("processes-so-far")))
        return (drawn - 1) % _NUMBERS + 1, _NUMBERS
