"""The commands about the real service: how it differs, what was recorded of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from mock_platform.cli.command import CheckedCommand
from mock_platform.cli.intercepting import check_allowed, check_hosts
from mock_platform.cli.options import (
    make_ca_option,
    make_force_option,
    make_format_option,
    make_names_option,
    make_only_option,
    make_out_option,
)
from mock_platform.serving.process import load_operations

if TYPE_CHECKING:
    from datetime import datetime

    from mock_platform.verification.har.exchange import NamesChoice


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

    With --base-url it sends requests that change nothing, signed with your credentials. Exit status
    1 if anything differs that is not accepted.
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

    Secrets are replaced by placeholders, in every spelling; the same secret has the same one.
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
    "--host", multiple=True, metavar="HOST", callback=check_hosts,
    help="A further host of the service, beside the platform's own and this machine. Repeatable.",
)  # fmt: skip
@click.option(
    "--ids", type=click.Choice(["keep", "map"]), default="keep", show_default=True,
    help="Keep the ids of records, or map them to fresh ones, wherever the recording has them.",
)  # fmt: skip
@click.option(
    "--anonymise/--no-anonymise",
    help="Replace names, handles, texts, pictures and addresses of persons by made-up ones.",
)
@make_names_option("The names that the recorded service uses; auto finds out.")
@make_format_option("text", "json", help="Format of the report on standard output.")
def import_(
    *,
    har: Path,
    to: Path,
    force: bool,
    host: tuple[str, ...],
    ids: Literal["keep", "map"],
    anonymise: bool,
    names: NamesChoice,
    format: Literal["text", "json"],
) -> None:
    """Turn recorded traffic into a folder of fixtures and scenarios.

    A sandbox that serves the folder answers the recorded requests as recorded. What cannot
    become part of it is listed with the reason.
    """
    with load_operations():
        from mock_platform.cli.recording import import_file
        from mock_platform.verification.importing.folder import ImportOptions

    options = ImportOptions(host, names, force, ids, anonymise)
    import_file(har, to, options, format)


@click.command(cls=CheckedCommand)
@click.option(
    "--against", metavar="URL|FOLDER",
    help="Other facts: a folder or file of recordings, or a server that gets their requests.  "
         "[default: the facts of the package]",
)  # fmt: skip
@make_format_option("text", "json")
@click.option(
    "--yes/--no-yes", help="Send signed requests to a server that is not on this machine."
)
def fidelity(*, against: str | None, format: Literal["text", "json"], yes: bool) -> None:
    """Measure how true the sandbox's answers are: what is served, and which points match.

    Without --against, exit status 1 if a figure is worse than the one that was kept.
    """
    with load_operations():
        from mock_platform.cli.fidelity import show_fidelity

    show_fidelity(against, format, yes=yes)


SERVICE_COMMANDS: tuple[click.Command, ...] = (diff, record, import_, fidelity)
"""The commands of this module."""
