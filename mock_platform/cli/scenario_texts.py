"""How `scenarios` prints what it found; without the platform, for servers that run elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mock_platform.cli.command import align
from mock_platform.cli.trouble import CheckFailed
from mock_platform.core.jsonio import pretty
from mock_platform.core.suggestions import did_you_mean


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
        hint = did_you_mean(name, [entry["name"] for entry in listed])
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
