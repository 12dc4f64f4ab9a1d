"""The scenarios of a server, in all its worlds: known and active ones, and which of them acted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mock_platform.core.jsonio import dumps
from mock_platform.core.operation import Operation
from mock_platform.core.packaged import folder
from mock_platform.records.table import Tables
from mock_platform.scenario.catalog import Catalog
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.document import Scenario
from mock_platform.scenario.engine import Engine
from mock_platform.scenario.errors import BadParameters, CannotPerform
from mock_platform.scenario.library import Library
from mock_platform.scenario.start_up import StartUp
from mock_platform.store.errors import StoreUnwritable
from mock_platform.world.names import UnknownWorld
from mock_platform.world.world import World


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
        world.add_companion(engine)

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
