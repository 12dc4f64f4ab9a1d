"""Options that several commands have, each declared once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def make_format_option(
    *kinds: str, default: str = "text", help: str = "Format of the output."
) -> Callable[[Command], Command]:
    """Returns the option that chooses one of these formats."""
    return click.option(
        "--format", type=click.Choice(kinds), default=default, show_default=True, help=help,
    )  # fmt: skip


def make_out_option(help: str, *, required: bool = False) -> Callable[[Command], Command]:
    """Returns the option that names the file to write."""
    return click.option(
        "--out", required=required, type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE", help=help,
    )  # fmt: skip


def make_force_option(help: str) -> Callable[[Command], Command]:
    """Returns the option that allows to replace what exists."""
    return click.option("--force/--no-force", help=help)


def make_ca_option(
    help: str = "Certificate authority to trust, if the server has its own.",
) -> Callable[[Command], Command]:
    """Returns the option that names a file with a certificate authority."""
    return click.option(
        "--ca", type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="FILE",
        help=help,
    )  # fmt: skip


def make_names_option(help: str) -> Callable[[Command], Command]:
    """Returns the option that says which names another server, or a recording, has."""
    return click.option(
        "--names", type=click.Choice(["auto", "neutral", "original"]), default="auto",
        show_default=True, help=help,
    )  # fmt: skip
