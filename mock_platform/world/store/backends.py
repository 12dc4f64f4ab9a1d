"""The table of what keeps worlds: what the setting `store` may name.

Several workers keep their own worlds in files. The first one has the file that the setting names,
as a single process would; the others have files beside it, `FILE.worker-2` and so on. So more
workers find all worlds; fewer do not, and are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from mock_platform.settings import Durability
from mock_platform.world.store.archive import Archive
from mock_platform.world.store.errors import StoreError

_FILES = "tinydb_archive"
"""The module of the stores that are files."""
_NUMBER = re.compile(r"\.worker-([0-9]+)", re.ASCII)
ENGINE = "redis_archive"
"""The module of the stores that processes share."""
BACKENDS: Mapping[str, str] = {
    "memory": "memory_archive",
    "tinydb:FILE": _FILES,
    "redis://HOST:PORT/N": ENGINE,
    "rediss://HOST:PORT/N": ENGINE,
    "unix:///PATH?db=N": ENGINE,
}
"""Modules by what the setting names: a scheme, or a scheme and a place. Each has a function
`open_archive(place, durability)`, and is loaded only if it is named."""


class BadStore(ValueError):
    """The setting `store` names no backend."""

    def __init__(self, text: str) -> None:
        hint = f" Did you mean 'tinydb:{text}'?" if text.endswith(".json") else ""
        shown = re.sub(r"//.*@", "//***@", text)  # it may be an address with a fault
        super().__init__(f"{shown!r} is no store: {', or '.join(BACKENDS)}.{hint}")


class NeedsEngine(ValueError):
    """A setting has a meaning only for a store that processes share."""

    def __init__(self, option: str, store: str) -> None:
        super().__init__(
            f"{option} needs a store that processes share, such as --store "
            f"redis://127.0.0.1:6379/0; with {store.partition(':')[0]} it has no effect."
        )


def find_backend(store: str) -> tuple[str, str]:
    """Return the module that a setting names, and the place; nothing is opened.

    Raises:
        BadStore: It names no backend.
    """
    scheme, colon, place = store.partition(":")
    for form, module in BACKENDS.items():
        known, takes_place, example = form.partition(":")
        if scheme != known:
            continue
        if example.startswith("//"):  # an address, which is used whole
            if place.startswith("//") and len(place) > len("//"):
                return module, store
        elif colon == takes_place and bool(place) == bool(takes_place):
            return module, place
    raise BadStore(store)


def open_archive(store: str, durability: Durability) -> Archive:
    """Return the archive that a setting names.

    Raises:
        BadStore: It names no backend.
        StoreError: The archive is in use, damaged, not ours, or cannot be opened.
    """
    name, place = find_backend(store)
    try:
        module = import_module(f"{__package__}.{name}")
    except ModuleNotFoundError as error:
        if error.name == "redis":
            raise StoreError(
                "A store on Redis or Valkey needs the client library: pip install "
                "'mock-platform[redis]'."
            ) from error
        if error.name != "fcntl":
            raise
        raise StoreError(
            f"{place} cannot be kept: this system has no POSIX file locks, which keep a second "
            "server out of the file. Serve with --store memory, or on Linux or macOS."
        ) from error
    archive: Archive = module.open_archive(place, durability)
    return archive


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
