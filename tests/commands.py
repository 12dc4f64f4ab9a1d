"""Commands in processes of their own, which tests run to their end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

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
