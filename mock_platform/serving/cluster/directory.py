"""What the workers of one machine must know of one another's worlds at once, in an SQLite file.

A client may use the credentials of a new world as soon as it has them, on a connection to any
worker. So a commit that changes credentials records them here before its answer, and each worker
looks there. The file lives as long as the server: nothing is synchronised to the disk.
"""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

_SCHEMA = """
CREATE TABLE credentials (
    credential TEXT NOT NULL, world TEXT NOT NULL, worker INTEGER NOT NULL,
    PRIMARY KEY (credential, world)
) WITHOUT ROWID;
CREATE INDEX credentials_by_world ON credentials (world);
CREATE TABLE kept (world TEXT PRIMARY KEY, worker INTEGER NOT NULL) WITHOUT ROWID;
"""
_BUSY_SECONDS = 5.0


class Directory:
    """The part of the file that one worker writes, and what all of them wrote. Thread-safe.

    It is a `world.owners.Owners`.
    """

    @staticmethod
    def create(path: Path) -> None:
        """Create the file of a server, readable for its owner only."""
        path.touch(mode=0o600)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_SCHEMA)
        connection.close()

    def __init__(self, path: Path, worker: int) -> None:
        """Open the file; what an earlier process with this number wrote is removed."""
        self._worker = worker
        self._lock = threading.Lock()
        self._file = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._file.execute("PRAGMA synchronous = OFF")
        self._run("DELETE FROM credentials WHERE worker = ?", worker)

    def add(self, credential: str, world: str) -> None:
        """Record that a world has a credential."""
        self._run(
            "INSERT OR REPLACE INTO credentials VALUES (?, ?, ?)", credential, world, self._worker
        )

    def remove(self, credential: str, world: str) -> None:
        """Record that a world no longer has a credential."""
        self._run("DELETE FROM credentials WHERE credential = ? AND world = ?", credential, world)

    def forget(self, world: str) -> None:
        """Remove all credentials of a world of this worker."""
        self._run("DELETE FROM credentials WHERE world = ? AND worker = ?", world, self._worker)

    def find(self, credential: str) -> str | None:
        """Return the one world that has a credential, whichever worker it lives in."""
        rows = self._run("SELECT world FROM credentials WHERE credential = ? LIMIT 2", credential)
        return rows[0][0] if len(rows) == 1 else None

    def is_empty(self) -> bool:
        """Whether no world of any worker has a credential of its own."""
        return not self._run("SELECT 1 FROM credentials LIMIT 1")

    def keep(self, worlds: list[str]) -> None:
        """Record which worlds this worker's file has, so that they stay with it."""
        with self._lock:
            self._file.executemany(
                "INSERT OR REPLACE INTO kept VALUES (?, ?)",
                [(world, self._worker) for world in worlds],
            )

    def list_kept(self) -> dict[str, int]:
        """Return the worlds that files have, with the number of their workers."""
        return {world: int(worker) for world, worker in self._run("SELECT * FROM kept")}

    def close(self) -> None:
        """Close the file; the credentials of this worker stay until it starts again."""
        self._file.close()

    def _run(self, statement: str, *values: str | int) -> list[tuple[str, ...]]:
        with self._lock:
            return self._file.execute(statement, values).fetchall()
