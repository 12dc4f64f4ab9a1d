"""Who owns the worlds of an engine, as every process can ask."""

from __future__ import annotations

from collections.abc import Sequence

from mock_platform.store.redis.engine import EngineLink


def find_owner(engine: EngineLink, name: str, process: str) -> str | None:
    """Returns the address of another process that has a world open; `None`: `process` may open it.

    Raises:
        StoreUnreachable: The engine cannot be reached.
    """
    owner = engine.call("HGET", engine.key("world", name), "owner")
    if not owner or owner.decode() == process:
        return None
    address = engine.call("GET", engine.key("process", owner.decode()))
    return None if address is None else address.decode()


def list_owners(engine: EngineLink, names: Sequence[str]) -> dict[str, str | None]:
    """Returns worlds with the addresses of their owners; `None` for those that rest.

    Raises:
        StoreUnreachable: The engine cannot be reached.
    """
    if not names:
        return {}
    owners = engine.call_all([("HGET", engine.key("world", name), "owner") for name in names])
    asked = list({owner for owner in owners if owner})
    found = engine.call_all([("GET", engine.key("process", owner.decode())) for owner in asked])
    addresses = {
        owner: address.decode()
        for owner, address in zip(asked, found, strict=True)
        if address is not None
    }
    return {
        name: addresses.get(owner) if owner else None
        for name, owner in zip(names, owners, strict=True)
    }
