"""The coverage for people and for CI systems: text, JUnit XML, one HTML page; and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from mock_platform.core.failures.codes import phrase
from mock_platform.core.jsonio import pretty
from mock_platform.core.junit import JunitCase, write_junit
from mock_platform.verification.coverage.document import CoverageDocument
from mock_platform.verification.coverage.gate import Gate, GateFailure, render_baseline
from mock_platform.verification.reports import SUFFIXES as REPORT_SUFFIXES
from mock_platform.verification.reports import render_page, write_file

Format = Literal["text", "json", "junit", "html", "baseline"]
FORMATS: tuple[Format, ...] = get_args(Format)
MEDIA_TYPES: Mapping[Format, str] = {
    "text": "text/plain; charset=utf-8",
    "json": "application/json",
    "junit": "application/xml",
    "html": "text/html; charset=utf-8",
    "baseline": "text/plain; charset=utf-8",
}
SUFFIXES: Mapping[str, Format] = {**REPORT_SUFFIXES, ".baseline": "baseline"}
"""The format of a file by the end of its name."""
_MEASURES = (
    ("operations", "Operations called"),
    ("outcomes", "Documented outcomes covered"),
    ("parameters", "Parameters accepted"),
    ("problem_types", "Problem types covered"),
)


_NO_GATE = Gate()


def render(found: CoverageDocument, form: Format, gate: Gate = _NO_GATE) -> str:
    """Return a coverage document in one of the formats; JUnit fails where the gate does."""
    makers: Mapping[Format, Callable[[], str]] = {
        "text": lambda: render_text(found),
        "json": lambda: pretty(found),
        "junit": lambda: render_junit(found, gate),
        "html": lambda: render_html(found),
        "baseline": lambda: render_baseline(found),
    }
    return makers[form]()


def render_text(found: CoverageDocument) -> str:
    """Return the totals, a line for each operation that was called, and a list of the others."""
    scope = f" of {', '.join(found['only'])}" if "only" in found else ""
    lines = [f"Contract coverage {found['percent']:.1f} %{scope}", ""]
    for key, title in _MEASURES:
        total = found["totals"][key]
        share = f"{total['covered']}/{total['of']}"
        lines.append(f"{title:<28} {share:>9}  {total['percent']:5.1f} %")
    called = [row for row in found["operations"] if row["requests"]]
    if called:
        width = max(len(row["id"]) for row in called)
        lines += ["", "Called:"]
        for row in called:
            lines.append(
                f"  {row['id']:<{width}}  {row['requests']:>6} requests  {_format_share(row)}"
            )
            lines += [f"    never: {gap}" for gap in _list_gaps(row)]
    silent = [row["id"] for row in found["operations"] if not row["requests"]]
    lines += _format_list("Never called", silent)
    uncovered = [kind["slug"] for kind in found["problem_types"] if not kind["count"]]
    lines += _format_list("Problem types never covered", uncovered)
    strays = [f"{row['count']} x {name_outcome(row)}" for row in found["unmatched"]]
    return "\n".join([*lines, *_format_list("Requests that no operation answers", strays)]) + "\n"


def render_junit(found: CoverageDocument, gate: Gate = _NO_GATE) -> str:
    """Return JUnit XML: uncovered points are skipped, so only the gate fails a build."""
    suites = [(row["id"], _list_cases(row)) for row in found["operations"]]
    types = [_make_case(kind["slug"], kind["count"]) for kind in found["problem_types"]]
    suites.append(("problem types", types))
    failures = {failure.name: failure for failure in gate.list_failures(found)}
    total = [
        _judge("coverage", failures.get("percentage")) if gate.fail_under is not None else None,
        _judge("baseline", failures.get("baseline")) if gate.baseline is not None else None,
    ]
    if any(total):
        suites.append(("total", [case for case in total if case is not None]))
    return write_junit("mock_platform contract coverage", suites)


def render_totals(found: CoverageDocument) -> list[str]:
    """Return the lines of the totals, with which the text begins."""
    return "\n\n".join(render_text(found).split("\n\n")[:2]).splitlines()


def render_html(found: CoverageDocument) -> str:
    """Return one page that needs no other file: no script, style sheet or font."""
    return render_page(
        "coverage",
        found=found,
        measures=[(title, found["totals"][key]) for key, title in _MEASURES],
        families=_group_by_family(found["operations"]),
        outcome_name=name_outcome,
        covered=count_covered,
    )


def name_outcome(outcome: Mapping[str, Any]) -> str:
    """Return an outcome in words: `404 LINE_ITEM_NOT_FOUND`, `200 OK`."""
    status = outcome["status"]
    code = str(outcome["code"])
    if not code:
        code = phrase(status)
    return f"{status} {f'code {code}' if code.isdecimal() else code}".strip()


def count_covered(row: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many points of an operation were covered, and how many it has."""
    points = [entry["count"] > 0 for entry in row["outcomes"] if entry["documented"]]
    points += [entry["accepted"] > 0 for entry in row["parameters"]]
    return sum(points), len(points)


def _group_by_family(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the operations by the first part of their id."""
    families: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        families.setdefault(row["id"].partition(".")[0], []).append(row)
    return families


def _format_share(row: Mapping[str, Any]) -> str:
    covered, whole = count_covered(row)
    return f"{covered}/{whole}"


def _list_gaps(row: Mapping[str, Any]) -> list[str]:
    gaps = []
    outcomes = [o for o in row["outcomes"] if o["documented"] and not o["count"]]
    if outcomes:
        gaps.append(", ".join(name_outcome(outcome) for outcome in outcomes))
    names = [entry["name"] for entry in row["parameters"] if not entry["accepted"]]
    if names:
        gaps.append(f"parameters {', '.join(names)}")
    return gaps


def _format_list(title: str, names: Sequence[str]) -> list[str]:
    return ["", f"{title}:", *(f"  {name}" for name in names)] if names else []


def _list_cases(row: Mapping[str, Any]) -> list[JunitCase]:
    cases = [
        _make_case(name_outcome(entry), entry["count"])
        for entry in row["outcomes"]
        if entry["documented"]
    ]
    return cases + [
        _make_case(f"parameter {entry['name']}", entry["accepted"]) for entry in row["parameters"]
    ]


def _judge(name: str, failure: GateFailure | None) -> JunitCase:
    if failure is None:
        return JunitCase(name)
    return JunitCase(name, failure=failure.text, kind="coverage", details="\n".join(failure.lost))


def _make_case(name: str, count: int) -> JunitCase:
    return JunitCase(name, skipped=None if count else "never covered")


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
        form = SUFFIXES[Path(name).suffix]
        if lost and form == "baseline":
            yield f"not written, because outcomes are lost: {name}"
            continue
        yield write_file(render(found, form, gate), name, folder)
