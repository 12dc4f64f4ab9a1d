"""Where the code of each operation is."""

from __future__ import annotations

import linecache
import re
from importlib import import_module
from pathlib import Path

import pytest

from mock_platform.api import served
from mock_platform.core.operation import Operation

API = Path(served.__file__).parent
DECLARED: list[tuple[str, Operation]] = [
    (subject, operation)
    for subject in served.SUBJECTS
    for operation in getattr(import_module(f"mock_platform.api.{subject}"), "OPERATIONS", ())
]


@pytest.mark.parametrize(
    ("subject", "operation"), DECLARED, ids=[operation.id for _, operation in DECLARED]
)
def test_every_operation_leads_to_its_subject(subject: str, operation: Operation) -> None:
    """To the handler, or to the line of the resource that brings one; never into `core`."""
    found, line = operation.where()
    code = linecache.getline(found, line)

    assert API / subject.replace(".", "/") in Path(found).parents
    assert re.match(r" *def |@|.*\.(list|get|create|update|delete)\(|.*declare_\w+\(", code), code
    shown = Path(found).relative_to(API.parent).as_posix()
    assert f"mock_platform/{shown}:{line}" == operation.as_json()["code"]


def test_no_operation_is_declared_elsewhere() -> None:
    """The table has the operations of all subjects and no others."""
    assert {operation.id for _, operation in DECLARED} == {
        operation.id for operation in served.OPERATIONS
    }
