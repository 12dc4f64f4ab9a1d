"""Kills workers and their engine at random while clients write, and checks what was acknowledged.

Clients make records whose ids the server draws, so a request that was answered twice shows. Every
acknowledged record must be there once, no record twice, no entry of a world's log may come from an
owner before the one of the entry before it, and a world must answer again after each kill.

Usage: python -m benchmarks.chaos [--rounds 300] [--worlds 200] [--clients 64] [--workers 4]
                                  [--seed 1]
                                  [--engine always|everysec|no|snapshot|replica]

With `--engine` other than `always`, the engine comes back older than what it acknowledged, and only
the processes that own the worlds have what it forgot: so it is killed in each round, and they are
not. `everysec` and `no` lose the end of the append-only file, as in a power failure; `snapshot` has
what was there at the last one of some snapshots; `replica` was behind, and takes the place of the
engine.

A round takes some 2 to 3 seconds: most of it the lease. SIGINT (Ctrl-C) ends the run after the
current round, and what was done until then is checked. Each run checks itself, so several with
other seeds are as good as one: `--rounds 100 --seed 2`.
"""

from __future__ import annotations

import argparse
import json
import os
import random  # noqa: TID251 - the kills, not what the product does
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import requests

from tests.engine import EngineServer

_PREFIX = "chaos:"
_ACCOUNT = "12/accounts/18ce54d4x5t"
_TABLE = "custom_audiences"
_MOST = 1000
"""Records that clients make in a world; then they only read there, so memory has a bound."""
_BACK_SECONDS = 60
_PROGRESS_ROUNDS = 10
_LOST_BYTES = {"everysec": 20_000, "no": 200_000}
"""The most that the end of an append-only file lacks after a crash."""


