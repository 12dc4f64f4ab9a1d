"""A process that writes to a durable store until it is killed, telling of each commit that counts.

Each line on standard input (`path`, `durability`, `log_limit`, `run`) starts a child that does
`operation(run, 0)`, `operation(run, 1)`, … for ever.
"""

from __future__ import annotations

from itertools import count

from mock_platform.world.store.interface import Record
from mock_platform.world.store.memory import Base
from mock_platform.world.store.tinydb_archive import TinyDBArchive
from tests.world.backends import open_store
from tests.world.killing import fork_children, say

FIXTURES: dict[str, dict[str, Record]] = {"items": {f"f{n}": {"id": f"f{n}"} for n in range(3)}}
WORLDS = ("default", "w1")

Operation = tuple[str, dict[str, Record | None] | None]
"""A world, and what becomes of its items: records, `None` for removals; or a reset of it all."""


def operation(run: int, number: int) -> Operation:
    """What a child does next; the same for everyone who asks."""
    world = WORLDS[number % 2]
    if number % 41 == 40:
        return world, None
    key = f"{run}-{number}"
    filler = "x" * (60_000 if number % 10 == 7 else 40)
    changes: dict[str, Record | None] = {key: {"id": key, "filler": filler}}
    if number % 5 == 4 and number >= 4:
        changes[f"{run}-{number - 4}"] = None
    if number % 7 == 6:
        changes["f1"] = {"id": "f1", "number": number} if number % 2 else None
    return world, changes


def write_for_ever(path: str, durability: str, log_limit: str, run: str) -> None:
    """Open the store and change it."""
    archive = TinyDBArchive(path, durability, log_limit=int(log_limit))  # type: ignore[arg-type]
    base, done = Base(FIXTURES), {"run": int(run), "done": 0}
    stores = {name: open_store(archive, base, name, lambda: done) for name in WORLDS}
    for number in count():
        world, changes = operation(int(run), number)
        store = stores[world]
        done["done"] = number + 1
        if changes is None:
            store.clear()
        else:
            with store.transaction():
                for key, record in changes.items():
                    if record is None:
                        store.remove("items", key)
                    else:
                        store.put("items", key, record)
        if durability == "snapshot":
            archive.snapshot()
        say(b"done")


if __name__ == "__main__":
    fork_children(write_for_ever)
