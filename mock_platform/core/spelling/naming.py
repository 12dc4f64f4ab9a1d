"""The original names of an operation, for its description."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mock_platform.core.operation import Operation
from mock_platform.core.spelling.exchange import list_declared
from mock_platform.core.spelling.pairs import PAIRS, list_original_paths


def describe_original_names(
    operation: Operation, write_path: Callable[[str], str]
) -> dict[str, Any]:
    """Returns the paths and the parameters of an operation whose original names differ.

    `paths` are further paths under `--names original`, `parameters` are original names by neutral
    name. What has no other name is left out.
    """
    names = PAIRS[operation.dialect].names
    paths = [*map(write_path, list_original_paths(operation.path, operation.dialect))]
    parameters = {
        name: names[name] for name in sorted(set(list_declared(operation))) if name in names
    }
    found = {"paths": paths, "parameters": parameters}
    return {name: value for name, value in found.items() if value}
