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
        key = self._engine.key("credential", credential)
        return [self._engine.read_text(name, key) for name in self._engine.call("SMEMBERS", key)]

    def use_nonce(self, world: str, nonce: str, mark: float, *, now: int, until: int) -> bool:
        """Returns whether a nonce of a world is new; it is remembered until then, epoch seconds.

        `mark`, from 0 up to 1, is of this use: a repetition of it finds the nonce new as well.
        """
        keys = [self._engine.key("nonces", world)]
        values = now, repr(until + mark), nonce, 2 * until - now
        return bool(self._engine.run(scripts.USE_NONCE, keys, *values))

    def give_nonce_back(self, world: str, nonce: str) -> None:
        """Forget a nonce of a world, whose request changed nothing."""
        self._engine.call("ZREM", self._engine.key("nonces", world), nonce)

    def clear_nonces(self, world: str) -> None:
        """Forget the nonces of a world, because it was reset."""
        self._engine.call("DEL", self._engine.key("nonces", world))

    def _run(self, script: str, credential: str, world: str) -> None:
        keys = [self._engine.key("credential", credential), self._engine.key("credentials", world)]
        self._engine.run(script, keys, world, credential)
