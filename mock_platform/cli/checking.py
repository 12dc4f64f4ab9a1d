"""`check`, `coverage` and `fit`: faults of files, what clients exercised, what a project calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal

import click
import requests

from mock_platform.api.served import TABLES
from mock_platform.cli.command import CheckFailed, count_faults
from mock_platform.cli.conditions import CoverageConditions
from mock_platform.cli.configured import read_options
from mock_platform.cli.serving_commands import run, serve
from mock_platform.client.remote.control import read_authority
from mock_platform.control.mistakes import TOKEN_HEADER
from mock_platform.core import installed as shipped
from mock_platform.core.errors import Complaint
from mock_platform.core.jsonio import pretty, printable
from mock_platform.core.settings_file import FILE_NAME, BadSettingsFile, read_settings_file
from mock_platform.core.tables import fixtures
from mock_platform.platform import Platform
from mock_platform.scenario import library
from mock_platform.settings import Settings
from mock_platform.verification.coverage.document import CoverageDocument
from mock_platform.verification.coverage.pages import Format, render

Warnings = Literal["show", "ignore", "error"]
_BARE = Settings(default_fixtures=False)


def check_files(
    paths: Sequence[Path], *, default_fixtures: bool, warnings: Warnings = "show"
) -> None:
    """Print `file:line:column: message` for each fault of folders or single files.

    Scenario files are distinguished from fixtures by their name and form. Warnings go to standard
    error; `warnings` says whether they are shown, ignored, or count as faults.

    Raises:
        CheckFailed: The files have faults.
    """
    under = shipped.folder("fixtures") if default_fixtures else None
    settings = [path for path in paths if path.name == FILE_NAME]
    complaints: list[object] = [fault for path in settings for fault in _check_settings(path)]
    named_paths, paths = paths, [path for path in paths if path not in settings]
    files = [file for path in paths for file in _find_scenarios(path)]
    odd: list[object] = []
    named: Collection[Path] = ()
    if files:
        checked = library.check(files, Platform(_BARE).library.catalog)
        complaints += checked.complaints
        odd += checked.warnings
        named = checked.named
    empty = [path for path in paths if path.is_dir() and not library.list_files(path)]
    if empty:
        raise CheckFailed(
            f"{empty[0]} has no fixtures and no scenarios: it has no files that end with .json, "
            ".yaml or .yml."
        )
    others = [path for path in paths if not _contains_only_scenarios(path, named)]
    if others:
        complaints = [*fixtures.check(others, TABLES, odd.append, under), *complaints]
    for complaint in complaints:
        click.echo(str(complaint))
    for warning in odd if warnings != "ignore" else ():
        click.echo(f"Warning: {warning}", err=True)
    if complaints:
        raise CheckFailed(f"{count_faults(len(complaints))} found.")
    if odd and warnings == "error":
        count = "One warning" if len(odd) == 1 else f"{len(odd)} warnings"
        raise CheckFailed(f"{count} found, and --warnings error makes them faults.")
    click.echo(f"No faults in {', '.join(map(str, named_paths))}.", err=True)


def _check_settings(path: Path) -> list[Complaint]:
    """Return the faults of a `mock-platform.toml`."""
    try:
        file = read_settings_file(path)
    except BadSettingsFile as fault:
        return fault.complaints
    faults = [fault for command in (serve, run) for fault in read_options(command, file)[1]]
    if file.read_table("pytest"):
        (plugin,) = entry_points(group="pytest11", name="mock_platform")
        options = _Names()
        plugin.load().pytest_addoption(options)
        faults += file.list_faults("pytest", options.names)
    return faults


class _Names:
    """In place of pytest's parser: keeps the names of options."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def getgroup(self, *_: str) -> _Names:
        """Return the group of all options."""
        return self

    def addoption(self, name: str, **_: Any) -> None:
        """Keep the name of an option."""
        self.names.append(name.removeprefix("--"))


def _find_scenarios(path: Path) -> list[Path]:
    if path.is_dir():
        return library.list_scenario_files(path)
    return [path] if library.is_scenario(path) else []


def _contains_only_scenarios(path: Path, named: Collection[Path]) -> bool:
    """Return whether a path has scenarios only, and files that these name."""
    files = library.list_files(path) if path.is_dir() else [path]
    return bool(files) and all(
        library.is_scenario(file) or file.resolve() in named for file in files
    )


# `coverage`: what clients of a server exercised.

_REQUEST_TIMEOUT_SECONDS = 30.0


def show_coverage(
    url: str, form: Format, conditions: CoverageConditions, token: str | None, ca: Path | None
) -> None:
    """Print the coverage of a running server.

    Raises:
        CheckFailed: The coverage is not available, or not as it must be.
        click.UsageError: The patterns or the baseline cannot be used.
    """
    found = _fetch_coverage(url.rstrip("/").removesuffix("/_mock"), token, ca)
    gate = conditions.make_gate([row["id"] for row in found["operations"]], "--")
    found = gate.scope.restrict(found)
    click.echo(render(found, form, gate), nl=False)
    if form == "json":
        click.echo()
    failures = gate.list_failures(found)
    if failures:
        raise CheckFailed("\n".join(line for each in failures for line in [each.text, *each.lost]))


def _fetch_coverage(url: str, token: str | None, ca: Path | None) -> CoverageDocument:
    headers = {} if token is None else {TOKEN_HEADER: token}
    with requests.Session() as session:
        session.trust_env = False  # a proxy of the machine does not reach a local server
        session.verify = read_authority() if ca is None else str(ca)
        try:
            answer = session.get(
                f"{url}/_mock/coverage",
                headers=headers,
                timeout=_REQUEST_TIMEOUT_SECONDS,
                allow_redirects=False,
            )
            body = answer.json()
        except (requests.RequestException, OSError) as fault:
            why = str(fault)  # which quotes the inner workings of a library if nobody listens
            if isinstance(fault, requests.ConnectionError) and "refused" in why:
                why = "no server answers there"
            raise CheckFailed(
                f"{url} has no coverage: {why}. Start one with `mock-platform serve`, or set its "
                "address with --url."
            ) from fault
    if answer.status_code != 200 or not isinstance(body, dict) or "percent" not in body:
        detail = body.get("detail") if isinstance(body, dict) else None
        raise CheckFailed(f"{url} answers {answer.status_code}: {detail or 'no coverage'}")
    found: CoverageDocument = body
    return found


def show_fit(path: Path, form: Literal["text", "json"]) -> None:
    """Print which calls of the platform a project makes, and whether they are served.

    Raises:
        CheckFailed: A call is not served.
    """
    from mock_platform.verification.fit.project import read_project
    from mock_platform.verification.fit.report import as_json, write_text

    reading = read_project(path)
    click.echo(printable(pretty(as_json(reading))) if form == "json" else write_text(reading))
    missing = sum(each.verdict.status == "missing" for each in reading.found)
    if missing:
        raise CheckFailed(f"{missing} of {len(reading.found)} calls are not served.")
