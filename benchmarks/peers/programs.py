"""Programs that a suite starts beside itself, and what they say while they start."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

from mock_platform.world.clock import UPTIME

PATIENCE = 60.0


class Programs:
    """The programs of one run; what they say goes to files, so that no pipe fills up."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self, command: list[str], sign: str) -> str:
        """Start a program; returns the rest of the first line with this text in it."""
        path = self._folder / f"output-{len(self._running)}.txt"
        with path.open("wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        self._running.append(process)
        begun = UPTIME()
        while UPTIME() < begun + PATIENCE:
            told = path.read_text("utf-8", "replace")
            _, found, rest = told.partition(sign)
            line, ended, _ = rest.partition("\n")
            if found and ended:
                return line.strip()
            if process.poll() is not None:
                raise RuntimeError(f"{command[0]} ended without saying {sign!r}:\n{told}")
            threading.Event().wait(0.01)
        raise RuntimeError(f"{command[0]} did not say {sign!r} in {PATIENCE:g} s:\n{told}")

    def stop(self) -> None:
        """End them all."""
        for process in self._running:
            process.terminate()
            process.wait()
