"""A set of names of worlds on an engine, which all processes read and write."""

from __future__ import annotations

from mock_platform.store.redis.engine import EngineLink


class NameSet:
    """The names of one set. Every method raises `StoreUnreachable` if the engine is gone."""

    def __init__(self, engine: EngineLink, key: str) -> None:
        self._engine = engine
        self._key = engine.key(key)

    def add(self, name: str) -> None:
        """Add a name; nothing happens if it is there."""
        self._engine.call("SADD", self._key, name)

    def remove(self, name: str) -> None:
        """Remove a name, if it is there."""
        self._engine.call("SREM", self._key, name)

    def read(self) -> set[str]:
        """Returns the names of all worlds in the set."""
        found = self._engine.call("SMEMBERS", self._key)
        return {self._engine.read_text(name, self._key) for name in found}
