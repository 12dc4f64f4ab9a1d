"""Reads a project: walks through its folder, and collects what its files and archives send."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from mock_platform.core.installed import MissingExtra
from mock_platform.platform import Platform
from mock_platform.settings import Settings
from mock_platform.verification.fit.calls import Finder, ProjectCall
from mock_platform.verification.fit.clients import read_clients
from mock_platform.verification.fit.javascript import read_javascript
from mock_platform.verification.fit.python import read_python
from mock_platform.verification.fit.source import SourceFile, UnreadableSource
from mock_platform.verification.fit.verdicts import Judge
from mock_platform.verification.har.exchange import BadHar
from mock_platform.verification.har.reader import read_har

MAX_FILE_BYTES = 2 * 1024**2
MAX_FILES = 20_000
_READERS = {
    ".py": read_python,
    **dict.fromkeys(
        (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), read_javascript
    ),
}
_HAR = ".har"
_SKIPPED = frozenset(
    ["node_modules", "bower_components", "venv", "env", "site-packages", "__pycache__", "dist",
     "build"]
)  # fmt: skip
_VARIABLE = re.compile(
    r"(?:environ(?:\.get)?\s*[\[(]\s*|getenv\(\s*|process\.env(?:\.|\[\s*))[\"']?([A-Z][A-Z0-9_]{2,60})"
)


class UnreadFile(Struct, frozen=True):
    """A file, or a folder, that was not read, and why."""

    file: str
    line: int
    text: str


class ProjectReading(Struct, frozen=True):
    """What was found in a project."""

    found: list[ProjectCall]
    faults: list[UnreadFile]
    files: int
    libraries: tuple[str, ...]
    """The client libraries that are imported, and `python` or `javascript` for each language."""
    variables: tuple[str, ...]
    """The variables of the environment that are read."""
    elsewhere: list[tuple[str, int]]
    """Calls of HTTP whose address is not known, in files that do not name the platform."""


def read_project(root: Path) -> ProjectReading:
    """Return what a folder or a file sends to the platform. Nothing of it is run.

    Raises:
        MissingExtra: All files need a library that is not installed.
    """
    judge, clients = Judge(Platform(Settings(default_fixtures=False))), read_clients()
    sources: list[SourceFile] = []
    faults: list[UnreadFile] = []
    recorded: list[ProjectCall] = []
    variables: dict[str, None] = {}
    missing: MissingExtra | None = None
    count = 0
    for file in list_files(root):
        path = file.relative_to(root).as_posix() if root.is_dir() else file.name
        if count == MAX_FILES:
            faults.append(
                UnreadFile(path, 1, f"this file and all after it: more than {MAX_FILES:,}")
            )
            break
        count += 1
        try:
            if file.suffix == _HAR:
                recorded += _read_archive(file, path, judge)
            else:
                text = _read_text(file)
                sources.append(_READERS[file.suffix](path, text))
                variables |= dict.fromkeys(_VARIABLE.findall(text))
                if line := sources[-1].unclear:
                    faults.append(UnreadFile(path, line, "this part is no valid syntax"))
        except MissingExtra as fault:
            if missing is None:
                faults.append(UnreadFile(path, 1, f"this file and all of its kind: {fault}"))
            missing = fault
        except UnreadableSource as fault:
            faults.append(UnreadFile(path, fault.line, str(fault)))
        except BadHar as fault:
            faults.append(UnreadFile(path, fault.place.line, str(fault)))
    if missing is not None and not sources and not recorded:
        raise missing
    finder = Finder(sources, judge, clients)
    found = [*finder.find(), *recorded]
    languages = {source.language for source in sources}
    return ProjectReading(
        found,
        faults,
        count,
        tuple(sorted({*languages, *clients.list_imported(sources)})),
        tuple(variables),
        sorted(set(finder.elsewhere)),
    )


def list_files(root: Path) -> Iterator[Path]:
    """Yield the files of a project that may be read; links are not followed."""
    if root.is_file():
        if root.suffix in {*_READERS, _HAR}:
            yield root
        return
    for folder, names, files in os.walk(root):
        names[:] = sorted(
            name for name in names
            if name not in _SKIPPED and not name.startswith(".")
            and not Path(folder, name, "pyvenv.cfg").exists()
        )  # fmt: skip
        for name in sorted(files):
            file = Path(folder, name)
            is_source = file.suffix in {*_READERS, _HAR} and not name.endswith((".min.js", ".d.ts"))
            if is_source and not file.is_symlink() and file.is_file():
                yield file


def _read_text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise UnreadableSource(1, f"larger than {MAX_FILE_BYTES // 1024**2} MB")
        return file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise UnreadableSource(1, f"cannot be read as text: {fault}") from fault


def _read_archive(file: Path, path: str, judge: Judge) -> Iterator[ProjectCall]:
    """Yield each operation of an archive once, and each request that none answers."""
    seen: set[tuple[str, str]] = set()
    try:
        for exchange in read_har(file):
            sent = exchange.request
            verdict = judge.judge(sent.method, sent.url.replace("{", "%7B"))
            if verdict is None:
                continue
            key = (sent.method, verdict.operation or verdict.path)
            if key not in seen:
                seen.add(key)
                yield ProjectCall(path, exchange.place.line, sent.method, verdict)
    except OSError as fault:
        raise UnreadableSource(1, f"cannot be read: {fault}") from fault
