"""`import`: turns an archive into a folder, and prints what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from mock_platform.cli.trouble import BadInput, convert_errors
from mock_platform.core.jsonio import pretty
from mock_platform.har import BadHar
from mock_platform.importing import FolderInUse, ImportOptions, import_har
from mock_platform.importing.report import describe, report_as_json


def import_file(
    har: Path, folder: Path, options: ImportOptions, format: Literal["text", "json"]
) -> None:
    """Import an archive, and print the report.

    Raises:
        click.ClickException: The archive or the folder cannot be used.
    """
    try:
        with convert_errors():
            report = import_har(har, folder, options, lambda text: click.echo(text, err=True))
    except BadHar as fault:
        raise BadInput(str(fault)) from fault
    except FolderInUse as fault:
        raise click.UsageError(str(fault)) from fault
    except OSError as fault:
        raise BadInput(f"{fault.filename or folder}: {fault.strerror}.") from fault
    if format == "json":
        click.echo(pretty(report_as_json(report)))
        return
    for line in describe(report):
        click.echo(line)
