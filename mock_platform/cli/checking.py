"""`check`: reports every fault of fixture and scenario files, with its place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

import click

from mock_platform.cli.trouble import CheckFailed, count_faults
from mock_platform.core import packaged as shipped
from mock_platform.operations import TABLES
from mock_platform.platform import Platform
from mock_platform.records import fixtures
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
    under = [shipped.folder("fixtures")] if default_fixtures else []
    files = [file for path in paths for file in _find_scenarios(path)]
    complaints: list[object] = []
    odd: list[object] = []
    named: Collection[Path] = ()
    if files:
        checked = library.check(files, Platform(_BARE).library.catalog)
        complaints += checked.complaints
        odd += checked.warnings
        named = checked.named
    others = [path for path in paths if not _contains_only_scenarios(path, named)]
    if others:
        complaints = [*fixtures.check([*under, *others], TABLES, odd.append), *complaints]
    for complaint in complaints:
        click.echo(str(complaint))
    for warning in odd if warnings != "ignore" else ():
        click.echo(f"Warning: {warning}", err=True)
    if complaints:
        raise CheckFailed(f"{count_faults(len(complaints))} found.")
    if odd and warnings == "error":
        count = "One warning" if len(odd) == 1 else f"{len(odd)} warnings"
        raise CheckFailed(f"{count} found, and --warnings error makes them faults.")
    click.echo(f"No faults in {', '.join(str(path) for path in paths)}.", err=True)


def _find_scenarios(path: Path) -> list[Path]:
    if path.is_dir():
        return library.list_scenario_files(path)
    return [path] if library.is_scenario(path) else []


def _contains_only_scenarios(path: Path, named: Collection[Path]) -> bool:
    """Returns whether a path has scenarios only, and files that these name."""
    files = library.list_files(path) if path.is_dir() else [path]
    return bool(files) and all(
        library.is_scenario(file) or file.resolve() in named for file in files
    )
