"""The commands that start a sandbox, and their options: `serve`, `run` and `verify`.

`serving` and `running` implement them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import click

from mock_platform.cli.command import CheckedCommand
from mock_platform.cli.configured import ConfiguredCommand
from mock_platform.cli.intercepting import (
    allow_host_option,
    intercept_hosts_option,
    read_interception,
)
from mock_platform.cli.options import DATES, USD, condition_options, settings_of, settings_options
from mock_platform.serving.process import load_operations

if TYPE_CHECKING:
    from mock_platform.settings import NamesMode

_SECTIONS = (
    (
        "Used most",
        (
            "port", "fixtures", "scenario", "dataset", "store", "freeze", "strict", "tls", "watch",
            "intercept",
        ),
    ),
    (
        "What is checked",
        (
            "verify", "page", "junit", "summary", "max-cost", "coverage", "coverage-fail-under",
            "coverage-only", "coverage-baseline", "contract",
        ),
    ),
    (
        "Compared with another server",
        ("against", "skip", "methods", "accepted", "credentials-file", "ca", "yes"),
    ),
    (
        "Where it listens",
        ("host", "public-host", "control-token", "tls-folder", "workers", "stop-with-stdin"),
    ),
    (
        "How it answers",
        (
            "names", "wire", "auth", "ads-auth", "warnings", "no-markers", "limits", "tiers",
            "releases", "as-of", "card-envelope", "webhook-envelope", "webhook-limit",
            "subscription-limit", "campaign-limit", "line-item-limit", "line-items-per-campaign",
        ),
    ),
    (
        "Records, worlds and journals",
        (
            "no-default-fixtures", "prices", "seed", "durability", "lease", "advertise",
            "rest-after", "max-worlds", "journal-entries", "journal-bytes", "journal-total-bytes",
        ),
    ),
    (
        "Sign-in and tokens",
        (
            "fresh-tokens", "require-https", "oauth-tolerance", "oauth-limit", "bearer-threshold",
            "bearer-window",
        ),
    ),
    (
        "Streams, webhooks and replay",
        (
            "stream-keepalive", "stream-connections", "stream-samples", "stream-backlog",
            "delivery-timeout", "delivery-attempts", "delivery-backoff", "delivery-allow-host",
            "delivery-workers", "replay-minimum-age",
        ),
    ),
    (
        "Connections and bodies",
        (
            "http2", "max-connections", "max-connections-per-address", "head-timeout",
            "body-timeout", "body-rate", "idle-timeout", "write-timeout", "max-body", "max-nesting",
        ),
    ),
    (
        "Other hosts, and the real service",
        (
            "allow-host", "intercept-hosts", "explain", "enclose", "shadow", "shadow-writes",
            "shadow-credentials", "shadow-names",
        ),
    ),
    ("The log", ("log-level", "log-format")),
)  # fmt: skip
_FORMAT = click.Choice(["text", "json"])
_FILE = click.Path(path_type=Path, dir_okay=False)
_EXISTING = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(cls=ConfiguredCommand, sections=_SECTIONS)
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
@click.option(
    "--shadow-names", type=click.Choice(["neutral", "original"]),
    help="The names that the real service uses.  [default: original if the host is the platform's "
         "own, else those of its answers]",
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
    shadow_names: NamesMode | None,
    **values: Any,
) -> None:
    """Serve until stopped; prints one line READY {…} to standard output when ready."""
    from mock_platform.scenario.outline import is_file

    with load_operations():
        from mock_platform.cli.server_context import ServeOptions
        from mock_platform.cli.serving import serve_until_stopped

    settings = settings_of(values)
    paths = [each for each in settings.scenarios if is_file(each) or Path(each).is_dir()]
    if watch and not settings.fixtures and not paths:
        text = (
            "--watch needs something to watch: a --fixtures folder, or a --scenario file or folder."
        )
        raise click.UsageError(text)
    if tls_folder is not None and not tls:
        raise click.UsageError("--tls-folder needs --tls.")
    shadowed = None
    if shadow is not None:
        from mock_platform.cli.comparing import read_shadow

        shadowed = read_shadow(
            shadow,
            writes=shadow_writes,
            credentials_file=shadow_credentials,
            names=shadow_names,
        )
    elif shadow_writes or shadow_credentials is not None or shadow_names is not None:
        raise click.UsageError(
            "--shadow-writes, --shadow-credentials and --shadow-names need --shadow URL."
        )
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


@click.command(
    cls=ConfiguredCommand, sections=_SECTIONS, context_settings={"allow_interspersed_args": False}
)
@settings_options(without=frozenset({"host", "port", "public-host", "control-token"}))
@click.option("--tls/--no-tls", help="Serve https; CMD finds in its environment whom to trust.")
@click.option(
    "--intercept/--no-intercept",
    help="Let CMD reach the platform's real hosts here, through a proxy that it finds in its "
    "environment.",
)
@click.option(
    "--explain/--no-explain",
    help="With --intercept: say after the run which hosts CMD tried past the proxy, as far as that "
    "can be seen.",
)
@click.option(
    "--enclose/--no-enclose", default=True, show_default=True,
    help="With --intercept, on Linux: CMD finds the platform's hosts, and whom to trust, in files "
    "of its own over those of the system, so that programs which ignore the proxy are answered.",
)  # fmt: skip
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
    "--max-cost", type=USD, metavar="USD",
    help="Exit with status 1 if the calls would have cost more US dollars, and list the dearest.",
)  # fmt: skip
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
    credentials. If CMD succeeds and a check of the run fails, the status is 1.
    """
    _run("mock-platform run", values)


