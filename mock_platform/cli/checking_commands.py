"""The commands that check: files, what clients exercised, contracts."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import click

from mock_platform.cli.command import (
    BY_READER,
    CheckedCommand,
    CheckedGroup,
    choose_reader_format,
)
from mock_platform.cli.live_commands import server_options
from mock_platform.cli.options import INSTANT, condition_options, make_format_option
from mock_platform.serving.process import load_operations

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command(cls=CheckedCommand)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
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

    A PATH may also be a file mock-platform.toml; without PATH, it is the one of this folder or
    above. Fixtures are added to those named before. Exit status 1 if there is any fault. Warnings
    are about what is valid but probably not meant; they go to standard error.
    """
    with load_operations():
        from mock_platform.cli.checking import check_files

    from mock_platform.core.settings_file import FILE_NAME, find_settings_file

    if not paths:
        found = find_settings_file(Path.cwd())
        if found is None:
            text = (
                f"Missing PATH: a folder or a file. There is no {FILE_NAME} here or above either."
            )
            raise click.UsageError(text)
        paths = (found,)
    check_files(paths, default_fixtures=not no_default_fixtures, warnings=warnings)


@click.command(cls=CheckedCommand)
@server_options
@click.option(
    "--format", type=click.Choice(["text", "json", "junit", "html", "baseline"]),
    help="For people, for programs, for CI systems, as one page, or as the file for --baseline.  "
         f"{BY_READER}",
)  # fmt: skip
@condition_options("--")
def coverage(
    *,
    format: Literal["text", "json", "junit", "html", "baseline"] | None,
    fail_under: float | None,
    only: str | None,
    baseline: Path | None,
    **server: Any,
) -> None:
    """Print which documented outcomes and parameters clients of a server have exercised.

    It counts all worlds, or the one that --world or /~NAME at the end of the address names.
    """
    from mock_platform.cli.remote_commands import open_world, show_coverage

    with load_operations():
        from mock_platform.cli.conditions import CoverageConditions

    conditions = CoverageConditions(fail_under, only, baseline)
    with open_world(**server) as world:
        show_coverage(world, format or choose_reader_format(), conditions)


@click.group("contract", cls=CheckedGroup, invoke_without_command=True)
@click.option(
    "--out", type=_FILE, metavar="FILE", help="Write to a file instead of standard output."
)
@click.pass_context
def contract(ctx: click.Context, *, out: Path | None) -> None:
    """Print the whole contract as one JSON document, or compare two of them.

    It has the OpenAPI description, failures, limits, assumptions and releases, always in the same
    order.
    """
    if ctx.invoked_subcommand is not None:
        if out is not None:
            raise click.UsageError(f"--out is not for contract {ctx.invoked_subcommand}.")
        return
    with load_operations():
        from mock_platform.cli.contracting import write_contract

    write_contract(out)


@contract.command("diff")
@make_format_option(
    "text", "json", "markdown", help="For a terminal, for programs, or for a review."
)
@click.option(
    "--fail-on", type=click.Choice(["breaking", "dangerous", "any", "none"]), default="breaking",
    show_default=True, help="Exit with status 1 at a change of this level or above.",
)  # fmt: skip
@click.option("--out", type=_FILE, metavar="FILE", help="Write the changes to a file.")
@click.option(
    "--as-of", type=INSTANT, multiple=True, metavar="DATE",
    help="Twice, in place of files: compare the contract of two dates of the release history.",
)  # fmt: skip
@click.option(
    "--coverage", type=_FILE, metavar="FILE",
    help="With --as-of: only the operations that a suite has called, from the .json or .baseline "
         "file of --coverage or --mock-coverage.",
)  # fmt: skip
@click.argument("old", type=_FILE, required=False)
@click.argument("new", type=_FILE, required=False)
def diff(
    *,
    old: Path | None,
    new: Path | None,
    as_of: tuple[datetime, ...],
    coverage: Path | None,
    format: Literal["text", "json", "markdown"],
    fail_on: Literal["breaking", "dangerous", "any", "none"],
    out: Path | None,
) -> None:
    """Compare two contracts, and say how each change affects clients.

    OLD and NEW are files of `mock-platform contract`, or OpenAPI 3 documents in JSON or YAML.
    Without NEW, OLD is compared with the contract of this package. With --as-of A --as-of B, what
    the release history changes from A to B. Exit status 1 at a breaking change, 2 if a file cannot
    be used.
    """
    from mock_platform.cli.contracting import compare_as_of, compare_files, show_changes

    if as_of:
        if len(as_of) != 2 or old is not None:
            raise click.UsageError(
                "two dates and no files: contract diff --as-of 2026-01-01 --as-of 2026-06-30."
            )
        found = compare_as_of(*as_of, coverage)
    elif old is None:
        raise click.UsageError("OLD is missing: a file, or --as-of DATE twice in place of files.")
    elif coverage is not None:
        raise click.UsageError("--coverage needs --as-of DATE, twice.")
    else:
        found = compare_files(old, new)
    show_changes(found, format, fail_on, out)


@click.command("pact", cls=CheckedCommand)
@server_options
@click.option(
    "--har", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Read the requests from an HTTP archive instead of the journal of a server.",
)  # fmt: skip
@click.option(
    "--names", type=click.Choice(["neutral", "original"]), default="neutral", show_default=True,
    help="With --har: the names that the recorded service uses.",
)  # fmt: skip
@click.option("--consumer", required=True, metavar="NAME", help="Name of the client.")
@click.option("--provider", required=True, metavar="NAME", help="Name of the interface.")
@click.option("--out", type=_FILE, required=True, metavar="FILE", help="The Pact file to write.")
def pact(
    *,
    har: Path | None,
    names: Literal["neutral", "original"],
    consumer: str,
    provider: str,
    out: Path,
    **server: Any,
) -> None:
    """Write what a client exercised as a Pact file (version 4), without secrets.

    It is read from the journal of a world of a running server, or from an HTTP archive. Requests
    that cannot be repeated are left out, and listed with the reason.
    """
    from mock_platform.cli.contracting import write_pact
    from mock_platform.verification.pact.document import Parties

    if har is not None and (server["url"] or server["world"]):
        raise click.UsageError("--har is read instead of a server: leave out --url and --world.")
    if har is None and names != "neutral":
        raise click.UsageError(
            "--names needs --har; the journal knows which names each answer has."
        )
    write_pact(har, names, Parties(consumer, provider), out, server)


@click.command("fit", cls=CheckedCommand)
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@make_format_option("text", "json", help="For people, or for programs.")
def fit(*, path: Path, format: Literal["text", "json"]) -> None:
    """List which calls of the platform a project makes, and whether the sandbox answers each.

    PATH is a folder or a file: Python, JavaScript, TypeScript, or an HTTP archive (.har). No code
    of it is run. How to lead the project to the sandbox, and a first test, come after the calls.
    Exit status 1 if a call is not served.
    """
    with load_operations():
        from mock_platform.cli.checking import show_fit

    show_fit(path, format)


CHECKING_COMMANDS: tuple[click.Command, ...] = (check, coverage, contract, pact, fit)
"""The commands of this module."""
