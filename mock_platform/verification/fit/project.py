"""Walks through the folder of a project, and reads its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from mock_platform.verification.fit.javascript import read_javascript
from mock_platform.verification.fit.python import read_python
from mock_platform.verification.fit.source import LIMIT_BYTES, Source, Unreadable

_READERS = {
    ".py": read_python,
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), read_javascript),
}
_SKIPPED = frozenset(
    "bower_components venv env site-packages __pycache__ build vendor".split()
)
_MOST_FILES = 20_000


class Fault(Struct, frozen=True):
    """A file that could not be read."""

    file: str
    line: int
    text: str


def list_files(root: Path) -> Iterator[Path]:
    """Yield the files of a project that may be read; links are not followed."""
    if root.is_file():
        yield root
        return
    for folder, names, found in os.walk(root):
        names[:] = sorted(
            name for name in names
            if name not in _SKIPPED and not name.startswith(".")
            and not Path(folder, name, "pyvenv.cfg").exists()
        )  # fmt: skip
        for name in sorted(found):
            file = Path(folder, name)
            if file.suffix in {*_READERS, ".har"} and not file.is_symlink() and file.is_file():
                yield file


def read_file(file: Path, path: str) -> Source | None:
    if ".min." in file.name or file.name.endswith(".d.ts"):
        return None
    try:
        if file.stat().st_size > LIMIT_BYTES:
            raise Unreadable(1, f"larger than {LIMIT_BYTES // 1024**2} MB")
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise Unreadable(1, f"cannot be read: {fault}") from fault
    return _READERS[file.suffix](path, text)