def _require_command(name: str, values: Mapping[str, Any]) -> None:
    if not values["command"]:
        raise click.UsageError(f"The command is missing. For instance: {name} -- pytest -q")


def _run(name: str, values: Mapping[str, Any]) -> NoReturn:
    with load_operations():
        from mock_platform.cli.running import read_run_options, run_beside_server

    _require_command(name, values)
    sys.exit(run_beside_server(list(values["command"]), read_run_options(name, values)))


def _verify(*, as_of: tuple[datetime, ...] | None, **values: Any) -> None:
    name = "mock-platform verify"
    values |= {"as_of": None, "verify": True, "page": True}
    if as_of is None:
        text = "Without --as-of: Write `mock-platform run --page -- CMD`, with the same options."
        click.echo(text, err=True)
        _run(name, values)
    with load_operations():
        from mock_platform.cli.running import read_run_options, run_as_of

    _require_command(name, values)
    for option in _NOT_BY_DATE:
        if values[option.replace("-", "_")]:
            raise click.UsageError(
                f"--{option} is for one run: mock-platform run --as-of DATE --{option} …"
            )
    options = read_run_options(name, values)
    sys.exit(run_as_of(list(values["command"]), options, as_of))


_NOT_BY_DATE = ("coverage", "coverage-fail-under", "coverage-baseline", "contract", "against")
verify = CheckedCommand(
    "verify",
    callback=_verify,
    params=[
        *(param for param in run.params if param.name not in {"verify", "page", "as_of"}),
        click.Option(
            ["--as-of"], type=DATES, metavar="DATE,DATE…",
            help="The dates of the contract, such as 2026-03-01,2026-06-30.",
        ),
    ],
    help="Run CMD once for each date of the contract, and print one table of the runs.",
    context_settings=run.context_settings,
    sections=_SECTIONS,
)  # fmt: skip


@click.command("open", cls=CheckedCommand)
@click.option(
    "--replay/--no-replay",
    help="Say where answers differ from the recorded ones, and end: with status 1 if any does. "
    "With --port, serve after that.",
)
@click.option(
    "--port", type=click.IntRange(0, 65_535), metavar="N",
    help="Port to listen on; 0 takes a free one.  [default: 8080]",
)  # fmt: skip
@click.option(
    "--stop-with-stdin/--no-stop-with-stdin",
    help="Stop also when standard input ends, as a pipe does with the program that holds it.",
)
@click.option(
    "--log-level", type=click.Choice(["info", "warning", "error", "off"]), default="info",
    show_default=True, help="What is logged, as for serve.",
)  # fmt: skip
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
def open_case(
    *,
    file: Path,
    replay: bool,
    port: int | None,
    stop_with_stdin: bool,
    log_level: Literal["info", "warning", "error", "off"],
) -> None:
    """Serve the world of a case, which `mock-platform case` or a failing test wrote.

    Its requests are repeated first, from its start, so that it is as it was when it was saved;
    POST /_mock/reset returns it to the start.
    """
    with load_operations():
        from mock_platform.cli.cases import report_replay, serve_case

    if replay and port is None:
        report_replay(file)
    else:
        serve_case(
            file, port, log_level=log_level, stop_with_stdin=stop_with_stdin, report=replay
        )  # fmt: skip


SERVING_COMMANDS: tuple[click.Command, ...] = (serve, run, verify, open_case)
