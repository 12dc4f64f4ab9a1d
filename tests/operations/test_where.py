"""Where the code of each operation is."""

from __future__ import annotations

import linecache
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from mock_platform import operations
from mock_platform.core.operation import Operation

FAMILIES = [
    import_module(f"{operations.__name__}.{found.name}")
    for found in iter_modules(operations.__path__)
    if found.name != "openapi"  # its operation describes the others, and is the platform's
]
DECLARED: list[tuple[str | None, Operation]] = [
    (family.__file__, operation) for family in FAMILIES for operation in vars(family)["OPERATIONS"]
]


@pytest.mark.parametrize(
    ("file", "operation"), DECLARED, ids=[operation.id for _, operation in DECLARED]
)
def test_every_operation_leads_to_its_family(file: str | None, operation: Operation) -> None:
    """To the handler, or to the line of the resource that brings one; never into `core`."""
    found, line = operation.where()
    code = linecache.getline(found, line)

    assert file == found
    assert re.match(r" *def |@|.*\.(list|get|delete)\(|.*declare_batch\(", code), code
    assert f"mock_platform/operations/{Path(found).name}:{line}" == operation.as_json()["code"]


def test_no_operation_is_declared_elsewhere() -> None:
    """The table has the operations of all families and no others."""
    assert {operation.id for _, operation in DECLARED} == {
        operation.id for operation in operations.OPERATIONS
    }
