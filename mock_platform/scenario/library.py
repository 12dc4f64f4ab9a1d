"""The scenarios that a server knows by name, and those that it starts with.

Also finds the scenario files of a folder, and their violations.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

from msgspec import Struct

from mock_platform.api.served import TABLES
from mock_platform.core.documents.source import Source
from mock_platform.core.errors import BadScenario, Complaint
from mock_platform.core.tables.fixtures import is_yaml_of_records
from mock_platform.scenario.advice import find_warnings
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.document import (
    Rule,
    Scenario,
    build_scenario,
    load,
    read_source,
    read_text,
)
from mock_platform.scenario.failures import find_failure
from mock_platform.scenario.outline import SUFFIXES, is_file

_TABLES = frozenset(table.name for table in TABLES)
_FIRST_KEY = re.compile(rb'\{\s*"(\w+)"\s*:\s*[\[{]')


_LOG = logging.getLogger(__name__)


class Library:
    """Scenarios by name. A file of the package is read when it is first needed."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        self.catalog = catalog
        self._folder = folder
        self._files: dict[str, Scenario] = {}
        self._loaded: dict[Path, Scenario] = {}
        self._packaged: dict[str, Scenario] | None = None
        self._bound: dict[str, tuple[Scenario, tuple[Rule, ...]]] = {}
        self._lock = threading.Lock()

    def put(self, scenario: Scenario) -> None:
        """Add a scenario, or replace the one with the same name."""
        self._files[scenario.name] = scenario

    def find(self, name: str) -> Scenario | None:
        """Return the scenario with this name, or `None`; a failure of an operation is one as well.

        Raises:
            BadScenario: A file of the package has violations.
        """
        if name in self._files:
            return self._files[name]
        failure = find_failure(name, self.catalog)
        if failure is not None:
            return failure.as_scenario(self.catalog)
        return self._load_named(name) or self._load_packaged().get(name)

    def __iter__(self) -> Iterator[Scenario]:
        known = {**self._load_packaged(), **self._files}
        return iter([known[name] for name in sorted(known)])

    def bind_defaults(self, scenario: Scenario) -> tuple[Rule, ...]:
        """Return the rules of a scenario with its defaults; they are made once."""
        known, rules = self._bound.get(scenario.name, (None, ()))
        if known is not scenario:
            rules = scenario.bind({})
            self._bound[scenario.name] = (scenario, rules)
        return rules

    def _load_named(self, name: str) -> Scenario | None:
        """Return the scenario of the file that is called like it: reading all takes a second."""
        with self._lock:
            if self._packaged is None:
                # By convention a scenario is in a file of its name. If it is, one file is read in
                # place of all; if a file is named otherwise, the slow way finds it.
                for file in self._scenario_files:
                    if file.stem == name and (scenario := self._load(file)).name == name:
                        return scenario
        return None

    def _load_packaged(self) -> dict[str, Scenario]:
        with self._lock:
            if self._packaged is None:
                loaded = [self._load(file) for file in self._scenario_files]
                self._packaged = {scenario.name: scenario for scenario in loaded}
            return self._packaged

    @cached_property
    def _scenario_files(self) -> list[Path]:
        return list_scenario_files(self._folder)

    def _load(self, file: Path) -> Scenario:
        if file not in self._loaded:
            self._loaded[file] = load(file, self.catalog)
        return self._loaded[file]


def list_scenario_files(folder: Path) -> list[Path]:
    """Return the scenario files of a folder and its subfolders, none from outside it."""
    return [path for path in list_files(folder) if is_scenario(path)]


def list_files(folder: Path) -> list[Path]:
    """Return the files of a folder and its subfolders with the suffixes of scenario files."""
    root = folder.resolve()
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES and path.is_file() and path.resolve().is_relative_to(root)
    )


def is_scenario(file: Path) -> bool:
    """Return whether a file is a scenario: YAML, or a JSON object not named like a table."""
    if file.suffix != ".json":
        return file.suffix in SUFFIXES and not is_yaml_of_records(file, _TABLES)
    if is_named_like_table(file) or not file.is_file():
        return False
    with file.open("rb") as opened:
        beginning = opened.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    first = _FIRST_KEY.match(beginning)
    is_tables = first is not None and first[1].decode() in _TABLES
    return beginning.startswith(b"{") and not is_tables


def is_named_like_table(file: Path) -> bool:
    """Return whether a file has the name of a fixture file."""
    return file.suffix == ".json" and file.stem in _TABLES


def read_all(
    files: Iterable[Path], catalog: Catalog
) -> tuple[dict[Path, Scenario], list[Complaint]]:
    """Read each file once; return the scenarios and the complaints about the files.

    Two files that define the same name are a fault as well.
    """
    found: dict[Path, Scenario] = {}
    complaints: list[Complaint] = []
    names: dict[str, Path] = {}
    for file in dict.fromkeys(files):
        try:
            scenario = load(file, catalog)
        except BadScenario as error:
            complaints += error.complaints
            continue
        found[file] = scenario
        first = names.setdefault(scenario.name, file)
        if not _is_same_file(first, file):
            text = f"{scenario.name!r} is the name of {first} already"
            complaints.append(Complaint(file, 1, 1, "name", text))
    return found, complaints


