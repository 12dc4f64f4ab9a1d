"""Every kind of store that the contract suite runs on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mock_platform.settings import Durability
from mock_platform.world.store.archive import Archive, Meta
from mock_platform.world.store.interface import Change, Match, Record
from mock_platform.world.store.memory import Base, MemoryStore
from mock_platform.world.store.memory_archive import MemoryArchive
from mock_platform.world.store.tinydb_archive import TinyDBArchive
from mock_platform.world.world_store import WorldStore

Tables = dict[str, dict[str, Record]]


def fixtures() -> Tables:
    """A small base: enough for changes, removals and ties in every order."""
    return {
        "items": {
            "f1": {"id": "f1", "group": "a", "name": "Straße", "rank": 2},
            "f2": {"id": "f2", "group": "b", "name": "strand", "rank": None},
            "f3": {"id": "f3", "group": "a", "name": None, "rank": 1.5},
            "f4": {"id": "f4", "group": "a", "name": "Alpha"},
        },
        "things": {"t1": {"id": "t1", "group": "b", "name": "alpha", "rank": 0}},
    }


def item(key: str, **fields: Any) -> Record:
    """A record of table `items`."""
    return {"id": key, "group": "a", **fields}


def keys(
    store: MemoryStore, table: str = "items", match: Match | None = None, **how: Any
) -> list[str]:
    """The keys of a page."""
    return [entry.key for entry in store.page(table, match or {}, **how)]


def open_store(
    archive: Archive, base: Base, name: str = "default", meta: Callable[[], Meta] = dict
) -> WorldStore:
    """The store of a world that goes on, or begins, in an archive."""
    kept = archive.open(name, base)
    store = WorldStore(base, archive, name, meta, kept=kept)
    if kept is None:
        store.begin({})
    else:
        store.resume()
    return store


def crash(archive: Archive) -> None:
    """What a kill of the process leaves: files as they are, no last snapshot, no lock."""
    assert isinstance(archive, TinyDBArchive)
    archive._release()


def fail_with(code: int) -> Callable[..., Any]:
    """A call of the system that always fails."""

    def refuse(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    return refuse


class ReopeningStore:
    """Opens the files again after every operation, by turns after a clean close and a crash."""

    def __init__(self, base: Base, path: Path) -> None:
        self._base = base
        self._path = path
        self._turn = 0
        self._depth = 0
        self._open()

    def _open(self) -> None:
        self.archive = TinyDBArchive(self._path, "log")
        self._store = open_store(self.archive, self._base)

    def _reopen(self) -> None:
        if self._depth:
            return
        self._turn += 1
        if self._turn % 2:
            crash(self.archive)
        else:
            self.archive.close()
        self._open()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in {"put", "remove", "restore", "clear", "adopt"}:
            return method

        def call(*args: Any) -> Any:
            try:
                return method(*args)
            finally:
                self._reopen()

        return call

    @contextmanager
    def transaction(self) -> Iterator[list[Change]]:
        """As every store's; the files are opened again after the outermost one."""
        self._depth += 1
        try:
            with self._store.transaction() as changes:
                yield changes
        finally:
            self._depth -= 1
            self._reopen()


Opener = Callable[[Base, Path], AbstractContextManager[MemoryStore]]


@dataclass(frozen=True)
class Backend:
    """A kind of store, and what it starts with."""

    name: str
    opener: Opener
    tables: Tables
    examples: int

    def open(self, folder: Path) -> AbstractContextManager[MemoryStore]:
        """A fresh store; what it needs on disk goes into an empty folder."""
        return self.opener(Base(self.tables), folder)


@contextmanager
def _memory(base: Base, folder: Path) -> Iterator[MemoryStore]:
    yield open_store(MemoryArchive(), base)


def _durable(durability: Durability) -> Opener:
    @contextmanager
    def opened(base: Base, folder: Path) -> Iterator[MemoryStore]:
        with TinyDBArchive(folder / "state.json", durability) as archive:
            yield open_store(archive, base)

    return opened


@contextmanager
def _reopening(base: Base, folder: Path) -> Iterator[MemoryStore]:
    store = ReopeningStore(base, folder / "state.json")
    yield cast("MemoryStore", store)
    store.archive.close()


def backends() -> list[Backend]:
    """All of them."""
    empty: dict[str, Any] = {}
    return [
        Backend("memory", _memory, empty, examples=25),
        Backend("memory-over-fixtures", _memory, fixtures(), examples=25),
        Backend("durable-snapshot", _durable("snapshot"), fixtures(), examples=20),
        Backend("durable-log", _durable("log"), fixtures(), examples=20),
        Backend("durable-fsync", _durable("fsync"), empty, examples=10),
        Backend("durable-reopened", _reopening, fixtures(), examples=10),
    ]
