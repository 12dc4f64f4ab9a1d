"""The conditions for a coverage, as the options of `run` and `coverage` have them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import click
from msgspec import Struct

from mock_platform.api.operation_patterns import BadPatterns
from mock_platform.verification.coverage.gate import BadBaseline, Gate, read_gate


class CoverageConditions(Struct, frozen=True):
    """Options that are not read yet."""

    fail_under: float | None = None
    only: str | None = None
    baseline: Path | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no option is set."""
        return self.fail_under is None and self.only is None and self.baseline is None

    def make_gate(self, operations: Collection[str], prefix: str) -> Gate:
        """Return the gate; `prefix` is how the names of the options begin.

        Raises:
            click.UsageError: A pattern matches none of these operations, or the file of the
                baseline cannot be used.
        """
        file = None if self.baseline is None else str(self.baseline)
        try:
            return read_gate(operations, self.fail_under, self.only, file, Path())
        except BadPatterns as fault:
            raise click.UsageError(f"{prefix}only: {fault}") from fault
        except BadBaseline as fault:
            raise click.UsageError(f"{prefix}baseline: {fault}") from fault
