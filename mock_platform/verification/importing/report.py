"""What became of an archive, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from mock_platform.settings import NamesMode


class ImportReport(Struct):
    """What became of an archive. `notes` says what did not become anything, or not all, and why."""

    folder: Path
    exchanges: int = 0
    records: dict[str, int] = field(default_factory=dict)
    rules: int = 0
    failures: list[str] = field(default_factory=list)
    answered: int = 0
    """Requests that a sandbox with the folder answers as recorded."""
    with_secrets: int = 0
    """Those of them whose secrets the sandbox makes itself."""
    started: datetime | None = None
    names: NamesMode = "neutral"
    """The names that the recorded service used."""
    ids: dict[str, str] = field(default_factory=dict)
    """The new id for each old one, if ids were mapped."""
    scenarios: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def command(self) -> str:
        """The command that serves the folder."""
        scenarios = "".join(f" --scenario {self.folder / name}" for name in self.scenarios)
        freeze = f" --freeze {self.started:%Y-%m-%dT%H:%M:%SZ}" if self.started else ""
        names = " --names original" if self.names == "original" else ""
        words = f"--no-default-fixtures --fixtures {self.folder}"
        return f"mock-platform serve {words}{scenarios}{freeze}{names}"


def describe(report: ImportReport) -> Iterator[str]:
    """Yield the lines that say what was made, and what was not."""
    made = ", ".join(f"{name} {count}" for name, count in sorted(report.records.items()))
    yield f"{report.exchanges:,} exchanges read from the archive."
    if report.names == "original":
        yield "The recording has original names; the records have neutral ones."
    yield f"Records: {made or 'no'}."
    if report.ids:
        yield f"Ids that were replaced by fresh ones: {len(report.ids):,}."
    yield f"Rules for exactly the recorded requests: {report.rules:,}."
    yield f"Scenarios with a failure: {len(report.failures):,}."
    yield f"Requests that the folder answers as recorded: {report.answered:,}."
    if report.with_secrets:
        yield f"In {report.with_secrets:,} of the answers, secrets are the sandbox's own."
    yield f"Serve it: {report.command}"
    if report.notes:
        yield f"Not everything became part of the folder ({len(report.notes):,}):"
        yield from (f"  {note}" for note in report.notes)


def report_as_json(report: ImportReport) -> dict[str, Any]:
    """Return the report for programs."""
    return {
        "folder": str(report.folder),
        "exchanges": report.exchanges,
        "names": report.names,
        "records": report.records,
        "ids": report.ids,
        "rules": report.rules,
        "failures": report.failures,
        "answered": report.answered,
        "with_secrets": report.with_secrets,
        "serve": report.command,
        "notes": report.notes,
    }
