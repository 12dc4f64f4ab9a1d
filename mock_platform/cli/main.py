"""The commands and their options; other modules of this package implement them.

Those modules are imported when a command runs, so that `--help` and usage errors are fast.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from mock_platform.cli.command import DEFAULT_URL, CheckedCommand
from mock_platform.cli.contract_commands import contract, pact
from mock_platform.cli.gate_commands import make_verify
from mock_platform.cli.intercepting import (
    allow_host_option,
    intercept_hosts_option,
    read_interception,
)
from mock_platform.cli.live_commands import LIVE_COMMANDS, server_options
from mock_platform.cli.options import settings_of, settings_options
from mock_platform.cli.recording_commands import import_, record
from mock_platform.version import __version__

if TYPE_CHECKING:
    from datetime import datetime

_NAME = "mock-platform"
_PREFIX = "MOCK_PLATFORM"
_FORMAT = click.Choice(["text", "json"])
_FOLDERS = click.Path(path_type=Path)
_ONLY_HELP = (
    "Count only operations whose ids match one of these patterns, such as 'line_items.*,oauth*'."
)
_BASELINE_HELP = (
    "Exit with status 1 if an outcome that this file names, and an earlier run covered, is lost."
)
_BY_READER = "[default: text on a terminal, else json]"


class _Group(click.Group):
    command_class = CheckedCommand


def _for_reader() -> Literal["text", "json"]:
    """The default format: for people on a terminal, else JSON as the control route returns it."""
    return "text" if sys.stdout.isatty() else "json"


@click.group(
    cls=_Group,
    context_settings={
        "auto_envvar_prefix": _PREFIX,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
    epilog=(
        "Every option can also be set by a variable MOCK_PLATFORM_<COMMAND>_<OPTION>; the command "
        "line wins."
    ),
)
@click.version_option(__version__, prog_name=_NAME, allow_from_autoenv=False)
def group() -> None:
    """A sandbox that you run instead of a social platform's real API."""


def main() -> None:
    """Run the command line."""
    group(prog_name=_NAME)


