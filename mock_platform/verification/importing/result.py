"""What an import leaves: a folder that appears only when all of it is written, and a report."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mock_platform.settings import NamesMode

_NEW, _BEFORE = "new", "before"


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to write to; it is at `folder` if the block ends well, else nothing changes.

    Raises:
        OSError: A folder cannot be made or replaced.
    """
    work = Path(tempfile.mkdtemp(prefix=_find_prefix(folder), dir=folder.parent))
    held = _hold(work)
    try:
        made = work / _NEW
        made.mkdir(mode=0o700)
        yield made
        # Each rename is all or nothing, so a kill leaves no half of a folder at this place. Between
        # the two nothing is there; the next import puts back what was.
        if folder.exists():
            folder.rename(work / _BEFORE)
        try:
            made.rename(folder)
        except OSError:
            _put_back(work, folder)
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if held is not None:
            os.close(held)


def _find_prefix(folder: Path) -> str:
    return f".{folder.name}.import-"


def remove_leftovers(folder: Path, say: Callable[[str], object]) -> None:
    """Remove what killed imports left beside a folder, and put back what they moved away.

    `say` gets a line for each. Running imports hold their folders, which stay.

    Raises:
        OSError: A folder cannot be made or removed.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":  # nothing shows whether another one is still being written
        return
    prefix = _find_prefix(folder)
    for each in [each for each in folder.parent.iterdir() if each.name.startswith(prefix)]:
        if each.is_symlink() or not each.is_dir() or each.stat().st_uid != os.geteuid():
            continue
        held = _hold(each)
        if held is None:
            continue
        try:
            if _put_back(each, folder):
                say(f"An import was ended while it replaced {folder}: what was there is back.")
            shutil.rmtree(each)
            say(f"Removed {each}, which an import that was ended left.")
        finally:
            os.close(held)


def _put_back(work: Path, folder: Path) -> bool:
    """Put back what was moved away from a folder's place; return whether that was needed."""
    if folder.exists() or not (work / _BEFORE).exists():
        return False
    (work / _BEFORE).rename(folder)
    return True


def _hold(work: Path) -> int | None:
    """Return what keeps other imports from a folder until it is closed; `None` if one has it."""
    if sys.platform == "win32":
        return None
    import fcntl

    opened = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with suppress(BlockingIOError):
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return opened
    os.close(opened)
    return None


# What became of an archive, for people and for programs.


class ImportReport(Struct):
    """What became of an archive. `notes` says what did not become anything, or not all, and why."""

    folder: Path
    exchanges: int = 0
    records: dict[str, int] = field(default_factory=dict)
    rules: int = 0
    failures: list[str] = field(default_factory=list)
    answered: int = 0
    """Requests that a sandbox with the folder answers as recorded."""
    with_secrets: int = 0
    """Those of them whose secrets the sandbox makes itself."""
    started: datetime | None = None
    names: NamesMode = "neutral"
    """The names that the recorded service used."""
    ids: dict[str, str] = field(default_factory=dict)
    """The new id for each old one, if ids were mapped."""
    replaced: int = 0
    """Values of persons that became made up, and of which nothing is left."""
    scenarios: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def command(self) -> str:
        """The command that serves the folder."""
        words = ["--no-default-fixtures", "--fixtures", str(self.folder)]
        for name in self.scenarios:
            words += ["--scenario", str(self.folder / name)]
        if self.started:
            words += ["--freeze", f"{self.started:%Y-%m-%dT%H:%M:%SZ}"]
        if self.names == "original":
            words += ["--names", "original"]
        return shlex.join(["mock-platform", "serve", *words])


def describe(report: ImportReport) -> Iterator[str]:
    """Yield the lines that say what was made, and what was not."""
    made = ", ".join(f"{name} {count}" for name, count in sorted(report.records.items()))
    yield f"{report.exchanges:,} exchanges read from the archive."
    if report.names == "original":
        yield "The recording has original names; the records have neutral ones."
    yield f"Records: {made or 'no'}."
    if report.ids:
        yield f"Ids that were replaced by fresh ones: {len(report.ids):,}."
    if report.replaced:
        yield (
            f"Values of persons that were replaced by made-up ones: {report.replaced:,}. None of "
            "them is in the folder."
        )
    yield f"Rules for exactly the recorded requests: {report.rules:,}."
    yield f"Scenarios with a failure: {len(report.failures):,}."
    yield f"Requests that the folder answers as recorded: {report.answered:,}."
    if report.with_secrets:
        yield f"In {report.with_secrets:,} of the answers, secrets are the sandbox's own."
    yield f"Serve it: {report.command}"
    if report.notes:
        yield f"Not everything became part of the folder ({len(report.notes):,}):"
        yield from (f"  {note}" for note in report.notes)


def report_as_json(report: ImportReport) -> dict[str, Any]:
    """Return the report for programs."""
    return {
        "folder": str(report.folder),
        "exchanges": report.exchanges,
        "names": report.names,
        "records": report.records,
        "ids": report.ids,
        "replaced": report.replaced,
        "rules": report.rules,
        "failures": report.failures,
        "answered": report.answered,
        "with_secrets": report.with_secrets,
        "serve": report.command,
        "notes": report.notes,
    }
