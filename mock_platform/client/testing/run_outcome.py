"""What a run of tests leaves behind beside its results: warnings, late requests, the coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import convert, to_builtins

if TYPE_CHECKING:
    from mock_platform.client.testing.servers import LocalServers, Stray
    from mock_platform.verification.coverage.gate import Gate, GateFailure
    from mock_platform.verification.mutation import MutationReport

# The coverage takes longer to load than the rest of this package, and few runs ask for it.


_MAX_LINES = 60


class RunOutcome:
    """What a run collects beside its tests' results, over all workers."""

    def __init__(self) -> None:
        self.strays: Counter[Stray] = Counter()
        self.coverage: dict[str, Any] | None = None
        self.warnings: list[dict[str, Any]] = []
        self.costs: list[dict[str, Any]] = []
        """What calls would have cost, as each server counted it."""
        self.written: list[str] = []
        """Lines that name the files of the coverage."""
        self.failures: list[GateFailure] = []
        self.mutation: MutationReport | None = None
        """With `--mock-mutate`: what the tests noticed."""
        self.reported: list[str] = []
        """A line on its file, if there is one."""
        self.trying = False
        """Whether tests run again with failures, which counts for nothing else."""

    def add_servers(self, servers: LocalServers, *, coverage: bool) -> None:
        """Add what the servers of this process counted."""
        if self.trying:
            return
        self.strays += servers.strays()
        self.warnings += [found for found in servers.warnings() if found["requests"]]
        self.costs += [found for found in servers.costs() if found["calls"]]
        for document in servers.coverage() if coverage else ():
            self._add_coverage(document)

    def as_output(self) -> dict[str, Any]:
        """Return the result as plain data, for another process."""
        return {
            "strays": [[*stray, count] for stray, count in self.strays.items()],
            "coverage": self.coverage,
            "warnings": self.warnings,
            "costs": self.costs,
            "mutation": to_builtins(self.mutation),
        }

    def add_output(self, output: dict[str, Any]) -> None:
        """Add the result of another process."""
        for test, method, path, count in output["strays"]:
            self.strays[test, method, path] += count
        self.warnings += output["warnings"]
        self.costs += output["costs"]
        if output["mutation"] is not None and self.mutation is not None:
            from mock_platform.verification.mutation import MutationReport

            self.mutation.add(convert(output["mutation"], MutationReport))
        if output["coverage"] is not None:
            self._add_coverage(output["coverage"])

    def judge_coverage(self, gate: Gate, names: Sequence[str], folder: Path) -> None:
        """Restrict the coverage to what counts, write it to files, and list why it fails."""
        if self.coverage is not None:
            from mock_platform.verification.coverage.pages import write_files

            self.coverage = gate.scope.restrict(self.coverage)
            self.written = list(write_files(self.coverage, names, gate, folder))
        self.failures = gate.list_failures(self.coverage)

    def list_sections(self, *, coverage: bool) -> Iterator[tuple[str, list[str]]]:
        """Yield the sections of the summary: a title and lines each."""
        if self.warnings:
            from mock_platform.core.warning_counts import (
                count_requests,
                describe_warnings,
                merge_warnings,
            )

            merged = merge_warnings(self.warnings)
            yield count_requests(merged), list(describe_warnings(merged))
        if self.strays:
            from mock_platform.client.testing import report

            yield "requests after their test's end", report.strays(self.strays)
        if coverage:
            yield "contract coverage", list(self._describe_coverage())

        if self.mutation is not None:
            lines = [*self.mutation.describe()]
            if len(lines) > _MAX_LINES:
                more = len(lines) - _MAX_LINES
                lines[_MAX_LINES:] = [f"… ({more} lines more; --mock-mutate-report FILE has all)"]
            yield "would your tests notice?", lines + self.reported

    def write_mutation(self, name: str, folder: Path) -> None:
        """Write what the tests noticed to a file, whose format follows from its name."""
        if self.mutation is not None:
            from mock_platform.verification.mutation import render
            from mock_platform.verification.reports import SUFFIXES, write_file

            text = render(self.mutation, SUFFIXES[Path(name).suffix])
            self.reported = [write_file(text, name, folder)]

    def describe_costs(self) -> str | None:
        """Return what all calls would have cost, in a sentence; `None` if it is nothing."""
        if not self.costs:
            return None
        from mock_platform.verification.costs.document import describe_costs, merge_costs

        merged = merge_costs(self.costs)
        return describe_costs(merged) if float(merged["usd"]) else None

    def _add_coverage(self, document: dict[str, Any]) -> None:
        from mock_platform.verification.coverage.document import merge

        self.coverage = document if self.coverage is None else merge(self.coverage, document)

    def _describe_coverage(self) -> Iterator[str]:
        if self.coverage is None:
            yield "no test used the sandbox"
        else:
            from mock_platform.verification.coverage.pages import render_totals

            yield from render_totals(self.coverage)  # the files have the details
            yield from self.written
        for failure in self.failures:
            yield f"FAILED: {failure.text}"
            yield from (f"  {lost}" for lost in failure.lost)
