"""The files of a coverage: the baseline that is read, and the reports that are written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from mock_platform.verification.coverage.baseline import BadBaseline, CoverageScope, read_baseline
from mock_platform.verification.coverage.document import CoverageDocument
from mock_platform.verification.coverage.gate import Gate
from mock_platform.verification.coverage.pages import SUFFIXES, render


def read_gate(
    operations: Collection[str],
    fail_under: float | None,
    only: str | None,
    baseline: str | None,
    folder: Path,
) -> Gate:
    """Returns the gate for these options; the file of the baseline is relative to a folder.

    Raises:
        BadPatterns: `only` has a pattern that matches none of the operations.
        BadBaseline: The file cannot be read, or has faults.
    """
    scope = CoverageScope() if only is None else CoverageScope.read(only, operations)
    if baseline is None:
        return Gate(fail_under, scope)
    try:
        text = (folder / baseline).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise BadBaseline(
            f"{baseline} cannot be read: {fault}. Write it with `pytest "
            "--mock-coverage=FILE.baseline`, `mock-platform run --coverage=FILE.baseline` or "
            "`mock-platform coverage --format baseline`."
        ) from fault
    return Gate(fail_under, scope, read_baseline(text, baseline, operations))


def write_files(
    found: CoverageDocument, names: Iterable[str], gate: Gate, folder: Path
) -> Iterator[str]:
    """Write the files, whose formats follow from their names, and return a line for each.

    A baseline is not replaced by one that has lost something. Empty names are left out.

    Raises:
        OSError: A file cannot be written.
    """
    lost = any(failure.lost for failure in gate.list_failures(found))
    for name in filter(None, names):
        file = folder / name
        form = SUFFIXES[file.suffix]
        if lost and form == "baseline":
            yield f"not written, because outcomes are lost: {name}"
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(render(found, form, gate), "utf-8")
        yield f"written to {name}"
