"""The scenarios of a server in all its worlds: known ones, those of the start, which acted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mock_platform.core.errors import BadParameters, BadScenario, CannotPerform, ScenarioComplaint
from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.core.packaged import folder
from mock_platform.core.tables.table import Tables
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Scenario, load
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.library import Library, list_scenario_files, read_all
from mock_platform.scenario.name_or_file import SUFFIXES, is_file
from mock_platform.world.names import UnknownWorld
from mock_platform.world.store.errors import StoreUnwritable
from mock_platform.world.world import World

# The scenarios that a server starts with: active ones, and known files and folders.


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


class ServerScenarios:
    """The scenarios that all worlds of a server share."""

    def __init__(
        self,
        texts: Iterable[str],
        operations: Iterable[Operation],
        tables: Tables,
        worlds: Iterable[World],
    ) -> None:
        """`texts` are the scenarios of the start: names, files and folders.

        Raises:
            BadScenario: Files have faults; it holds all complaints.
        """
        self.library = Library(folder("scenarios"), Catalog.collect(operations))
        """The scenarios that every world knows."""
        self.start_up = StartUp(texts, self.library)
        """The scenarios of the start, and their files."""
        self.fired_rules: set[tuple[str, int]] = set()
        """The rules that acted so far, in any world: the name of a scenario and a number."""
        self.connections = True
        """Whether the server can break connections when a scenario asks for it."""
        self._tables = tables
        self._worlds = worlds

    def add_engine(self, world: World) -> None:
        """Add the engine to a world that decides there which rule acts."""
        engine = Engine(
            world,
            self.library,
            self._tables,
            self.start_up.active,
            connections=lambda: self.connections,
            on_fired=lambda name, rule: self.fired_rules.add((name, rule)),
        )
        world.attach_companion(engine)

    def check(self, file: Path, scenario: Scenario) -> None:
        """Check that a file may hold a scenario from now on.

        Raises:
            BadScenario: Its scenario has a name that is not allowed.
            BadParameters: It needs parameters, but a scenario of the start must not.
            CannotPerform: It is a scenario of the start and breaks connections, which the server
                cannot do.
        """
        self.start_up.check_name(file, scenario)
        if scenario.name in self.start_up.active:
            scenario.bind({})
            if scenario.needs_connection and not self.connections:
                raise CannotPerform(scenario.name)

    def reload(self, file: Path) -> list[str]:
        """Load a new scenario file, or a changed one; the last version stays if it has faults.

        Where the scenario is active it starts again with the same parameters. Returns, for each
        world, why it cannot; there the last version stays active.

        Raises:
            BadScenario: The file has faults, or its scenario has a name that is not allowed.
            BadParameters: It needs parameters, but a scenario of the start must not.
            CannotPerform: It is a scenario of the start and breaks connections, which the server
                cannot do.
        """
        scenario = self.start_up.read(file)
        self.check(file, scenario)
        known = self.library.find(scenario.name)
        self.start_up.put(file, scenario)
        if known is not None and dumps(known.document) == dumps(scenario.document):
            return []  # nothing starts again because a file was only touched
        kept = []
        for world in self._worlds:
            try:
                find_engine(world).refresh(scenario)
            except (BadParameters, CannotPerform, StoreUnwritable) as fault:
                kept.append(f"World {world.name!r} goes on with the last version. {fault}")
            except UnknownWorld:  # dropped meanwhile
                continue
        return kept

    def disable_connections(self) -> None:
        """Declare that the server cannot break connections.

        Raises:
            CannotPerform: A start-up scenario needs it.
        """
        self.connections = False
        for name in self.start_up.active:
            scenario = self.library.find(name)
            if scenario is not None and scenario.needs_connection:
                raise CannotPerform(name)
        for world in self._worlds:
            find_engine(world).deactivate_unperformable()
