"""The scenarios that a server knows by name: those shipped, and those of files it was given.

Also which files of a folder are scenarios, and what is wrong with them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from mock_platform.records import TABLES
from mock_platform.scenario.document import (
    SUFFIXES,
    BadScenario,
    Complaint,
    Scenario,
    load,
)

_TABLES = frozenset(table.name for table in TABLES)


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
    return [path for path in files_of(folder) if is_scenario(path)]


def files_of(folder: Path) -> list[Path]:
    """The files of a folder, and of folders below, that are called as scenarios or fixtures are."""
    root = folder.resolve()
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and path.resolve().is_relative_to(root)
    )


def is_scenario(file: Path) -> bool:
    """Whether a file holds a scenario: YAML, or a JSON object that is not called like a table."""
    if file.suffix != ".json":
        return file.suffix in SUFFIXES
    if file.stem in _TABLES or not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def read_all(
    files: Iterable[Path], operations: Sequence[str]
) -> tuple[dict[Path, Scenario], list[Complaint]]:
    """The scenarios of files, each file read once, and everything that is wrong with them.

    Two files that define the same name are a fault as well.
    """
    found: dict[Path, Scenario] = {}
    complaints: list[Complaint] = []
    names: dict[str, Path] = {}
    for file in dict.fromkeys(files):
        try:
            scenario = load(file, operations)
        except BadScenario as fault:
            complaints += fault.complaints
            continue
        found[file] = scenario
        first = names.setdefault(scenario.name, file)
        if not _same(first, file):
            text = f"{scenario.name!r} is the name of {first} already"
            complaints.append(Complaint(file, 1, 1, "name", text))
    return found, complaints


def _same(one: Path, other: Path) -> bool:
    return one == other or one.resolve() == other.resolve()


def check(paths: Iterable[Path], operations: Sequence[str]) -> list[Complaint]:
    """Everything that is wrong with scenario files, those of folders included."""
    files = [file for path in paths for file in (scenario_files(path) if path.is_dir() else [path])]
    return read_all(files, operations)[1]


def is_file(text: str) -> bool:
    """Whether what names a scenario at start-up is a path rather than a scenario's name."""
    return text.endswith(SUFFIXES) or "/" in text or "\\" in text
