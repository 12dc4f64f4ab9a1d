"""Who owns the worlds of an engine, as every process can ask."""

from __future__ import annotations

from collections.abc import Sequence

from mock_platform.store.redis.engine import EngineLink


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
