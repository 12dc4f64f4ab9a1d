"""What the package prints about itself without building anything: operations and credentials.

`constants.json` is generated from the operations and the default fixtures. Loading and checking
those takes more than ten times as long as everything else that the commands do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec import Struct

from mock_platform.control.credential_texts import Credentials
from mock_platform.core.jsonio import loads

_PACKAGE = "mock_platform"


class KnownOperation(Struct, frozen=True):
    """An operation as it is printed."""

    id: str
    method: str
    path: str
    also: tuple[str, ...]
    """Other spellings of the path."""
    dialect: str
    listed: Mapping[str, Any]
    """What `GET /_mock/operations` answers, without the line of `code`."""
    code_line: str
    """The text of the line of its code; the number of the line changes more often."""
    code_count: int
    """The place of that line among the equal lines of the file, from 0."""

    @property
    def sandbox_only(self) -> bool:
        """Whether it exists on the sandbox address only."""
        return bool(self.listed["sandbox_only"])

    @property
    def file(self) -> Path:
        """The file with its code."""
        return Path(str(files(_PACKAGE))).parent / str(self.listed["code"])

    def find_line(self) -> int:
        """Returns the number of the line of its code; 1 if somebody changed the line."""
        lines = self.file.read_text("utf-8").splitlines()
        found = [at for at, line in enumerate(lines, 1) if line.strip() == self.code_line]
        return found[self.code_count] if self.code_count < len(found) else 1

    def as_json(self) -> dict[str, Any]:
        """Returns the operation in the form of `GET /_mock/operations`."""
        return {**self.listed, "code": f"{self.listed['code']}:{self.find_line()}"}

    def describe_place(self) -> str:
        """Returns file and line as a terminal can open them, relative to the working directory."""
        here = os.path.relpath(self.file)
        return f"{self.file if here.startswith('..') else here}:{self.find_line()}"


def read_operations() -> tuple[KnownOperation, ...]:
    """Returns all operations in the order of the table."""
    return tuple(
        KnownOperation(
            id=entry["listed"]["id"],
            method=entry["listed"]["method"],
            path=entry["listed"]["path"],
            also=tuple(entry["also"]),
            dialect=entry["dialect"],
            listed=entry["listed"],
            code_line=entry["code_line"],
            code_count=entry["code_count"],
        )
        for entry in _read()["operations"]
    )


def read_credentials() -> Credentials:
    """Returns the credentials of the default fixtures."""
    found: Credentials = _read()["credentials"]
    return found


def _read() -> dict[str, Any]:
    text = files(_PACKAGE).joinpath("cli", "constants.json").read_bytes()
    found: dict[str, Any] = loads(text)
    return found
