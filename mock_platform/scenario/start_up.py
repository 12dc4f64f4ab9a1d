"""The scenarios that a server starts with: active ones, and known files and folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mock_platform.scenario.document import Scenario, load
from mock_platform.scenario.errors import BadScenario, ScenarioComplaint
from mock_platform.scenario.library import Library, list_scenario_files, read_all
from mock_platform.scenario.name_or_file import SUFFIXES, is_file


class StartUp:
    """The scenarios named at the start: names and files are active, those in folders only known."""

    def __init__(self, texts: Iterable[str], library: Library) -> None:
        """Read the files and folders among `texts` into the library.

        Raises:
            BadScenario: Files have faults; it holds all complaints.
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
        self.active += [self.files[each] if isinstance(each, Path) else each for each in found]

    def find_new_files(self) -> list[Path]:
        """Return files that were added to the folders."""
        return [path for path in self._list_folder_files() if path not in self.files]

    def read(self, file: Path) -> Scenario:
        """Read the scenario of a file as it is now, without adding it.

        Raises:
            BadScenario: It has faults, not the name that it had, or the name of another file.
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
            raise BadScenario([ScenarioComplaint(file, 1, 1, "name", text)])
        if name is None and scenario.name in self.files.values():
            first = next(path for path, taken in self.files.items() if taken == scenario.name)
            text = f"{scenario.name!r} is the name of {first} already"
            raise BadScenario([ScenarioComplaint(file, 1, 1, "name", text)])

    def put(self, file: Path, scenario: Scenario) -> None:
        """Add a file's scenario, or replace its last version."""
        self._library.put(scenario)
        self.files[file] = scenario.name

    def _read(self, single: list[Path]) -> None:
        nothing = [
            ScenarioComplaint(folder, 1, 1, "", f"holds no scenario file ({', '.join(SUFFIXES)})")
            for folder in self.folders
            if not list_scenario_files(folder)
        ]
        absent = [path for path in single if not path.suffix and not path.exists()]
        nothing += [
            ScenarioComplaint(path, 1, 1, "", "there is no such file or folder") for path in absent
        ]
        files = [*(path for path in single if path not in absent), *self._list_folder_files()]
        scenarios, complaints = read_all(files, self._library.catalog)
        if nothing or complaints:
            raise BadScenario([*nothing, *complaints])
        for file, scenario in scenarios.items():
            self.put(file, scenario)

    def _list_folder_files(self) -> list[Path]:
        return [path for folder in self.folders for path in list_scenario_files(folder)]
