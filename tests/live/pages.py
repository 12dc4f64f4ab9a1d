"""Pages of the documentation as their readers use them: every code block is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import groupby
from pathlib import Path

from tests.commands import environment, finished
from tests.prepared_commands import is_ours

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(
    r"`([\w./-]+\.(?:yaml|json|baseline))`(?:(?!\n\n).)*:\n\n```(?:yaml|json|text)\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LEFT_OUT = "…"
_BASH = ("bash", "-euo", "pipefail", "-c")
_OURS = str(Path(sys.executable).parent)


class Page:
    """A page of Markdown, or one section of it, by its path in the project."""

    def __init__(self, path: str, section: str | None = None) -> None:
        self.file = ROOT / path
        self.text = self.file.read_text("utf-8")
        if section is not None:
            _, _, rest = self.text.partition(f"\n## {section}\n")
            self.text = rest.partition("\n## ")[0]

    @property
    def languages(self) -> set[str]:
        """The languages of its code blocks."""
        return {name for name, _ in _BLOCK.findall(self.text)}

    def blocks(self, language: str) -> list[str]:
        """The code blocks of one language, in order."""
        return [text for name, text in _BLOCK.findall(self.text) if name == language]

    def files(self) -> dict[str, str]:
        """The blocks that are files, by name.

        Such a Python block begins with a comment that names it; before others a sentence does.
        """
        files = dict(_NAMED.findall(self.text))
        for block in self.blocks("python"):
            named = re.match(r"# (\w+\.py)\n", block)
            if named is not None:
                assert named[1] not in files, f"{named[1]} stands there twice"
                files[named[1]] = block
        return files

    def programs(self) -> list[str]:
        """The Python blocks that are no files: programs, to be run by themselves."""
        files = self.files().values()
        return [block for block in self.blocks("python") if block not in files]

    def runs(self) -> list[tuple[str, list[list[str]]]]:
        """Commands that are shown with output, and the parts of it between lines left out."""
        found = []
        for block in self.blocks("console"):
            command, *output = block.splitlines()
            groups = groupby(output, lambda line: line == _LEFT_OUT)
            shown = [list(lines) for left_out, lines in groups if not left_out]
            if shown:
                found.append((command.removeprefix("$ "), shown))
        return found

    def dead_links(self) -> list[str]:
        """Links to files that are not there, and to headings that no page has."""
        dead = []
        for link in re.findall(r"\]\(([^):]+)\)", self.text):
            path, _, heading = link.partition("#")
            file = self.file.parent / path if path else self.file
            if not file.exists() or (heading and heading not in _anchors(file)):
                dead.append(link)
        return dead


def run_bash(
    script: str, folder: Path | None = None, **env: str
) -> subprocess.CompletedProcess[str]:
    """A script that ends with its first command that fails; our commands are on its path."""
    path = os.pathsep.join([*filter(is_ours, _path()), _OURS, *_others()])
    return _ended([*_BASH, script], folder, PATH=path, **env)


def run_bash_of_a_stranger(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Such a script in a shell that does not know our commands."""
    return _ended([*_BASH, script], folder, PATH=os.pathsep.join(_others()))


def _path() -> list[str]:
    return os.environ["PATH"].split(os.pathsep)


def _others() -> list[str]:
    """The path of this process, without the folders of our commands."""
    return [entry for entry in _path() if not is_ours(entry)]


def _ended(command: list[str], folder: Path | None, **env: str) -> subprocess.CompletedProcess[str]:
    return finished(command, cwd=folder, env=environment(**env))


def _anchors(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
