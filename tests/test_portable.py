"""What a server needs of the system: nothing of POSIX, as long as it keeps no file."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from re._parser import SubPattern, parse  # type: ignore[import-not-found]
from typing import Any

import pytest

import mock_platform
from tests.commands import python

POSIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios", "tty")
"""Modules that Windows does not have."""

WITHOUT_POSIX = f"""
    import asyncio  # its Linux half needs fcntl, its Windows half does not
    import subprocess
    import sys

    for name in {POSIX_ONLY!r}:
        sys.modules[name] = None  # an import of it fails from now on
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a Python that has no modules of POSIX any more."""
    whole = textwrap.dedent(WITHOUT_POSIX) + textwrap.dedent(script)
    return python("-c", whole, *arguments)


@pytest.mark.live
def test_a_server_in_memory_needs_nothing_of_posix() -> None:
    """It answers over a socket, and loads neither file locks nor TinyDB."""
    done = run(
        """
        import requests
        from mock_platform import MockPlatform

        with MockPlatform.start() as platform:
            platform.world("w1").reset()
            answer = requests.get(f"{platform.base_url}/2/openapi.json", timeout=60)
            print(answer.status_code)
        print([name for name in sys.modules if name.partition(".")[0] == "tinydb"])
        print("mock_platform.world.store.files" in sys.modules)
        """
    )

    assert ("200\n[]\nFalse\n", "") == (done.stdout, done.stderr)


def test_no_module_needs_posix_unless_it_keeps_a_file() -> None:
    """Every module loads without it, except those behind the store's files."""
    done = run(
        """
        import importlib, pkgutil
        import mock_platform

        for found in pkgutil.walk_packages(mock_platform.__path__, "mock_platform."):
            if found.name != "mock_platform.__main__":
                try:
                    importlib.import_module(found.name)
                except ModuleNotFoundError as fault:
                    print(found.name, fault.name)
        """
    )

    assert {
        ("mock_platform.world.store.files", "fcntl"),
        ("mock_platform.world.store.files", "fcntl"),
        ("mock_platform.world.store.snapshot_file", "fcntl"),
        ("mock_platform.world.store.tinydb_archive", "fcntl"),
    } == {tuple(line.split()) for line in done.stdout.splitlines()}
    assert "" == done.stderr


def test_a_file_is_refused_without_posix(tmp_path: Path) -> None:
    """One sentence says what cannot be done and why, one more what to do."""
    done = run(
        """
        from mock_platform.cli import main

        main()
        """,
        "serve",
        "--port",
        "0",
        "--store",
        f"tinydb:{tmp_path / 'state.json'}",
    )

    assert 4 == done.returncode
    assert (
        f"{tmp_path / 'state.json'} cannot be kept: this system has no POSIX file locks, which "
        "keep a second server out of the file. Serve with --store memory, or on Linux or macOS."
    ) in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert [] == list(tmp_path.iterdir())


def test_running_a_command_is_refused_without_its_signal() -> None:
    """`run` waits for the end of a command in a way that Windows does not have."""
    done = run(
        """
        import signal
        from mock_platform.cli import main

        del signal.SIGCHLD
        main()
        """,
        "run",
        "--",
        sys.executable,
        "-c",
        "print('ran')",
    )

    assert (1, "") == (done.returncode, done.stdout)
    assert "Start `mock-platform serve` beside the command." in done.stderr


def test_no_pattern_has_possessive_groups() -> None:
    """Python before 3.11.5 matches possessive and atomic groups wrongly; characters are fine."""
    bad = []
    for found in pkgutil.walk_packages(mock_platform.__path__, "mock_platform."):
        if found.name != "mock_platform.__main__":
            for name, value in vars(importlib.import_module(found.name)).items():
                if isinstance(value, re.Pattern) and _has_possessive_group(
                    parse(value.pattern, value.flags & ~re.UNICODE & ~re.DEBUG)
                ):
                    bad.append(f"{found.name}: {name}")

    assert [] == bad


def _has_possessive_group(parsed: Iterable[Any]) -> bool:
    """Whether a parsed pattern repeats more than one character possessively."""
    for kind, value in parsed:
        if str(kind) == "ATOMIC_GROUP":
            return True
        if str(kind) == "POSSESSIVE_REPEAT":
            ((first, _), *more) = value[2]
            if more or str(first) not in {"LITERAL", "NOT_LITERAL", "IN", "ANY"}:
                return True
        inner = value if isinstance(value, tuple | list) else ()
        for each in inner:
            parts = each if isinstance(each, list) else [each]
            if any(isinstance(p, SubPattern) and _has_possessive_group(p) for p in parts):
                return True
    return False
