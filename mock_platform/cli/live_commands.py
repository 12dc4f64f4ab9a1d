"""The commands that act on a running server, with options; `remote_commands` implements them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
from click.shell_completion import CompletionItem

from mock_platform.cli.command import DEFAULT_URL, CheckedCommand
from mock_platform.cli.options import INSTANT, SECONDS, make_ca_option, make_format_option
from mock_platform.world.endings import HOWS

if TYPE_CHECKING:
    from mock_platform.verification.costs.document import By

Command = TypeVar("Command", bound=Callable[..., Any])


def server_options(command: Command) -> Command:
    """Add the options that choose the server and the world to act on."""
    for add in (
        make_ca_option(
            "Certificate authority to trust, if the server has its own.  [env var: "
            "REQUESTS_CA_BUNDLE]"
        ),
        click.option(
            "--control-token", metavar="TOKEN",
            help="The server's control token, if it has one.  [env var: "
                 "MOCK_PLATFORM_CONTROL_TOKEN]",
        ),
        click.option(
            "--world", metavar="NAME",
            help="The world to act on.  [default: the one in the address, else default]",
        ),
        click.option(
            "--url", metavar="URL",
            help="Base address of the server; /~NAME at its end chooses a world.  [env var: "
                 f"MOCK_PLATFORM_URL; default: {DEFAULT_URL}]",
        ),
    ):  # fmt: skip
        command = add(command)
    return command


def _complete_names(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the scenarios of the package that begin with what was typed."""
    from mock_platform.core.installed import folder

    names = sorted(file.stem for file in folder("scenarios").glob("*.yaml"))
    return [CompletionItem(name) for name in names if name.startswith(typed)]


@click.command("on", cls=CheckedCommand)
@server_options
@click.argument("name", metavar="NAME|FILE", shell_complete=_complete_names)
@click.argument("parameters", nargs=-1, metavar="[KEY=VALUE]...")
def switch_on(*, name: str, parameters: tuple[str, ...], **server: Any) -> None:
    """Activate a scenario on a running server; one that is active starts again.

    A FILE is made known to the world first. A VALUE is read as JSON if it is JSON, else as text.
    """
    from mock_platform.cli.remote_commands import activate, open_world

    with open_world(**server) as world:
        activate(world, name, parameters)


@click.command("off", cls=CheckedCommand)
@server_options
@click.argument("names", nargs=-1, metavar="[NAME|FILE]...", shell_complete=_complete_names)
def switch_off(*, names: tuple[str, ...], **server: Any) -> None:
    """Deactivate scenarios on a running server; without NAME, all of them."""
    from mock_platform.cli.remote_commands import deactivate, open_world

    with open_world(**server) as world:
        for name in names or (None,):
            deactivate(world, name)


@click.command("reset", cls=CheckedCommand)
@server_options
def reset(**server: Any) -> None:
    """Return a world to its start: fixtures, start-up scenarios, clock, ids, empty journal."""
    from mock_platform.cli.remote_commands import open_world, reset_world

    with open_world(**server) as world:
        reset_world(world)


class _ClockCommand(CheckedCommand):
    """A command whose duration may begin with a minus, as in `clock advance -1h`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments, a duration back as the last one."""
        # click would take -1h for the two options -1 and -h, which prints the help.
        for at, word in enumerate(args):
            if word == "--":
                break
            if "advance" in args[:at] and _BACK.fullmatch(word):
                args = [*args[:at], *args[at + 1 :], "--", word]
                break
        return super().parse_args(ctx, args)


_BACK = re.compile(r"-(?:\d|[^-].+)", re.DOTALL)


@click.command("clock", cls=_ClockCommand)
@server_options
@click.argument(
    "action", required=False, type=click.Choice(["freeze", "travel", "advance", "resume"])
)
@click.argument("value", required=False, metavar="[MOMENT|DURATION]")
@click.option("--to-next", is_flag=True, help="advance: to the next thing that is due.")
def clock(*, action: str | None, value: str | None, to_next: bool, **server: Any) -> None:
    """Print the clock of a world, or change it and print it.

    freeze [MOMENT] stops it, now or at a moment such as 2026-03-25T16:00:00Z. travel MOMENT sets
    it; travel now sets it to the time of the machine. advance DURATION moves it: seconds, or 500ms,
    90s, 15m, 1h, 1d, and back with -7d. advance --to-next moves it to the next transition,
    scheduled post, expiry or end of a rate window, and prints what it was. resume starts it again.
    """
    from mock_platform.cli.remote_commands import (
        advance_to_next,
        change_clock,
        open_world,
        show_clock,
    )

    if to_next and (action != "advance" or value is not None):
        raise click.UsageError("--to-next is for: clock advance --to-next, without a duration.")
    moment, seconds = (None, 0.0) if to_next else _read_step(action, value)
    with open_world(**server) as world:
        if to_next:
            advance_to_next(world)
        elif action is not None:
            change_clock(world, action, moment, seconds)
        show_clock(world)


def _read_step(
    action: str | None, value: str | None
) -> tuple[datetime | Literal["now"] | None, float]:
    """Return the moment or the seconds of a change of the clock."""
    if action in {"travel", "advance"} and value is None:
        wanted = "a moment: clock travel 2026-03-25T16:00:00Z"
        if action == "advance":
            wanted = "a duration: clock advance 1h, or clock advance --to-next"
        raise click.UsageError(f"clock {action} needs {wanted}.")
    if action == "resume" and value is not None:
        raise click.UsageError(f"clock resume takes nothing more, and {value!r} was given.")
    try:
        if action == "advance" and value is not None:
            back = -1 if value.startswith("-") else 1
            return None, back * SECONDS.parse(value.removeprefix("-"))
        if action == "travel" and value == "now":
            return "now", 0.0
        return (None if value is None else INSTANT.parse(value)), 0.0
    except ValueError as fault:
        raise click.UsageError(f"{fault}.") from fault


