"""The commands that check: files, what clients of a server exercised, and another server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from mock_platform.cli.command import (
    BY_READER,
    DEFAULT_URL,
    PREFIX,
    CheckedCommand,
    choose_reader_format,
)
from mock_platform.cli.condition_options import condition_options, make_only_option
from mock_platform.cli.shared_options import make_ca_option, make_format_option, make_names_option

if TYPE_CHECKING:
    from datetime import datetime

    from mock_platform.verification.har import NamesChoice


@click.command(cls=CheckedCommand)
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)
@click.option(
    "--no-default-fixtures/--default-fixtures", help="Check PATHs without the default fixtures."
)
@click.option(
    "--warnings",
    type=click.Choice(["show", "ignore", "error"]),
    default="show",
    show_default=True,
    help="What to do with warnings, such as a rule that can never act; error: exit status 1.",
)
def check(
    paths: tuple[Path, ...],
    *,
    no_default_fixtures: bool,
    warnings: Literal["show", "ignore", "error"],
) -> None:
    """Check fixtures and scenarios, folders or files, and print every fault.

    Fixtures are added to those named before. Exit status 1 if there is any fault. Warnings are
    about what is valid, but hardly what was meant; they go to standard error.
    """
    from mock_platform.cli.checking import check_files

    check_files(paths, default_fixtures=not no_default_fixtures, warnings=warnings)


@click.command(cls=CheckedCommand)
@click.option(
    "--url", default=DEFAULT_URL, show_default=True, metavar="URL",
    # `run` sets the second variable for its command.
    envvar=[f"{PREFIX}_COVERAGE_URL", f"{PREFIX}_URL"],
    help="Base address of a running server; with /~NAME, only that world is counted.  [env var: "
         "MOCK_PLATFORM_URL]",
)  # fmt: skip
@click.option(
    "--format", type=click.Choice(["text", "json", "junit", "html", "baseline"]),
    help="For people, for programs, for CI systems, as one page, or as the file for --baseline.  "
         f"{BY_READER}",
)  # fmt: skip
@condition_options("--")
@click.option(
    "--control-token", metavar="TOKEN",
    # The pytest plugin reads the second variable as well.
    envvar=[f"{PREFIX}_COVERAGE_CONTROL_TOKEN", f"{PREFIX}_CONTROL_TOKEN"],
    help="The server's control token, if it has one.  [env var: MOCK_PLATFORM_CONTROL_TOKEN]",
)  # fmt: skip
@make_ca_option()
def coverage(
    *,
    url: str,
    format: Literal["text", "json", "junit", "html", "baseline"] | None,
    fail_under: float | None,
    only: str | None,
    baseline: Path | None,
    control_token: str | None,
    ca: Path | None,
) -> None:
    """Print which documented outcomes and parameters clients of a server have exercised."""
    from mock_platform.cli.checking import show_coverage
    from mock_platform.cli.conditions import CoverageConditions

    conditions = CoverageConditions(fail_under, only, baseline)
    show_coverage(url, format or choose_reader_format(), conditions, control_token, ca)


@click.command(cls=CheckedCommand)
@click.option(
    "--base-url", metavar="URL", help="The server to read; requests are sent only there.",
)  # fmt: skip
@click.option(
    "--har", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Compare what was recorded in an HTTP archive, instead of a server.",
)  # fmt: skip
@click.option(
    "--credentials-file", type=click.Path(path_type=Path), metavar="FILE",
    help="Output of `mock-platform credentials`, with your values.  [default: "
         "MOCK_PLATFORM_CONSUMER_KEY and so on]",
)  # fmt: skip
@make_only_option("--only")
@click.option(
    "--skip", multiple=True, metavar="WHAT",
    help="Send no requests of this kind (parameters, pages, refusals, methods), or for these "
         "operations, with * for any text (repeatable, or separated by commas).",
)  # fmt: skip
@click.option(
    "--value", multiple=True, metavar="NAME=VALUE",
    help="A value for a parameter that the server's own lists do not show (repeatable).",
)  # fmt: skip
@make_names_option(
    "The names that the other service uses; auto: original ones if the host is the platform's own, "
    "or what an archive shows."
)
@click.option(
    "--same-data/--no-same-data",
    help="Compare values as well: the server has the same records as the sandbox.",
)
@click.option(
    "--accepted", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="File of differences that are known and accepted.",
)  # fmt: skip
@click.option(
    "--accept", multiple=True, metavar="ID",
    help="Add a difference to the file of --accepted; `all` adds every one (repeatable).",
)  # fmt: skip
@click.option("--reason", metavar="TEXT", help="Why --accept accepts it.")
@click.option(
    "--until", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE",
    help="The last day on which --accept accepts it.",
)  # fmt: skip
@make_format_option("text", "json", "junit", "html")
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write the report to a file as well: .txt, .json, .xml (JUnit) or .html.",
)  # fmt: skip
@make_ca_option("Certificate authority to trust beside those of the system.")
@click.option(
    "--connections", type=click.IntRange(1, 32), default=4, show_default=True, metavar="N",
    help="Requests that are on their way to the server at once.",
)  # fmt: skip
@click.option("--yes/--no-yes", help="Send signed requests without asking.")
def diff(
    *,
    base_url: str | None,
    har: Path | None,
    credentials_file: Path | None,
    only: str | None,
    skip: tuple[str, ...],
    value: tuple[str, ...],
    names: NamesChoice,
    same_data: bool,
    accepted: Path | None,
    accept: tuple[str, ...],
    reason: str | None,
    until: datetime | None,
    format: Literal["text", "json", "junit", "html"],
    report: Path | None,
    ca: Path | None,
    connections: int,
    yes: bool,
) -> None:
    """Compare another server, or what was recorded, with this sandbox.

    With --base-url sends requests that only read, signed with your credentials. Exit status 1 if
    anything differs.
    """
    from mock_platform.cli.comparing import (
        Acceptance,
        OtherServer,
        Output,
        choose_format,
        compare_archive,
        compare_server,
        make_scope,
    )

    if report is not None:
        choose_format(report)
    acceptance = Acceptance(accepted, accept, reason, None if until is None else until.date())
    output = Output(format, report)
    scope = make_scope(only, skip, value, same_data=same_data)
    if (base_url is None) == (har is None):
        raise click.UsageError("Give either --base-url URL or --har FILE.")
    if har is not None:
        if only or skip or value or same_data or credentials_file or ca:
            raise click.UsageError(
                "--only, --skip, --value, --same-data, --credentials-file and --ca belong to "
                "--base-url."
            )
        compare_archive(har, names, acceptance, output)
        return
    assert base_url is not None, "one of the two was given"
    other = OtherServer(base_url, credentials_file, ca, connections)
    compare_server(other, scope, names, acceptance, output, yes=yes)


CHECKING_COMMANDS: tuple[click.Command, ...] = (check, coverage, diff)
"""The commands of this module."""
