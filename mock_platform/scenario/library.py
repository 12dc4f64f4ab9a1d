"""The scenarios that a server knows by name: those shipped, and those of files it was given."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from mock_platform.scenario.document import (
    SUFFIXES,
    BadScenario,
    Complaint,
    Scenario,
    load,
)


class UnknownScenario(LookupError):
    """No scenario has that name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = get_close_matches(name, names, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(
            f"There is no scenario {name!r}.{hint} GET /_mock/scenarios lists those there are; "
            "PUT /_mock/scenarios/NAME defines one."
        )
        self.name = name


class Library:
    """Scenarios by name. The shipped folder is read when it is first asked for."""

    def __init__(self, folder: Path, operations: Sequence[str]) -> None:
        self.operations = tuple(operations)
        self._folder = folder
        self._files: dict[str, Scenario] = {}
        self._shipped: dict[str, Scenario] | None = None
        self._lock = threading.Lock()

    def add(self, file: Path) -> Scenario:
        """Read a file's scenario and know it by its name from now on.

        Raises:
            BadScenario: The file has faults.
        """
        scenario = load(file, self.operations)
        self.put(scenario)
        return scenario

    def put(self, scenario: Scenario) -> None:
        """Know a scenario by its name from now on, in place of one that had it."""
        self._files[scenario.name] = scenario

    def find(self, name: str) -> Scenario | None:
        """The scenario of this name, if there is one.

        Raises:
            BadScenario: A shipped file has faults.
        """
        return self._files.get(name) or self._all_shipped().get(name)

    def __iter__(self) -> Iterator[Scenario]:
        known = {**self._all_shipped(), **self._files}
        return iter([known[name] for name in sorted(known)])

    def _all_shipped(self) -> dict[str, Scenario]:
        with self._lock:
            if self._shipped is None:
                found: dict[str, Scenario] = {}
                for file in scenario_files(self._folder):
                    scenario = load(file, self.operations)
                    found[scenario.name] = scenario
                self._shipped = found
            return self._shipped


def scenario_files(folder: Path) -> list[Path]:
    """The scenario files of a folder, those in folders below included, none from outside it."""
    root = folder.resolve()
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and path.resolve().is_relative_to(root)
    )


def check(paths: Iterable[Path], operations: Sequence[str]) -> list[Complaint]:
    """Everything that is wrong with scenario files, those of folders included.

    Two files that define the same name are a fault as well.
    """
    complaints: list[Complaint] = []
    names: dict[str, Path] = {}
    for path in paths:
        for file in scenario_files(path) if path.is_dir() else [path]:
            try:
                scenario = load(file, operations)
            except BadScenario as fault:
                complaints += fault.complaints
                continue
            first = names.setdefault(scenario.name, file)
            if first != file:
                text = f"{scenario.name!r} is the name of {first} already"
                complaints.append(Complaint(file, 1, 1, "name", text))
    return complaints


def is_file(text: str) -> bool:
    """Whether what names a scenario at start-up is a file's name rather than a scenario's."""
    return text.endswith(SUFFIXES) or "/" in text or "\\" in text
