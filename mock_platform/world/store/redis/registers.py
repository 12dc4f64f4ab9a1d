"""Who is who on an engine: owners of worlds, credentials and nonces, names, processes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from mock_platform.world.store.redis import scripts
from mock_platform.world.store.redis.engine import EngineLink


def find_owner(engine: EngineLink, name: str, process: str) -> str | None:
    """Returns the address of another process that has a world open; `None`: `process` may open it.

    Raises:
        StoreUnreachable: The engine cannot be reached.
    """
    key = engine.key("world", name)
    owner = engine.read_text(engine.call("HGET", key, "owner") or b"", key)
    if owner in {"", process}:
        return None
    key = engine.key("process", owner)
    address = engine.call("GET", key)
    return None if address is None else engine.read_text(address, key)


def list_owners(engine: EngineLink, names: Sequence[str]) -> dict[str, str | None]:
    """Returns worlds with the addresses of their owners; `None` for those that rest.

    Raises:
        StoreUnreachable: The engine cannot be reached.
    """
    if not names:
        return {}
    worlds = [engine.key("world", name) for name in names]
    told = engine.call_all([("HGET", key, "owner") for key in worlds])
    owners = [engine.read_text(each or b"", key) for each, key in zip(told, worlds, strict=True)]
    asked = list({owner for owner in owners if owner})
    keys = [engine.key("process", owner) for owner in asked]
    found = engine.call_all([("GET", key) for key in keys])
    addresses = {
        owner: engine.read_text(address, key)
        for owner, key, address in zip(asked, keys, found, strict=True)
        if address is not None
    }
    return {
        name: addresses.get(owner) if owner else None
        for name, owner in zip(names, owners, strict=True)
    }


# The credentials and the nonces of worlds on an engine: every process finds those of all.


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


# A set of names of worlds on an engine, which all processes read and write.


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


# The processes that share an engine: which of them live, and what they prove to one another.

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
