"""What a second process of `serve --workers` brings, and what a hop costs.

Run it with `python benchmarks/processes.py`. The load (`wrk`) asks 200 worlds on 64 connections, in
two ways: each connection asks for one world, as tests do, or for all of them in turn, so that half
of the requests reach the wrong process. One and two processes take turns; each figure is the median
of the rounds. The load takes a part of the two cores as well: how much is printed. Where other
programs take one too, the rates say little: then compare the requests in a second of processor
time of all processes of the server. The hop is measured on one connection, which asks for a world
of each process in turn.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

from servers import processor_seconds

from mock_platform.world.clock import UPTIME

WORLDS = 200
ROUNDS = 5
SECONDS = 4
TURNS = 3000
WANTED_RATE = 1.7
WANTED_HOP = 2.5
_CONNECTIONS = 64
_ALL_IN_TURN = """
local turn = 0
function request()
  turn = (turn + 1) %% %d
  return wrk.format("GET", "/~w" .. turn .. "/12/accounts")
end
"""
_ONE_EACH = """
local count = 0
function setup(thread)
  thread:set("world", count %% %d)
  count = count + 1
end
function init()
  asked = wrk.format("GET", "/~w" .. world .. "/12/accounts")
end
function request()
  return asked
end
"""
LOADS = {"one world for each connection": (_ONE_EACH, _CONNECTIONS),
         "all worlds on each connection": (_ALL_IN_TURN, 1)}  # fmt: skip
"""What each load asks for, and the number of threads that wrk needs for it."""


class Server(NamedTuple):
    """A server that runs."""

    workers: int
    url: str
    token: str
    pid: int


class Load(NamedTuple):
    """What was measured."""

    rate: float
    """Requests a second."""
    effort: float
    """Requests in a second of the server's processor time."""
    generator: float
    """Microseconds of processor time that the load itself took for a request."""


@contextmanager
def serve(workers: int) -> Iterator[Server]:
    """A server with its worlds."""
    command = [sys.executable, "-m", "mock_platform", "serve", "--port", "0", "--limits", "off"]
    command += ["--log-level", "error", "--journal-entries", "100", "--workers", str(workers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline().removeprefix("READY "))["url"]
        for number in range(WORLDS):
            with urlopen(Request(f"{url}/_mock/worlds/w{number}", method="PUT")):
                pass
        with urlopen(f"{url}/_mock/credentials") as answer:
            token = json.load(answer)["bearer_token"]
        try:
            yield Server(workers, url, token, process.pid)
        finally:
            process.terminate()


def load(server: Server, script: Path, threads: int) -> Load:
    """What wrk measures."""
    command = ["wrk", f"-t{threads}", f"-c{_CONNECTIONS}", f"-d{SECONDS}", "-s", str(script)]
    command += ["-H", f"Authorization: Bearer {server.token}", server.url]
    before, own_before = processor_seconds(server.pid), _spent_by_children()
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    took, own = processor_seconds(server.pid) - before, _spent_by_children() - own_before
    if "Non-2xx" in out:
        raise RuntimeError(out)
    found = re.search(r"(\d+) requests in.*Requests/sec:\s+(\S+)", out, re.DOTALL)
    assert found is not None, out
    requests = int(found[1])
    return Load(float(found[2]), requests / took, own / requests * 1e6)


def _spent_by_children() -> float:
    """Returns the seconds of processor time of the commands that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def compare(servers: list[Server], script: Path, threads: int) -> None:
    """Measure a load in turns on servers of one and of two processes, and print what was found."""
    rounds: dict[int, list[Load]] = {server.workers: [] for server in servers}
    for server in servers:
        load(server, script, threads)
    for _ in range(ROUNDS):
        for server in servers:
            rounds[server.workers].append(load(server, script, threads))
    found = {}
    for workers, loads in rounds.items():
        one = Load(*(statistics.median(values) for values in zip(*loads, strict=True)))
        found[workers] = one
        share = one.generator * one.effort / 1e6
        print(f"  {workers} process{'es' if workers > 1 else '  '}  {one.rate:8.0f}/s"
              f"  {one.effort:8.0f}/CPU s; beside each, the load takes {share:.2f}")  # fmt: skip
    rate, effort = (found[2][i] / found[1][i] for i in (0, 1))
    said = "reached" if rate >= WANTED_RATE else "missed"
    # With one process the load has a core of its own; with two it shares both with them.
    most = 2 / (1 + found[1].generator * found[1].effort / 1e6)
    print(f"  two processes: x{rate:.2f} in rate, wanted x{WANTED_RATE}: {said}; "
          f"at most x{most:.2f} on two cores that the load shares; "
          f"x{2 * effort:.2f} with two cores to themselves, by processor time")  # fmt: skip


def measure_hop(server: Server) -> tuple[float, float]:
    """Returns microseconds of a request to the right and to the wrong process."""
    with urlopen(f"{server.url}/_mock/worlds") as answer:
        worlds = json.load(answer)["worlds"]
    names = {world["process"]: world["name"] for world in worlds}
    port = int(server.url.rpartition(":")[2])
    times: dict[str, list[float]] = {name: [] for name in names.values()}
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(TURNS):
            for name, taken in times.items():
                asked = (
                    f"GET /~{name}/12/accounts HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                    f"Authorization: Bearer {server.token}\r\n\r\n"
                ).encode()
                start = UPTIME()
                client.sendall(asked)
                data = client.recv(65_536)
                while b"\r\n\r\n" not in data or len(data) < whole(data):
                    data += client.recv(65_536)
                taken.append(UPTIME() - start)
    right, wrong = sorted(statistics.median(taken) * 1e6 for taken in times.values())
    return right, wrong


def whole(data: bytes) -> int:
    """How many bytes an answer has."""
    head, _, _ = data.partition(b"\r\n\r\n")
    found = re.search(rb"Content-Length: (\d+)", head)
    assert found is not None, head
    return len(head) + 4 + int(found[1])


def main() -> None:
    """Print the tables."""
    if shutil.which("wrk") is None:
        print("left out: wrk is not on the path (apt-get install wrk)")
        return
    with tempfile.TemporaryDirectory() as folder, ExitStack() as started:
        servers = [started.enter_context(serve(workers)) for workers in (1, 2)]
        for title, (text, threads) in LOADS.items():
            script = Path(folder, f"{threads}.lua")
            script.write_text(text % WORLDS)
            print(title)
            compare(servers, script, threads)
        right, wrong = measure_hop(servers[1])
        said = "reached" if wrong / right <= WANTED_HOP else "missed"
        print(f"a request to the right process: {right:.0f} us, to the wrong one: {wrong:.0f} us, "
              f"x{wrong / right:.2f}, wanted at most x{WANTED_HOP}: {said}")  # fmt: skip


if __name__ == "__main__":
    main()
