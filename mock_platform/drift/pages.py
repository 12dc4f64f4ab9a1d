"""The other forms of a report: JSON, JUnit XML for CI, and one HTML page without assets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from mock_platform.core.jsonio import pretty
from mock_platform.core.junit import JunitCase, write_junit
from mock_platform.drift.difference import escape
from mock_platform.drift.findings import DriftFinding, Report
from mock_platform.drift.report import (
    as_json,
    describe,
    name_originals,
    name_place,
    render_text,
    summarize,
)

Format = Literal["text", "json", "junit", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
SUFFIXES: Mapping[str, Format] = {
    ".html": "html",
    ".json": "json",
    ".txt": "text",
    ".xml": "junit",
}
"""The format of a file by the end of its name."""


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
    # Loaded here: the template engine is of no use to the other forms.
    from jinja2 import Environment, PackageLoader

    engine = Environment(
        loader=PackageLoader("mock_platform.drift"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    engine.filters["visible"] = lambda text: escape(str(text))
    template = engine.get_template("comparison.html")
    return template.render(
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
