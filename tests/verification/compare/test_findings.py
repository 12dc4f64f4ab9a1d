from __future__ import annotations

import pytest

from mock_platform.verification.compare.compare import Difference, DifferenceKind
from mock_platform.verification.compare.findings import (
    AskedProbe,
    CheckedOperation,
    Collector,
    Drift,
    make_report,
)
from mock_platform.verification.compare.report import render
from mock_platform.verification.reports import Format


def test_one_difference_has_one_id() -> None:
    """A key is one finding with one id, whichever of its types an answer shows."""
    collector, ids = Collector({}), set()
    cases: list[tuple[DifferenceKind, str, str]] = [
        ("missing", "string or null", "absent"),
        ("missing", "string", "absent"),
        ("extra", "absent", "null"),
        ("extra", "absent", "string"),
    ]
    for kind, expected, got in cases:
        found = Difference(kind, "data[].name", expected, got)
        asked = AskedProbe("plain", "GET /12/accounts", 200, (found,), ())
        ids |= {each.id for each in collector.add("accounts.list", asked)}

    findings = collector.list_findings()
    assert {each.id for each in findings} == ids
    assert [("string or null", "absent", 2), ("absent", "null or string", 2)] == [
        (each.expected, each.got, each.count) for each in findings
    ]


def test_equal_answers_are_counted() -> None:
    """Of very many equal answers only the first are kept, and those that say something else."""
    checked, found = CheckedOperation("accounts.list"), Difference("extra", "x", "absent", "null")
    for number in range(2000):
        odd = number >= 1990
        rests = ("b",) if number == 1989 else ("a",)
        checked.add(AskedProbe("", "GET /", 200, (found,) if odd else (), rests))

    assert 2000 == Drift((checked,), ()).requests
    assert 500 + 1 + 10 == len(checked.probes)


@pytest.mark.parametrize("form", ["text", "junit", "html", "json"])
def test_declared_values_are_in_each_form(form: Format) -> None:
    """A value that is not declared is shown beside those that are, whoever reads it how."""
    differences = (Difference("enum", "data[].status", "ACTIVE, DRAFT, PAUSED", "RUNNING"),)
    asked = AskedProbe("plain", "GET /x", 200, differences, ())
    drift = Drift((CheckedOperation("x.list", [asked]),), ())

    shown = render(make_report(drift, "http://x", {}), form)

    assert "ACTIVE, DRAFT, PAUSED" in shown
    assert "RUNNING" in shown
