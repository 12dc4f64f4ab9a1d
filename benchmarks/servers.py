"""How fast `serve` answers, as users start it, beside what they might use instead.

Run it with `python benchmarks/servers.py`. Server and load (`wrk`) have a core each.
Authentication, journal and request log are on. Peers: one bare Flask route on granian, and
WireMock with one stub, after ten seconds of load. What is not there is left out, and it is said how
to get it.

The floor is an application that answers a constant on the same server: what the event loop, the
reader and the system take, however little is done. Each rate is the median of three rounds, in
which the servers take turns; one that waits is stopped. The last table compares `serve` with each
peer and what is wanted.
Where other programs take a part of the core, rates say little: then compare the requests that a
server answers in a second of processor time, which are printed beside them.
`get` or `create` as argument measures that call alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

from flask import Flask

CONNECTIONS = (2, 64, 512)
ROUNDS = 3
SECONDS = 2
WARM_SECONDS = 10
JAR = Path("build/peers/node_modules/wiremock/build")
ACCOUNT = "18ce54d4x5t"
CALLS = {"get": f"/12/accounts/{ACCOUNT}", "create": f"/12/accounts/{ACCOUNT}/cards/poll"}
BODY = json.dumps({"request": {"params": {}}, "data": {"id": ACCOUNT, "name": "x" * 200}})
OURS, FLASK, WIREMOCK, FLOOR = "mock-platform serve", "bare Flask, granian", "WireMock", "floor"
WANTED = {
    ("get", FLASK): (1.2, 1.2, 1.2),
    ("create", FLASK): (1.0, 1.0, 1.0),
    ("get", WIREMOCK): (1.0, 0.6, 1.0),
    ("create", WIREMOCK): (0.6, 0.4, 0.6),
}
"""How fast `serve` is to be, as a multiple of a peer, at each number of connections."""
QUIET = 0.03
"""Processor time that a server without work takes in a second at most."""
MAX_LATE = 5
"""How many medians the 99th percentile may take, at 64 connections."""


class Load(NamedTuple):
    """What wrk measured: requests a second, and milliseconds; and the server's effort."""

    rate: float
    effort: float
    """Requests in a second of the server's processor time."""
    middle: float
    late: float


class Server(NamedTuple):
    """A server that runs, and what is sent to it."""

    name: str
    url: str
    token: str
    pid: int


def bare_flask() -> Flask:
    """Two routes that answer a record in JSON."""
    app = Flask("bare", static_folder=None)

    def answer(account: str) -> object:
        return app.response_class(BODY, mimetype="application/json")

    app.add_url_rule("/12/accounts/<account>", view_func=answer)
    app.add_url_rule("/12/accounts/<account>/cards/poll", "create", answer, methods=["POST"])
    return app


flask_app = bare_flask()
"""What granian imports."""


def serve_flask() -> None:
    """Serve the bare routes with granian, until killed."""
    from granian import Granian
    from granian.constants import Interfaces

    port = free_port()
    print(json.dumps({"url": f"http://127.0.0.1:{port}"}), flush=True)
    Granian(
        f"{Path(__file__).stem}:flask_app",
        address="127.0.0.1",
        port=port,
        interface=Interfaces.WSGI,
        log_enabled=False,
    ).serve()


