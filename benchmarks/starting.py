"""How long it takes to be ready: `serve` to its first answer, a thread, a world, a pytest run.

Run it with `python benchmarks/starting.py`. Milliseconds, medians; the ratio is to a bare Flask
application on the development server in the same run.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from mock_platform import MockPlatform
from mock_platform.platform import Platform
from mock_platform.world.clock import UPTIME

_BARE = """
import json, socket
from flask import Flask
from werkzeug.serving import make_server
app = Flask("bare")
app.add_url_rule("/_mock/health", view_func=lambda: {"status": "ok"})
server = make_server("127.0.0.1", 0, app)
print("READY " + json.dumps({"url": f"http://127.0.0.1:{server.port}"}), flush=True)
server.serve_forever()
"""


def median(work: Callable[[], float], times: int) -> float:
    """Median of what `work` measures, the first one not counted."""
    return statistics.median([work() for _ in range(times + 1)][1:])


def first_answer(command: list[str]) -> float:
    """Milliseconds from starting a process to its first answer over HTTP."""
    start = UPTIME()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline().removeprefix("READY "))
        with urllib.request.urlopen(ready["url"] + "/_mock/health") as answer:
            answer.read()
        taken = (UPTIME() - start) * 1000
        process.terminate()
    return taken


def thread_start_and_stop() -> tuple[float, float]:
    """Milliseconds to start a server in a thread, and to stop it."""
    start = UPTIME()
    platform = MockPlatform.start()
    started = UPTIME()
    platform.stop()
    return (started - start) * 1000, (UPTIME() - started) * 1000


def empty_suite(*options: str) -> float:
    """Milliseconds of a pytest run with one test that uses nothing of ours."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    quiet = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **os.environ}
    with TemporaryDirectory() as folder:
        Path(folder, "test_it.py").write_text("def test_it(): pass\n")
        start = UPTIME()
        subprocess.run(command, cwd=folder, env=quiet, stdout=subprocess.DEVNULL, check=True)
        return (UPTIME() - start) * 1000


def measure() -> dict[str, float]:
    """Medians in milliseconds, by name."""
    serve = [sys.executable, "-m", "mock_platform", "serve", "--port", "0"]
    pairs = [thread_start_and_stop() for _ in range(12)][2:]
    platform = Platform()
    numbers = iter(range(10_000))

    def world() -> float:
        start = UPTIME()
        platform.worlds.create(f"w{next(numbers)}")
        return (UPTIME() - start) * 1000

    return {
        "bare Flask process to first answer": median(
            lambda: first_answer([sys.executable, "-c", _BARE]), 5
        ),
        "serve to first answer": median(lambda: first_answer(serve), 5),
        "start in a thread": statistics.median(start for start, _ in pairs),
        "stop in a thread": statistics.median(stop for _, stop in pairs),
        "a fresh world": median(world, 200),
        "pytest without the plugin": median(empty_suite, 9),
        "pytest with it, not used": median(
            lambda: empty_suite("-p", "mock_platform.pytest_plugin"), 9
        ),
    }


def main() -> None:
    """Print the table."""
    found = measure()
    bare = found["bare Flask process to first answer"]
    for name, value in found.items():
        print(f"{name:40} {value:9.3f} ms  x{value / bare:6.3f}")


if __name__ == "__main__":
    main()
