"""Pastes commands into shells in which `curl` only notes how it was called."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

SHELLS = [each for each in ("sh", "bash", "dash") if shutil.which(each)]
_PRINTING = """#!/bin/sh
for each in "$@"; do printf '%s\\0' "$each"; done > argv
cat > body
"""
"""Stands for curl: it says with which words it was called, and what it read."""


class Shell(Struct):
    """A folder in which commands run, with a `curl` that only notes how it was called."""

    folder: Path
    program: str

    def paste(self, command: str, **variables: str) -> tuple[list[str], str]:
        """Run a command; returns the words that curl got, and what it read."""
        self._run("-c", command, **variables)
        assert {each.name for each in self.folder.iterdir()} == {"bin", "argv", "body"}, command
        return _read(self.folder)

    def paste_all(self, commands: Sequence[str]) -> list[tuple[list[str], str]]:
        """Run commands in one shell, each in a folder of its own; returns the same of each."""
        places = [self.folder / f"{number}" for number, _ in enumerate(commands)]
        for place in places:
            place.mkdir()
        lines = [
            f"cd '{place}'\n{command}\n" for place, command in zip(places, commands, strict=True)
        ]
        script = self.folder / "script"
        script.write_text("".join(lines), "utf-8")
        self._run(str(script))
        assert {*self.folder.iterdir()} == {self.folder / "bin", script, *places}
        for place, command in zip(places, commands, strict=True):
            assert {each.name for each in place.iterdir()} == {"argv", "body"}, command
        return [_read(place) for place in places]

    def _run(self, *words: str, **variables: str) -> None:
        ended = subprocess.run(
            [self.program, *words],
            cwd=self.folder,
            capture_output=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", **variables},
        )
        assert (ended.returncode, ended.stderr) == (0, b""), words


def _read(folder: Path) -> tuple[list[str], str]:
    words = (folder / "argv").read_bytes().decode("utf-8", "surrogatepass").split("\0")
    return words[:-1], (folder / "body").read_bytes().decode("utf-8", "surrogatepass")


@contextmanager
def open_shell(program: str = "sh") -> Iterator[Shell]:
    """A shell in a folder of its own."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        curl = folder / "bin" / "curl"
        curl.parent.mkdir()
        curl.write_text(_PRINTING)
        curl.chmod(curl.stat().st_mode | stat.S_IXUSR)
        yield Shell(folder, program)


def read_words(words: list[str], piped: str) -> tuple[str, str, list[str], str | None]:
    """What curl would send for these words: method, address, headers, body."""
    method, headers, body, url, left = "GET", [], None, "", list(words)
    globs = not {"--globoff"} & set(words)
    while left:
        word = left.pop(0)
        if word == "-X":
            method = left.pop(0)
        elif word == "--head":
            method = "HEAD"
        elif word == "-H":
            header = left.pop(0)
            assert not header.startswith("@"), "curl reads a file"
            if header != "Content-Type:":
                headers.append(header.removesuffix(";") + ":" if header.endswith(";") else header)
        elif word == "--data-raw":
            body = left.pop(0)
        elif word == "--data-binary":
            assert left.pop(0) == "@-"
            body = piped
        elif not word.startswith("-"):
            assert not url, "a second address"
            url = word
    assert not (globs and set("[]{}") & set(url)), "curl sends many requests"
    return method, url, headers, body
