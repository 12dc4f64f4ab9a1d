"""`mock-platform` as a command of a moment: it runs in a fork of a process that has loaded it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.commands import environment
from tests.waits import PATIENCE

_HERE = Path(__file__).parent
_NAME = "mock-platform"


def is_ours(folder: str | Path) -> bool:
    """Whether a folder of the path has our command."""
    return (Path(folder) / _NAME).exists()


class PreparedCommands:
    """A folder with the command, which works as long as this is open.

    Without it a command takes most of its time to load the sandbox. Here too each is a process of
    its own, with its words, folder, variables, files and signals. Who pauses the command that was
    started pauses the program that waits for it alone; who kills it kills both.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        place = folder / "place"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forking", place],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_HERE.parent, env=environment(),
        )  # fmt: skip
        assert self._process.stdout is not None
        assert self._process.stdout.readline()
        text = (_HERE / "asking.py").read_text("utf-8").replace('"PLACE"', repr(str(place)))
        self.command = folder / _NAME
        self.command.write_text(f"#!{sys.executable} -IS\n{text}", "utf-8")
        self.command.chmod(0o755)

    def make_environment(self, folder: Path) -> None:
        """Make a folder that is like the environment of this Python, but has this command."""
        programs = Path(sys.executable).parent
        (folder / programs.name).mkdir(parents=True)
        for file in (self.command, *programs.iterdir()):
            link = folder / programs.name / file.name
            if not link.is_symlink():
                link.symlink_to(file)
        for file in programs.parent.iterdir():
            if file != programs:
                (folder / file.name).symlink_to(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=PATIENCE)
