from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.commands import finished

ROOT = Path(__file__).parents[1]


def make(*args: str) -> subprocess.CompletedProcess[str]:
    """`make` in the checkout, without settings of the machine or of a `make` that runs this."""
    settings = ("MAKE", "PYTHON", "ARGS", "JOBS", "VENV")
    env = {key: text for key, text in os.environ.items() if not key.startswith(settings)}
    return finished(["make", "--no-print-directory", *args], cwd=ROOT, env=env)


def program(path: Path, text: str) -> Path:
    """A shell script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def installed(folder: Path) -> None:
    """Leave the stamps that say that everything is installed, younger than any change."""
    for name in (".created", ".runtime", ".dev"):
        (folder / name).touch()
        os.utime(folder / name, (2**31, 2**31))


def test_help_names_every_target() -> None:
    """`make` alone lists the targets."""
    makefile = (ROOT / "Makefile").read_text()
    found = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert found is not None

    told = make().stdout

    missing = [name for name in found[1].split() if name != "help" and f"make {name}" not in told]
    assert missing == []


def test_serve_adds_nothing_to_standard_output(tmp_path: Path) -> None:
    """The READY line is the first line that `make serve` prints, options reach the command."""
    program(tmp_path / "bin" / "mock-platform", 'echo "READY $*"')
    installed(tmp_path)

    done = make("serve", f"VENV={tmp_path}", "ARGS=--port 0 --strict")

    assert (0, "READY serve --port 0 --strict\n") == (done.returncode, done.stdout)


def test_test_uses_three_processes(tmp_path: Path) -> None:
    """One more than a small machine has cores, since many tests wait; others can be asked for."""
    program(tmp_path / "bin" / "python", 'echo "$*"')
    installed(tmp_path)

    usual = make("test", f"VENV={tmp_path}", "ARGS=-k replay")
    more = make("test", f"VENV={tmp_path}", "JOBS=4")

    assert usual.stdout == "-m pytest -n 3 --dist worksteal -k replay\n"
    assert more.stdout == "-m pytest -n 4 --dist worksteal\n"


@pytest.mark.parametrize(
    ("script", "hint"),
    [
        ("exit 1", "is older than 3.11. Say PYTHON="),
        ('case "$2" in *ensurepip*) exit 1;; esac', "apt-get install python3-venv"),
    ],
    ids=["too old", "no ensurepip"],
)
def test_an_unfit_python_is_told(tmp_path: Path, script: str, hint: str) -> None:
    """What is missing and what to do, instead of a traceback of the venv module."""
    python = program(tmp_path / "python", script)

    done = make("serve", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}")

    assert done.returncode != 0
    assert hint in done.stderr
    assert not (tmp_path / "venv").exists()


def test_without_any_python_it_says_so(tmp_path: Path) -> None:
    """A machine without Python learns what to install."""
    done = make("serve", "PYTHON=", f"VENV={tmp_path / 'venv'}")

    assert done.returncode != 0
    assert "No Python 3.11 or newer found" in done.stderr


def test_the_ci_script_is_sound() -> None:
    """It can be run, stops at the first failure, and is read by bash without complaint."""
    script = ROOT / ".ci" / "run"

    read = finished(["bash", "-n", script])

    assert (0, "") == (read.returncode, read.stderr)
    assert os.access(script, os.X_OK)
    assert "set -euo pipefail" in script.read_text()
