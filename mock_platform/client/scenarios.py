"""Scenarios as Python gives them: a document, its YAML, or a file; and values of parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mock_platform.core import jsonio
from mock_platform.scenario.document import Scenario, load, loads


def read_scenario(document: Mapping[str, Any] | str | Path, operations: Sequence[str]) -> Scenario:
    """The scenario of a document, its YAML, or a file.

    Raises:
        BadScenario: It has faults; each is reported with its place.
        TypeError: The document holds what JSON has not.
    """
    if isinstance(document, Path):
        return load(document, operations)
    if isinstance(document, str):
        return loads(document, operations)
    return loads(jsonio.dumps(document), operations, "scenario.json")


def plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of values as they would come over an address.

    Raises:
        TypeError: One is something that JSON has not.
    """
    copy: dict[str, Any] = jsonio.loads(jsonio.dumps(parameters))
    return copy
