"""`contract`, `contract diff` and `pact`: documents of the contract, and what a new one changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import click

from mock_platform.api.served import OPERATION_IDS, OPERATIONS
from mock_platform.cli.command import CheckFailed, write_report
from mock_platform.cli.remote_commands import open_world
from mock_platform.client.remote.control import Control, connect
from mock_platform.control.routes import describe_everything
from mock_platform.core.jsonio import pretty
from mock_platform.core.operation import Operation
from mock_platform.platform import Platform
from mock_platform.settings import NamesMode
from mock_platform.verification.contract.compare import compare_contracts, compare_dates
from mock_platform.verification.contract.document import (
    BadContract,
    Contract,
    make_contract,
    read_contract,
    read_contract_file,
    render_contract,
)
from mock_platform.verification.contract.rules import Comparison, Format, render
from mock_platform.verification.coverage.gate import BadBaseline, read_called
from mock_platform.verification.har.exchange import BadHar
from mock_platform.verification.importing.pact_archive import read_archive
from mock_platform.verification.pact.document import Parties, make_pact
from mock_platform.verification.pact.recorded import LeftOut
from mock_platform.version import __version__
from mock_platform.world.clock import format_date


def write_contract(out: Path | None) -> None:
    """Print the contract of this package, or write it to a file.

    Raises:
        CheckFailed: The file cannot be written.
    """
    text = render_contract(make_contract(Platform()))
    _show(text, out)


def compare_files(old: Path, new: Path | None) -> Comparison:
    """Return the changes between two documents; without `new`, those up to this package.

    Raises:
        click.UsageError: A document cannot be used.
    """
    try:
        before = read_contract_file(old)
        after = read_own_contract() if new is None else read_contract_file(new)
    except BadContract as fault:
        raise click.UsageError(f"{fault}.") from fault
    return Comparison(before.name, after.name, compare_contracts(before, after))


def compare_as_of(old: datetime, new: datetime, coverage: Path | None) -> Comparison:
    """Return what the release history changes between dates, for the operations of a coverage.

    Raises:
        click.UsageError: The file of the coverage cannot be used.
    """
    chosen: Iterable[Operation] = OPERATIONS
    if coverage is not None:
        try:
            called = read_called(coverage, OPERATION_IDS)
        except BadBaseline as fault:
            raise click.UsageError(f"--coverage: {fault}") from fault
        chosen = [operation for operation in OPERATIONS if operation.id in called]
    before, after = (f"as of {format_date(each)}" for each in (old, new))
    return Comparison(before, after, compare_dates(chosen, old, new))


def show_changes(
    comparison: Comparison,
    form: Format,
    fail_on: Literal["breaking", "dangerous", "any", "none"],
    out: Path | None,
) -> None:
    """Print changes of a contract.

    Raises:
        CheckFailed: There is a change at which to fail.
    """
    _show(render(comparison, form), out)
    if fail_on != "none" and comparison.fails(fail_on):
        found = ", ".join(f"{n} {level}" for level, n in comparison.count().items() if n)
        raise CheckFailed(f"{comparison.new} changes what {comparison.old} promised: {found}.")


def read_own_contract() -> Contract:
    """Return the contract of this package, as it is compared."""
    return read_contract(make_contract(Platform()), f"mock_platform {__version__}")


def _show(text: str, out: Path | None) -> None:
    if out is None:
        click.echo(text, nl=False)
    else:
        write_report(out, text)


# `pact`: writes what a client exercised as a Pact file.


def write_pact(
    har: Path | None,
    names: NamesMode,
    parties: Parties,
    out: Path,
    server: Mapping[str, Any],
) -> None:
    """Write a Pact file, and print what is in it and what is not; `names` are those of `har`.

    Raises:
        CheckFailed: No server answers, or no request could be taken.
        click.UsageError: The archive cannot be used.
    """
    found, left_out = _fetch(parties, server) if har is None else _convert(parties, har, names)
    for each in left_out:
        click.echo(f"left out: {each.request}: {each.reason}", err=True)
    if not found["interactions"]:
        raise CheckFailed("There is no request for a Pact file; nothing was written.")
    write_report(out, pretty(found) + "\n")
    count, out_count = len(found["interactions"]), len(left_out)
    click.echo(f"{out}: {count} interactions, {out_count} requests left out.", err=True)


def _fetch(parties: Parties, server: Mapping[str, Any]) -> tuple[dict[str, Any], list[LeftOut]]:
    with open_world(**server) as world:
        session = connect(server["control_token"], server["ca"])
        with session:
            answer = Control(world.control_url, session).ask(
                "GET", "/pact", query=parties._asdict()
            )
    return answer["pact"], [LeftOut(**each) for each in answer["left_out"]]


def _convert(parties: Parties, har: Path, names: NamesMode) -> tuple[dict[str, Any], list[LeftOut]]:
    platform = Platform()
    try:
        openapi = describe_everything(platform).at("http://localhost")
        return make_pact(parties, read_archive(har, names), openapi)
    except BadHar as fault:
        raise click.UsageError(f"{fault}.") from fault
    except OSError as fault:
        raise click.UsageError(f"{har} cannot be read: {fault.strerror}.") from fault
    finally:
        platform.close()
