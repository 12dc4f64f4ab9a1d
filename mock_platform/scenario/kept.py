"""The scenarios of a world as records: what is defined, what is active and how far it came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mock_platform.scenario.armed import Active, Progress
from mock_platform.scenario.document import Scenario
from mock_platform.store.interface import Beside, Record

DEFINED = "@scenarios"
"""Documents of scenarios that were defined in the world."""
ACTIVE = "@active"
"""Scenarios that are active: parameters, state and counts, in the order of their rules."""
START_UP = "@start_up"
"""Names of the scenarios that the server was started with when it last had the world."""

_TABLES = (DEFINED, ACTIVE, START_UP)


def as_records(
    defined: Mapping[str, Scenario], active: Mapping[str, Active], start_up: Iterable[str]
) -> dict[tuple[str, str], Record | None]:
    """All of it, by table and key."""
    found: dict[tuple[str, str], Record | None] = {
        (DEFINED, name): {"name": name, "document": scenario.document}
        for name, scenario in defined.items()
    }
    for order, (name, each) in enumerate(active.items()):
        state, counts = each.progress()
        found[ACTIVE, name] = {
            "name": name,
            "order": order,
            "at_start": each.at_start,
            "parameters": each.parameters,
            "state": state,
            "counts": [list(each) for each in counts],
        }
    return found | {(START_UP, name): {"name": name} for name in start_up}


class Ledger:
    """Knows what of a world's scenarios was recorded, and so what is to be.

    Where nothing `outlives` the process nobody asks, and nothing is remembered.
    """

    def __init__(self, *, outlives: bool) -> None:
        self.outlives = outlives
        self.switched = False
        """Whether something was defined, or switched on or off, since it was last recorded."""
        self._before: dict[Active, Progress] = {}
        self._recorded: Beside = {}

    def remember(self, active: Active) -> None:
        """Note how far a scenario came before one of its rules decides."""
        if active not in self._before:
            self._before[active] = active.progress()

    def pending(self, whole: Callable[[], Beside]) -> Beside:
        """What of the whole is to be recorded."""
        if not self.switched and all(a.progress() == b for a, b in self._before.items()):
            return {}
        now = whole()
        changed = {at: record for at, record in now.items() if self._differs(at, record)}
        return changed | {at: None for at in self._recorded if at not in now}

    def recorded(self, whole: Callable[[], Beside]) -> None:
        """What was pending is recorded."""
        if self.switched or self._before:
            self._recorded = whole()
            self._before.clear()
            self.switched = False

    def undo(self) -> None:
        """What was pending could not be recorded: the counts go back."""
        for active, progress in self._before.items():
            active.go_on(progress)
        self._before.clear()

    def resume(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        """Take what was recorded from a store."""
        self._recorded = {
            (table, key): record
            for table in _TABLES
            for key, record in tables.get(table, {}).items()
        }

    def _differs(self, at: tuple[str, str], record: Record | None) -> bool:
        before = self._recorded.get(at)
        if before is None or record is None:
            return True
        if at[0] == DEFINED:  # a version of it may differ only by what `==` does not see, as 1 and
            return before["document"] is not record["document"]  # true
        return (self.switched and at[0] == ACTIVE) or before != record


@dataclass(frozen=True, slots=True)
class RecordedActive:
    """An active scenario as it was recorded."""

    name: str
    at_start: bool
    parameters: Mapping[str, Any]
    progress: Progress

    def active(self, scenario: Scenario) -> Active:
        """The scenario at work, as far as it had come.

        Raises:
            BadParameters: It cannot do with these parameters any more.
        """
        active = Active(scenario, self.parameters, at_start=self.at_start)
        active.go_on(self.progress)
        return active


class Recorded:
    """What a store held of a world's scenarios."""

    def __init__(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        self._tables = tables

    def documents(self) -> Iterator[tuple[str, Record]]:
        """The documents that were defined, by name."""
        for name, record in self._tables.get(DEFINED, {}).items():
            yield name, record["document"]

    def active(self) -> Iterator[RecordedActive]:
        """The active scenarios, in the order of their rules."""
        records = self._tables.get(ACTIVE, {}).values()
        for record in sorted(records, key=lambda each: each["order"]):
            counts = [(calls, fired, refused) for calls, fired, refused in record["counts"]]
            yield RecordedActive(
                record["name"], record["at_start"], record["parameters"], (record["state"], counts)
            )

    def start_up(self) -> Iterable[str]:
        """The names that the server was started with."""
        return self._tables.get(START_UP, {}).keys()
