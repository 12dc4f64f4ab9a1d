"""The commands that learn from the real service, and their options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from mock_platform.cli.command import CheckedCommand
from mock_platform.cli.intercepting import check_allowed
from mock_platform.cli.shared_options import (
    make_ca_option,
    make_force_option,
    make_format_option,
    make_names_option,
    make_out_option,
)

if TYPE_CHECKING:
    from mock_platform.verification.har import NamesChoice


@click.command(cls=CheckedCommand, context_settings={"allow_interspersed_args": False})
@click.option(
    "--upstream", metavar="URL",
    help="The real service, or another server: CMD finds in its environment an address on this "
    "machine, whose requests are sent there.",
)  # fmt: skip
@click.option(
    "--intercept/--no-intercept",
    help="Record what CMD sends to the platform's real hosts, through a proxy that it finds in its "
    "environment.",
)
@click.option(
    "--allow-host", multiple=True, metavar="HOST[:PORT]", callback=check_allowed,
    help="With --intercept: pass connections on to this host, unrecorded, at the ports 80 and 443, "
    "or at PORT. Repeatable.",
)  # fmt: skip
@make_out_option("The HTTP archive (HAR) to write, readable by you only.", required=True)
@make_force_option("Replace FILE if it exists.")
@click.option(
    "--keep-host/--no-keep-host",
    help="With --upstream: send the host that CMD addressed, which OAuth 1.0a signs.",
)
@make_ca_option("A certificate authority to trust beside those of the system.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD...")
def record(
    *,
    command: tuple[str, ...],
    upstream: str | None,
    intercept: bool,
    allow_host: tuple[str, ...],
    out: Path,
    force: bool,
    keep_host: bool,
    ca: Path | None,
) -> None:
    """Run CMD against the real service, record its requests, and exit with the status of CMD.

    Secrets are replaced in every spelling by placeholders, which show what was the same.
    """
    from mock_platform.cli.recording import RecordOptions, record_command

    if not command:
        raise click.UsageError(
            "The command is missing. For instance: mock-platform record --intercept "
            "--out traffic.har -- python sync.py"
        )
    if (upstream is None) != intercept:
        raise click.UsageError("Give one of --upstream URL and --intercept.")
    if keep_host and upstream is None:
        raise click.UsageError("--keep-host needs --upstream; --intercept keeps the hosts anyway.")
    if allow_host and not intercept:
        raise click.UsageError("--allow-host needs --intercept.")
    options = RecordOptions(out, upstream, keep_host, ca, allow_host, overwrite=force)
    sys.exit(record_command(list(command), options))


@click.command("import", cls=CheckedCommand)
@click.option(
    "--har", required=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="The HTTP archive: of `record`, a browser, mitmproxy, or GET /_mock/requests.har.",
)  # fmt: skip
@click.option(
    "--to", required=True, type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
    help="The folder to write; it must not exist, or be empty.",
)  # fmt: skip
@make_force_option("Replace everything in FOLDER.")
@click.option(
    "--host", multiple=True, metavar="HOST",
    help="A further host of the service, beside the platform's own and this machine. Repeatable.",
)  # fmt: skip
@click.option(
    "--ids", type=click.Choice(["keep", "map"]), default="keep", show_default=True,
    help="Keep the ids of records, or map them to fresh ones, wherever the recording has them.",
)  # fmt: skip
@make_names_option("The names that the recorded service uses; auto finds out.")
@make_format_option("text", "json", help="Format of the report on standard output.")
def import_(
    *,
    har: Path,
    to: Path,
    force: bool,
    host: tuple[str, ...],
    ids: Literal["keep", "map"],
    names: NamesChoice,
    format: Literal["text", "json"],
) -> None:
    """Turn recorded traffic into a folder of fixtures and scenarios.

    A sandbox that serves the folder answers the recorded requests as recorded. Whatever cannot be
    turned into something is listed with the reason.
    """
    from mock_platform.cli.recording import import_file
    from mock_platform.verification.importing import ImportOptions

    options = ImportOptions(tuple(name.lower() for name in host), names, force, ids)
    import_file(har, to, options, format)
