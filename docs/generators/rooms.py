"""The rooms of the package and what they import, read from the source."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
_PACKAGE = "mock_platform"


@dataclass(frozen=True, slots=True)
class Room:
    """A package, or a module that is in none. `imports` are the names of other rooms."""

    name: str
    purpose: str
    """The first sentence of its docstring."""
    imports: frozenset[str]

    @property
    def label(self) -> str:
        """How the documentation writes it: a package with a slash, a module as its file."""
        return f"{self.name}/" if (ROOT / _PACKAGE / self.name).is_dir() else f"{self.name}.py"


@cache
def read_rooms() -> tuple[Room, ...]:
    """Returns all rooms, each one before those that it imports.

    Raises:
        graphlib.CycleError: Rooms import one another.
    """
    graph = grimp.build_graph(_PACKAGE, cache_dir=None)
    rooms = {}
    for module in sorted(graph.find_children(_PACKAGE)):
        inside = {module, *graph.find_descendants(module)}
        imported = {
            target.split(".")[1]
            for source in inside
            for target in graph.find_modules_directly_imported_by(source)
            if target.count(".")
        }
        name = module.partition(".")[2]
        rooms[name] = Room(name, _purpose(_file(module)), frozenset(imported - {name}))
    upwards = TopologicalSorter({name: sorted(room.imports) for name, room in rooms.items()})
    return tuple(rooms[name] for name in reversed(list(upwards.static_order())))


def find_direct_imports(rooms: tuple[Room, ...]) -> list[tuple[str, str]]:
    """Returns the arrows of the picture: imports that do not follow from two or more others."""
    by_name = {room.name: room for room in rooms}

    def reach(name: str) -> set[str]:
        imports = by_name[name].imports
        return set(imports).union(*(reach(each) for each in imports))

    return [
        (room.name, name)
        for room in rooms
        for name in sorted(room.imports)
        if not any(name in reach(other) for other in room.imports if other != name)
    ]


def _file(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _purpose(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return docstring.partition("\n")[0]