def _is_same_file(one: Path, other: Path) -> bool:
    return one == other or one.resolve() == other.resolve()


class Checked(Struct, frozen=True):
    """The result of checking scenario files."""

    complaints: Sequence[Complaint]
    warnings: Sequence[Complaint]
    """What is valid, but hardly what the author meant."""
    named: frozenset[Path]
    """Files that the scenarios name."""


def check(paths: Iterable[Path], catalog: Catalog) -> Checked:
    """Return the violations and the oddities of scenario files, including those in folders."""
    files = [
        file for path in paths for file in (list_scenario_files(path) if path.is_dir() else [path])
    ]
    found, complaints = read_all(files, catalog)
    warnings = [
        warning
        for file, scenario in found.items()
        for warning in _place_warnings(scenario, partial(read_source, file))
    ]
    named = frozenset(file.resolve() for each in found.values() for file in each.files)
    return Checked(complaints, warnings, named)


class CheckedText(Struct, frozen=True):
    """The result of checking the text of one scenario."""

    scenario: Scenario | None
    """The scenario; `None` if the text has violations."""
    complaints: Sequence[Complaint]
    warnings: Sequence[Complaint] = ()
    """What is valid, but hardly what the author meant."""


def check_text(
    content: bytes, catalog: Catalog, name: str = "scenario.yaml", file: Path | None = None
) -> CheckedText:
    """Return the violations and the oddities of a text, as `check` does for a file.

    `file` is where the text belongs, so that it may name files beside it; without one, `name`
    decides between YAML and JSON.
    """
    try:
        source = read_text(content, file or Path(name))
        scenario = build_scenario(source, catalog, file)
    except BadScenario as error:
        return CheckedText(None, error.complaints)
    return CheckedText(scenario, (), _place_warnings(scenario, lambda: source))


def _place_warnings(scenario: Scenario, find_source: Callable[[], Source]) -> list[Complaint]:
    """Return the oddities of a scenario with their places; its source is read only if needed."""
    odd = find_warnings(scenario)
    if not odd:
        return []
    source = find_source()
    return [source.complain(at, text) for at, text in odd]


# The scenarios that a server starts with: active ones, and known files and folders.


class StartUp:
    """The scenarios named at the start: names and files are active, those in folders only known."""

    def __init__(self, texts: Iterable[str], library: Library) -> None:
        """Read the files and folders among `texts` into the library.

        Raises:
            BadScenario: Files have violations; it holds all complaints.
        """
        self.active: list[str] = []
        """Names of those that are active in every world from its start."""
        self.files: dict[Path, str] = {}
        """Files that were read, those of folders included, with the names in them."""
        self.folders: list[Path] = []
        self._library = library
        found: list[Path | str] = []
        for text in texts:
            path = Path(text)
            if path.is_dir() and (is_file(text) or library.find(text) is None):
                self.folders.append(path)
            else:
                found.append(path if is_file(text) else text)
        self._read([path for path in found if isinstance(path, Path)])
        names = (self.files[each] if isinstance(each, Path) else each for each in found)
        self.active += dict.fromkeys(names)

    def find_new_files(self) -> list[Path]:
        """Return files that were added to the folders."""
        return [path for path in self._list_folder_files() if path not in self.files]

    def read(self, file: Path) -> Scenario:
        """Read the scenario of a file as it is now, without adding it.

        Raises:
            BadScenario: It has violations, not the name that it had, or the name of another file.
        """
        scenario = load(file, self._library.catalog)
        self.check_name(file, scenario)
        return scenario

    def check_name(self, file: Path, scenario: Scenario) -> None:
        """Check that a file may hold a scenario of this name.

        Raises:
            BadScenario: The server began with another name from the file, or another file has it.
        """
        name = self.files.get(file)
        if name is not None and scenario.name != name:
            text = f"the server began with {name!r} from this file; restart it for another name"
            raise BadScenario.make(file, text, "name")
        if name is None and scenario.name in self.files.values():
            first = next(path for path, taken in self.files.items() if taken == scenario.name)
            text = f"{scenario.name!r} is the name of {first} already"
            raise BadScenario.make(file, text, "name")

    def put(self, file: Path, scenario: Scenario) -> None:
        """Add a file's scenario, or replace its last version; log what is odd in it."""
        for warning in _place_warnings(scenario, partial(read_source, file)):
            _LOG.warning("%s", warning)
        self._library.put(scenario)
        self.files[file] = scenario.name

    def _read(self, single: list[Path]) -> None:
        nothing = [
            Complaint(folder, 1, 1, "", f"holds no scenario file ({', '.join(SUFFIXES)})")
            for folder in self.folders
            if not list_scenario_files(folder)
        ]
        absent = [path for path in single if not path.suffix and not path.exists()]
        nothing += [Complaint(path, 1, 1, "", "there is no such file or folder") for path in absent]
        files = [*(path for path in single if path not in absent), *self._list_folder_files()]
        scenarios, complaints = read_all(files, self._library.catalog)
        if nothing or complaints:
            raise BadScenario([*nothing, *complaints])
        for file, scenario in scenarios.items():
            self.put(file, scenario)

    def _list_folder_files(self) -> list[Path]:
        return [path for folder in self.folders for path in list_scenario_files(folder)]
