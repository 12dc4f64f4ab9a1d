"""What several commands have in common: how they read variables, and choose a format."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Literal

import click

DEFAULT_URL = "http://127.0.0.1:8080"
"""The address of a server that was started without options."""
PREFIX = "MOCK_PLATFORM"
"""How the environment variables of all options begin."""
BY_READER = "[default: text on a terminal, else json]"
"""The help for a default that `choose_reader_format` chooses."""


class CheckedCommand(click.Command):
    """A command that warns of environment variables that look like its options but are not."""

    def invoke(self, ctx: click.Context) -> Any:
        """Warn, then run the command."""
        prefix = f"{ctx.auto_envvar_prefix}_"
        known = {f"{prefix}{param.name.upper()}" for param in self.params if param.name}
        for name in sorted(os.environ):
            if name.startswith(prefix) and name not in known:
                near = get_close_matches(name, known, 1)
                hint = f" Did you mean {near[0]}?" if near else ""
                click.echo(f"Warning: {name} is not an option of {ctx.info_name}.{hint}", err=True)
        return super().invoke(ctx)


class CheckedGroup(click.Group):
    """A group whose commands warn of such variables."""

    command_class = CheckedCommand


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
