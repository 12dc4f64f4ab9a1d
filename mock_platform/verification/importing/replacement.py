"""A folder that appears, or takes the place of another, only when all of it is written."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
