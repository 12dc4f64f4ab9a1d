"""`run --contract` and `run --against`: the checks that need no command."""

from __future__ import annotations

from pathlib import Path

import click

from mock_platform.cli.comparing import Acceptance, OtherServer, accept, read_server, read_skip
from mock_platform.cli.contracting import read_own_contract
from mock_platform.cli.verifying import DriftOptions, RunCheck
from mock_platform.core.errors import escape
from mock_platform.verification.compare.findings import DriftScope
from mock_platform.verification.compare.report import render as render_drift
from mock_platform.verification.contract.compare import compare_contracts
from mock_platform.verification.contract.document import BadContract, read_contract_file
from mock_platform.verification.contract.rules import Comparison, render

_MAX_NAMED = 5
"""Operations of another server that are named although they were not compared."""


def check_contract(file: Path) -> RunCheck:
    """Return the check that this package breaks nothing that a kept contract promised.

    Raises:
        click.UsageError: The file is not a contract.
    """
    try:
        old = read_contract_file(file)
    except BadContract as fault:
        raise click.UsageError(f"--contract: {fault}.") from fault
    new = read_own_contract()
    changes = compare_contracts(old, new)
    breaking = Comparison(old.name, new.name, [c for c in changes if c.level == "breaking"])
    faults = render(breaking, "text").splitlines() if breaking.changes else []
    headline = f"{new.name} breaks what {old.name} promised"
    return RunCheck("contract", "breaking changes", [line for line in faults if line], headline)


def check_drift(drift: DriftOptions) -> RunCheck:
    """Return the check that another server is as this sandbox declares.

    Raises:
        click.ClickException: The server cannot be asked, or a file cannot be read.
    """
    only = drift.only.split(",")
    kinds, left_out = read_skip(drift.skip if drift.methods else (*drift.skip, "methods"))
    scope = DriftScope(tuple(each.strip() for each in only if each.strip()), left_out, kinds)
    other = OtherServer(drift.against, drift.credentials_file, drift.ca)
    acceptance = Acceptance(drift.accepted)
    acceptance.check()
    report = read_server(other, scope, yes=drift.yes)
    accept(report, acceptance, complete=not (scope.only or scope.skip))
    lines = render_drift(report, "text").splitlines() if report.differs else []
    headline = f"{report.subject} differs from what this sandbox declares"
    faults = [line for line in lines if line.strip()]
    notes = [f"accepted differences: {each}" for each in report.stale]
    first = report.skipped[:_MAX_NAMED]
    notes += [f"not asked: {each.operation} ({escape(each.reason)})" for each in first]
    if len(report.skipped) > _MAX_NAMED:
        more = len(report.skipped) - _MAX_NAMED
        notes.append(f"not asked: {more} more operations (mock-platform diff names them)")
    return RunCheck("drift", "differences", faults, headline, notes)
