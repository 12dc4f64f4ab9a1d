"""`mock-platform.toml`: options in a file, which is found in the current folder or above it.

It has a table for each of its readers, `serve`, `run` and `pytest`, with the names of the options.
The command line wins over environment variables, and these win over the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from mock_platform.core.errors import did_you_mean

FILE_NAME = "mock-platform.toml"
TABLES = ("serve", "run", "pytest")
_HEADER = re.compile(r"\s*\[([\w-]+)\]")


class BadSettingsFile(ValueError):
    """A file that cannot be used; the text has its name, the line and what is allowed."""


class SettingsFile(Struct, frozen=True):
    """The tables of a file, and its lines, which messages name.

    >>> file = SettingsFile(Path("a.toml"), chr(10) + "[run]", {"run": {"seeds": 1}})
    >>> list(file.list_faults("run", ["seed"]))
    ["a.toml: [run] has no option 'seeds'. Did you mean 'seed'?"]
    """

    path: Path
    text: str
    tables: Mapping[str, Mapping[str, Any]]

    def describe(self, table: str, key: str, fault: str) -> str:
        """Return a message with the file and the line of a key."""
        line = self._find_line(table, key)
        return f"{self.path}{'' if line is None else f':{line}'}: {fault}"

    def list_faults(self, table: str, known: Collection[str]) -> Iterator[str]:
        """Yield a message for each key of a table that is no option."""
        for key in self.tables.get(table, {}):
            if key not in known:
                hint = did_you_mean(key, known)
                yield self.describe(table, key, f"[{table}] has no option {key!r}.{hint}")

    def _find_line(self, table: str, key: str) -> int | None:
        current = ""
        for number, line in enumerate(self.text.splitlines(), 1):
            header = _HEADER.match(line)
            current = current if header is None else header[1]
            if current == table and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
                return number
        return None


def find_settings_file(folder: Path) -> Path | None:
    """Return the nearest file, in a folder or above it."""
    places = (place / FILE_NAME for place in (folder, *folder.parents))
    return next((file for file in places if file.is_file()), None)


def read_settings_file(path: Path) -> SettingsFile:
    """Read a file.

    Raises:
        BadSettingsFile: It is not TOML, or has other tables than those of `TABLES`.
    """
    import tomllib  # most servers start without such a file

    try:
        text = path.read_text("utf-8")
        found = tomllib.loads(text)
    except (OSError, ValueError) as fault:
        raise BadSettingsFile(f"{path}: {fault}.") from fault
    for name, table in found.items():
        if name not in TABLES or not isinstance(table, dict):
            allowed = ", ".join(f"[{each}]" for each in TABLES)
            number = next(
                (
                    n
                    for n, line in enumerate(text.splitlines(), 1)
                    if name in line.partition("=")[0]
                ),
                1,
            )
            raise BadSettingsFile(
                f"{path}:{number}: {name!r} is no table of this file; it has {allowed}."
                f"{did_you_mean(name, TABLES)}"
            )
    return SettingsFile(path, text, found)


def read_arguments(folder: Path, table: str, known: Collection[str]) -> list[str]:
    """Return a table of the nearest file as words of a command line.

    Raises:
        BadSettingsFile: The file cannot be used, or the table has other keys than the known ones.
    """
    path = find_settings_file(folder)
    if path is None:
        return []
    file = read_settings_file(path)
    faults = list(file.list_faults(table, known))
    if faults:
        raise BadSettingsFile("\n".join(faults))
    words = []
    for key, given in file.tables.get(table, {}).items():
        for value in given if isinstance(given, list) else [given]:
            if value is True:
                words.append(f"--{key}")
            elif value is not False:
                words.append(f"--{key}={value}")
    return words
