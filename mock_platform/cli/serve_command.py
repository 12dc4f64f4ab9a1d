"""The command `serve` and its options; `serving` implements it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from mock_platform.cli.command import CheckedCommand
from mock_platform.cli.intercepting import (
    allow_host_option,
    intercept_hosts_option,
    read_interception,
)
from mock_platform.cli.options import settings_of, settings_options

if TYPE_CHECKING:
    from mock_platform.settings import NamesMode

_FORMAT = click.Choice(["text", "json"])


@click.command(cls=CheckedCommand)
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
    from mock_platform.serving.garbage import load_without_collecting

    with load_without_collecting():
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
