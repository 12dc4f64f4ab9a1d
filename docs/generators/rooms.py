"""The rooms of the package, what they import, and the subjects, read from the source."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
_PACKAGE = "mock_platform"
BESIDE = ("__main__", "names", "pytest_plugin", "testing", "version")
"""The modules at the top that only lead in, or hold a number: the picture leaves them out."""


@dataclass(frozen=True, slots=True)
class Room:
    """A folder or a module at the top of the package. `imports` are the names of other rooms."""

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
    """Returns the arrows between these rooms: imports that do not follow from two others."""
    by_name = {room.name: room for room in rooms}

    def reach(name: str) -> set[str]:
        imports = by_name[name].imports & by_name.keys()
        return set(imports).union(*(reach(each) for each in imports))

    return [
        (room.name, name)
        for room in rooms
        for name in sorted(room.imports & by_name.keys())
        if not any(name in reach(other) for other in room.imports & by_name.keys() - {name})
    ]


def read_subjects() -> list[tuple[str, str]]:
    """Returns the folder of each subject below the package, and the first sentence about it."""
    api = ROOT / _PACKAGE / "api"
    heads = sorted([*api.glob("*/__init__.py"), *api.glob("*/*/__init__.py")])
    no_subjects = (api / "ads", api / "datasets", api / "v2")
    subjects = [
        head.parent
        for head in heads
        if head.parent.parent != api / "oauth" and head.parent not in no_subjects
    ]
    package = ROOT / _PACKAGE
    return [
        (f"{folder.relative_to(package).as_posix()}/", _purpose(folder / "__init__.py"))
        for folder in subjects
    ]


def _file(module: str) -> Path:
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _purpose(file: Path) -> str:
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return docstring.partition("\n")[0]
