"""What worlds on an engine cost: commits, requests that write, take-overs, waking, resting.

Run it with `python benchmarks/engine.py`; it starts a `redis-server` of its own. The log of TinyDB
and the engine take turns in one run, so what else runs on the machine slows both. Commits and
requests are measured by the clock, because the engine is another process; take-overs and waking by
the processor time of the process, which does nearly all of the work. `--resting N` is the number of
worlds that rest while the memory of the process is measured: the first thousand have the usual
fixtures, the others none, because they take a third of the time. 100000 take two to four minutes.
"""

from __future__ import annotations

import argparse
import gc
import logging
import resource
import shutil
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from time import process_time

from mock_platform.api.oauth.tester_access import credentials
from mock_platform.core.call import Call
from mock_platform.platform import Platform
from mock_platform.serving.process import collect_rarely
from mock_platform.serving.restoring import Opened, open_platform
from mock_platform.settings import Settings
from mock_platform.world.clock import UPTIME
from mock_platform.world.shared_worlds import SharedWorlds
from mock_platform.world.store.archive import Archive, WholeWorld
from mock_platform.world.store.interface import Row, Snapshot
from mock_platform.world.store.memory import Base
from mock_platform.world.store.redis.address import parse_address
from mock_platform.world.store.redis_archive import RedisArchive
from mock_platform.world.store.tinydb_archive import TinyDBArchive
from mock_platform.world.world import World
from tests.engine import EngineServer

HOST = "http://127.0.0.1:8080"
ACCOUNT = "/12/accounts/18ce54d4x5t"
FORM = ("Content-Type", "application/x-www-form-urlencoded")
BATCH = 50
ROUNDS = 40
RECORDS = 10_000
TAKEOVERS = 4
TRACED = 1000
"""Worlds that rest while each allocation is traced, which is slow."""
WANTED_COMMIT = 3.0
WANTED_TAKEOVER = 300.0
WANTED_WAKE = 20.0
"""Both in milliseconds."""
WANTED_BYTES = 1.0
"""Bytes of a process for each resting world: less than one counts as nothing."""
_SYNC = {
    "synced each second": ("--appendonly", "yes", "--appendfsync", "everysec"),
    "synced each commit": ("--appendonly", "yes", "--appendfsync", "always"),
}
Work = Callable[[], object]


@contextmanager
def engine(*options: str) -> Iterator[EngineServer]:
    """An engine of this run."""
    server = EngineServer(*options)
    try:
        yield server
    finally:
        server.close()


def address(server: EngineServer) -> str:
    """Returns where to keep worlds; a busy machine must not look like an engine that hangs."""
    return f"{server.url()}&timeout=30"


@contextmanager
def opened(store: str, **more: object) -> Iterator[Opened]:
    """A platform whose worlds are kept there."""
    found = open_platform(Settings(store=store, limits="off", lease=600, **more))  # type: ignore[arg-type]
    try:
        yield found
    finally:
        found.close()


def commits(archive: Archive) -> Work:
    """A batch of commits of one record each, as a request of usual size makes them."""
    token = archive.add("w1", WholeWorld(Base(), Snapshot({}, 0), {"ids": 0}), {})
    numbers = count(1)

    def work() -> None:
        for _ in range(BATCH):
            number = next(numbers)
            row = Row(number, {"id": str(number), "name": "Spring sale", "text": "x" * 300})
            archive.commit("w1", token, {("items", str(number % 100)): row}, {"ids": number})

    return work


def updates(platform: Platform) -> Work:
    """A batch of requests that each change a record, below the edge."""
    bearer = credentials(platform.worlds.default)["bearer_token"]
    headers, numbers = [("Authorization", f"Bearer {bearer}"), FORM], count(1)
    path = f"{ACCOUNT}/line_items/itttx"

    def work() -> None:
        for _ in range(BATCH):
            body = b"name=A&bid_amount_local_micro=%d" % (1_500_000 + next(numbers))
            reply = platform.handle(Call("PUT", HOST + path, path, HOST, headers, body=body))
            assert reply.status == 200, reply.body

    return work


