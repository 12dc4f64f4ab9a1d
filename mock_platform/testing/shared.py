"""A server elsewhere for the tests of a run: one world per worker, new for each test."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from socket import gethostname
from typing import Any, Literal

from mock_platform.client.errors import Unreachable
from mock_platform.client.interface import WorldFace
from mock_platform.client.platform import MockPlatform
from mock_platform.client.remote.world import RemoteWorld
from mock_platform.core.warning_counts import WarningDocument, strip_origin
from mock_platform.settings import NamesMode
from mock_platform.testing.servers import Stray
from mock_platform.testing.verdict import Verdict
from mock_platform.testing.world_request import (
    BadWorldRequest,
    WorldRequest,
    activate_scenarios,
    apply_fixtures,
    make_world,
)


class SharedServer:
    """A running server that other runs and workers may use at the same time."""

    def __init__(
        self,
        url: str,
        world: str,
        warnings: Literal["ignore", "error"] | None = None,
        names: NamesMode | None = None,
    ) -> None:
        """Make a world for this worker on the server at `url`; replaces one of the same name.

        Without `warnings`, the server decides whether they are errors; so it does with `names`.

        Raises:
            Refused: The server refuses.
            Unreachable: No server answers at the address.
        """
        self.main = MockPlatform.connect(url)
        if world in self.main.worlds:
            self.main.drop_world(world)
        self._make: Callable[..., RemoteWorld] = partial(
            self.main.world, warnings=warnings, names=names
        )
        self._world = self._make(world)
        self._ended: str | None = None
        self._strays: Counter[Stray] = Counter()

    def open(self, request: WorldRequest, test: str) -> tuple[WorldFace, Verdict]:
        """Returns the world, made from scratch for a test.

        Raises:
            BadWorldRequest: The world cannot be made.
            Unreachable: The server no longer answers.
        """
        if request.strict:
            raise BadWorldRequest(
                "mock_strict needs a server that this run starts. Leave out "
                "--mock-platform-url, or start that server with --strict and leave "
                "out the marker."
            )
        self._gather()
        name = self._world.name
        self.main.drop_world(name)
        try:
            world = self._world = make_world(self._make, name, request)
        except BadWorldRequest:
            self._world = self._make(name)
            raise
        apply_fixtures(world, request)
        activate_scenarios(world, request)
        self._ended = test
        kept: list[dict[str, Any]] = []
        listed: list[dict[str, Any]] = []

        def entries(*, failed: bool = False) -> list[dict[str, Any]]:
            return kept or [entry.as_json() for entry in world.journal]

        def scenarios() -> list[dict[str, Any]]:
            return listed or world.scenarios

        def end() -> None:
            kept.extend(entries())
            listed.extend(world.scenarios)

        return world, Verdict(world, entries, scenarios, list, end)

    def close(self, world: WorldFace) -> None:
        """Empty the world; requests before the next test are counted in `strays`."""
        self._world.close_sessions()
        world.reset()

    def strays(self) -> Counter[Stray]:
        """Returns the requests that came between tests, each with its count."""
        with suppress(Unreachable):  # each test that needed it was told
            self._gather()
        return Counter(self._strays)

    def coverage(self) -> list[dict[str, Any]]:
        """Returns the coverage document of the world."""
        with suppress(Unreachable):
            return [self._world.coverage()]
        return []

    def warnings(self) -> list[WarningDocument]:
        """Returns what was ignored in the requests of the world."""
        with suppress(Unreachable):
            return [self._world.warnings()]
        return []

    def stop(self) -> None:
        """Remove the world; the server keeps running."""
        with suppress(Unreachable):
            self.main.drop_world(self._world.name)
        self.main.stop()

    def _gather(self) -> None:
        if self._ended is None:
            return
        for entry in self._world.journal:
            path = strip_origin(entry.url).partition("?")[0]
            self._strays[self._ended, entry.method, path] += 1
        self._ended = None


def name_worker(given: Mapping[str, Any]) -> str:
    """Returns the name of a worker's world; `given` is its `workerinput`, empty without workers.

    No other worker has it: several runs, from several machines, may share a server.
    """
    run = given.get("testrunuid", f"{os.getpid()}-{gethostname()}")
    name = re.sub("[^A-Za-z0-9-]", "-", f"pytest-{given.get('workerid', 'main')}-{run}")
    return name[:64]
