"""The table of what keeps worlds: what the setting `store` may name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module

from mock_platform.settings import Durability
from mock_platform.world.store.archive import Archive
from mock_platform.world.store.errors import StoreError

ENGINE = "redis_archive"
"""The module of the stores that processes share."""
BACKENDS: Mapping[str, str] = {
    "memory": "memory_archive",
    "tinydb:FILE": "tinydb_archive",
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
