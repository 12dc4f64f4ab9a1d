"""Children that are killed at work: the process that forks them, and the test that kills them.

Each line on standard input (words with tabs between) forks a child that works until it is killed;
when it is dead, the next line is read. Children are forked from one process that has loaded
everything, so they begin at once.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def say(text: bytes) -> None:
    """One line to whoever watches."""
    line = text + b"\n"
    while line:
        line = line[os.write(1, line) :]


def fork_children(work: Callable[..., None]) -> None:
    """Start one child after another, as asked; `work` gets the words of the line."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            say(b"pid %d" % os.getpid())
            work(*line.rstrip("\n").split("\t"))
        os.waitpid(child, 0)
        say(b"dead")


class Children:
    """The process of a module that forks children; each says `done` after each piece of work."""

    def __init__(self, module: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run_and_kill(
        self, *words: object, patience: int, reports: bool = False
    ) -> tuple[bytes, int]:
        """Kill a child after it said `done` so often; returns its report and how often it did.

        The report is the first line of a child that makes one, before its work.
        """
        assert self._process.stdin is not None
        self._process.stdin.write("\t".join(map(str, words)).encode() + b"\n")
        self._process.stdin.flush()
        child = int(self._line().removeprefix(b"pid "))
        report, done = self._line() if reports else b"", 0
        while done < patience and self._line() == b"done":
            done += 1
        os.kill(child, signal.SIGKILL)
        while (line := self._line()) == b"done":
            done += 1
        assert line == b"dead"
        return report, done

    def stop(self) -> None:
        """Let the process end."""
        self._process.communicate(b"")

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline().rstrip(b"\n")