@group.command()
@settings_options()
@click.option(
    "--tls/--no-tls", help="Serve https; the READY line names the certificate authority to trust."
)
@click.option(
    "--tls-folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Keep the certificate authority in this folder, so that clients need to trust it only "
         "once.  [default: a new one at each start]",
)  # fmt: skip
@click.option(
    "--server", type=click.Choice(["cheroot", "granian"]), hidden=True,
    help="Ignored: there is only one server.",
)  # fmt: skip
@click.option(
    "--log-format", type=_FORMAT, default="text", show_default=True,
    help="Format of the log on standard error, one line per request.",
)  # fmt: skip
@click.option(
    "--log-level", type=click.Choice(["info", "warning", "error", "off"]), default="info",
    show_default=True, help="What is logged: requests are info, requests with a 5xx answer are "
                            "error.",
)  # fmt: skip
@click.option(
    "--watch/--no-watch",
    help="Load --fixtures folders, --scenario files and folders again when they change.",
)
@click.option(
    "--stop-with-stdin/--no-stop-with-stdin",
    help="Stop also when standard input ends, as a pipe does with the program that holds it.",
)
@click.option(
    "--intercept/--no-intercept",
    help="Answer the platform's real hosts as well, through a proxy on this machine; prints the "
    "variables that lead programs to it.",
)
@click.option(
    "--shadow", metavar="URL",
    help="Send each read to the real service at URL as well, and report how its answers differ.",
)  # fmt: skip
@click.option("--shadow-writes/--no-shadow-writes", help="Send writes to the real service as well.")
@click.option(
    "--shadow-credentials", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Sign for the real service with these credentials.  [default: those that clients send]",
)  # fmt: skip
@allow_host_option
@intercept_hosts_option
@click.option(
    "--workers", type=click.IntRange(1, 256), default=1, show_default=True, metavar="N",
    help="Number of processes that share the address; each has a part of the worlds.",
)  # fmt: skip
def serve(
    *,
    workers: int,
    tls: bool,
    tls_folder: Path | None,
    server: str | None,
    log_format: Literal["text", "json"],
    log_level: Literal["info", "warning", "error", "off"],
    watch: bool,
    stop_with_stdin: bool,
    intercept: bool,
    allow_host: tuple[str, ...],
    intercept_hosts: tuple[str, ...],
    shadow: str | None,
    shadow_writes: bool,
    shadow_credentials: Path | None,
    **values: Any,
) -> None:
    """Serve until stopped; prints one line READY {…} to standard output when ready."""
    from mock_platform.cli.serve_options import ServeOptions
    from mock_platform.cli.serving import serve_until_stopped
    from mock_platform.scenario.library import is_file

    settings = settings_of(values)
    paths = [each for each in settings.scenarios if is_file(each) or Path(each).is_dir()]
    if watch and not settings.fixtures and not paths:
        text = (
            "--watch needs something to watch: a --fixtures folder, or a --scenario file or folder."
        )
        raise click.UsageError(text)
    if tls_folder is not None and not tls:
        raise click.UsageError("--tls-folder needs --tls.")
    if intercept and workers > 1:
        raise click.UsageError("--intercept needs one process: leave out --workers.")
    if shadow is not None and workers > 1:
        raise click.UsageError("--shadow needs one process: leave out --workers.")
    shadowed = None
    if shadow is not None:
        from mock_platform.cli.comparing import read_shadow

        shadowed = read_shadow(shadow, writes=shadow_writes, credentials_file=shadow_credentials)
    elif shadow_writes or shadow_credentials is not None:
        raise click.UsageError("--shadow-writes and --shadow-credentials need --shadow URL.")
    if server is not None:
        text = "Warning: --server is ignored: there is only one server now, which replaces both."
        click.echo(text, err=True)
    serve_until_stopped(
        ServeOptions(
            settings=settings,
            tls=tls,
            tls_folder=tls_folder,
            log_format=log_format,
            log_level=log_level,
            watch=watch,
            stop_with_stdin=stop_with_stdin,
            intercept=read_interception(allow_host, intercept_hosts, intercept=intercept),
            shadow=shadowed,
            workers=workers,
        )
    )


@group.command(context_settings={"allow_interspersed_args": False})
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
@click.option(
    "--coverage-fail-under", type=click.FloatRange(0, 100), metavar="N",
    help="Exit with status 1 if less than N percent are covered.",
)  # fmt: skip
@click.option("--coverage-only", metavar="PATTERNS", help=_ONLY_HELP)
@click.option("--coverage-baseline", type=_FOLDERS, metavar="FILE", help=_BASELINE_HELP)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- CMD...")
def run(*, command: tuple[str, ...], **values: Any) -> None:
    """Run CMD with a server on a free port, and exit with the status of CMD.

    The environment of CMD contains MOCK_PLATFORM_URL, MOCK_PLATFORM_SANDBOX_URL and the test
    credentials. If CMD succeeds and the run is not as it should be, the status is 1.
    """
    from mock_platform.cli.run_arguments import read_run_options
    from mock_platform.cli.running import run_beside_server

    if not command:
        raise click.UsageError(
            "The command is missing. For instance: mock-platform run -- pytest -q"
        )
    sys.exit(run_beside_server(list(command), read_run_options(values)))


@group.command()
@click.option(
    "--format", type=_FORMAT, default="text", show_default=True,
    help="Columns, or what GET /_mock/operations answers.",
)  # fmt: skip
def operations(*, format: str) -> None:
    """List the operations: method, path, id and heading of the specification."""
    from mock_platform.cli.printing import operations_text

    click.echo(operations_text(format))


@group.command()
@click.argument("request", nargs=-1, metavar="METHOD PATH")
@click.option(
    "--format", type=_FORMAT, default="text", show_default=True, help="Format of the output."
)
def where(request: tuple[str, ...], *, format: str) -> None:
    """Print which operation answers a request, and where its code is.

    METHOD PATH may be one argument or two; PATH may be a whole address.
    """
    from mock_platform.cli.printing import where_text

    words = " ".join(request).split()
    if len(words) != 2:
        example = '"PUT /12/accounts/1/line_items/2"'
        raise click.UsageError(f"A request has a method and a path: mock-platform where {example}")
    click.echo(where_text(words[0], words[1], format))


