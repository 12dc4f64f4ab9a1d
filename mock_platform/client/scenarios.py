"""Scenarios and parameter values in Python: a document, its YAML, or a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mock_platform.core import jsonio

if TYPE_CHECKING:
    from mock_platform.scenario.catalog import Catalog
    from mock_platform.scenario.document import Scenario


def read_scenario(document: Mapping[str, Any] | str | Path, catalog: Catalog) -> Scenario:
    """Returns the scenario from a document, its YAML, or a file.

    Raises:
        BadScenario: The scenario has faults; each is reported with its place.
        TypeError: The document contains a value that has no JSON form.
    """
    from mock_platform.scenario.document import load, loads  # quick commands do without

    if isinstance(document, Path):
        return load(document, catalog)
    if isinstance(document, str):
        return loads(document, catalog)
    return loads(jsonio.dumps(document), catalog, "scenario.json")


def copy_as_json(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a copy of the values, as they would arrive over HTTP.

    Raises:
        TypeError: A value has no JSON form.
    """
    copy: dict[str, Any] = jsonio.loads(jsonio.dumps(parameters))
    return copy
