"""`check`: every fault of fixture files, each where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from mock_platform import shipped
from mock_platform.cli.trouble import CheckFailed, counted
from mock_platform.core import fixtures
from mock_platform.records import TABLES


def check_fixtures(paths: Sequence[Path], *, default_fixtures: bool) -> None:
    """Print `file:line:column: message` for each fault of folders or single files.

    Raises:
        CheckFailed: There are some.
    """
    under = [shipped.folder("fixtures")] if default_fixtures else []
    complaints = fixtures.check([*under, *paths], TABLES)
    for complaint in complaints:
        click.echo(str(complaint))
    if complaints:
        raise CheckFailed(f"{counted(len(complaints))} found.")
    click.echo(f"No faults in {', '.join(str(path) for path in paths)}.", err=True)