def take_turns(works: dict[str, Work]) -> dict[str, tuple[float, float]]:
    """Returns microseconds and the ratio to the first one, for one of each batch."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(ROUNDS + 2):
        for name, work in works.items():
            begun = UPTIME()
            work()
            if turn > 1:
                taken[name].append((UPTIME() - begun) / BATCH * 1e6)
    first = next(iter(taken.values()))
    return {
        name: (
            median(times),
            median(own / base for own, base in zip(times, first, strict=True)),
        )
        for name, times in taken.items()
    }


def measure_commits(folder: Path) -> None:
    """Print what a commit and a request cost, beside the log of TinyDB."""
    with ExitStack() as stack:
        engines = {name: stack.enter_context(engine(*how)) for name, how in _SYNC.items()}
        bare: dict[str, Archive] = {"log": TinyDBArchive(folder / "bare.json", "log")}
        for name, each in engines.items():
            bare[f"engine, {name}"] = RedisArchive(parse_address(address(each)))
        for archive in bare.values():
            stack.callback(archive.close)
        show("commit", take_turns({name: commits(archive) for name, archive in bare.items()}))
        stores = {"log": f"tinydb:{folder / 'request.json'}"}
        stores |= {f"engine, {name}": address(each) for name, each in engines.items()}
        whole = {
            name: updates(stack.enter_context(opened(store)).platform)
            for name, store in stores.items()
        }
        show("request that writes", take_turns(whole))


def measure_worlds() -> None:
    """Print how long a take-over and waking take."""
    with engine(*_SYNC["synced each second"]) as server:
        store = address(server)
        with opened(store) as first, opened(store) as second, collect_rarely():
            worlds = worlds_of(first)
            fill(worlds.create("small"), 100)
            compare(
                "waking a world of 100 records", median(wake(worlds, "small")), WANTED_WAKE, "ms"
            )
            for name in ("state", "log"):
                fill(worlds.create(name), RECORDS)
            worlds.rest("state")  # which replaces the commits by one state
            worlds.get("state")
            for name, what in (("state", "in one state"), ("log", f"in {RECORDS} commits")):
                taken = min(take_over(server, name, first, second))
                compare(f"take-over of {RECORDS} records {what}", taken, WANTED_TAKEOVER, "ms")


def wake(worlds: SharedWorlds, name: str) -> Iterator[float]:
    """Returns milliseconds of processor time of each time that a world woke."""
    for _ in range(ROUNDS):
        worlds.rest(name)
        begun = process_time()
        worlds.get(name)
        yield (process_time() - begun) * 1000


def take_over(server: EngineServer, name: str, *processes: Opened) -> Iterator[float]:
    """Returns milliseconds of processor time of each take-over by one process or another."""
    for turn in range(1, TAKEOVERS + 1):
        with server.connect() as client:  # all leases end
            for key in client.scan_iter("*process:*"):
                client.delete(key)
        taker = processes[turn % len(processes)]
        begun = process_time()
        world = taker.platform.worlds.get(name)
        yield (process_time() - begun) * 1000
        assert world.store.get("users", f"9{RECORDS - 1}") is not None
        for each in processes:  # the other one closes what it lost
            assert isinstance(each.archive, RedisArchive)
            each.archive.lease.renew()


def worlds_of(found: Opened) -> SharedWorlds:
    """Returns the worlds of a platform."""
    worlds = found.platform.worlds
    assert isinstance(worlds, SharedWorlds)
    return worlds


def fill(world: World, number: int) -> None:
    """Store so many users, each in a commit of its own."""
    user = {"screen_name": "someone", "name": "Some One", "description": "x" * 100}
    for each in range(number):
        with world.work():
            world.store.put("users", f"9{each}", user | {"id": f"9{each}"})


def measure_rest(number: int) -> None:
    """Print what so many resting worlds cost a process, and each of them an engine."""
    traced = min(number, TRACED)
    with engine() as server, opened(address(server), max_worlds=50) as found:
        worlds = worlds_of(found)
        make_resting(worlds, 0, 50)  # what is made once for all worlds is there from now on
        tracemalloc.start()
        make_resting(worlds, 50, 450)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        make_resting(worlds, 500, traced)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        resting = 500 + traced
        compare(f"{traced} resting worlds, each", (after - before) / traced, WANTED_BYTES, "bytes")
        print(f"each takes {engine_bytes(server) / resting:.0f} bytes of the engine")
    with (
        engine() as server,
        opened(address(server), max_worlds=50, default_fixtures=False) as found,
    ):
        worlds = worlds_of(found)
        make_resting(worlds, 0, 100)
        gc.collect()
        rss = resident_bytes()
        make_resting(worlds, 100, number)
        gc.collect()
        grown = (resident_bytes() - rss) / number
        assert len(worlds.list_owners()) == 100 + number
        print(f"the memory of the process grew by {grown:.0f} bytes for each of {number}")


def make_resting(worlds: SharedWorlds, first: int, number: int) -> None:
    """Make worlds that rest."""
    for each in range(first, first + number):
        worlds.create(f"w{each}")
        assert worlds.rest(f"w{each}")


def engine_bytes(server: EngineServer) -> int:
    """Returns the memory that an engine uses."""
    with server.connect() as client:
        return int(client.info("memory")["used_memory"])


def resident_bytes() -> int:
    """Returns the memory of this process."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize()


def show(what: str, measured: dict[str, tuple[float, float]]) -> None:
    """Print a table of times and ratios; what the engine adds is compared with its aim."""
    for name, (micros, ratio) in measured.items():
        said = "" if name == "log" else _verdict(ratio, WANTED_COMMIT, "x")
        print(f"{what:20} {name:28} {micros:8.0f} us  x{ratio:5.2f}{said}")


def compare(what: str, value: float, wanted: float, unit: str) -> None:
    """Print a figure beside its aim."""
    print(f"{what:45} {value:10.1f} {unit}{_verdict(value, wanted, '')}")


def _verdict(value: float, wanted: float, sign: str) -> str:
    return f", wanted at most {sign}{wanted:g}: {'reached' if value <= wanted else 'missed'}"


def main() -> None:
    """Print the figures beside their aims."""
    parser = argparse.ArgumentParser(description=__doc__)
    logging.disable()  # the lost worlds of processes whose lease was ended
    parser.add_argument("--resting", type=int, default=2000, help="worlds that rest")
    given = parser.parse_args()
    if shutil.which("redis-server") is None:
        print("left out: redis-server is not on the path (apt-get install redis-server)")
        return
    with tempfile.TemporaryDirectory() as folder:
        measure_commits(Path(folder))
    measure_worlds()
    measure_rest(given.resting)


if __name__ == "__main__":
    main()
