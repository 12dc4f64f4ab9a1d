"""The commands that print what a sandbox knows: openapi, assumptions, scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mock_platform.cli.command import align, convert_errors
from mock_platform.control import about
from mock_platform.control.routes import describe_everything
from mock_platform.core.jsonio import dumps, pretty
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
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


def schema_text() -> str:
    """Return the JSON Schema of scenario files."""
    return dumps(json_schema(Platform().library.catalog.ids)).decode()


def list_packaged_scenarios(chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Return the scenarios that a server with these `--scenario` arguments knows."""
    with convert_errors():
        platform = Platform(Settings(scenarios=tuple(chosen)))
        return find_engine(platform.worlds.default).as_json()