@group.command()
@intercept_hosts_option
def hosts(*, intercept_hosts: tuple[str, ...]) -> None:
    """Print lines for a hosts file, for clients that insist on the platform's real host names."""
    from mock_platform.cli.hosts import hosts_text

    click.echo(hosts_text(intercept_hosts))


@group.command()
@click.argument("paths", nargs=-1, required=True, type=_FOLDERS, metavar="PATH...")
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


@group.command()
@click.option(
    "--format", type=click.Choice(["env", "json", "shell"]), default="env", show_default=True,
    help="Lines NAME=value, what GET /_mock/credentials answers, or exports for a shell with the "
         "addresses of the server.",
)  # fmt: skip
@click.option(
    "--fixtures", type=_FOLDERS, multiple=True, metavar="DIR",
    help="Folder of fixtures, added to the default ones, as for serve. Repeatable.",
)  # fmt: skip
@click.option(
    "--url", default=DEFAULT_URL, show_default=True, metavar="URL",
    envvar=[f"{_PREFIX}_CREDENTIALS_URL", f"{_PREFIX}_URL"],
    help="Base address of the server, for --format shell.  [env var: MOCK_PLATFORM_URL]",
)  # fmt: skip
def credentials(*, format: str, fixtures: tuple[Path, ...], url: str) -> None:
    """Print the published test credentials."""
    from mock_platform.cli.printing import credentials_text

    click.echo(credentials_text(format, fixtures, url), nl=False)


@group.command()
@click.option("--open/--no-open", help="Open the page in a browser; without PAGE, the first one.")
@click.argument("page", required=False)
def docs(*, page: str | None, open: bool) -> None:
    """List the pages of the documentation, or print the one with the name PAGE.

    They are part of the package and need no network.
    """
    from mock_platform.cli.docs import list_pages, open_page, open_site, read_page

    if open:
        if open_site(page) is None:
            click.echo("The site is not built here (`make site`); opening the text.", err=True)
            open_page(page or "readme")
    elif page is None:
        click.echo(list_pages())
    else:
        click.echo_via_pager(read_page(page))


@group.command()
@click.option(
    "--url", default=DEFAULT_URL, show_default=True, metavar="URL",
    help="Base address in the description.",
)  # fmt: skip
def openapi(url: str) -> None:
    """Print the OpenAPI description of everything that is served, like GET /_mock/openapi.json."""
    from mock_platform.cli.listing import openapi_text

    click.echo(openapi_text(url.rstrip("/")))


@group.command()
@click.option(
    "--format", type=_FORMAT, default="json", show_default=True,
    help="Columns, or what GET /_mock/assumptions answers.",
)  # fmt: skip
def assumptions(*, format: str) -> None:
    """Print all assumptions: what the specification does not show."""
    from mock_platform.cli.listing import assumptions_text

    click.echo(assumptions_text(format))


@group.command()
@click.option(
    "--format", type=click.Choice(["text", "json", "schema"]),
    help="Columns, what GET /_mock/scenarios answers, or the JSON Schema of the files.  "
         f"{_BY_READER}",
)  # fmt: skip
@click.option(
    "--scenario", "scenario", multiple=True, metavar="NAME|FILE|FOLDER",
    help="A scenario that is active, or a folder of known ones, as for serve. Repeatable.",
)  # fmt: skip
@server_options
@click.argument("name", required=False)
def scenarios(
    *, name: str | None, format: str | None, scenario: tuple[str, ...], **server: Any
) -> None:
    """List the scenarios that a server knows by name, or describe the one with NAME.

    With --url, --world or MOCK_PLATFORM_URL they are those of a running server, with what each rule
    did; else those of the package.
    """
    from mock_platform.cli.listing import describe_scenarios, list_packaged_scenarios, schema_text

    if format == "schema":
        click.echo(schema_text())
        return
    if server["url"] or server["world"] or os.environ.get("MOCK_PLATFORM_URL"):
        from mock_platform.cli.acting import open_world

        if scenario:
            raise click.UsageError("--scenario is for the package's list, not for a server's.")
        with open_world(**server) as world:
            found = world.scenarios
    else:
        found = list_packaged_scenarios(scenario)
    click.echo(describe_scenarios(found, name, format or _for_reader()))


