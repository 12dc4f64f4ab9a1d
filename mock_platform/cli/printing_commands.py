"""The commands that print what the package knows; `printing` and `listing` implement most."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from mock_platform.cli.command import (
    BY_READER,
    DEFAULT_URL,
    PREFIX,
    CheckedCommand,
    choose_reader_format,
)
from mock_platform.cli.intercepting import intercept_hosts_option
from mock_platform.cli.live_commands import server_options
from mock_platform.cli.options import make_format_option
from mock_platform.serving.process import load_operations

_FOLDER = click.Path(path_type=Path)


@click.command(cls=CheckedCommand)
@make_format_option("text", "json", help="Columns, or what GET /_mock/operations answers.")
def operations(*, format: str) -> None:
    """List the operations: method, path, id and heading of the specification."""
    from mock_platform.cli.printing import operations_text

    click.echo(operations_text(format))


@click.command(cls=CheckedCommand)
@click.argument("request", nargs=-1, metavar="METHOD PATH")
@make_format_option("text", "json")
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


@click.command(cls=CheckedCommand)
@intercept_hosts_option
def hosts(*, intercept_hosts: tuple[str, ...]) -> None:
    """Print lines for a hosts file, for clients that insist on the platform's real host names."""
    from mock_platform.cli.intercepting import hosts_text

    click.echo(hosts_text(intercept_hosts))


@click.command(cls=CheckedCommand)
@make_format_option(
    "env", "json", "shell", default="env",
    help="Lines NAME=value, what GET /_mock/credentials answers, or exports for a shell with the "
         "addresses of the server.",
)  # fmt: skip
@click.option(
    "--fixtures", type=_FOLDER, multiple=True, metavar="DIR",
    help="Folder of fixtures, added to the default ones, as for serve. Repeatable.",
)  # fmt: skip
@click.option(
    "--url", default=DEFAULT_URL, show_default=True, metavar="URL",
    envvar=[f"{PREFIX}_CREDENTIALS_URL", f"{PREFIX}_URL"],
    help="Base address of the server, for --format shell.  [env var: MOCK_PLATFORM_URL]",
)  # fmt: skip
def credentials(*, format: str, fixtures: tuple[Path, ...], url: str) -> None:
    """Print the published test credentials."""
    from mock_platform.cli.printing import credentials_text

    click.echo(credentials_text(format, fixtures, url), nl=False)


@click.command(cls=CheckedCommand)
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


@click.command(cls=CheckedCommand)
@click.option(
    "--url", default=DEFAULT_URL, show_default=True, metavar="URL",
    help="Base address in the description.",
)  # fmt: skip
def openapi(url: str) -> None:
    """Print the OpenAPI description of everything that is served, like GET /_mock/openapi.json."""
    with load_operations():
        from mock_platform.cli.listing import openapi_text

    click.echo(openapi_text(url.rstrip("/")))


@click.command(cls=CheckedCommand)
@make_format_option(
    "text", "json", default="json", help="Columns, or what GET /_mock/assumptions answers."
)
def assumptions(*, format: str) -> None:
    """Print all assumptions: what the specification does not show."""
    with load_operations():
        from mock_platform.cli.listing import assumptions_text

    click.echo(assumptions_text(format))


@click.command(cls=CheckedCommand)
@click.option(
    "--status", type=click.IntRange(400, 599), multiple=True,
    help="Only answers with this status. Repeatable.",
)  # fmt: skip
@click.option("--network/--no-network", help="Also what the network can do to any request.")
@make_format_option("text", "json", help="An id a line, or what GET /_mock/failures answers.")
@click.argument("pattern")
def failures(*, pattern: str, status: tuple[int, ...], network: bool, format: str) -> None:
    """List the documented failures of the operations whose ids match PATTERN.

    Commas separate several patterns: 'line_items.*,oauth*'. `mock-platform on ID` lets the next
    call fail in this way.
    """
    with load_operations():
        from mock_platform.cli.listing import failures_text

    click.echo(failures_text(pattern, status, network=network, form=format))


@click.command(cls=CheckedCommand)
@click.option(
    "--format", type=click.Choice(["text", "json", "schema"]),
    help="Columns, what GET /_mock/scenarios answers, or the JSON Schema of the files.  "
         f"{BY_READER}",
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
    from mock_platform.cli.printing import describe_scenarios

    if format == "schema":
        if name is not None or scenario:
            raise click.UsageError(
                "--format schema is one schema for all files: leave out NAME and --scenario."
            )
        with load_operations():
            from mock_platform.cli.listing import schema_text

        click.echo(schema_text())
        return
    if server["url"] or server["world"] or os.environ.get("MOCK_PLATFORM_URL"):
        from mock_platform.cli.remote_commands import open_world

        if scenario:
            raise click.UsageError("--scenario is for the package's list, not for a server's.")
        with open_world(**server) as world:
            found = world.scenarios
    else:
        from mock_platform.cli.listing import list_packaged_scenarios

        found = list_packaged_scenarios(scenario)
    click.echo(describe_scenarios(found, name, format or choose_reader_format()))


PRINTING_COMMANDS: tuple[click.Command, ...] = (
    operations,
    where,
    hosts,
    credentials,
    docs,
    openapi,
    assumptions,
    failures,
    scenarios,
)
"""The commands of this module."""
