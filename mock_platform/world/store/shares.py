"""The files of several workers, each of which keeps its own worlds.

The first worker has the file that the setting names, as a single process would; the others have
files beside it, `FILE.worker-2` and so on. So more workers find all worlds; fewer do not, and are
refused.
"""

from __future__ import annotations

import re
from pathlib import Path

from mock_platform.world.store.backends import find_backend
from mock_platform.world.store.errors import StoreError

_FILES = "tinydb_archive"
_NUMBER = re.compile(r"\.worker-([0-9]+)", re.ASCII)


def name_share(store: str, worker: int) -> str:
    """Return the setting of one worker, counted from 0, for the setting of all."""
    return f"{store}.worker-{worker + 1}" if worker and _is_file(store) else store


def check_shares(store: str, workers: int) -> None:
    """Check that no file of an earlier start would be left out.

    Files that another server uses are not checked: opening them is refused for that reason.

    Raises:
        BadStore: The setting does not name a store.
        StoreError: There are files of more workers.
    """
    if not _is_file(store):
        return
    path = Path(find_backend(store)[1])
    found = {
        int(number[1])
        for each in path.parent.glob(f"{path.name}.worker-*")
        if (number := _NUMBER.match(each.name, len(path.name))) is not None
    }
    if max(found, default=0) > workers:
        from mock_platform.world.store.files import is_in_use  # POSIX only, and rarely needed

        if is_in_use(path):
            return
        most = max(found)
        raise StoreError(
            f"{path}.worker-{most} has worlds of an earlier start with {most} workers, and only "
            f"{workers} would be started, so they would be missing. Start with --workers {most} "
            f"or more; or, if they are not needed, move away the files {path.name}.worker-* with "
            f"numbers above {workers}."
        )


def _is_file(store: str) -> bool:
    return find_backend(store)[0] == _FILES
