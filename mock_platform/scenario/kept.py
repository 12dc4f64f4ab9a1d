"""The scenarios of a world as records: definitions, active scenarios and their progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from mock_platform.scenario.active import ActiveScenario, Progress
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
    defined: Mapping[str, Scenario], active: Mapping[str, ActiveScenario], start_up: Iterable[str]
) -> dict[tuple[str, str], Record | None]:
    """Return all records of the scenarios, by table and key."""
    found: dict[tuple[str, str], Record | None] = {
        (DEFINED, name): {"name": name, "document": scenario.document}
        for name, scenario in defined.items()
    }
    for order, (name, each) in enumerate(active.items()):
        state, counts = each.read_progress()
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
    """Knows which records of a world's scenarios were stored, and so which are pending.

    Where nothing `outlives` the process, nothing is remembered.
    """

    def __init__(self, *, outlives: bool) -> None:
        self.outlives = outlives
        self.switched = False
        """Whether something was defined, activated or deactivated since it was last recorded."""
        self._before: dict[ActiveScenario, Progress] = {}
        self._recorded: Beside = {}

    def remember(self, active: ActiveScenario) -> None:
        """Note a scenario's progress before one of its rules decides."""
        if active not in self._before:
            self._before[active] = active.read_progress()

    def pending(self, whole: Callable[[], Beside]) -> Beside:
        """Return the part of the whole that is still to be recorded."""
        if not self.switched and all(a.read_progress() == b for a, b in self._before.items()):
            return {}
        now = whole()
        changed = {at: record for at, record in now.items() if self._differs(at, record)}
        return changed | {at: None for at in self._recorded if at not in now}

    def mark_recorded(self, whole: Callable[[], Beside]) -> None:
        """Note that what was pending is recorded."""
        if self.switched or self._before:
            self._recorded = whole()
            self._before.clear()
            self.switched = False

    def undo(self) -> None:
        """Restore the counts: what was pending could not be recorded."""
        for active, progress in self._before.items():
            active.restore_progress(progress)
        self._before.clear()

    def resume(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        """Read what was recorded from the tables of a store."""
        self._recorded = {
            (table, key): record
            for table in _TABLES
            for key, record in tables.get(table, {}).items()
        }

    def _differs(self, at: tuple[str, str], record: Record | None) -> bool:
        before = self._recorded.get(at)
        if before is None or record is None:
            return True
        if (
            at[0] == DEFINED
        ):  # `==` does not see every difference between versions, as between 1 and
            return before["document"] is not record["document"]  # true
        return (self.switched and at[0] == ACTIVE) or before != record


class RecordedActive(Struct, frozen=True):
    """An active scenario as it was recorded."""

    name: str
    at_start: bool
    parameters: Mapping[str, Any]
    progress: Progress

    def restore(self, scenario: Scenario) -> ActiveScenario:
        """Return the scenario, active with its recorded progress.

        Raises:
            BadParameters: It cannot be activated with these parameters any more.
        """
        active = ActiveScenario(scenario, self.parameters, at_start=self.at_start)
        active.restore_progress(self.progress)
        return active


class Recorded:
    """The records of a world's scenarios in a store."""

    def __init__(self, tables: Mapping[str, Mapping[str, Record]]) -> None:
        self._tables = tables

    def list_documents(self) -> Iterator[tuple[str, Record]]:
        """Yield the documents that were defined, each after its name."""
        for name, record in self._tables.get(DEFINED, {}).items():
            yield name, record["document"]

    def list_active(self) -> Iterator[RecordedActive]:
        """Yield the active scenarios, in the order of their rules."""
        records = self._tables.get(ACTIVE, {}).values()
        for record in sorted(records, key=lambda each: each["order"]):
            counts = [(calls, fired, refused) for calls, fired, refused in record["counts"]]
            yield RecordedActive(
                record["name"], record["at_start"], record["parameters"], (record["state"], counts)
            )

    def list_start_up_names(self) -> Iterable[str]:
        """Return the names that the server was started with."""
        return self._tables.get(START_UP, {}).keys()
