"""The costs of a server: those of its worlds now, and of all that were reset or dropped."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from mock_platform.platform import Platform
from mock_platform.verification.costs.document import By, CostsDocument, Sum, make_document
from mock_platform.verification.costs.ledger import CostLedger, Key
from mock_platform.verification.costs.prices import read_prices
from mock_platform.world.attached import RETURNED, Notice
from mock_platform.world.world import World

MAX_WORLDS = 1000
"""Worlds whose earlier costs are kept apart; those of older ones are added to `EARLIER`."""
EARLIER = "(earlier worlds)"

_Sums = Mapping[Key, Sum]


class CostRecorder:
    """The costs of one server. Safe for concurrent use.

    A test has a world of its own, so what tests cost is asked for by world.
    """

    def __init__(self, platform: Platform) -> None:
        """Count the requests of all worlds from now on.

        Raises:
            BadPrices: The file of prices in the settings has faults.
        """
        self._platform = platform
        self._prices = read_prices(platform.settings.prices)
        self._lock = threading.Lock()
        self._earlier: dict[str, dict[Key, Sum]] = {}
        """The costs that worlds had when they were reset or dropped."""
        self._tests: dict[str, str] = {}
        """The tests that have worlds, by the names of these, where somebody said it."""
        platform.on_world(self._watch)
        platform.worlds.dropped_listeners.append(self._close)

    def name_test(self, world: str, test: str) -> None:
        """Let what a world costs be that of a test, whose id is shown instead of the world."""
        self._tests[world] = test

    def document(self, world: World, by: By = "operation") -> CostsDocument:
        """Return the costs of a world since its start or its last reset."""
        sums = world.find_attachment(CostLedger).read()
        rows = [(self._choose_key(key, world.name, by), sum_) for key, sum_ in sums.items()]
        return self._describe(rows, world.clock.now())

    def document_of_all(self, world: str | None = None, by: By = "test") -> CostsDocument:
        """Return all costs of a world of this name, or of all worlds, whatever became of them."""
        with self._lock:
            parts = [(name, dict(sums)) for name, sums in self._earlier.items()]
        parts += [
            (each.name, each.find_attachment(CostLedger).read()) for each in self._platform.worlds
        ]
        rows = [
            (self._choose_key(key, name, by), sum_)
            for name, sums in parts
            if world is None or name == world
            for key, sum_ in sums.items()
        ]
        return self._describe(rows, self._platform.worlds.default.clock.now())

    def worlds(self) -> list[str]:
        """Return the names of the worlds that had costs before they were reset or dropped."""
        with self._lock:
            return list(self._earlier)

    @cached_property
    def _operations(self) -> Mapping[str, Any]:
        return {each.id: each for each in self._platform.operations if each.dialect == "v2"}

    def _describe(self, rows: Iterable[tuple[str, Sum]], now: datetime) -> CostsDocument:
        items: dict[str, Sum] = {}
        whole = Sum()
        for key, part in rows:
            items.setdefault(key, Sum()).add(part)
            whole.add(part)
        since = self._prices.find(now.date()).since
        return make_document(whole, items, since)

    def _choose_key(self, key: Key, world: str, by: By) -> str:
        if by == "test":
            return self._tests.get(world, world)
        return str(getattr(key, by))

    def _watch(self, world: World) -> None:
        world.attach(CostLedger(world, self._operations, self._prices))
        world.on_notice(self._hear)

    def _hear(self, world: World, notice: Notice) -> None:
        if notice.topic == RETURNED:
            self._keep(world.name, world.find_attachment(CostLedger).clear())

    def _close(self, world: World) -> None:
        self._keep(world.name, world.find_attachment(CostLedger).close())

    def _keep(self, name: str, sums: _Sums) -> None:
        if not sums:
            return
        with self._lock:
            if name not in self._earlier and len(self._earlier) >= MAX_WORLDS:
                oldest = next(known for known in self._earlier if known != EARLIER)
                _add(self._earlier.setdefault(EARLIER, {}), self._earlier.pop(oldest))
            _add(self._earlier.setdefault(name, {}), sums)


def _add(sums: dict[Key, Sum], more: _Sums) -> None:
    for key, part in more.items():
        sums.setdefault(key, Sum()).add(part)
