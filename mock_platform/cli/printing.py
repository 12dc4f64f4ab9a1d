"""The commands that print what is known without a sandbox: operations, credentials, scenarios.

What they import takes a fraction of what a sandbox takes; a test checks it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from mock_platform.cli.command import DEFAULT_URL, CheckFailed, align, convert_errors
from mock_platform.core.auth.tester_access import Credentials, environment_text, shell_text
from mock_platform.core.errors import did_you_mean
from mock_platform.core.jsonio import loads, pretty
from mock_platform.core.routing import Nearest, Routed, Router

# What the package prints about itself without building anything: operations and credentials.
# `constants.json` is generated from the operations and the default fixtures. Loading and
# checking those takes more than ten times as long as everything else that the commands do.

_PACKAGE = "mock_platform"


class KnownOperation(Struct, frozen=True):
    """An operation as it is printed."""

    id: str
    method: str
    path: str
    also: tuple[str, ...]
    """Other spellings of the path."""
    dialect: str
    listed: Mapping[str, Any]
    """What `GET /_mock/operations` answers, without the line of `code`."""
    code_line: str
    """The text of the line of its code; the number of the line changes more often."""
    code_count: int
    """The place of that line among the equal lines of the file, from 0."""

    @property
    def sandbox_only(self) -> bool:
        """Whether it exists on the sandbox address only."""
        return bool(self.listed["sandbox_only"])

    @property
    def file(self) -> Path:
        """The file with its code."""
        return Path(str(files(_PACKAGE))).parent / str(self.listed["code"])

    def find_line(self) -> int:
        """Return the number of the line of its code; 1 if somebody changed the line."""
        lines = self.file.read_text("utf-8").splitlines()
        found = [at for at, line in enumerate(lines, 1) if line.strip() == self.code_line]
        return found[self.code_count] if self.code_count < len(found) else 1

    def as_json(self) -> dict[str, Any]:
        """Return the operation in the form of `GET /_mock/operations`."""
        return {**self.listed, "code": f"{self.listed['code']}:{self.find_line()}"}

    def describe_place(self) -> str:
        """Return file and line as a terminal can open them, relative to the working directory."""
        here = os.path.relpath(self.file)
        return f"{self.file if here.startswith('..') else here}:{self.find_line()}"


def read_operations() -> tuple[KnownOperation, ...]:
    """Return all operations in the order of the table."""
    return tuple(
        KnownOperation(
            id=entry["listed"]["id"],
            method=entry["listed"]["method"],
            path=entry["listed"]["path"],
            also=tuple(entry["also"]),
            dialect=entry["dialect"],
            listed=entry["listed"],
            code_line=entry["code_line"],
            code_count=entry["code_count"],
        )
        for entry in _read()["operations"]
    )


def read_credentials() -> Credentials:
    """Return the credentials of the default fixtures."""
    found: Credentials = _read()["credentials"]
    return found


def _read() -> dict[str, Any]:
    text = files(_PACKAGE).joinpath("cli", "constants.json").read_bytes()
    found: dict[str, Any] = loads(text)
    return found


Operations = TypeVar("Operations", bound=Routed)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def operations_text(form: str) -> str:
    """Return the table of operations: in columns, or as JSON."""
    operations = read_operations()
    if form == "json":
        return pretty({"operations": [entry.as_json() for entry in operations]})
    rows = [("METHOD", "PATH", "OPERATION", "SPEC")]
    rows += [
        (
            entry.method,
            display_path(entry),
            entry.id + (" (deprecated)" if entry.listed["deprecated"] else ""),
            entry.listed["spec"],
        )
        for entry in sort_operations(operations)
    ]
    return align(rows)


def where_text(method: str, address: str, form: str) -> str:
    """Return which operation answers a request.

    Raises:
        CheckFailed: No operation does; the message names the nearest ones.
    """
    method = method.upper()
    path, sandbox = _split_path(address)
    if method not in _METHODS:
        raise CheckFailed(f"{method} is not a method. Methods: {', '.join(_METHODS)}.")
    operations = read_operations()
    found = _route(operations, sandbox=sandbox).find(method, path)
    if found.target is None:
        near = Nearest(operations).to(method, path)
        raise CheckFailed(_explain_unknown(method, path, found.allowed, near, sandbox=sandbox))
    if form == "json":
        return pretty(found.target.as_json() | {"path_parameters": dict(found.params)})
    return _describe_operation(found.target, dict(found.params))


def credentials_text(form: str, fixtures: Sequence[Path], url: str = DEFAULT_URL) -> str:
    """Return the test credentials of the default fixtures, with these folders added.

    In the form `shell` the addresses of the server at `url` are added.
    """
    found = _load_credentials(fixtures) if fixtures else read_credentials()
    if form == "shell":
        return shell_text(found, url.rstrip("/"))
    return environment_text(found) if form == "env" else pretty(found) + "\n"


def sort_operations(operations: Iterable[Operations]) -> list[Operations]:
    """Return operations by path family, path and method."""
    return sorted(operations, key=lambda entry: (entry.dialect, entry.path, entry.method))


def display_path(operation: Routed) -> str:
    """Return the path at which an operation is called, in the specification's notation."""
    return f"/sandbox{operation.path}" if operation.sandbox_only else operation.path


def _load_credentials(fixtures: Sequence[Path]) -> Credentials:
    # Only these need a sandbox, which takes ten times as long to load.
    from mock_platform.api.oauth.tester_access import credentials
    from mock_platform.platform import Platform
    from mock_platform.settings import Settings

    with convert_errors():
        return credentials(Platform(Settings(fixtures=tuple(fixtures))).worlds.default)


def _route(operations: Iterable[KnownOperation], *, sandbox: bool) -> Router[KnownOperation]:
    return Router(
        (operation.method, spelling, operation)
        for operation in operations
        if (operation.dialect == "ads" if sandbox else not operation.sandbox_only)
        for spelling in (operation.path, *operation.also)
    )


def _split_path(address: str) -> tuple[str, bool]:
    """Return the path within the interface, and whether the address is the sandbox one."""
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
    method: str, path: str, allowed: Sequence[str], near: Sequence[KnownOperation], *, sandbox: bool
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


def _describe_operation(operation: KnownOperation, params: dict[str, str]) -> str:
    listed = operation.listed
    rows = [
        ("operation", operation.id),
        ("answers", f"{operation.method} {display_path(operation)}"),
        ("does", listed["summary"]),
        ("spec", listed["spec"]),
        ("code", operation.describe_place()),
    ]
    rows += [("with", f"{name} = {value}") for name, value in params.items()]
    rows += [("assumes", name) for name in listed["assumptions"]]
    return align(rows)


def describe_scenarios(listed: Sequence[dict[str, Any]], name: str | None, form: str) -> str:
    """Return a list of scenarios, or one of them: in columns, or as JSON.

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
        + (f"; {rule['hidden_by']} comes first" if rule.get("hidden_by") else "")
        for rule in entry["rules"]
    ]
    return "\n".join(lines)
