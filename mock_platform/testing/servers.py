"""Servers of this process for the tests of a run: a fresh world for each, its end watched."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import ExitStack
from hashlib import blake2s
from itertools import chain, count
from typing import Any

from mock_platform.client.interface import World
from mock_platform.client.platform import MockPlatform
from mock_platform.testing.trial import Trial
from mock_platform.testing.wish import Wish, begin, lay, switch

Stray = tuple[str, str, str]
"""A test, and the method and address of a request that came after its end."""


class OwnServers:
    """The server of a run or of a worker, and beside it a strict one once a test wants it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, str] = {}
        self._strays: Counter[Stray] = Counter()
        self._strict: MockPlatform | None = None
        self.main = self._start()

    def open(self, wish: Wish, test: str) -> tuple[World, Trial]:
        """A fresh world as a test wishes it.

        Raises:
            BadWish: It cannot be had.
        """
        server = self._strict_one() if wish.strict else self.main
        name = self._name(test)
        self._names[name] = test
        world = begin(server.world, name, wish)
        try:
            lay(world, wish)
            switch(world, wish)
        except BaseException:
            server.drop_world(name)
            raise

        journal = world.journal  # can be read when the world has gone

        def entries(*, failed: bool = False) -> list[dict[str, Any]]:
            # Each test is asked for failures, and redacting its journal takes as long as a request.
            return [each.as_json() for each in journal if each.traceback or not failed]

        return world, Trial(world, entries, self._faults)

    def close(self, world: World) -> None:
        """End a world: whatever still calls it is refused and told by `strays`."""
        server = self.main
        if self._strict is not None and world.name in self._strict.worlds:
            server = self._strict
        server.drop_world(world.name)

    def strays(self) -> Counter[Stray]:
        """Requests that reached a test's world after its end, and how many of each."""
        with self._lock:
            return Counter(self._strays)

    def coverage(self) -> list[dict[str, Any]]:
        """The coverage document of each server."""
        return [server.coverage() for server in self._all()]

    def stop(self) -> None:
        """Stop the servers.

        Raises:
            Exception: What failed in the sandbox outside of every test.
        """
        with ExitStack() as stack:  # what one raises leaves none running
            for server in self._all():
                stack.callback(server.stop)

    def _name(self, test: str) -> str:
        """A name of which the test alone decides: ids are drawn from it, so they repeat."""
        digest = blake2s(test.encode(), digest_size=5).hexdigest()
        names = (f"test-{digest}{again}" for again in chain([""], map("-{}".format, count(2))))
        return next(name for name in names if name not in self._names)

    def _strict_one(self) -> MockPlatform:
        if self._strict is None:
            self._strict = self._start(strict=True)
        return self._strict

    def _start(self, **settings: Any) -> MockPlatform:
        server = MockPlatform.start(**settings)
        server.on_stray(self._stray)
        return server

    def _all(self) -> list[MockPlatform]:
        return [server for server in (self.main, self._strict) if server is not None]

    def _stray(self, world: str, method: str, url: str) -> None:
        test = self._names.get(world)
        if test is not None:
            path = url.partition(f"/~{world}")[2].partition("?")[0]
            with self._lock:
                self._strays[test, method, path] += 1

    def _faults(self) -> list[BaseException]:
        """What servers kept to raise, taken from them."""
        found: list[BaseException] = []
        for server in self._all():
            try:
                server.raise_errors()
            except BaseExceptionGroup as group:
                found += group.exceptions
            except Exception as fault:  # noqa: BLE001 - handed on, whatever it is
                found.append(fault)
        return found
