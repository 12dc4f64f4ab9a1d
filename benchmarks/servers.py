"""How fast `serve` answers, as users start it, beside what they might use instead.

Run it with `python benchmarks/servers.py`. Server and load (`wrk`) have a core each.
Authentication, journal and request log are on. Peers: one bare Flask route on granian, and
WireMock with one stub, after ten seconds of load. What is not there is left out, and it is said how
to get it. Ratios are to the bare Flask route.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.request import urlopen

from flask import Flask

CONNECTIONS = (2, 64, 512)
SECONDS = 4
WARM_SECONDS = 10
JAR = Path("build/peers/node_modules/wiremock/build")
BODY = json.dumps({"request": {"params": {}}, "data": {"id": "18ce54d4x5t", "name": "x" * 200}})
Rate = tuple[float, str, str]
"""Requests a second, and the median and 99th percentile as wrk prints them."""


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
    """A port that nobody listens on at the moment."""
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str], folder: Path | None = None) -> Iterator[str]:
    """The first line of a server of its own process, on the first core."""
    pinned = ["taskset", "-c", "0", *command] if shutil.which("taskset") else list(command)
    with subprocess.Popen(
        pinned, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        # A pipe that nobody reads would stop the server.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        try:
            yield line
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


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


def load(url: str, connections: int, seconds: int, script: Path | None, token: str) -> Rate:
    """What wrk measures from the second core."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--latency"]
    command += ["-H", f"Authorization: Bearer {token}"]
    if script is not None:
        command += ["-s", str(script)]
    if shutil.which("taskset"):
        command = ["taskset", "-c", str(max(os.sched_getaffinity(0))), *command]
    out = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out:
        raise RuntimeError(f"{url} answers with errors:\n{out}")
    found = [re.search(pattern, out) for pattern in (r"Requests/sec:\s+(\S+)", r"50%\s+(\S+)")]
    late = re.search(r"99%\s+(\S+)", out)
    assert found[0] is not None
    assert found[1] is not None
    assert late is not None
    return float(found[0][1]), found[1][1], late[1]


def measure(name: str, url: str, calls: dict[str, str], post: Path, token: str, warm: int) -> None:
    """Print a line for each call and number of connections."""
    for call, path in calls.items():
        script = post if call == "create" else None
        load(url + path, CONNECTIONS[1], warm, script, token)
        for connections in CONNECTIONS:
            rate, middle, late = load(url + path, connections, SECONDS, script, token)
            FOUND[name, call, connections] = rate
            base = FOUND.get(("bare Flask, granian", call, connections))
            ratio = "" if base is None else f"x{rate / base:6.2f}"
            print(
                f"{name:22} {call:8} {connections:4} connections {rate:10.0f}/s "
                f"p50 {middle:>9} p99 {late:>9} {ratio}",
                flush=True,
            )


FOUND: dict[tuple[str, str, int], float] = {}


def main() -> None:
    """Print the table."""
    if shutil.which("wrk") is None:
        print("left out: wrk is not on the path (apt-get install wrk)")
        return
    with tempfile.TemporaryDirectory() as made:
        post = Path(made, "post.lua")
        query = "name=p&first_choice=a&second_choice=b&duration_in_minutes=1440"
        post.write_text(
            f'wrk.method = "POST"\nwrk.body = "{query}"\n'
            'wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"\n'
        )
        account = "18ce54d4x5t"
        calls = {
            "get one": f"/12/accounts/{account}",
            "create": f"/12/accounts/{account}/cards/poll",
        }
        if find_spec("granian") is None:
            print("left out: bare Flask on granian (pip install --editable '.[bench]')")
        else:
            with running(
                [sys.executable, Path(__file__).name, "flask"], Path(__file__).parent
            ) as line:
                url = json.loads(line)["url"]
                wait_for(url + calls["get one"])
                measure("bare Flask, granian", url, calls, post, "none", 1)
        command = [sys.executable, "-m", "mock_platform", "serve", "--port", "0", "--limits", "off"]
        with running(command) as line:
            url = json.loads(line.removeprefix("READY "))["url"]
            with urlopen(f"{url}/_mock/credentials") as answer:
                token = json.load(answer)["bearer_token"]
            measure("mock-platform serve", url, calls, post, token, 1)
        jars = sorted(JAR.glob("*.jar"))
        if shutil.which("java") is None or not jars:
            print("left out: WireMock (java, and npm install --prefix build/peers wiremock)")
        else:
            port = free_port()
            command = ["java", "-jar", str(jars[0]), "--port", str(port), "--root-dir", made]
            mappings = Path(made, "mappings")
            mappings.mkdir()
            for number, (call, path) in enumerate(calls.items()):
                method = "POST" if call == "create" else "GET"
                stub = {
                    "request": {"method": method, "urlPath": path},
                    "response": {"status": 200, "body": BODY},
                }
                mappings.joinpath(f"{number}.json").write_text(json.dumps(stub))
            with running(command):
                url = f"http://127.0.0.1:{port}"
                wait_for(url + calls["get one"])
                measure("WireMock", url, calls, post, "none", WARM_SECONDS)


if __name__ == "__main__":
    if sys.argv[1:] == ["flask"]:
        serve_flask()
    else:
        main()
