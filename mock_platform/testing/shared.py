"""A server elsewhere for the tests of a run: one world for each worker, made anew for each test."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

from mock_platform.client.errors import Unreachable
from mock_platform.client.interface import World
from mock_platform.client.platform import MockPlatform
from mock_platform.testing.servers import Stray
from mock_platform.testing.story import address
from mock_platform.testing.trial import Trial
from mock_platform.testing.wish import BadWish, Wish, begin, lay, switch


class SharedServer:
    """A running server that other runs and workers may use at the same time."""

    def __init__(self, url: str, world: str) -> None:
        """Take a world of one's own on the server at `url`, in place of one of that name.

        Raises:
            Refused: The server refuses.
            Unreachable: Nobody answers there.
        """
        self.main = MockPlatform.connect(url)
        if world in self.main.worlds:
            self.main.drop_world(world)
        self._world = self.main.world(world)
        self._ended: str | None = None
        self._strays: Counter[Stray] = Counter()

    def open(self, wish: Wish, test: str) -> tuple[World, Trial]:
        """The world as if it had never been used, as a test wishes it.

        Raises:
            BadWish: It cannot be had.
            Unreachable: The server is gone.
        """
        if wish.strict:
            raise BadWish(
                "mock_strict needs a server of the run's own. Leave --mock-platform-url out, or "
                "start that server with --strict and leave the marker out."
            )
        self._gather()
        name = self._world.name
        self.main.drop_world(name)
        try:
            world = self._world = begin(self.main.world, name, wish)
        except BadWish:
            self._world = self.main.world(name)
            raise
        lay(world, wish)
        switch(world, wish)
        self._ended = test
        kept: list[dict[str, Any]] = []

        def entries(*, failed: bool = False) -> list[dict[str, Any]]:
            return kept or [entry.as_json() for entry in world.journal]

        def end() -> None:
            kept.extend(entries())

        return world, Trial(world, entries, list, end)

    def close(self, world: World) -> None:
        """Empty the world; what still comes until the next test is told by `strays`."""
        self._world.close_sessions()
        world.reset()

    def strays(self) -> Counter[Stray]:
        """Requests that came between tests, and how many of each."""
        with suppress(Unreachable):  # each test that needed it was told
            self._gather()
        return Counter(self._strays)

    def coverage(self) -> list[dict[str, Any]]:
        """The coverage document of the world."""
        with suppress(Unreachable):
            return [self._world.coverage()]
        return []

    def stop(self) -> None:
        """Remove the world; the server goes on."""
        with suppress(Unreachable):
            self.main.drop_world(self._world.name)
        self.main.stop()

    def _gather(self) -> None:
        if self._ended is None:
            return
        for entry in self._world.journal:
            path = address(entry.url).partition("?")[0]
            self._strays[self._ended, entry.method, path] += 1
        self._ended = None
