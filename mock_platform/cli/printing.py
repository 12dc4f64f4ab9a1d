"""The commands that print constants: operations, where, credentials.

What they import takes a fraction of what a sandbox takes; a test checks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from mock_platform.cli.columns import align
from mock_platform.cli.command import DEFAULT_URL
from mock_platform.cli.constants import KnownOperation, read_credentials, read_operations
from mock_platform.cli.trouble import CheckFailed, convert_errors
from mock_platform.control.credential_texts import Credentials, environment_text, shell_text
from mock_platform.core.jsonio import pretty
from mock_platform.core.routing import Nearest, Routed, Router

Operations = TypeVar("Operations", bound=Routed)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def operations_text(form: str) -> str:
    """Returns the table of operations: in columns, or as JSON."""
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
    """Returns which operation answers a request.

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
    """Returns the test credentials of the default fixtures, with these folders added.

    In the form `shell` the addresses of the server at `url` are added.
    """
    found = _load_credentials(fixtures) if fixtures else read_credentials()
    if form == "shell":
        return shell_text(found, url.rstrip("/"))
    return environment_text(found) if form == "env" else pretty(found) + "\n"


def sort_operations(operations: Iterable[Operations]) -> list[Operations]:
    """Returns operations by path family, path and method."""
    return sorted(operations, key=lambda entry: (entry.dialect, entry.path, entry.method))


def display_path(operation: Routed) -> str:
    """Returns the path at which an operation is called, in the specification's notation."""
    return f"/sandbox{operation.path}" if operation.sandbox_only else operation.path


def _load_credentials(fixtures: Sequence[Path]) -> Credentials:
    # Only these need a sandbox, which takes ten times as long to load.
    from mock_platform.control.known_credentials import credentials
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