@click.command("requests", cls=CheckedCommand)
@server_options
@click.option("--follow/--no-follow", "-f", help="Wait for more, until interrupted.")
@click.option("--operation", metavar="ID", help="Only this operation.")
@click.option("--status", metavar="STATUS", help="Only this status, or a class such as 4xx.")
@click.option("--method", metavar="METHOD", help="Only this method, in any case.")
@click.option("--path", metavar="TEXT", help="Only addresses that contain this.")
@click.option("--rule", metavar="NAME", help="Only where this scenario acted; NAME/0 for one rule.")
@click.option("--ended", type=click.Choice(HOWS), help="Only answers that ended like this.")
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True,
    help="The newest N that match.",
)  # fmt: skip
@make_format_option(
    "text", "json", help="A line for each request, or each entry of the journal as a line of JSON."
)
def requests(
    *,
    follow: bool,
    operation: str | None,
    status: str | None,
    method: str | None,
    path: str | None,
    rule: str | None,
    ended: str | None,
    limit: int,
    format: Literal["text", "json"],
    **server: Any,
) -> None:
    """Print the journal of a world: each request, its answer, and the rule that acted."""
    from mock_platform.cli.remote_commands import open_world, show_requests

    query = {"operation": operation, "status": status, "method": method, "path": path}
    query |= {"rule": rule, "ended": ended}
    with open_world(**server) as world:
        show_requests(world, query, limit, format, follow=follow)


@click.command("costs", cls=CheckedCommand)
@server_options
@click.option(
    "--by", type=click.Choice(["operation", "test", "app", "day"]), default="operation",
    show_default=True,
    help="What the sums are for. A test has a world of its own, so `test` lists all worlds.",
)  # fmt: skip
@make_format_option("text", "json", help="A table for people, or the answer of /_mock/costs.")
def costs(*, by: By, format: Literal["text", "json"], **server: Any) -> None:
    """Print what the calls would have cost at the public prices, since the world's last reset."""
    from mock_platform.cli.remote_commands import open_world, show_costs

    with open_world(**server) as world:
        show_costs(world, by, format)


@click.command("make", cls=CheckedCommand)
@server_options
@click.option(
    "--seed", type=click.IntRange(-(2**63), 2**63 - 1), metavar="N",
    help="The same N makes the same records of the same world.  [default: others each time]",
)  # fmt: skip
@make_format_option("text", "json", help="A sentence for people, or the answer of /_mock/make.")
@click.argument("table")
@click.argument("words", nargs=-1, metavar="[COUNT] [KEY=VALUE]...")
def make(
    *,
    table: str,
    words: tuple[str, ...],
    seed: int | None,
    format: Literal["text", "json"],
    **server: Any,
) -> None:
    """Make records of TABLE in a world, with what they need: one, or COUNT of them.

    KEY is a field, a reference without `_id` such as `campaign`, or `spread`: how long ago the
    oldest record was created. A VALUE is read as JSON if it is JSON, else as text.
    """
    from mock_platform.cli.remote_commands import make_records, open_world

    count, pairs = 1, words
    if words and "=" not in words[0]:
        if not words[0].isascii() or not words[0].isdigit():
            raise click.UsageError(f"COUNT is a whole number, got {words[0]!r}.")
        count, pairs = int(words[0][:19]), words[1:]
    with open_world(**server) as world:
        make_records(world, table, count, pairs, seed, format)


@click.command("case", cls=CheckedCommand)
@server_options
@click.option(
    "--as", type=click.Choice(["pytest", "node"]),
    help="Read FILE instead of writing it, and print its whole session as a test that passes.",
)  # fmt: skip
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
def case(*, file: Path, **server: Any) -> None:
    """Write a world with all its requests to FILE, a zip archive without secrets.

    `mock-platform open FILE` serves the same world elsewhere.
    """
    kind = server.pop("as")
    if kind is not None:
        from mock_platform.cli.cases import print_test

        print_test(file, kind)
        return
    from mock_platform.cli.remote_commands import open_world, save_case

    with open_world(**server) as world:
        save_case(world, file)


@click.command("worlds", cls=CheckedCommand)
@server_options
def worlds(**server: Any) -> None:
    """List the worlds of a running server with their base addresses."""
    from mock_platform.cli.remote_commands import open_platform, show_worlds

    with open_platform(**server) as platform:
        show_worlds(platform)


@click.command("mcp", cls=CheckedCommand)
@server_options
def mcp(**server: Any) -> None:
    """Let an agent steer a running server: the Model Context Protocol on standard input and output.

    Give the program that runs your agent the command `mock-platform mcp`. With --world the tools
    act on that world alone.
    """
    from mock_platform.cli.remote_commands import open_world, pass_messages

    with open_world(**server) as world:
        pass_messages(world, server["control_token"], server["ca"])


LIVE_COMMANDS: tuple[click.Command, ...] = (
    switch_on,
    switch_off,
    reset,
    clock,
    requests,
    costs,
    make,
    case,
    worlds,
    mcp,
)
"""The commands that need a running server."""
