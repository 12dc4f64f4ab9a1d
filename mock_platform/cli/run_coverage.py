"""`run --coverage`: the contract coverage of one run, as files and as a check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from msgspec import Struct, field

from mock_platform.cli.conditions import CoverageConditions
from mock_platform.cli.trouble import CheckFailed
from mock_platform.cli.verifying import RunCheck
from mock_platform.coverage.document import CoverageDocument
from mock_platform.coverage.files import write_files
from mock_platform.coverage.gate import Gate
from mock_platform.coverage.pages import SUFFIXES, render_totals


class CoverageOptions(Struct, frozen=True):
    """What `run` does with the coverage."""

    files: tuple[str, ...] = ()
    """Files to write; an empty name prints the totals only."""
    conditions: CoverageConditions = field(default_factory=CoverageConditions)

    @property
    def is_wanted(self) -> bool:
        """Whether the coverage is printed."""
        return bool(self.files) or not self.conditions.is_empty

    def make_gate(self) -> Gate:
        """Returns the gate, before anything is started.

        Raises:
            click.UsageError: An option cannot be used.
        """
        for name in filter(None, self.files):
            if Path(name).suffix not in SUFFIXES:
                raise click.UsageError(
                    f"--coverage={name} has no known format: the name of the file must end in "
                    f"{', '.join(SUFFIXES)}. Without a file, write '--coverage --' before the "
                    "command."
                )
        if self.conditions.is_empty:
            return Gate()
        from mock_platform.operations import OPERATION_IDS

        return self.conditions.make_gate(OPERATION_IDS, "--coverage-")

    def report(self, found: CoverageDocument, gate: Gate) -> Iterator[str]:
        """Write the files, and return the lines to print.

        Raises:
            CheckFailed: A file cannot be written.
        """
        yield from render_totals(found)
        try:
            yield from write_files(found, self.files, gate, Path())
        except OSError as fault:
            raise CheckFailed(f"{fault.filename} cannot be written: {fault.strerror}.") from fault


_UNUSED = (
    "no request of the command reached an operation that counts. Send its requests to the address "
    "in MOCK_PLATFORM_URL. The pytest plugin starts servers of its own, unless it gets that one: "
    """sh -c 'pytest --mock-platform-url "$MOCK_PLATFORM_URL"'"""
)


def check_coverage(found: CoverageDocument, gate: Gate) -> list[RunCheck]:
    """Returns a check for each condition of the gate."""
    failures = {failure.name: failure for failure in gate.list_failures(found)}
    checks = []
    reason = [] if any(row["requests"] for row in found["operations"]) else [_UNUSED]
    for name, is_set in (
        ("percentage", gate.fail_under is not None),
        ("baseline", gate.baseline is not None),
    ):
        failure = failures.get(name)
        if failure is not None:
            headline = f"too little coverage: {failure.text}"
            checks.append(
                RunCheck("coverage", name, [*reason, *(failure.lost or [failure.text])], headline)
            )
        elif is_set:
            checks.append(RunCheck("coverage", name))
    return checks