def free_port() -> int:
    """A port without a listener at the moment."""
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def family_of(pid: int) -> dict[int, int]:
    """The ids of a process and its children, with the ticks that each took of the processor."""
    ticks: dict[int, tuple[int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            ticks[int(stat.parent.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    family = {pid}
    while more := {one for one, (parent, _) in ticks.items() if parent in family} - family:
        family |= more
    return {one: ticks[one][1] for one in family if one in ticks}


def signal_all(pid: int, number: int) -> None:
    """Send a signal to a process and its children."""
    for one in family_of(pid):
        with suppress(ProcessLookupError):
            os.kill(one, number)


@contextmanager
def running(command: Sequence[str], folder: Path | None = None) -> Iterator[tuple[str, int]]:
    """The first line of a server of its own process on the first core, and the process's id."""
    pinned = ["taskset", "-c", "0", *command] if shutil.which("taskset") else list(command)
    with subprocess.Popen(
        pinned, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        # A pipe that nobody reads would stop the server.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        try:
            yield line, process.pid
        finally:
            signal_all(process.pid, signal.SIGKILL)
            process.kill()  # where no list of processes is


def wait_until_quiet(server: Server) -> None:
    """Let a server end what it does in the background, such as compiling; half a minute at most."""
    for _ in range(30):
        before = processor_seconds(server.pid)
        threading.Event().wait(1)
        if processor_seconds(server.pid) - before < QUIET:
            return


def wait_for(url: str) -> None:
    """Return once somebody answers, whatever it is."""
    for _ in range(200):
        try:
            with urlopen(url, timeout=5):
                return
        except OSError as fault:
            if getattr(fault, "code", None) is not None:
                return
            threading.Event().wait(0.1)
    raise RuntimeError(f"{url} does not answer")


def processor_seconds(pid: int) -> float:
    """What a process and its children have taken of the processor so far."""
    return sum(family_of(pid).values()) / os.sysconf("SC_CLK_TCK")


def load(server: Server, path: str, connections: int, seconds: int, script: Path | None) -> Load:
    """What wrk measures from the second core."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--latency"]
    command += ["-H", f"Authorization: Bearer {server.token}"]
    if script is not None:
        command += ["-s", str(script)]
    if shutil.which("taskset"):
        command = ["taskset", "-c", str(max(os.sched_getaffinity(0))), *command]
    before = processor_seconds(server.pid)
    ended = subprocess.run(
        [*command, server.url + path], capture_output=True, text=True, check=True
    )
    took, out = processor_seconds(server.pid) - before, ended.stdout
    if "Non-2xx" in out:
        raise RuntimeError(f"{server.name} answers with errors:\n{out}")
    pattern = r"\n\s+50%\s+(\S+).*\n\s+99%\s+(\S+).*\n\s+(\d+) requests in.*Requests/sec:\s+(\S+)"
    found = re.search(pattern, out, re.DOTALL)
    assert found is not None, out
    middle, late, count, rate = found.groups()
    return Load(float(rate), int(count) / took, milliseconds(middle), milliseconds(late))


def milliseconds(text: str) -> float:
    """A time as wrk prints it: `449.00us`, `15.40ms`, `1.20s`."""
    number, unit = re.fullmatch(r"([0-9.]+)(us|ms|s)", text).groups()  # type: ignore[union-attr]
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]


@contextmanager
def serve() -> Iterator[Server]:
    """`serve` as users start it, but without rate limits."""
    command = [sys.executable, "-m", "mock_platform", "serve", "--port", "0", "--limits", "off"]
    with running(command) as (line, pid):
        url = json.loads(line.removeprefix("READY "))["url"]
        with urlopen(f"{url}/_mock/credentials") as answer:
            token = json.load(answer)["bearer_token"]
        yield Server(OURS, url, token, pid)


@contextmanager
def of_this_file(name: str, command: str) -> Iterator[Server]:
    """What this file serves when it is called with a command."""
    called = [sys.executable, Path(__file__).name, command]
    with running(called, Path(__file__).parent) as (line, pid):
        url = json.loads(line)["url"]
        wait_for(url + CALLS["get"])
        yield Server(name, url, "none", pid)


@contextmanager
def wiremock(jar: Path, folder: Path) -> Iterator[Server]:
    """WireMock with a stub for each call."""
    mappings = Path(folder, "mappings")
    mappings.mkdir()
    for number, (call, path) in enumerate(CALLS.items()):
        stub = {
            "request": {"method": "POST" if call == "create" else "GET", "urlPath": path},
            "response": {"status": 200, "body": BODY},
        }
        mappings.joinpath(f"{number}.json").write_text(json.dumps(stub))
    port = free_port()
    command = ["java", "-jar", str(jar), "--port", str(port), "--root-dir", str(folder)]
    with running(command) as (_, pid):
        url = f"http://127.0.0.1:{port}"
        wait_for(url + CALLS["get"])
        yield Server(WIREMOCK, url, "none", pid)


@contextmanager
def turn_of(server: Server) -> Iterator[None]:
    """Let a server go on, and stop it again: what it still does takes a part of the core."""
    signal_all(server.pid, signal.SIGCONT)
    try:
        yield
    finally:
        signal_all(server.pid, signal.SIGSTOP)


def measure(
    servers: Sequence[Server], calls: Mapping[str, str], post: Path
) -> dict[tuple[str, str, int], Load]:
    """Print and return a median for each call, number of connections and server."""
    found = {}
    for server in servers:
        warm = WARM_SECONDS if server.name == WIREMOCK else 1
        for call, path in calls.items():
            load(server, path, 64, warm, post if call == "create" else None)
            wait_until_quiet(server)
    for server in servers:
        signal_all(server.pid, signal.SIGSTOP)
    for call, path in calls.items():
        script = post if call == "create" else None
        for connections in CONNECTIONS:
            rounds: dict[str, list[Load]] = {server.name: [] for server in servers}
            for _ in range(ROUNDS):
                for server in servers:
                    with turn_of(server):
                        took = load(server, path, connections, SECONDS, script)
                    rounds[server.name].append(took)
            for name, loads in rounds.items():
                one = Load(*(statistics.median(values) for values in zip(*loads, strict=True)))
                found[name, call, connections] = one
                print(
                    f"{name:20} {call:8} {connections:4} connections {one.rate:7.0f}/s "
                    f"{one.effort:7.0f}/CPU s   "
                    f"p50 {one.middle:7.2f} ms   p99 {one.late:7.2f} ms   "
                    f"x{one.late / one.middle:5.1f}",
                    flush=True,
                )
    return found


def compare(found: dict[tuple[str, str, int], Load]) -> None:
    """Print how `serve` does beside each peer, and whether that is what is wanted."""
    print()
    for (call, peer), wanted in WANTED.items():
        for connections, least in zip(CONNECTIONS, wanted, strict=True):
            other = found.get((peer, call, connections))
            if other is not None:
                mine = found[OURS, call, connections]
                ratio, effort = mine.rate / other.rate, mine.effort / other.effort
                said = "reached" if ratio >= least else "missed"
                print(
                    f"{call:8} {connections:4} connections: x{ratio:5.2f} {peer:20} "
                    f"wanted x{least}: {said}; x{effort:5.2f} in processor time"
                )
    for call in {call for _, call, _ in found}:
        one = found[OURS, call, 64]
        said = "reached" if one.late <= MAX_LATE * one.middle else "missed"
        print(f"{call:8}   64 connections: p99 is x{one.late / one.middle:.1f} p50, "
              f"wanted x{MAX_LATE}: {said}")  # fmt: skip
        for connections in CONNECTIONS:
            ours, floor = (found[name, call, connections].effort for name in (OURS, FLOOR))
            print(
                f"{call:8} {connections:4} connections: x{ours / floor:5.2f} {FLOOR}, "
                "in processor time"
            )


def serve_constant() -> None:
    """Serve a constant on the product's own server, until killed."""
    from mock_platform.serving.http import ServerThread

    head = [("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))]

    class Constant:
        """Answers everything with the same."""

        def __call__(self, environ: Any, start_response: Any) -> list[bytes]:
            start_response("200 OK", head)
            return [BODY.encode()]

        def at_once(self, request: Any) -> Any:
            return self._answer

        def _answer(self, request: Any, peer: Any, start_response: Any) -> list[bytes]:
            return self({}, start_response)

    with ServerThread(Constant()) as server:
        print(json.dumps({"url": server.url}), flush=True)
        threading.Event().wait()


def main(chosen: Sequence[str]) -> None:
    """Print the tables."""
    if shutil.which("wrk") is None:
        print("left out: wrk is not on the path (apt-get install wrk)")
        return
    with tempfile.TemporaryDirectory() as made, ExitStack() as started:
        post = Path(made, "post.lua")
        query = "name=p&first_choice=a&second_choice=b&duration_in_minutes=1440"
        post.write_text(
            f'wrk.method = "POST"\nwrk.body = "{query}"\n'
            'wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"\n'
        )
        servers = [started.enter_context(serve())]
        servers.append(started.enter_context(of_this_file(FLOOR, "constant")))
        if find_spec("granian") is None:
            print("left out: bare Flask on granian (pip install --editable '.[bench]')")
        else:
            servers.append(started.enter_context(of_this_file(FLASK, "flask")))
        jars = sorted(JAR.glob("*.jar"))
        if shutil.which("java") is None or not jars:
            print("left out: WireMock (java, and npm install --prefix build/peers wiremock)")
        else:
            servers.append(started.enter_context(wiremock(jars[0], Path(made))))
        calls = {call: path for call, path in CALLS.items() if call in (chosen or CALLS)}
        compare(measure(servers, calls, post))


if __name__ == "__main__":
    if sys.argv[1:] == ["flask"]:
        serve_flask()
    elif sys.argv[1:] == ["constant"]:
        serve_constant()
    else:
        main(sys.argv[1:])
