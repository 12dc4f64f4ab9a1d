"""The command `run` and its options, and its other name `verify`; `running` implements it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from mock_platform.cli.command import CheckedCommand
from mock_platform.cli.intercepting import allow_host_option, intercept_hosts_option
from mock_platform.cli.options import condition_options, settings_options

_FILE = click.Path(path_type=Path, dir_okay=False)
_EXISTING = click.Path(path_type=Path, exists=True, dir_okay=False)


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
         "or had warnings, or if the sandbox failed.  [default: with --scenario, --junit, --page "
         "or --summary]",
)  # fmt: skip
@click.option(
    "--page/--no-page",
    help="Print one page with every check, that of CMD's status included, and what to do about "
    "each that failed. The exit status is then 1 if any failed.",
)
@click.option(
    "--junit", type=_FILE, metavar="FILE", help="Write these checks to a file, as JUnit XML."
)
@click.option(
    "--summary", type=_FILE, metavar="FILE",
    help="Add the page to a file as markdown, such as \"$GITHUB_STEP_SUMMARY\".",
)  # fmt: skip
@click.option(
    "--coverage", is_flag=False, flag_value="", multiple=True, metavar="[=FILE]",
    help="Print how much of the contract CMD exercised, and write it to a file: .html, .json, "
         ".txt, .xml for JUnit, or .baseline for --coverage-baseline. Repeatable.",
)  # fmt: skip
@condition_options("--coverage-")
@click.option(
    "--contract",
    type=_FILE,
    metavar="FILE",
    help="A kept document of `mock-platform contract`: the contract of this package may break "
    "nothing that it promised.",
)
@click.option(
    "--against",
    metavar="URL",
    help="Compare the server at this address with the sandbox, as `mock-platform diff` does, "
    "but with GET alone.",
)
@click.option(
    "--skip", multiple=True, metavar="WHAT",
    help="With --against: send no requests for these operations, with * for any text, or of "
         "this kind (parameters, pages, refusals); repeatable, or separated by commas.",
)  # fmt: skip
@click.option(
    "--methods/--no-methods",
    help="With --against: also send PATCH without a body, to ids that do not exist; no "
    "operation has this method.",
)
@click.option(
    "--accepted",
    type=_FILE,
    metavar="FILE",
    help="With --against: the differences that are known and accepted.",
)
@click.option(
    "--credentials-file",
    type=_EXISTING,
    metavar="FILE",
    help="With --against: the credentials for it, as for `mock-platform diff`.",
)
@click.option(
    "--ca",
    type=_EXISTING,
    metavar="FILE",
    help="With --against: certificate authority to trust, if the server has its own.",
)
@click.option(
    "--yes/--no-yes",
    help="With --against: send signed requests without asking.",
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD...")
def run(**values: Any) -> None:
    """Run CMD with a server on a free port, and exit with the status of CMD.

    The environment of CMD contains MOCK_PLATFORM_URL, MOCK_PLATFORM_SANDBOX_URL and the test
    credentials. If CMD succeeds and the run is not as it should be, the status is 1.
    """
    _run("mock-platform run", values)


def _run(name: str, values: Mapping[str, Any]) -> None:
    from mock_platform.cli.run_report import read_run_options
    from mock_platform.cli.running import run_beside_server

    if not values["command"]:
        raise click.UsageError(f"The command is missing. For instance: {name} -- pytest -q")
    sys.exit(run_beside_server(list(values["command"]), read_run_options(name, values)))


# Another name of `run --page`, with reports and variables (MOCK_PLATFORM_VERIFY_…) under that name.
verify = CheckedCommand(
    "verify",
    callback=lambda **values: _run("mock-platform verify", values | {"verify": True, "page": True}),
    params=[param for param in run.params if param.name not in {"verify", "page"}],
    help="Run CMD as `run --page` does.",
    context_settings=run.context_settings,
    deprecated="Write `mock-platform run --page -- CMD`, with the same other options; `verify` "
    "goes in the next release.",
)
