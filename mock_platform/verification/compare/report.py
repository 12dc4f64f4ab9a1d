"""The findings of a comparison for people and programs: text, JSON, JUnit XML, HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mock_platform.core.errors import escape
from mock_platform.core.jsonio import pretty
from mock_platform.core.junit import JunitCase, write_junit
from mock_platform.verification.compare.compare import (
    MAX_SHOWN_CHARACTERS,
    DifferenceKind,
    show,
)
from mock_platform.verification.compare.findings import DriftFinding, Report
from mock_platform.verification.reports import Format, count_noun, render_page
from mock_platform.version import __version__

WORDS: Mapping[DifferenceKind, str] = {
    "status": "the sandbox answers {expected}, the other {got}",
    "media type": "the sandbox sends {expected}, the other {got}",
    "header": "the sandbox sends {expected}, the other {got}",
    "rate": "the sandbox sends {expected}, the other {got}",
    "type": "declared as {expected}, got {got}",
    "missing": "missing, here {expected}",
    "extra": "not declared, got {got}",
    "enum": "got {got}, which is not declared; declared are {expected}",
    "format": "here {expected}, there {got}",
    "empty": "here {expected}, there {got}",
    "order": "here {expected}, there {got}",
    "paging": "not so: {expected} ({got})",
    "filter": "not so: {expected} ({got})",
    "code": "here {expected}, there {got}",
    "wording": "here “{expected}”, there “{got}”",
    "value": "here {expected}, there {got}",
}
_MAX_VALUES_CHARACTERS = 1000
"""Characters of the values of an enumeration: few are longer."""
_MAX_NAMED = 3
_MAX_SKIPPED = 10
_MAX_REASONS = 30


def as_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON data."""
    return {
        "base_url": report.subject,
        "version": __version__,
        "drift": report.differs,
        "requests": report.requests,
        "findings": [each.as_json() for each in report.findings],
        "assumptions": report.assumptions,
        "stale": report.stale,
        "notes": report.notes,
        "operations": [
            {
                "operation": each.operation,
                "probes": [
                    {"name": x.probe, "request": x.target, "status": x.status,
                     "differences": [difference.as_json() for difference in x.differences]}
                    for x in each.probes
                ],
                "equal": each.equal,
                "notes": each.notes,
                "not_asked": [{"name": name, "reason": why} for name, why in each.left_out],
            }
            for each in report.checked
        ],
        "skipped": [
            {"operation": each.operation, "reason": each.reason} for each in report.skipped
        ],
    }  # fmt: skip


def render_text(report: Report) -> str:
    """Return the report as lines: the findings, what was not compared, and a summary at the end."""
    return "\n".join(escape(line) for line in _list_lines(report))


def describe(finding: DriftFinding) -> str:
    """Return a finding in a sentence, as it came from the other server: escape it."""
    most = _MAX_VALUES_CHARACTERS if finding.kind == "enum" else MAX_SHOWN_CHARACTERS
    expected, got = show(finding.expected, most), show(finding.got)
    return WORDS[finding.kind].format(expected=expected, got=got)


