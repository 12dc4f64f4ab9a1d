"""`contract` and `contract diff`: the contract as a document, and what a new one changes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from mock_platform.cli.trouble import CheckFailed, write_report
from mock_platform.contract import (
    BadContract,
    Comparison,
    Contract,
    Format,
    compare_contracts,
    make_contract,
    read_contract,
    read_contract_file,
    render,
    render_contract,
)
from mock_platform.platform import Platform
from mock_platform.version import __version__


def write_contract(out: Path | None) -> None:
    """Print the contract of this package, or write it to a file.

    Raises:
        CheckFailed: The file cannot be written.
    """
    text = render_contract(make_contract(Platform()))
    _show(text, out)


def show_changes(
    old: Path,
    new: Path | None,
    form: Format,
    fail_on: Literal["breaking", "dangerous", "any", "none"],
    out: Path | None,
) -> None:
    """Print the changes between two documents; without `new`, those up to this package.

    Raises:
        CheckFailed: There is a change at which to fail.
        click.UsageError: A document cannot be used.
    """
    try:
        before = read_contract_file(old)
        after = read_own_contract() if new is None else read_contract_file(new)
    except BadContract as fault:
        raise click.UsageError(f"{fault}.") from fault
    comparison = Comparison(before.name, after.name, compare_contracts(before, after))
    _show(render(comparison, form), out)
    if fail_on != "none" and comparison.fails(fail_on):
        found = ", ".join(f"{n} {level}" for level, n in comparison.count().items() if n)
        raise CheckFailed(f"{after.name} changes what {before.name} promised: {found}.")


def read_own_contract() -> Contract:
    """Returns the contract of this package, as it is compared."""
    return read_contract(make_contract(Platform()), f"mock_platform {__version__}")


def _show(text: str, out: Path | None) -> None:
    if out is None:
        click.echo(text, nl=False)
    else:
        write_report(out, text)
