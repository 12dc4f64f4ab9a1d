"""The commands that print what a sandbox knows: openapi, assumptions, scenarios."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from mock_platform.cli.columns import align
from mock_platform.cli.trouble import CheckFailed, convert_errors
from mock_platform.control import about
from mock_platform.control.routes import describe_everything
from mock_platform.core.jsonio import dumps, pretty
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.schema import json_schema
from mock_platform.settings import Settings


def openapi_text(url: str) -> str:
    """Returns the OpenAPI description of everything that is served."""
    return pretty(describe_everything(Platform()).at(url))


def assumptions_text(form: str) -> str:
    """Returns all assumptions: in columns, or as JSON."""
    register = about.assumptions(Platform())
    if form == "json":
        return pretty(register)
    rows = [("ASSUMPTION", "BASIS", "TEXT")]
    rows += [(entry["id"], entry["basis"], entry["text"]) for entry in register["assumptions"]]
    return align(rows)


def schema_text() -> str:
    """Returns the JSON Schema of scenario files."""
    return dumps(json_schema(Platform().library.catalog.ids)).decode()


def list_packaged_scenarios(chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the scenarios that a server with these `--scenario` arguments knows."""
    with convert_errors():
        platform = Platform(Settings(scenarios=tuple(chosen)))
        return find_engine(platform.worlds.default).as_json()


def describe_scenarios(listed: Sequence[dict[str, Any]], name: str | None, form: str) -> str:
    """Returns a list of scenarios, or one of them: in columns, or as JSON.

    Raises:
        CheckFailed: None of them has this name.
    """
    if name is None and form == "json":
        return pretty({"scenarios": listed})
    if name is None:
        rows = [("SCENARIO", "PARAMETERS", "DESCRIPTION")]
        rows += [
            (
                entry["name"] + (" (active)" if entry["active"] else ""),
                ", ".join(entry["parameters"]),
                " ".join(entry["description"].split()),
            )
            for entry in listed
        ]
        return align(rows)
    found = next((entry for entry in listed if entry["name"] == name), None)
    if found is None:
        near = get_close_matches(name, [entry["name"] for entry in listed], 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise CheckFailed(f"There is no scenario {name!r}.{hint} `scenarios` lists all of them.")
    return pretty(found) if form == "json" else _describe_scenario(found)


def _describe_scenario(entry: dict[str, Any]) -> str:
    defaults = " ".join(f"{key}={json.dumps(value)}" for key, value in entry["parameters"].items())
    given = " ".join(f"{key}={json.dumps(value)}" for key, value in entry["given"].items())
    lines = [
        entry["name"],
        f"  {' '.join(entry['description'].split())}",
        f"  specification: {entry['spec'] or 'none'}",
        f"  parameters: {defaults or 'none'}",
        f"  active: {('yes, ' + given if given else 'yes') if entry['active'] else 'no'}",
    ]
    lines += [
        f"  rule {rule['rule']} on {', '.join(rule['on'])}: acted {rule['fired']} times in "
        f"{rule['matched']} matching calls"
        for rule in entry["rules"]
    ]
    return "\n".join(lines)
