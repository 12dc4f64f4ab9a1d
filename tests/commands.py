"""Commands in processes of their own, which tests run to their end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Any, cast

from tests.waits import PATIENCE

FEW_PLUGINS = "-p no:schemathesis -p no:pact -p no:hypothesispytest -p no:anyio"
"""Options for each pytest that a test runs: loading these plugins takes longer than most runs."""


def environment(**more: str) -> dict[str, str]:
    """The environment of a command, without settings of the machine."""
    kept = {key: text for key, text in os.environ.items() if not key.startswith("MOCK_PLATFORM_")}
    return {**kept, **more}


def finished(
    command: Sequence[Any],
    *,
    check: bool = False,
    timeout: float | None = PATIENCE,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """A command that ended by itself, with what it wrote; without `check` its status may be any."""
    return subprocess.run(
        command, capture_output=True, text=True, check=check, timeout=timeout, **options
    )


def check_program(code: str) -> None:
    """Run a program of Python, which must succeed and complain of nothing."""
    ended = python("-c", code)

    assert (0, "") == (ended.returncode, ended.stderr)


def python(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """A program of Python that ended by itself."""
    return finished([sys.executable, *words], **options)


_COPYING = """
import json, os, sys, traceback
exec(sys.argv[1])
for line in sys.stdin:
    read, write = os.pipe()
    if not (copy := os.fork()):
        os.dup2(write, 2)
        try:
            exec(json.loads(line))
        except BaseException:
            traceback.print_exc()
        sys.stderr.flush()
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as complaints:
        print(json.dumps(complaints.read()), flush=True)
    os.waitpid(copy, 0)
"""


class PreparedPython:
    """A Python in which a program has run; each that follows begins in a copy of it."""

    def __init__(self, program: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COPYING, program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def check(self, program: str) -> None:
        """Run a program in a copy, which must succeed and complain of nothing."""
        asked, answered = (cast("IO[str]", self._process.stdin), self._process.stdout)
        print(json.dumps(program), file=asked, flush=True)
        assert json.loads(cast("IO[str]", answered).readline()) == ""

    def close(self) -> None:
        """End it."""
        self._process.communicate()
