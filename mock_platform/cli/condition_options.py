"""The options that name the conditions for a coverage; `conditions` reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def make_only_option(name: str) -> Callable[[Command], Command]:
    """Returns the option of this name that chooses operations."""
    return click.option(
        name, metavar="PATTERNS",
        help="Count only operations whose ids match one of these patterns, such as "
             "'line_items.*,oauth*'.",
    )  # fmt: skip


def condition_options(prefix: str) -> Callable[[Command], Command]:
    """Returns what adds the three conditions to a command; their names begin with `prefix`."""
    options = (
        click.option(
            f"{prefix}fail-under", type=click.FloatRange(0, 100), metavar="N",
            help="Exit with status 1 if less than N percent are covered.",
        ),
        make_only_option(f"{prefix}only"),
        click.option(
            f"{prefix}baseline", type=click.Path(path_type=Path), metavar="FILE",
            help="Exit with status 1 if an outcome that this file names, and an earlier run "
                 "covered, is lost.",
        ),
    )  # fmt: skip

    def decorate(command: Command) -> Command:
        for add in reversed(options):
            command = add(command)
        return command

    return decorate
