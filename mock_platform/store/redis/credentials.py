"""The credentials and the nonces of worlds on an engine: every process finds those of all."""

from __future__ import annotations

from collections.abc import Sequence

from mock_platform.store.redis import scripts
from mock_platform.store.redis.engine import EngineLink


class EngineCredentials:
    """Credentials with their worlds, whoever owns these, and the nonces that were used there.

    Every method raises `StoreUnreachable` if the engine cannot be reached.
    """

    def __init__(self, engine: EngineLink) -> None:
        self._engine = engine

    def add(self, credential: str, world: str) -> None:
        """Record that a world has a credential."""
        self._run(scripts.ADD_CREDENTIAL, credential, world)

    def remove(self, credential: str, world: str) -> None:
        """Record that a world no longer has a credential."""
        self._run(scripts.REMOVE_CREDENTIAL, credential, world)

    def find_worlds(self, credential: str) -> Sequence[str]:
        """Returns the worlds that have a credential, whoever owns them."""
        found = self._engine.call("SMEMBERS", self._engine.key("credential", credential))
        return [name.decode() for name in found]

    def use_nonce(self, world: str, nonce: str, *, now: int, until: int) -> bool:
        """Returns whether a nonce of a world is new; it is remembered until then, epoch seconds."""
        keys = [self._engine.key("nonces", world)]
        return bool(self._engine.run(scripts.USE_NONCE, keys, now, until, nonce, 2 * until - now))

    def clear_nonces(self, world: str) -> None:
        """Forget the nonces of a world, because it was reset."""
        self._engine.call("DEL", self._engine.key("nonces", world))

    def _run(self, script: str, credential: str, world: str) -> None:
        keys = [self._engine.key("credential", credential), self._engine.key("credentials", world)]
        self._engine.run(script, keys, world, credential)
