"""`run --coverage`: the contract coverage of one run, as files and as a check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from mock_platform.cli.trouble import write_report
from mock_platform.cli.verifying import RunCheck
from mock_platform.coverage import SUFFIXES, CoverageDocument, explain_low, render, render_totals


@dataclass(frozen=True, slots=True)
class CoverageOptions:
    """What `run` does with the coverage."""

    files: tuple[str, ...] = ()
    """Files to write; an empty name prints the totals only."""
    fail_under: float | None = None

    @property
    def is_wanted(self) -> bool:
        """Whether the coverage is printed."""
        return bool(self.files) or self.fail_under is not None

    def check_names(self) -> None:
        """Refuse names of files without a known format, before anything is started.

        Raises:
            click.UsageError: The name of a file has another ending.
        """
        for name in filter(None, self.files):
            if Path(name).suffix not in SUFFIXES:
                raise click.UsageError(
                    f"--coverage={name} has no known format: the name of the file must end in "
                    f"{', '.join(SUFFIXES)}. Without a file, write '--coverage --' before the "
                    "command."
                )


def write_coverage(found: CoverageDocument, options: CoverageOptions) -> Iterator[str]:
    """Write the files, and return the lines to print.

    Raises:
        CheckFailed: A file cannot be written.
    """
    yield from render_totals(found)
    for name in filter(None, options.files):
        form = SUFFIXES[Path(name).suffix]
        write_report(Path(name), render(found, form, options.fail_under))
        yield f"written to {name}"


def check_coverage(found: CoverageDocument, options: CoverageOptions) -> list[RunCheck]:
    """Returns the checks that the options ask for."""
    if options.fail_under is None:
        return []
    low = explain_low(found, options.fail_under)
    return [RunCheck("coverage", "percentage", [low] if low else [], "too little coverage")]
