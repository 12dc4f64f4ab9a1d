"""The commands that print what a sandbox knows: openapi, assumptions, scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mock_platform.cli.command import CheckFailed, align, convert_errors
from mock_platform.control import about
from mock_platform.control.routes import describe_everything
from mock_platform.core.errors import BadQuery
from mock_platform.core.jsonio import dumps, pretty
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.failures import find_failures
from mock_platform.scenario.schema import json_schema
from mock_platform.settings import Settings


def openapi_text(url: str) -> str:
    """Return the OpenAPI description of everything that is served."""
    return pretty(describe_everything(Platform()).at(url))


def assumptions_text(form: str) -> str:
    """Return all assumptions: in columns, or as JSON."""
    register = about.assumptions(Platform())
    if form == "json":
        return pretty(register)
    rows = [("ASSUMPTION", "BASIS", "TEXT")]
    rows += [(entry["id"], entry["basis"], entry["text"]) for entry in register["assumptions"]]
    return align(rows)


def failures_text(pattern: str, statuses: Sequence[int], *, network: bool, form: str) -> str:
    """Return the failures of operations: an id a line, or as JSON.

    Raises:
        CheckFailed: A pattern matches no operation, or no operation documents a status.
    """
    try:
        found = find_failures(Platform().operations, pattern, statuses, network=network)
    except BadQuery as fault:
        raise CheckFailed("\n".join(text for _, text in fault.faults)) from fault
    if form == "json":
        return pretty({"failures": [failure.as_json() for failure in found]})
    return "\n".join(map(str, found))


def schema_text() -> str:
    """Return the JSON Schema of scenario files."""
    return dumps(json_schema(Platform().library.catalog.ids)).decode()


def list_packaged_scenarios(chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Return the scenarios that a server with these `--scenario` arguments knows."""
    with convert_errors():
        platform = Platform(Settings(scenarios=tuple(chosen)))
        return find_engine(platform.worlds.default).as_json()
