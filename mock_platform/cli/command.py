"""What all commands have in common: they warn of environment variables that are no option."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import Any

import click

DEFAULT_URL = "http://127.0.0.1:8080"
"""The address of a server that was started without options."""


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
