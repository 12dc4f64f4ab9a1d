"""Servers in this process for the tests of a run: a fresh world for each test."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import ExitStack
from hashlib import blake2s
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Literal, cast

from mock_platform.client.interface import WorldFace
from mock_platform.client.platform import MockPlatform
from mock_platform.core.warning_counts import WarningDocument
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.engine import Engine
from mock_platform.settings import NamesMode
from mock_platform.testing.verdict import Verdict
from mock_platform.testing.world_request import (
    WorldRequest,
    activate_scenarios,
    apply_fixtures,
    make_world,
)

if TYPE_CHECKING:
    from mock_platform.client.local_platform import LocalPlatform

Stray = tuple[str, str, str]
"""A test, and the method and address of a request that came after its end."""


class LocalServers:
    """The server of a run or of a worker, and a second, strict one when a test needs it."""

    def __init__(
        self,
        warnings: Literal["ignore", "error"] = "ignore",
        names: NamesMode = "neutral",
    ) -> None:
        self._warnings = warnings
        self._names_mode = names
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._strays: Counter[Stray] = Counter()
        self._strict: MockPlatform | None = None
        self.main = self._start()

    def open(self, request: WorldRequest, test: str) -> tuple[WorldFace, Verdict]:
        """Returns a fresh world for a test.

        Raises:
            BadWorldRequest: The world cannot be made.
        """
        server = self._strict_server() if request.strict else self.main
        name = self._choose_name(test)
        self._names[name] = test
        world = make_world(server.world, name, request)
        try:
            apply_fixtures(world, request)
            activate_scenarios(world, request)
        except BaseException:
            server.drop_world(name)
            raise

        journal = world.journal  # can be read when the world has gone

        def entries(*, failed: bool = False) -> list[dict[str, Any]]:
            # This runs after each test, and redacting its journal takes as long as a request.
            return [each.as_json() for each in journal if each.traceback or not failed]

        # Listing all would read every packaged scenario.
        scenarios = _engine_of(server, name).describe_active
        return world, Verdict(world, entries, scenarios, self._take_errors)

    def close(self, world: WorldFace) -> None:
        """Drop a world: later requests to it are refused and counted in `strays`."""
        server = self.main
        if self._strict is not None and world.name in self._strict.worlds:
            server = self._strict
        server.drop_world(world.name)

    def strays(self) -> Counter[Stray]:
        """Returns the requests that reached a test's world after its end, each with its count."""
        with self._lock:
            return Counter(self._strays)

    def coverage(self) -> list[dict[str, Any]]:
        """Returns the coverage document of each server."""
        return [server.coverage() for server in self._all_servers()]

    def warnings(self) -> list[WarningDocument]:
        """Returns what was ignored in requests to each server."""
        return [server.warnings() for server in self._all_servers()]

    def stop(self) -> None:
        """Stop the servers.

        Raises:
            Exception: An error in the sandbox outside of every test.
        """
        with ExitStack() as stack:  # what one raises leaves none running
            for server in self._all_servers():
                stack.callback(server.stop)

    def _choose_name(self, test: str) -> str:
        """A name that depends on the test alone: ids are drawn from it, so they repeat."""
        digest = blake2s(test.encode(), digest_size=5).hexdigest()
        names = (f"test-{digest}{again}" for again in chain([""], map("-{}".format, count(2))))
        return next(name for name in names if name not in self._names)

    def _strict_server(self) -> MockPlatform:
        if self._strict is None:
            self._strict = self._start(strict=True)
        return self._strict

    def _start(self, **settings: Any) -> MockPlatform:
        server = MockPlatform.start(warnings=self._warnings, names=self._names_mode, **settings)
        server.on_stray(self._count_stray)
        return server

    def _all_servers(self) -> list[MockPlatform]:
        return [server for server in (self.main, self._strict) if server is not None]

    def _count_stray(self, world: str, method: str, url: str) -> None:
        test = self._names.get(world)
        if test is not None:
            path = url.partition(f"/~{world}")[2].partition("?")[0]
            with self._lock:
                self._strays[test, method, path] += 1

    def _take_errors(self) -> list[BaseException]:
        """Returns the errors that servers recorded, and removes them."""
        found: list[BaseException] = []
        for server in self._all_servers():
            try:
                server.raise_errors()
            except BaseExceptionGroup as group:
                found += group.exceptions
            except Exception as fault:  # noqa: BLE001 - handed on, whatever it is
                found.append(fault)
        return found


def _engine_of(server: MockPlatform, world: str) -> Engine:
    """Returns the scenarios of a world; they can be read when the world was dropped."""
    return find_engine(cast("LocalPlatform", server).control.platform.worlds.get(world))
