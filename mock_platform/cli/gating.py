"""`verify`: runs a command beside a server, checks everything that was asked for, and concludes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from msgspec import Struct
from msgspec.structs import replace

from mock_platform.cli.command import write_report
from mock_platform.cli.comparing import Acceptance, OtherServer, accept, read_server, read_skip
from mock_platform.cli.contracting import read_own_contract
from mock_platform.cli.running import NOT_FOUND, RunOptions, observe_run
from mock_platform.cli.verifying import GatePage, RunCheck, RunVerdict
from mock_platform.verification.compare import DriftScope
from mock_platform.verification.compare import render as render_drift
from mock_platform.verification.compare.compare import escape
from mock_platform.verification.contract import (
    BadContract,
    Comparison,
    compare_contracts,
    read_contract_file,
    render,
)

_FAILED = 1
_MAX_NAMED = 5
"""Operations of another server that are named although they were not compared."""


class GateOptions(Struct, frozen=True):
    """The options of `verify` that `run` does not have."""

    contract: Path | None = None
    """A kept contract, with which that of this package is compared."""
    against: str | None = None
    """The address of a server that is compared with this sandbox."""
    skip: tuple[str, ...] = ()
    """Kinds of requests, and patterns of operations, that are not sent to it."""
    methods: bool = False
    """Whether it gets requests with a method that no operation has."""
    credentials_file: Path | None = None
    ca: Path | None = None
    accepted: Path | None = None
    """The differences of that server that are accepted."""
    yes: bool = False
    summary: Path | None = None
    """Where to add the page as markdown."""


def verify_command(command: Sequence[str], run: RunOptions, gate: GateOptions) -> int:
    """Run a command and check everything; print the page, and return the exit status.

    It is 0, 1 if a part failed, or 127 if the command does not exist.

    Raises:
        click.ClickException: The server cannot start, or a file cannot be read or written.
    """
    # These first: a file that cannot be read should not cost a whole run.
    beside = [] if gate.contract is None else [_check_contract(gate.contract)]
    beside += [] if gate.against is None else [_check_drift(gate.against, gate, run)]
    observed = observe_run(command, replace(run, verify=True))
    if observed is None:
        return NOT_FOUND
    examiner, status, faults = observed
    checks = [*examiner.list_checks(command, status, faults), *beside]
    page = GatePage(checks)
    click.echo(page.render_text(), nl=False)
    if run.junit is not None:
        write_report(run.junit, RunVerdict(checks).write_junit("mock-platform verify"))
    if gate.summary is not None:
        _append(gate.summary, page.render_markdown())
    return _FAILED if page.list_failed() else 0


def _check_contract(file: Path) -> RunCheck:
    """Return the check that this package breaks nothing that a kept contract promised."""
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


def _check_drift(base_url: str, gate: GateOptions, run: RunOptions) -> RunCheck:
    """Return the check that another server is as this sandbox declares, in the run's scope."""
    only = (run.coverage.conditions.only or "").split(",")
    kinds, left_out = read_skip(gate.skip if gate.methods else (*gate.skip, "methods"))
    scope = DriftScope(tuple(each.strip() for each in only if each.strip()), left_out, kinds)
    other = OtherServer(base_url, gate.credentials_file, gate.ca)
    acceptance = Acceptance(gate.accepted)
    acceptance.check()
    report = read_server(other, scope, yes=gate.yes)
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


def _append(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as fault:
        raise click.ClickException(f"{file} cannot be written: {fault.strerror}.") from fault