def name_place(finding: DriftFinding) -> str:
    """Return the place of a finding; of a form at many places the first ones."""
    places = finding.places if finding.where == "*" else [finding.where]
    more = len(places) - _MAX_NAMED
    return ", ".join(places[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def name_originals(finding: DriftFinding) -> str:
    """Return the original names of a finding's place and sides in a line; empty without any."""
    words = {"where": "", "expected": "here ", "got": "there "}
    return ", ".join(f"{words[name]}{show(text, 80)}" for name, text in finding.original.items())


def summarize(report: Report) -> str:
    """Return the summary in one sentence."""
    differing = {name for each in report.list_open() for name in each.operations}
    parts = [
        f"{len(report.checked)} operations checked with {report.requests:,} requests",
        f"{len(differing)} differ in {count_noun(len(report.list_open()), 'finding')}",
    ]
    if report.list_accepted():
        parts.append(f"{count_noun(len(report.list_accepted()), 'finding')} accepted")
    parts.append(f"{len(report.skipped)} operations not asked completely")
    return f"{report.subject}: {', '.join(parts)}."


def _list_lines(report: Report) -> Iterator[str]:
    for finding in report.list_open():
        yield from _list_finding(finding)
    for finding in report.list_accepted():
        yield f"accepted  {finding.kind} {name_place(finding)} ({finding.accepted})"
    if report.findings:
        yield ""
    yield from (f"accepted differences: {each}" for each in report.stale)
    refuted = report.list_assumptions("refuted")
    doubted = report.list_assumptions("in doubt")
    if refuted:
        yield f"assumptions refuted: {', '.join(refuted)}"
    if doubted:
        yield f"assumptions in doubt: {', '.join(doubted)}"
    confirmed = len(report.list_assumptions("confirmed"))
    if confirmed:
        yield f"assumptions confirmed by every answer that depends on them: {confirmed}"
    for skipped in report.skipped[:_MAX_SKIPPED]:
        yield f"not asked: {skipped.operation} ({skipped.reason})"
    more = len(report.skipped) - _MAX_SKIPPED
    if more > 0:
        yield f"not asked: {more} more, for such reasons (--format json lists them)"
    yield from _list_left_out(report)
    noted = [(each.operation, note) for each in report.checked for note in each.notes]
    by_note: dict[str, list[str]] = {}
    for operation, note in noted:
        by_note.setdefault(note, []).append(operation)
    for note, operations in by_note.items():
        yield f"note: {note}: {_name(operations)}"
    yield from (f"note: {each}" for each in report.notes)
    yield summarize(report)


def _list_left_out(report: Report) -> Iterator[str]:
    """Yield a line for each reason for which requests of an operation were not compared."""
    reasons: dict[str, list[str]] = {}
    for checked in report.checked:
        for probe, why in checked.left_out:
            reasons.setdefault(why, []).append(f"{checked.operation}, {show(probe, 40)}")
    # What only the sandbox lacks, nobody can give it: it comes last.
    told = sorted(reasons.items(), key=lambda each: each[0].startswith("the sandbox"))
    for why, probes in told[:_MAX_REASONS]:
        yield f"not asked: {_name(probes)} ({why})"
    more = sum(len(probes) for _, probes in told[_MAX_REASONS:])
    if more:
        yield f"not asked: {count_noun(more, 'more request')}, for such reasons (--format json)"


def _list_finding(finding: DriftFinding) -> Iterator[str]:
    yield f"{finding.kind} {name_place(finding)}: {describe(finding)}"
    first = finding.occurrences[0]
    often = f"  {count_noun(finding.count, 'time')} in {_name(list(finding.operations))}"
    yield often
    shown = f", for instance {show(first.example, 80)}" if first.example else ""
    yield f"  {show(first.target)} ({show(first.probe, 60)}){shown}"
    if finding.original:
        yield f"  original names: {name_originals(finding)}"
    if finding.assumptions:
        told = [f"{key} ({verdict})" for key, verdict in finding.assumptions.items()]
        yield f"  assumptions: {_name(told)}"
    yield f"  accept: --accept {finding.id} --reason TEXT"


def _name(names: list[str]) -> str:
    more = len(names) - _MAX_NAMED
    return ", ".join(names[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


# The other forms of a report: JSON, JUnit XML for CI, and one HTML page without assets.


def render(report: Report, form: Format) -> str:
    """Return a report in one of the formats."""
    makers: Mapping[Format, Callable[[Report], str]] = {
        "text": render_text,
        "json": lambda found: pretty(as_json(found)),
        "junit": render_junit,
        "html": render_html,
    }
    return makers[form](report)


def render_junit(report: Report) -> str:
    """Return JUnit XML: a case for each operation, which fails with what is not accepted."""
    failures: dict[str, list[DriftFinding]] = {}
    for finding in report.list_open():
        for operation in finding.operations:
            failures.setdefault(operation, []).append(finding)
    cases = [
        _make_case(each.operation, failures.get(each.operation, [])) for each in report.checked
    ]
    asked = {each.operation for each in report.checked}
    cases += [
        JunitCase(each.operation, skipped=each.reason)
        for each in report.skipped
        if each.operation not in asked
    ]
    return write_junit("mock_platform comparison", [(report.subject, cases)])


def render_html(report: Report) -> str:
    """Return one page that needs no other file: no script, style sheet or font."""
    return render_page(
        "compare",
        visible=lambda text: escape(str(text)),
        report=report,
        summary=summarize(report),
        describe=describe,
        name_place=name_place,
        name_originals=name_originals,
    )


def _make_case(operation: str, found: list[DriftFinding]) -> JunitCase:
    if not found:
        return JunitCase(operation)
    lines = [escape(f"{each.kind} {name_place(each)}: {describe(each)}") for each in found]
    return JunitCase(operation, failure=lines[0], kind=found[0].kind, details="\n".join(lines))
