"""`mock-platform.toml`: options in a file, which is found in the current folder or above it.

It has a table for each of its readers, `serve`, `run` and `pytest`, with the names of the options.
The command line wins over environment variables, and these win over the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from mock_platform.core.errors import BadDocument, Complaint, did_you_mean

if TYPE_CHECKING:
    from mock_platform.core.documents.source import Source

FILE_NAME = "mock-platform.toml"
TABLES = ("serve", "run", "pytest")


class BadSettingsFile(BadDocument):
    """A file of options that cannot be used."""


class SettingsFile(Struct, frozen=True):
    """The tables of a file, with the places that messages name."""

    source: Source

    @property
    def folder(self) -> Path:
        """The folder in which its paths begin."""
        return self.source.file.parent

    def read_table(self, name: str) -> Mapping[str, Any]:
        """Return the options in a table; none if it is not there."""
        found: Mapping[str, Any] = self.source.data.get(name, {})
        return found

    def complain(self, table: str, key: str, text: str) -> Complaint:
        """Return a complaint about an option of a table."""
        return Complaint(self.source.file, *self.source.locate((table, key)), "", text)

    def list_faults(self, table: str, known: Collection[str]) -> Iterator[Complaint]:
        """Yield a complaint for each key of a table that is no option."""
        for key in self.read_table(table):
            if key not in known:
                hint = did_you_mean(key, known)
                yield self.complain(table, key, f"[{table}] has no option {key!r}.{hint}")


def find_settings_file(folder: Path) -> Path | None:
    """Return the nearest file, in a folder or above it."""
    places = (place / FILE_NAME for place in (folder, *folder.parents))
    return next((file for file in places if file.is_file()), None)


def read_settings_file(path: Path) -> SettingsFile:
    """Read a file.

    Raises:
        BadSettingsFile: It is not TOML, or has other tables than those of `TABLES`.
    """
    # Most commands find no such file.
    from mock_platform.core.documents.source import DocumentKind, Malformed, read_file

    try:
        source = read_file(path, DocumentKind("file of options"))
    except Malformed as fault:
        raise BadSettingsFile([fault.complain(path)]) from fault
    faults = [
        Complaint(path, *source.locate((name,)), "", _explain_name(name, table))
        for name, table in source.data.items()
        if name not in TABLES or not isinstance(table, dict)
    ]
    if faults:
        raise BadSettingsFile(faults)
    return SettingsFile(source)


def _explain_name(name: str, value: Any) -> str:
    """Return what is wrong with a name at the top of a file."""
    allowed = ", ".join(f"[{each}]" for each in TABLES)
    if name in TABLES:
        return f"{name!r} is a table, written once as [{name}]."
    if isinstance(value, dict):
        return f"{name!r} is no table of this file; it has {allowed}.{did_you_mean(name, TABLES)}"
    return f"{name!r} is outside of a table; write it below one of {allowed}."


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
        raise BadSettingsFile(faults)
    words = []
    for key, given in file.read_table(table).items():
        for value in given if isinstance(given, list) else [given]:
            if value is True:
                words.append(f"--{key}")
            elif value is not False:
                words.append(f"--{key}={value}")
    return words
