from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from mock_platform.verification.coverage.gate import Baseline, CoverageScope, Gate
from mock_platform.verification.coverage.pages import Format, name_outcome, render
from tests.control.support import call, fields
from tests.support import Sandbox, sandbox
from tests.verification.coverage.test_document import LIST, coverage


@pytest.fixture(scope="module")
def box() -> Sandbox:
    """A sandbox that was asked for a few things."""
    box = sandbox()
    box.call("GET", f"{LIST}?count=2")
    box.call("GET", f"{LIST}?count=0")
    box.call("GET", "/nope")
    return box


@pytest.mark.parametrize(("form", "media_type"), [
    ("json", "application/json"),
    ("text", "text/plain; charset=utf-8"),
    ("junit", "application/xml"),
    ("html", "text/html; charset=utf-8"),
    ("baseline", "text/plain; charset=utf-8"),
])  # fmt: skip
def test_forms(box: Sandbox, form: str, media_type: str) -> None:
    """Each form has its media type."""
    answer = call(box, "GET", f"/coverage?format={form}")

    assert (200, media_type) == (answer.status_code, answer.content_type)


def test_unknown_form(box: Sandbox) -> None:
    """An unknown form is refused."""
    answer = call(box, "GET", "/coverage?format=xml")

    assert (400, ["format"]) == (answer.status_code, fields(answer))


def test_text(box: Sandbox) -> None:
    """The text shows totals, gaps, uncalled operations and stray requests."""
    text = render(coverage(box), "text")

    served = len(box.platform.operations)
    percent = re.escape(f"{math.floor(1000 / served) / 10} %")
    assert re.search(rf"^Operations called +1/{served} +{percent}$", text, re.MULTILINE)
    assert re.search(r"^  line_items\.list +2 requests +3/\d+$", text, re.MULTILINE)
    assert "401 code 89" in text
    assert "\nNever called:\n  oauth.request_token\n" in text
    assert text.endswith("Requests that no operation answers:\n  1 x 404 code 34\n")


def test_junit(box: Sandbox) -> None:
    """What was covered passes, the rest is skipped; counts are those of the cases."""
    root = ET.fromstring(render(coverage(box), "junit"))

    cases = {
        case.get("name"): case.find("skipped") is None
        for case in root.iter("testcase")
        if case.get("classname") == "line_items.list"
    }
    assert cases["200 OK"]
    assert cases["400 INVALID_PARAMETER"]
    assert cases["parameter count"]
    assert not cases["401 code 89"]
    assert not cases["parameter cursor"]
    assert root.get("tests") == str(len(list(root.iter("testcase"))))
    assert root.get("skipped") == str(len(list(root.iter("skipped"))))
    assert "0" == root.get("failures")


@pytest.mark.parametrize(("more", "failures"), [(0.0, 0), (0.1, 1)])
def test_junit_fails_under(box: Sandbox, more: float, failures: int) -> None:
    """The suite fails just below what is demanded, not at it."""
    found = coverage(box)

    root = ET.fromstring(render(found, "junit", Gate(found["percent"] + more)))

    assert str(failures) == root.get("failures")
    assert failures == len(list(root.iter("failure")))


def test_html_needs_nothing_else(box: Sandbox) -> None:
    """The page has no script and no address of an asset, and the server forbids both."""
    answer = call(box, "GET", "/coverage?format=html")

    assert not re.search(r"<(script|link|img|iframe)|src=|url\(|@import", answer.text)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "prefers-color-scheme: dark" in answer.text
    assert '<html lang="en">' in answer.text
    for operation in box.platform.operations:
        assert f"<code>{operation.id}</code>" in answer.text


def test_html_escapes_codes(box: Sandbox) -> None:
    """A code that a scenario made up is text, not markup."""
    found = coverage(box)
    found["unmatched"].append({"status": 400, "code": "<b>&", "count": 1})

    assert "<code>400 &lt;b&gt;&amp;</code>" in render(found, "html")


def test_junit_takes_any_code(box: Sandbox) -> None:
    """Characters that XML has no place for do not break the document."""
    found = coverage(box)
    found["operations"][0]["outcomes"][1]["code"] = "a\x00<b>\ud800"

    root = ET.fromstring(render(found, "junit"))

    assert "400 a\ufffd<b>\ufffd" in {case.get("name") for case in root.iter("testcase")}


@pytest.mark.parametrize(
    ("status", "code", "name"),
    [(200, "", "200 OK"), (401, "89", "401 code 89"), (404, "NOT_FOUND", "404 NOT_FOUND"),
     (799, "", "799")],
)  # fmt: skip
def test_outcome_names(status: int, code: str, name: str) -> None:
    """Outcomes read as people say them."""
    assert name == name_outcome({"status": status, "code": code})


def test_junit_names_what_a_baseline_lost(box: Sandbox) -> None:
    """Its case lists the lost outcomes; what is covered is not mentioned."""
    found = coverage(box)
    points = {("line_items.list", 200, ""), ("line_items.get", 404, "NOT_FOUND")}
    gate = Gate(baseline=Baseline("a.baseline", frozenset(points)))

    root = ET.fromstring(render(found, "junit", gate))

    (failure,) = root.iter("failure")
    assert "1 outcome of a.baseline that earlier runs covered was not covered" == (
        failure.get("message")
    )
    assert "line_items.get 404 NOT_FOUND" == failure.text


@pytest.mark.parametrize("form", ["text", "html"])
def test_pages_name_the_scope(box: Sandbox, form: Format) -> None:
    """Who reads a percentage sees of what it is."""
    whole = coverage(box)
    scope = CoverageScope(("line_items.*", "oauth*"))

    assert "line_items.*, oauth*" in render(scope.restrict(whole), form)
    assert "line_items.*, oauth*" not in render(whole, form)
