"""What several commands have in common: how they read variables, choose a format, and fail.

Usage errors (status 2) are click's own.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Literal

import click

from mock_platform.core.errors import did_you_mean, find_nearest

DEFAULT_URL = "http://127.0.0.1:8080"
"""The address of a server that was started without options."""
PREFIX = "MOCK_PLATFORM"
"""How the environment variables of all options begin."""
BY_READER = "[default: text on a terminal, else json]"
"""The help for a default that `choose_reader_format` chooses."""


Sections = Sequence[tuple[str, Sequence[str]]]
"""Titles with the names of the options, or commands, that the help shows below each."""


def write_sections(
    formatter: click.HelpFormatter, sections: Sections, rows: Mapping[str, tuple[str, str]]
) -> None:
    """Write rows of help by name in their sections, and at the end those that none names."""
    left = dict(rows)
    for title, names in (*sections, ("Options" if not sections else "Others", tuple(rows))):
        own = [left.pop(name) for name in names if name in left]
        if own:
            with formatter.section(title):
                formatter.write_dl(own)


_QUOTED = re.compile(r"'([^']*)' is not ")


def describe_allowed(fault: click.BadParameter) -> str:
    """Return what a value that was refused may mean, or the numbers that are allowed."""
    kind = None if fault.param is None else fault.param.type
    quoted = _QUOTED.match(fault.message)
    if isinstance(kind, click.Choice) and quoted is not None:
        return did_you_mean(quoted[1], map(str, kind.choices))
    if isinstance(kind, click.IntRange | click.FloatRange) and "not a valid" in fault.message:
        low, high = kind.min, kind.max
        most = "" if high is None else f" to {high}"
        return "" if low is None else f" Allowed: a number from {low}{most}."
    return ""


class CheckedCommand(click.Command):
    """A command that warns of environment variables that look like its options but are not."""

    def __init__(self, *args: Any, sections: Sections = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in their sections."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        shown = ((each.opts[0].lstrip("-"), each.get_help_record(ctx)) for each in options)
        rows = {name: row for name, row in shown if row is not None}
        write_sections(formatter, self.sections, rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; a value that is not allowed is refused with what it may mean.

        Raises:
            click.BadParameter: A value is not allowed.
            click.NoSuchOption: There is no such option.
        """
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as fault:
            # click compares with the dashes, so `--name` looks like `--ca`.
            name = fault.option_name.lstrip("-")
            options = [each.lstrip("-") for each in fault.possibilities or ()]
            near = find_nearest(name, options)
            hint = "" if near is None else f" Did you mean '--{near}'?"
            if not hint and any("=VALUE" in (param.metavar or "") for param in self.params):
                hint = f" Values are written without dashes: {name}=VALUE."
            text = f"No such option {fault.option_name!r}.{hint}"
            raise click.NoSuchOption(fault.option_name, text, ctx=fault.ctx) from fault
        except click.BadParameter as fault:
            allowed = describe_allowed(fault)
            if not allowed:
                raise
            text = f"{fault.message}{allowed}"
            raise click.BadParameter(text, fault.ctx, fault.param, fault.param_hint) from fault

    def invoke(self, ctx: click.Context) -> Any:
        """Warn, then run the command."""
        prefix = f"{ctx.auto_envvar_prefix}_"
        known = {f"{prefix}{param.name.upper()}" for param in self.params if param.name}
        for name in sorted(os.environ):
            if name.startswith(prefix) and name not in known:
                hint = did_you_mean(name, known)
                click.echo(f"Warning: {name} is not an option of {ctx.info_name}.{hint}", err=True)
        return super().invoke(ctx)


_INTERRUPTED = 130
"""What shells report for a command that Ctrl-C ended."""


class CheckedGroup(click.Group):
    """A group whose commands warn of such variables, and are listed with a whole sentence each."""

    command_class = CheckedCommand

    def __init__(self, *args: Any, sections: Sections = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; one that is interrupted has neither failed nor found anything.

        Raises:
            click.exceptions.Exit: It was interrupted.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as fault:
            raise click.exceptions.Exit(_INTERRUPTED) from fault

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their sections."""
        rows = {name: (name, _read_sentence(each)) for name, each in self.commands.items()}
        write_sections(formatter, self.sections or (("Commands", tuple(rows)),), rows)


def _read_sentence(command: click.Command) -> str:
    """Return the first sentence of a command's help."""
    text = " ".join((command.help or "").split("\n\n")[0].split())
    sentence = text.split(". ")[0].rstrip(".") + "."
    return f"{sentence} (deprecated)" if command.deprecated else sentence


def choose_reader_format() -> Literal["text", "json"]:
    """Return the default format: for people on a terminal, else as the control route answers."""
    return "text" if sys.stdout.isatty() else "json"


# Columns of text for the commands that print tables.


def align(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as columns, with two spaces between them."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


# The exceptions that end a command: an exit status and one message that says what to do.


class CheckFailed(click.ClickException):
    """A check failed; the message says which."""

    exit_code: ClassVar[int] = 1


class CannotListen(click.ClickException):
    """The server cannot listen on the address."""

    exit_code: ClassVar[int] = 3


class BadInput(click.ClickException):
    """Fixtures, a store or a certificate authority that cannot be used."""

    exit_code: ClassVar[int] = 4


@contextmanager
def convert_errors() -> Iterator[None]:
    """Convert errors of a server's environment into exceptions with an exit status."""
    # The callers have already imported these; imports at the top would slow down `--help`.
    from mock_platform.core.errors import (
        BadFixtures,
        BadParameters,
        BadScenario,
        CannotPerform,
        UnknownScenario,
    )
    from mock_platform.core.installed import MissingExtra
    from mock_platform.serving.http import CannotBind
    from mock_platform.serving.http.tls import AuthorityUnreadable
    from mock_platform.verification.costs.prices import BadPrices
    from mock_platform.world.store.backends import BadStore, NeedsEngine
    from mock_platform.world.store.errors import StoreError

    try:
        yield
    except (BadFixtures, BadScenario) as fault:
        where = "fixtures" if isinstance(fault, BadFixtures) else "scenarios"
        raise BadInput(f"{count_faults(len(fault.complaints))} in the {where}.\n{fault}") from fault
    except UnknownScenario as fault:
        raise BadInput(
            f"{fault} `mock-platform scenarios` lists the scenarios of the package."
        ) from fault
    except (BadParameters, CannotPerform) as fault:
        raise BadInput(str(fault)) from fault
    except CannotBind as fault:
        raise CannotListen(str(fault)) from fault
    except (BadStore, MissingExtra, NeedsEngine) as fault:
        raise click.UsageError(str(fault)) from fault
    except (StoreError, AuthorityUnreadable, BadPrices) as fault:
        raise BadInput(str(fault)) from fault


def write_report(file: Path, text: str, *, append: bool = False) -> None:
    """Write a report, or add it to the file, and make its folder.

    Raises:
        CheckFailed: It cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a" if append else "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as fault:
        raise CheckFailed(f"{file} cannot be written: {fault.strerror}.") from fault


def count_faults(faults: int) -> str:
    """Return `1 fault`, `2 faults` and so on."""
    return f"{faults} fault{'' if faults == 1 else 's'}"
