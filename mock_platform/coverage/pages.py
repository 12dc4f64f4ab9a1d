"""The coverage for people and for CI systems: text, JUnit XML, one HTML page without assets."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from mock_platform.core.failures.statuses import phrase
from mock_platform.core.jsonio import pretty
from mock_platform.coverage.document import CoverageDocument

Format = Literal["text", "json", "junit", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)
MEDIA_TYPES: Mapping[Format, str] = {
    "text": "text/plain; charset=utf-8",
    "json": "application/json",
    "junit": "application/xml",
    "html": "text/html; charset=utf-8",
}
_MEASURES = (
    ("operations", "Operations called"),
    ("outcomes", "Documented outcomes met"),
    ("parameters", "Parameters taken"),
    ("problem_types", "Problem types met"),
)
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML 1.0, Char


def render(found: CoverageDocument, form: Format, fail_under: float | None = None) -> str:
    """A coverage document in one of the forms; JUnit fails below `fail_under` percent."""
    makers: Mapping[Format, Callable[[], str]] = {
        "text": lambda: text(found),
        "json": lambda: pretty(found),
        "junit": lambda: junit(found, fail_under),
        "html": lambda: html(found),
    }
    return makers[form]()


def text(found: CoverageDocument) -> str:
    """The totals, a line for each operation that was called, and what never was."""
    lines = [f"Contract coverage {found['percent']:.1f} %", ""]
    for key, title in _MEASURES:
        total = found["totals"][key]
        share = f"{total['covered']}/{total['of']}"
        lines.append(f"{title:<24} {share:>9}  {total['percent']:5.1f} %")
    called = [row for row in found["operations"] if row["requests"]]
    if called:
        width = max(len(row["id"]) for row in called)
        lines += ["", "Called:"]
        for row in called:
            lines.append(f"  {row['id']:<{width}}  {row['requests']:>6} requests  {_shares(row)}")
            lines += [f"    never: {gap}" for gap in _gaps(row)]
    silent = [row["id"] for row in found["operations"] if not row["requests"]]
    lines += _listed("Never called", silent)
    unmet = [kind["slug"] for kind in found["problem_types"] if not kind["count"]]
    lines += _listed("Problem types never met", unmet)
    strays = [f"{row['count']} x {outcome_name(row)}" for row in found["unmatched"]]
    return "\n".join([*lines, *_listed("Requests that no operation answers", strays)]) + "\n"


def junit(found: CoverageDocument, fail_under: float | None = None) -> str:
    """JUnit XML: what was never met is skipped, so that only too low a total turns a build red."""
    suites = ET.Element("testsuites", name="mock_platform contract coverage")
    for row in found["operations"]:
        cases = [
            (outcome_name(entry), entry["count"] > 0)
            for entry in row["outcomes"]
            if entry["documented"]
        ]
        cases += [
            (f"parameter {entry['name']}", entry["accepted"] > 0) for entry in row["parameters"]
        ]
        _suite(suites, row["id"], cases)
    types = [(kind["slug"], kind["count"] > 0) for kind in found["problem_types"]]
    _suite(suites, "problem types", types)
    if fail_under is not None:
        suite = _suite(suites, "total", [("coverage", True)])
        if found["percent"] < fail_under:
            suite.set("failures", "1")
            message = f"{found['percent']:.1f} % are covered, {fail_under:g} % are demanded"
            ET.SubElement(suite[0], "failure", message=message, type="coverage")
    for name in ("tests", "skipped", "failures"):
        suites.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    ET.indent(suites)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"
    )


def html(found: CoverageDocument) -> str:
    """One page that needs nothing else: no script, no style sheet, no font from anywhere."""
    # Loaded here: the template engine is of no use to the other forms.
    from jinja2 import Environment, PackageLoader

    engine = Environment(
        loader=PackageLoader("mock_platform.coverage"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = engine.get_template("coverage.html")
    return template.render(
        found=found,
        measures=[(title, found["totals"][key]) for key, title in _MEASURES],
        families=_families(found["operations"]),
        outcome_name=outcome_name,
        covered=covered,
    )


def outcome_name(outcome: Mapping[str, Any]) -> str:
    """An outcome in words: `404 LINE_ITEM_NOT_FOUND`, `200 OK`."""
    status = outcome["status"]
    code = str(outcome["code"])
    if not code:
        code = phrase(status)
    return f"{status} {f'code {code}' if code.isdecimal() else code}".strip()


def covered(row: Mapping[str, Any]) -> tuple[int, int]:
    """How many points of an operation were met, and how many it has."""
    points = [entry["count"] > 0 for entry in row["outcomes"] if entry["documented"]]
    points += [entry["accepted"] > 0 for entry in row["parameters"]]
    return sum(points), len(points)


def _families(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The operations by the first part of their id."""
    families: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        families.setdefault(row["id"].partition(".")[0], []).append(row)
    return families


def _shares(row: Mapping[str, Any]) -> str:
    met, whole = covered(row)
    return f"{met}/{whole}"


def _gaps(row: Mapping[str, Any]) -> list[str]:
    gaps = []
    outcomes = [o for o in row["outcomes"] if o["documented"] and not o["count"]]
    if outcomes:
        gaps.append(", ".join(outcome_name(outcome) for outcome in outcomes))
    names = [entry["name"] for entry in row["parameters"] if not entry["accepted"]]
    if names:
        gaps.append(f"parameters {', '.join(names)}")
    return gaps


def _listed(title: str, names: Sequence[str]) -> list[str]:
    return ["", f"{title}:", *(f"  {name}" for name in names)] if names else []


def _suite(suites: ET.Element, name: str, cases: Sequence[tuple[str, bool]]) -> ET.Element:
    missing = sum(not met for _, met in cases)
    suite = ET.SubElement(
        suites, "testsuite", name=name, tests=str(len(cases)), skipped=str(missing), failures="0",
        errors="0",
    )  # fmt: skip
    for case, met in cases:
        shown = _NOT_XML.sub("\ufffd", case)
        element = ET.SubElement(suite, "testcase", classname=name, name=shown, time="0")
        if not met:
            ET.SubElement(element, "skipped", message="never met")
    return suite
