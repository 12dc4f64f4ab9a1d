"""Programs of Python in processes that have loaded already what takes longest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.commands import environment
from tests.waits import PATIENCE

_FORKING = """
import gc, json, os, signal, sys
made = {}
exec(sys.argv[1], made)
gc.freeze()  # collections of the forks would copy what they look at
for line in sys.stdin:
    asked = json.loads(line)
    forked = os.fork()
    if forked == 0:
        for number, name in ((1, asked["output"]), (2, asked["errors"])):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        signal.alarm(asked["patience"])
        os.chdir(asked["folder"])
        exec(compile(asked["program"], "program", "exec"), {**made, "__name__": "__main__"})
        break
    _, status = os.waitpid(forked, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


class PreparedPython:
    """A Python in which a program has run; those that follow run in forks of it, by themselves.

    They meet the names that the first one left, and nothing of one another. Warnings are errors.
    No thread of the first program may run on.
    """

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", _FORKING, program],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
        )  # fmt: skip

    def run(self, program: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """A program that ended, and what it wrote; its folder is empty before."""
        written = {name: folder / name for name in ("output", "errors")}
        asked = {"program": program, "folder": folder, "patience": int(PATIENCE), **written}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked, default=str) + "\n")
        self._process.stdin.flush()
        status = int(self._process.stdout.readline())
        output, errors = (file.read_text("utf-8") for file in written.values())
        return subprocess.CompletedProcess(program, status, output, errors)

    def check(self, program: str, folder: Path) -> None:
        """Run a program, which must succeed and complain of nothing."""
        done = self.run(program, folder)
        assert (0, "") == (done.returncode, done.stderr)

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=PATIENCE)
