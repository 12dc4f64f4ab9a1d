"""The commands that only print: operations, where, credentials, scenarios."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mock_platform.cli.command import DEFAULT_URL
from mock_platform.cli.trouble import CheckFailed, convert_errors
from mock_platform.control import about
from mock_platform.control import known_credentials as known
from mock_platform.control.routes import describe_everything
from mock_platform.core.jsonio import pretty
from mock_platform.core.operation import Operation
from mock_platform.core.routing import Router
from mock_platform.platform import Platform
from mock_platform.scenario.director import find_engine
from mock_platform.scenario.schema import json_schema
from mock_platform.settings import Settings

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def operations_text(form: str) -> str:
    """Returns the table of operations: in columns, or as JSON."""
    platform = Platform()
    if form == "json":
        return pretty(about.operations(platform))
    rows = [("METHOD", "PATH", "OPERATION", "SPEC")]
    rows += [
        (
            entry.method,
            display_path(entry),
            entry.id + (" (deprecated)" if entry.deprecated else ""),
            entry.spec,
        )
        for entry in sort_operations(platform)
    ]
    return align(rows)


def sort_operations(platform: Platform) -> list[Operation]:
    """Returns all operations by path family, path and method."""
    return sorted(platform.operations, key=lambda entry: (entry.dialect, entry.path, entry.method))


def display_path(operation: Operation) -> str:
    """Returns the path at which an operation is called, in the specification's notation."""
    return f"/sandbox{operation.path}" if operation.sandbox_only else operation.path


def align(rows: Sequence[Sequence[str]]) -> str:
    """Returns rows as columns, with two spaces between them."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def where_text(method: str, address: str, form: str) -> str:
    """Returns which operation answers a request.

    Raises:
        CheckFailed: No operation does; the message names the nearest ones.
    """
    method = method.upper()
    path, sandbox = _split_path(address)
    if method not in _METHODS:
        raise CheckFailed(f"{method} is not a method. Methods: {', '.join(_METHODS)}.")
    platform = Platform()
    router = Router(
        (operation.method, spelling, operation)
        for operation in platform.operations
        if (operation.dialect == "ads" if sandbox else not operation.sandbox_only)
        for spelling in (operation.path, *operation.also)
    )
    found = router.find(method, path)
    if found.target is None:
        near = platform.unanswered_requests.nearest(method, path)
        raise CheckFailed(_explain_unknown(method, path, found.allowed, near, sandbox=sandbox))
    if form == "json":
        return pretty(found.target.as_json() | {"path_parameters": dict(found.params)})
    return _describe_operation(found.target, dict(found.params))


def credentials_text(form: str, fixtures: Sequence[Path], url: str = DEFAULT_URL) -> str:
    """Returns the test credentials of the default fixtures, with these folders added.

    In the form `shell` the addresses of the server at `url` are added.
    """
    with convert_errors():
        platform = Platform(Settings(fixtures=tuple(fixtures)))
    found = known.credentials(platform)
    if form == "shell":
        return known.shell_text(found, url.rstrip("/"))
    return known.environment_text(found) if form == "env" else pretty(found) + "\n"


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
    return pretty(json_schema(Platform().library.catalog.ids))


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


def _split_path(address: str) -> tuple[str, bool]:
    """Returns the path within the interface, and whether the address is the sandbox one."""
    parts = urlsplit(address)
    path = parts.path if parts.path.startswith("/") else f"/{parts.path}"
    if path.startswith("/~"):
        _, _, rest = path[1:].partition("/")
        path = f"/{rest}"
    sandbox = (parts.hostname or "").startswith("ads-api-sandbox.")
    if path == "/sandbox" or path.startswith("/sandbox/"):
        return path.removeprefix("/sandbox") or "/", True
    return path, sandbox


def _explain_unknown(
    method: str, path: str, allowed: Sequence[str], near: Sequence[Operation], *, sandbox: bool
) -> str:
    if path == "/_mock" or path.startswith("/_mock/"):
        return (
            f"{path} belongs to the control plane, not to the interface. GET "
            "/_mock/docs/ of a running server lists its routes."
        )
    if allowed:
        return f"{path} does not answer {method}, only {', '.join(allowed)}."
    lines = [f"No operation answers {method} {path}{' on the sandbox address' if sandbox else ''}."]
    lines += ["Nearest:"] if near else ["`mock-platform operations` lists all operations."]
    lines += [f"  {entry.method} {display_path(entry)}  ({entry.id})" for entry in near]
    return "\n".join(lines)


def _describe_operation(operation: Operation, params: dict[str, str]) -> str:
    file, line = operation.where()
    rows = [
        ("operation", operation.id),
        ("answers", f"{operation.method} {display_path(operation)}"),
        ("does", operation.summary),
        ("spec", operation.spec),
        ("code", f"{_shorten_path(Path(file))}:{line}"),
    ]
    rows += [("with", f"{name} = {value}") for name, value in params.items()]
    rows += [("assumes", entry.id) for entry in operation.all_assumptions]
    return align(rows)


def _shorten_path(path: Path) -> str:
    """Returns a path as a terminal can open it, relative to the working directory if possible."""
    here = os.path.relpath(path)
    return str(path) if here.startswith("..") else here
