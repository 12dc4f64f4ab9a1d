"""How long a store takes: inserts, reads, pages, resets and forks, at several sizes.

Run it with `python benchmarks/store.py`. Numbers are microseconds unless the name says otherwise;
each is the best of several rounds.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

from mock_platform.settings import Durability
from mock_platform.world.clock import UPTIME
from mock_platform.world.store.interface import Order, Record
from mock_platform.world.store.memory import Base, MemoryStore
from mock_platform.world.store.tinydb_archive import TinyDBArchive
from mock_platform.world.world_store import WorldStore

SIZES = (1_000, 10_000, 100_000)
RESET_SIZES = (100, 10_000, 100_000)
ACCOUNTS = 20


def record(number: int) -> Record:
    """A line item of usual size."""
    return {
        "id": f"{number:x}",
        "_account_id": f"a{number % ACCOUNTS}",
        "name": f"Spring sale {number * 7919 % 100_003}",
        "campaign_id": f"c{number % 100}",
        "entity_status": "ACTIVE",
        "objective": "WEBSITE_CLICKS",
        "bid_strategy": "AUTO",
        "total_budget_amount_local_micro": number * 1_000_000,
        "created_at": "2026-11-20T10:00:00Z",
        "updated_at": "2026-11-20T10:00:00Z",
        "deleted": False,
    }


def table(size: int) -> dict[str, dict[str, Record]]:
    """So many line items."""
    return {"line_items": {f"{number:x}": record(number) for number in range(size)}}


def micros(work: Callable[[], object], times: int, rounds: int = 5) -> float:
    """Microseconds for one call: the best round of `times` calls."""
    best = float("inf")
    for _ in range(rounds):
        start = UPTIME()
        for _ in range(times):
            work()
        best = min(best, UPTIME() - start)
    return best / times * 1e6


def measure_inserts(folder: Path) -> dict[str, float]:
    """Single inserts into a table that holds so many, indexed by account and name."""
    found = {}
    durabilities: tuple[Durability | None, ...] = (None, "snapshot", "log", "fsync")
    for size in SIZES:
        base = Base(table(size))
        for durability in durabilities:
            name = durability or "memory"
            archive = None
            if durability is None:
                store = MemoryStore(base)
            else:
                archive = TinyDBArchive(folder / f"insert-{name}-{size}.json", durability)
                store = open_store(archive, base)
            store.put("line_items", "first", record(0))
            store.page("line_items", {"_account_id": "a1"}, order=Order("name"), limit=1)
            insert = partial(insert_next, store, count(size))
            found[f"insert.{name}.{size}"] = micros(insert, 200)
            if archive is not None:
                archive.close()
    return found


def open_store(archive: TinyDBArchive, base: Base) -> WorldStore:
    """The store of a world that goes on, or begins, in an archive."""
    kept = archive.open("default", base)
    store = WorldStore(base, archive, "default", lambda: {"ids": 1}, kept=kept)
    if kept is None:
        store.begin({})
    else:
        store.resume()
    return store


def insert_next(store: MemoryStore, numbers: count[int]) -> None:
    """One more record, in a transaction of its own."""
    number = next(numbers)
    with store.transaction():
        store.put("line_items", f"{number:x}", record(number))


def measure_reads() -> dict[str, float]:
    """One record by key, a count, and pages of 200 of one account: the first, one from within."""
    found = {}
    for size in SIZES:
        for what, (work, times) in reads(size).items():
            found[f"{what}.{size}"] = micros(work, times)
    return found


def reads(size: int) -> dict[str, tuple[Callable[[], object], int]]:
    """What is read of a store with so many records, and how often in a round."""
    store = MemoryStore(Base(table(size)))
    store.put("line_items", "5", record(5) | {"name": "changed"})
    mine, order = {"_account_id": "a1"}, Order("name")
    middle = store.page("line_items", mine, order=order)[size // ACCOUNTS // 2].position
    return {
        "get": (lambda: store.get("line_items", "a"), 2000),
        "count": (lambda: store.count("line_items", mine), 2000),
        "page": (lambda: store.page("line_items", mine, limit=200), 100),
        "page.sorted.after": (
            lambda: store.page("line_items", mine, order=order, after=middle, limit=200),
            100,
        ),
    }


def measure_resets(folder: Path) -> dict[str, float]:
    """A reset after ten changes, and a fork of a world with ten changes."""
    found = {}
    for size in RESET_SIZES:
        base = Base(table(size))
        archive = TinyDBArchive(folder / f"reset-{size}.json", "log")
        memory = MemoryStore(base)
        durable = open_store(archive, base)
        for name, store in {"memory": memory, "log": durable}.items():
            best = float("inf")
            for _ in range(50):
                for number in range(10):
                    store.put("line_items", f"{number:x}", record(number) | {"name": "changed"})
                store.page("line_items", {"_account_id": "a1"}, limit=1)
                start = UPTIME()
                store.clear()
                best = min(best, UPTIME() - start)
            found[f"reset.{name}.{size}"] = best * 1e6
        for number in range(10):
            memory.put("line_items", f"{number:x}", record(number) | {"name": "changed"})
        found[f"fork.{size}"] = micros(partial(fork, base, memory), 100)
        archive.close()
    return found


def fork(base: Base, store: MemoryStore) -> MemoryStore:
    """A store that begins as another one is."""
    return MemoryStore(base, store.snapshot())


def measure_files(folder: Path) -> dict[str, float]:
    """Writing a snapshot of so many records, and opening it."""
    found = {}
    for size in SIZES:
        path = folder / f"files-{size}.json"
        archive = TinyDBArchive(path, "log", log_limit=1 << 40)
        store = open_store(archive, Base())
        for key, one in table(size)["line_items"].items():
            store.put("line_items", key, one)
        archive.snapshot()
        found[f"snapshot.ms.{size}"] = micros(archive.snapshot, 1, rounds=3) / 1000
        archive.close()

        found[f"open.ms.{size}"] = micros(partial(reopen, path), 1, rounds=3) / 1000
    return found


def reopen(path: Path) -> None:
    """Open a stored world and close it again."""
    with TinyDBArchive(path, "log") as archive:
        open_store(archive, Base())


def measure() -> dict[str, float]:
    """Everything, by name: what, backend or kind, number of records."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return {
            **measure_inserts(folder),
            **measure_reads(),
            **measure_resets(folder),
            **measure_files(folder),
        }


def main() -> None:
    """Print one line for each number."""
    for name, value in measure().items():
        unit = "ms" if ".ms." in name else "µs"
        print(f"{name.replace('.ms.', '.'):<28}{value:>12.1f} {unit}")


if __name__ == "__main__":
    main()
