"""A server elsewhere for the tests of a run: one world for each worker, emptied for each test."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from mock_platform import shipped
from mock_platform.core import fixtures
from mock_platform.core.jsonio import loads
from mock_platform.records import TABLES
from mock_platform.testing.remote import RemotePlatform, RemoteWorld
from mock_platform.testing.servers import Stray
from mock_platform.testing.story import address
from mock_platform.testing.trial import Trial
from mock_platform.testing.wish import BadWish, Wish, prepare


class SharedServer:
    """A running server that other runs and workers may use at the same time."""

    def __init__(self, url: str, world: str) -> None:
        """Take a world of one's own on the server at `url`, in place of one of that name.

        Raises:
            Refused: The server refuses.
            requests.ConnectionError: Nobody answers there.
        """
        self.main = RemotePlatform(url)
        if world in self.main.worlds:
            self.main.drop_world(world)
        self._world = self.main.world(world)
        self._ended: str | None = None
        self._strays: Counter[Stray] = Counter()

    def open(self, wish: Wish, test: str) -> tuple[RemoteWorld, Trial]:
        """The world, emptied, as a test wishes it.

        Raises:
            BadWish: It cannot be had.
        """
        if wish.strict:
            raise BadWish(
                "mock_strict needs a server of the run's own. Leave --mock-platform-url out, or "
                "start that server with --strict and leave the marker out."
            )
        world = self._world
        self._gather()
        world.reset()
        prepare(world, wish, lambda: _lay(world, wish.fixtures))
        self._ended = test
        kept: list[dict[str, Any]] = []

        def entries() -> list[dict[str, Any]]:
            return kept or [entry.as_json() for entry in world.journal]

        def end() -> None:
            kept.extend(entries())

        return world, Trial(world, entries, list, end)

    def close(self, world: RemoteWorld) -> None:
        """Empty the world; what still comes until the next test is told by `strays`."""
        world.close_sessions()
        world.reset()

    def strays(self) -> Counter[Stray]:
        """Requests that came between tests, and how many of each."""
        self._gather()
        return Counter(self._strays)

    def coverage(self) -> list[dict[str, Any]]:
        """The coverage document of the world."""
        return [self._world.coverage()]

    def stop(self) -> None:
        """Remove the world; the server goes on."""
        self.main.drop_world(self._world.name)
        self._world.close()
        self.main.close()

    def _gather(self) -> None:
        if self._ended is None:
            return
        for entry in self._world.journal:
            path = address(entry.url).partition("?")[0]
            self._strays[self._ended, entry.method, path] += 1
        self._world.journal.clear()


def _lay(world: RemoteWorld, folders: tuple[Path, ...]) -> None:
    """Put the records of fixture folders into a world, in place of those with the same keys."""
    base = fixtures.load([shipped.folder("fixtures"), *folders], TABLES, world.clock.now())
    document = world.state.dump()
    for table in TABLES:
        laid = {
            str(table.key_of(record))
            for folder in folders
            if (file := folder / f"{table.name}.json").exists()
            for record in loads(file.read_bytes())
        }
        if laid:
            records = document["tables"][table.name]
            kept = [record for record in records if table.key_of(record) not in laid]
            rows = base.rows[table.name]
            document["tables"][table.name] = kept + [rows[key].record for key in sorted(laid)]
    world.state.load(document)
