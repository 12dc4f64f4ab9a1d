"""`check` and `fit`: faults of files, and what a project calls."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Literal

import click

from mock_platform.api.served import TABLES
from mock_platform.cli.command import CheckFailed, count_faults
from mock_platform.cli.configured import read_options
from mock_platform.cli.serving_commands import run, serve
from mock_platform.core import installed as shipped
from mock_platform.core.errors import Complaint
from mock_platform.core.jsonio import pretty, printable
from mock_platform.core.settings_file import FILE_NAME, BadSettingsFile, read_settings_file
from mock_platform.core.tables import fixtures
from mock_platform.platform import Platform
from mock_platform.scenario import library
from mock_platform.settings import Settings

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
