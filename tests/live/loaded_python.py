"""Programs of Python in processes that have loaded the sandbox already."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.commands import environment
from tests.waits import PATIENCE

_PROGRAM = Path(__file__).parent / "programs" / "one_after_the_other.py"


class LoadedPython:
    """A process that runs programs in forks of itself; their warnings are errors."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-W", "error", _PROGRAM],
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

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=PATIENCE)