@group.command()
@click.option(
    "--url", default=DEFAULT_URL, show_default=True, metavar="URL",
    # `run` sets the second variable for its command.
    envvar=[f"{_PREFIX}_COVERAGE_URL", f"{_PREFIX}_URL"],
    help="Base address of a running server; with /~NAME, only that world is counted.  [env var: "
         "MOCK_PLATFORM_URL]",
)  # fmt: skip
@click.option(
    "--format", type=click.Choice(["text", "json", "junit", "html", "baseline"]),
    help="For people, for programs, for CI systems, as one page, or as the file for --baseline.  "
         f"{_BY_READER}",
)  # fmt: skip
@click.option(
    "--fail-under", type=click.FloatRange(0, 100), metavar="N",
    help="Exit with status 1 if less than N percent are covered.",
)  # fmt: skip
@click.option("--only", metavar="PATTERNS", help=_ONLY_HELP)
@click.option("--baseline", type=_FOLDERS, metavar="FILE", help=_BASELINE_HELP)
@click.option(
    "--control-token", metavar="TOKEN",
    # The pytest plugin reads the second variable as well.
    envvar=[f"{_PREFIX}_COVERAGE_CONTROL_TOKEN", f"{_PREFIX}_CONTROL_TOKEN"],
    help="The server's control token, if it has one.  [env var: MOCK_PLATFORM_CONTROL_TOKEN]",
)  # fmt: skip
@click.option(
    "--ca", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Certificate authority to trust, if the server has its own.",
)  # fmt: skip
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
    from mock_platform.cli.conditions import CoverageConditions
    from mock_platform.cli.measuring import show_coverage

    conditions = CoverageConditions(fail_under, only, baseline)
    show_coverage(url, format or _for_reader(), conditions, control_token, ca)


@group.command()
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
@click.option("--only", metavar="PATTERNS", help=_ONLY_HELP)
@click.option(
    "--skip", multiple=True,
    type=click.Choice(["parameters", "pages", "refusals", "methods"]),
    help="Send no requests of this kind (repeatable).",
)  # fmt: skip
@click.option(
    "--value", multiple=True, metavar="NAME=VALUE",
    help="A value for a parameter that the server's own lists do not show (repeatable).",
)  # fmt: skip
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
@click.option(
    "--format", type=click.Choice(["text", "json", "junit", "html"]), default="text",
    show_default=True, help="Format of the output.",
)  # fmt: skip
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write the report to a file as well: .txt, .json, .xml (JUnit) or .html.",
)  # fmt: skip
@click.option(
    "--ca", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="Certificate authority to trust, if the server has its own.",
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
    same_data: bool,
    accepted: Path | None,
    accept: tuple[str, ...],
    reason: str | None,
    until: datetime | None,
    format: Literal["text", "json", "junit", "html"],
    report: Path | None,
    ca: Path | None,
    yes: bool,
) -> None:
    """Compare another server, or what was recorded, with this sandbox.

    With --base-url sends requests that only read, signed with your credentials. Exit status 1 if
    anything differs.
    """
    from mock_platform.cli.comparing import (
        Acceptance,
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
        if only or skip or value or same_data:
            raise click.UsageError("--only, --skip, --value and --same-data belong to --base-url.")
        compare_archive(har, acceptance, output)
        return
    assert base_url is not None, "one of the two was given"
    compare_server(base_url, credentials_file, ca, scope, acceptance, output, yes=yes)


for _command in (*LIVE_COMMANDS, contract, record, import_):
    group.add_command(_command)
group.add_command(pact)
group.add_command(make_verify(run))
