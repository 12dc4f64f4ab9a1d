"""What modules import of one another."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def _modules() -> Mapping[str, Path]:
    found = {}
    for path in (ROOT / "mock_platform").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


_NAMES = r"[\w.]+(?: as \w+)?(?:, [\w.]+(?: as \w+)?)*"
_STATEMENT = re.compile(
    rf"^ *((?:from [\w.]+ )?import (?:\([^)]*\)|{_NAMES}))(?:  #.*)?$", re.MULTILINE
)


def _imported(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """Everything that a module imports, in functions and for the type checker as well."""
    # To parse whole modules takes ten times as long.
    for node in ast.parse("\n".join(_STATEMENT.findall(path.read_text()))).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                yield submodule if submodule in modules else node.module
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name


def test_no_modules_import_one_another_in_a_circle() -> None:
    """Not even for types alone: modules in a circle can only be read, and moved, together."""
    modules = _modules()
    imports = {
        name: modules.keys() & {*_imported(path, modules)} - {name}
        for name, path in modules.items()
    }
    circle: list[str] = []
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as fault:
        circle = fault.args[1]

    assert [] == circle
    assert 200 < len(modules)