class Engine(EngineServer):
    """An engine that is after a crash as its kind says."""

    KINDS = ("always", *_LOST_BYTES, "snapshot", "replica")

    def __init__(self, kind: str, chance: random.Random) -> None:
        self.kind, self._chance = kind, chance
        self._replica: EngineServer | None = None
        options: tuple[str, ...] = ()
        if kind in _LOST_BYTES:
            options = ("--appendonly", "yes", "--appendfsync", kind)
        if kind == "replica":
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = str(free.getsockname()[1])
            options = ("--bind", "127.0.0.1", "--port", port)
        super().__init__(*options, durable=kind == "always", apart=True)
        if kind == "replica":
            self._replica = EngineServer("--replicaof", "127.0.0.1", port, apart=True)

    def crash(self) -> None:
        """Kill the engine while clients write, and start it again."""
        if self.kind == "snapshot" and self._chance.random() < 0.7:
            with self.connect() as client:
                client.save()
            self._let_clients_write()
        elif self._replica is not None:
            with self._replica.connect() as client:
                client.replicaof("NO", "ONE")
                self._let_clients_write()
                self.kill()
                client.save()
            shutil.copy(self._replica.folder / "dump.rdb", self.folder)
            self.start()
            self._replica.kill()
            self._replica.start()
            return
        self.kill()
        for path in self.folder.glob("appendonlydir/*.incr.aof"):
            size = path.stat().st_size
            lost = self._chance.randrange(_LOST_BYTES.get(self.kind, 1))
            os.truncate(path, max(0, size - lost))
        self.start()

    def close(self) -> None:
        """Kill it with its replica, and remove the folders."""
        if self._replica is not None:
            self._replica.close()
        super().close()

    def _let_clients_write(self) -> None:
        time.sleep(self._chance.uniform(0.05, 0.5))


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run found."""

    kills: int
    engine_kills: int
    acknowledged: int
    refused: int
    """Requests that got no acknowledgement, as far as clients could see."""
    longest_seconds: float
    """The longest time until a world answered again after a kill."""
    median_seconds: float


class Clients:
    """Threads that write records to random worlds, and remember those that were acknowledged."""

    def __init__(self, url: str, bearer: str, worlds: int, number: int) -> None:
        self.acknowledged: dict[str, list[str]] = {f"w{n}": [] for n in range(worlds)}
        self.refused = 0
        self.faults: list[str] = []
        """Answers that no client should get."""
        self._url, self._bearer = url, bearer
        self._numbers = count(1)
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(n,)) for n in range(number)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Wait for the last requests to end."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def write(self, session: requests.Session, world: str) -> bool:
        """Make a record; returns whether it was acknowledged."""
        name = f"chaos {next(self._numbers)}"
        url = f"{self._url}/~{world}/{_ACCOUNT}/{_TABLE}"
        headers = {"Authorization": f"Bearer {self._bearer}"}
        full = len(self.acknowledged[world]) >= _MOST
        method, params = ("GET", {"count": "1"}) if full else ("POST", {"name": name})
        try:
            answer = session.request(method, url, params=params, headers=headers, timeout=30)
        except requests.RequestException:
            self.refused += 1
            return False
        if not answer.ok:
            if answer.status_code != 503:  # a name that is taken means that a request came twice
                self.faults.append(f"{world} answered {answer.status_code}: {answer.text}")
            self.refused += 1
        elif not full:
            self.acknowledged[world].append(name)
        return answer.ok

    def _run(self, seed: int) -> None:
        chance, names = random.Random(seed), [*self.acknowledged]
        with requests.Session() as session:
            while not self._stopped.is_set():
                if not self.write(session, chance.choice(names)):
                    self._stopped.wait(0.01)


def run(
    rounds: int,
    worlds: int,
    clients: int,
    workers: int,
    lease: str = "2s",
    seed: int = 1,
    engine: str = "always",
    report: Callable[[str], object] = lambda _: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Figures:
    """Returns the figures of a run; `report` gets a line of progress now and then.

    It ends before its last round as soon as `is_stopped`.

    Raises:
        AssertionError: Something acknowledged is gone or there twice, or a world had two owners.
    """
    chance = random.Random(seed)
    server_of_worlds = Engine(engine, chance)
    command = [sys.executable, "-m", "mock_platform", "serve", "--port", "0", "--limits", "off"]
    command += [
        "--workers",
        str(workers),
        "--store",
        server_of_worlds.url(_PREFIX),
        "--lease",
        lease,
    ]
    command += ["--log-level", "off", "--journal-entries", "100", "--max-worlds", "10000"]
    # In a session of its own, so that Ctrl-C is for this program alone.
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert server.stdout is not None
    times, killed = [], Counter[str]()
    try:
        url = json.loads(server.stdout.readline().removeprefix("READY "))["url"]
        for number in range(worlds):
            requests.put(f"{url}/_mock/worlds/w{number}", timeout=60).raise_for_status()
        bearer = requests.get(f"{url}/_mock/credentials", timeout=60).json()["bearer_token"]
        writers = Clients(url, bearer, worlds, clients)
        try:
            for number in range(1, rounds + 1):
                if is_stopped():
                    break
                time.sleep(chance.uniform(0.05, 0.3))
                world = f"w{chance.randrange(worlds)}"
                killed[_kill(server_of_worlds, server.pid, chance, world)] += 1
                times.append(_wait_until_back(writers, world))
                _check_owners(server_of_worlds, world)
                assert not writers.faults, writers.faults
                if number % _PROGRESS_ROUNDS == 0:
                    made = sum(map(len, writers.acknowledged.values()))
                    report(f"{number} of {rounds} kills, {made} acknowledged, {max(times):.1f} s")
        finally:
            writers.stop()
        assert not writers.faults, writers.faults
        for world, names in writers.acknowledged.items():
            _check_records(url, world, names)
            _check_owners(server_of_worlds, world)
        return Figures(
            len(times),
            killed["engine"],
            sum(map(len, writers.acknowledged.values())),
            writers.refused,
            max(times, default=0.0),
            median(times or [0.0]),
        )
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
        server_of_worlds.close()


def _kill(engine: Engine, supervisor: int, chance: random.Random, world: str) -> str:
    """Kill the owner of a world, or any worker if it rests, or sometimes the engine."""
    if engine.kind != "always" or chance.random() < 0.2:
        engine.crash()
        return "engine"
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text("ascii").split()
    with engine.connect() as client:
        owner = client.hget(f"{_PREFIX}world:{world}", "owner") or b"-"
        place = (client.get(f"{_PREFIX}process:{owner.decode()}") or b"").decode()
    owners = [child for child in children if re.search(rf"\b{child}\b", place)]
    if owners or children:
        os.kill(int(chance.choice(owners or children)), signal.SIGKILL)
    return "worker"


def _wait_until_back(clients: Clients, world: str) -> float:
    begun = time.monotonic()
    with requests.Session() as session:
        while not clients.write(session, world):
            assert time.monotonic() - begun < _BACK_SECONDS, f"{world} does not answer any more"
            time.sleep(0.02)
    return time.monotonic() - begun


def _check_records(url: str, world: str, acknowledged: list[str]) -> None:
    answer = _read_records(url, world)
    found = Counter(record["name"] for record in answer.json()["records"])
    made = Counter({name: number for name, number in found.items() if name.startswith("chaos ")})
    assert not (lost := set(acknowledged) - set(made)), f"{world} lost {sorted(lost)}"
    twice = sorted(name for name, number in made.items() if number > 1)
    assert not twice, f"{world} has these more than once: {twice}"


def _read_records(url: str, world: str) -> requests.Response:
    """Return the records of a world; after a restart of the engine it waits for its lease first."""
    begun = time.monotonic()
    while True:
        answer = requests.get(f"{url}/~{world}/_mock/state/{_TABLE}", timeout=60)
        if answer.status_code != 503 or time.monotonic() - begun > _BACK_SECONDS:
            answer.raise_for_status()
            return answer
        time.sleep(0.02)


def _check_owners(engine: EngineServer, world: str) -> None:
    with engine.connect() as client:
        entries: Any = client.xrange(f"{_PREFIX}log:{world}")
    tokens = [int(fields[b"t"]) for _, fields in entries]
    assert tokens == sorted(tokens), f"{world} had two owners at once"


def main() -> None:
    """Print progress and one verdict; the status is 1 if something was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    defaults = {"rounds": 300, "worlds": 200, "clients": 64, "workers": 4, "seed": 1}
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--engine", choices=Engine.KINDS, default="always")
    given = vars(parser.parse_args())
    stopped = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stopped.set())

    def report(line: str) -> None:
        sys.stderr.write(f"{line}\n")

    try:
        found = run(**given, report=report, is_stopped=stopped.is_set)
    except AssertionError as fault:
        sys.stdout.write(f"FAILED: {fault}\n")
        sys.exit(1)
    sys.stdout.write(
        f"PASSED: {found.kills} kills, {found.engine_kills} of them of the engine: "
        f"{found.acknowledged} acknowledged records are there once, no world had two owners "
        f"({found.refused} requests without acknowledgement). A world was back after "
        f"{found.median_seconds:.2f} s (median), at most {found.longest_seconds:.1f} s\n"
    )


if __name__ == "__main__":
    main()
