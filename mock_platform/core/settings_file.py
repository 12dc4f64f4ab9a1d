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
_HEADER = re.compile(r"\s*\[([\w.-]+)\]")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class BadSettingsFile(ValueError):
    """A file that cannot be used; the text has its name, the line and what is allowed."""


class SettingsFile(Struct, frozen=True):
    """The tables of a file, and its lines, which messages name.

    >>> file = SettingsFile(Path("a.toml"), "[run]" + chr(10) + "seeds = 1", {"run": {"seeds": 1}})
    >>> list(file.list_faults("run", ["seed"]))
    ["a.toml:2:1: [run] has no option 'seeds'. Did you mean 'seed'?"]
    """

    path: Path
    text: str
    tables: Mapping[str, Mapping[str, Any]]

    def describe(self, table: str, key: str, fault: str) -> str:
        """Return a message with the file, and line and column of a key."""
        line, column = self._locate(table, key)
        return f"{self.path}:{line}:{column}: {fault}"

    def list_faults(self, table: str, known: Collection[str]) -> Iterator[str]:
        """Yield a message for each key of a table that is no option."""
        for key in self.tables.get(table, {}):
            if key not in known:
                hint = did_you_mean(key, known)
                yield self.describe(table, key, f"[{table}] has no option {key!r}.{hint}")

    def _locate(self, table: str, key: str) -> tuple[int, int]:
        current = ""
        for number, line in enumerate(self.text.splitlines(), 1):
            header = _HEADER.match(line)
            current = current if header is None else header[1]
            if current == table and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", line):
                return number, _count_indent(line) + 1
            if current == f"{table}.{key}":
                return number, _count_indent(line) + 1
        return 1, 1


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
    except tomllib.TOMLDecodeError as fault:
        said = str(fault)
        place = _PLACE.search(said)
        line, column = (place[1], place[2]) if place and place[1] else (_count_lines(text), 1)
        words = said if place is None else said[: place.start()]
        hint = "; each line is KEY = VALUE below a table such as [serve]" if "'='" in said else ""
        raise BadSettingsFile(f"{path}:{line}:{column}: {words}{hint}.") from fault
    except (OSError, ValueError) as fault:
        raise BadSettingsFile(f"{path}:1:1: {fault}.") from fault
    for name, table in found.items():
        if name not in TABLES or not isinstance(table, dict):
            line, column = _locate_name(text, name)
            text = _explain_name(name, table)
            raise BadSettingsFile(f"{path}:{line}:{column}: {text}")
    return SettingsFile(path, text, found)


def _explain_name(name: str, value: Any) -> str:
    """Return what is wrong with a name at the top of a file."""
    allowed = ", ".join(f"[{each}]" for each in TABLES)
    if name in TABLES:
        return f"{name!r} is a table, written once as [{name}]."
    if isinstance(value, dict):
        return f"{name!r} is no table of this file; it has {allowed}.{did_you_mean(name, TABLES)}"
    return f"{name!r} is outside of a table; write it below one of {allowed}."


def _locate_name(text: str, name: str) -> tuple[int, int]:
    """Return line and column, from 1, of a table or a key at the top of a file."""
    for number, line in enumerate(text.splitlines(), 1):
        if name in line.partition("=")[0].partition("#")[0]:
            return number, _count_indent(line) + 1
    return 1, 1


def _count_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _count_lines(text: str) -> int:
    return max(len(text.splitlines()), 1)


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
