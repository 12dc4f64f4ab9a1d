"""Kills workers and their engine at random while clients write, and checks what was acknowledged.

Every acknowledged record must be there at the end, no entry of a world's log may come from an owner
before the one of the entry before it, and a world must answer again after each kill.

Usage: python -m benchmarks.chaos [--rounds 300] [--worlds 200] [--clients 64] [--workers 4]
"""

from __future__ import annotations

import argparse
import json
import os
import random  # noqa: TID251 - the kills, not what the product does
import signal
import subprocess
import sys
import threading
import time
from itertools import count

import requests

from tests.engine import EngineServer

_PREFIX = "chaos:"


class Clients:
    """Threads that write records to random worlds, and remember those that were acknowledged."""

    def __init__(self, url: str, worlds: int, number: int) -> None:
        self.acknowledged: list[tuple[str, str]] = []
        self._url = url
        self._worlds = worlds
        self._ids = count(1_000_000)
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(n,)) for n in range(number)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Wait for the last requests to end."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _run(self, seed: int) -> None:
        chance = random.Random(seed)
        with requests.Session() as session:
            while not self._stopped.is_set():
                world, key = f"w{chance.randrange(self._worlds)}", str(next(self._ids))
                if write(session, self._url, world, key):
                    self.acknowledged.append((world, key))


def write(session: requests.Session, url: str, world: str, key: str) -> bool:
    """Write a record; returns whether it was acknowledged."""
    body = {"id": key, "screen_name": f"u{key}", "name": "Chaos"}
    try:
        answer = session.put(f"{url}/~{world}/_mock/state/users/{key}", json=body, timeout=30)
    except requests.RequestException:
        return False
    return answer.status_code == 200


def run(
    rounds: int, worlds: int, clients: int, workers: int, lease: str = "3s"
) -> dict[str, float]:
    """Returns the figures of a run.

    Raises:
        AssertionError: Something acknowledged is gone, or a world had two owners.
    """
    chance = random.Random(1)
    engine = EngineServer(durable=True)
    command = [sys.executable, "-m", "mock_platform", "serve", "--port", "0"]
    command += ["--workers", str(workers)]
    command += ["--store", engine.url(_PREFIX), "--log-level", "off", "--lease", lease]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = json.loads(server.stdout.readline().removeprefix("READY "))["url"]
    longest = 0.0
    try:
        for number in range(worlds):
            requests.put(f"{url}/_mock/worlds/w{number}", timeout=60).raise_for_status()
        writers = Clients(url, worlds, clients)
        try:
            for number in range(rounds):
                time.sleep(chance.uniform(0.05, 0.3))
                world = _kill(engine, chance, worlds)
                longest = max(longest, _wait_until_back(url, world, number))
        finally:
            writers.stop()
        _check(engine, url, writers.acknowledged, worlds)
        return {"acknowledged": len(writers.acknowledged), "longest_seconds": longest}
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
        engine.close()


def _kill(engine: EngineServer, chance: random.Random, worlds: int) -> str:
    """Kill the owner of a random world, or sometimes the engine; returns the world."""
    world = f"w{chance.randrange(worlds)}"
    if chance.random() < 0.2:
        engine.kill()
        engine.start()
        return world
    with engine.connect() as client:
        owner = client.hget(f"{_PREFIX}world:{world}", "owner") or b"-"
        address = client.get(f"{_PREFIX}process:{owner.decode()}")
    if address is not None:
        os.kill(int(address.decode().rpartition("/")[2]), signal.SIGKILL)
    return world


def _wait_until_back(url: str, world: str, number: int) -> float:
    begun = time.monotonic()
    with requests.Session() as session:
        while not write(session, url, world, f"{number + 1}"):
            assert time.monotonic() - begun < 60, f"world {world} does not answer any more"
            time.sleep(0.02)
    return time.monotonic() - begun


def _check(
    engine: EngineServer, url: str, acknowledged: list[tuple[str, str]], worlds: int
) -> None:
    for number in range(worlds):
        answer = requests.get(f"{url}/~w{number}/_mock/state/users", timeout=60)
        answer.raise_for_status()
        keys = [record["id"] for record in answer.json()["records"]]
        assert len(keys) == len(set(keys)), f"w{number} has a record twice"
        lost = {key for world, key in acknowledged if world == f"w{number}"} - set(keys)
        assert not lost, f"w{number} lost {sorted(lost)}"
    with engine.connect() as client:
        for number in range(worlds):
            entries = client.xrange(f"{_PREFIX}log:w{number}")
            tokens = [int(fields[b"t"]) for _, fields in entries]
            assert tokens == sorted(tokens), f"w{number} had two owners at once"


def main() -> None:
    """Print the figures, or fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("rounds", 300), ("worlds", 200), ("clients", 64), ("workers", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    figures = run(given.rounds, given.worlds, given.clients, given.workers)
    sys.stdout.write(
        f"{given.rounds} kills: {figures['acknowledged']:.0f} acknowledged records are all there; "
        f"a world was back after at most {figures['longest_seconds']:.1f} s\n"
    )


if __name__ == "__main__":
    main()
