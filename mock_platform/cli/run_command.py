"""The command `run` and its options; `running` implements it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from mock_platform.cli.command import CheckedCommand
from mock_platform.cli.intercepting import allow_host_option, intercept_hosts_option
from mock_platform.cli.options import condition_options, settings_options


@click.command(cls=CheckedCommand, context_settings={"allow_interspersed_args": False})
@settings_options(without=frozenset({"host", "port", "public-host", "control-token"}))
@click.option("--tls/--no-tls", help="Serve https; CMD finds in its environment whom to trust.")
@click.option(
    "--intercept/--no-intercept",
    help="Let CMD reach the platform's real hosts here, through a proxy that it finds in its "
    "environment.",
)
@allow_host_option
@intercept_hosts_option
@click.option(
    "--verify/--no-verify", default=None,
    help="Exit with status 1 if a rule that had to act did not, if a request reached no operation "
         "or had warnings, or if the sandbox failed.  [default: with --scenario or --junit]",
)  # fmt: skip
@click.option(
    "--junit", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write these checks to a file, as JUnit XML.",
)  # fmt: skip
@click.option(
    "--coverage", is_flag=False, flag_value="", multiple=True, metavar="[=FILE]",
    help="Print how much of the contract CMD exercised, and write it to a file: .html, .json, "
         ".txt, .xml for JUnit, or .baseline for --coverage-baseline. Repeatable.",
)  # fmt: skip
@condition_options("--coverage-")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD...")
def run(*, command: tuple[str, ...], **values: Any) -> None:
    """Run CMD with a server on a free port, and exit with the status of CMD.

    The environment of CMD contains MOCK_PLATFORM_URL, MOCK_PLATFORM_SANDBOX_URL and the test
    credentials. If CMD succeeds and the run is not as it should be, the status is 1.
    """
    from mock_platform.cli.run_report import read_run_options
    from mock_platform.cli.running import run_beside_server

    if not command:
        raise click.UsageError(
            "The command is missing. For instance: mock-platform run -- pytest -q"
        )
    sys.exit(run_beside_server(list(command), read_run_options(values)))
