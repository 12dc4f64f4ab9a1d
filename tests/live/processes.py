"""The command line in a process of its own, as people run it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import requests

from tests.commands import environment, finished
from tests.live_servers import WORKERS, choose_store
from tests.waits import PATIENCE


def command(*args: object) -> list[str]:
    """A command line of ours, whose process is the one that is started."""
    return [sys.executable, "-m", "mock_platform", *map(str, args)]


def quick(*args: object) -> list[str]:
    """A command line of ours that starts in a moment, where the fixture `quick_commands` is."""
    return ["mock-platform", *map(str, args)]


def ended(*args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """A command that ended by itself."""
    return finished(quick(*args), env=environment(**env))


def _share(args: Sequence[object]) -> list[object]:
    """The option for several processes, where a run of the tests asks for it."""
    if WORKERS == 1 or {"--workers", "--intercept"} & {*args}:
        return []
    return ["--workers", WORKERS]


class Served:
    """A running `serve`: its READY line, its log so far, and how it ends."""

    def __init__(
        self, args: Sequence[object], env: dict[str, str], command: Callable[..., list[str]]
    ) -> None:
        self.process = subprocess.Popen(
            command("serve", "--port", 0, *args, *_share(args), *choose_store(args)),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**env),
        )  # fmt: skip
        self.log: deque[str] = deque()
        self._grown = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline()

    def pause(self) -> None:
        """Stop the process as a suspended machine does, and wait until all its threads stand still.

        The signal alone returns at once, and the process may answer for a moment more.
        """
        os.kill(self.pid, signal.SIGSTOP)
        while any(state not in "TtZ" for state in self._states()):
            pass

    def go_on(self) -> None:
        """End a pause."""
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End it as a machine without power does."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def _states(self) -> Iterator[str]:
        for file in Path(f"/proc/{self.pid}/task").glob("*/stat"):
            yield file.read_text("ascii", "replace").rpartition(") ")[2][0]

    @property
    def pid(self) -> int:
        """The process that answers, or the one that started those."""
        return int(self.ready["pid"])

    @property
    def ready(self) -> dict[str, Any]:
        """What the READY line says."""
        assert self.line.startswith("READY "), (self.line, list(self.log))
        told: dict[str, Any] = json.loads(self.line.removeprefix("READY "))
        return told

    @property
    def pids(self) -> list[int]:
        """All processes of the server, the first one first."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [self.pid, *map(int, children.read_text().split() if children.exists() else [])]

    @property
    def url(self) -> str:
        """Where it answers."""
        return str(self.ready["url"])

    def wait_for_log(self, text: str, *, each: bool = False) -> str:
        """The first line of the log with a text, or with `each` that of the last worker."""
        before = WORKERS - 1 if each else 0

        def found() -> str | None:
            return next(islice((line for line in self.log if text in line), before, None), None)

        with self._grown:
            self._grown.wait_for(lambda: found() is not None, PATIENCE)
            line = found()
        assert line is not None, f"{text!r} was not logged: {list(self.log)}"
        return line

    def ask_platform(self, path: str, **headers: str) -> requests.Response:
        """An answer of the platform's real host, through the proxy, on a new connection."""
        ca = Path(self.wait_for_log("proxy.sh").partition(" . ")[2]).with_name("ca.pem")
        sent = {"Connection": "close", **headers}
        url, proxies = f"https://ads-api.x.com{path}", {"https": self.ready["proxy"]}
        return requests.get(url, headers=sent, proxies=proxies, verify=str(ca), timeout=PATIENCE)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; returns the status."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return status

    def rest(self) -> str:
        """What came on standard output after READY, once it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.read()

    def close(self) -> None:
        """Let go of it, whatever happened."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._grown:
                self.log.append(line.rstrip("\n"))
                self._grown.notify_all()


@contextmanager
def serving(
    *args: object, command: Callable[..., list[str]] = command, **env: str
) -> Iterator[Served]:
    """A `serve` on a free port, ended with the block."""
    served = Served(args, env, command)
    try:
        yield served
    finally:
        served.close()
