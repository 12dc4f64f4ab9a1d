from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from mock_platform.pytest_plugin import _MUTATION_SUFFIXES
from mock_platform.verification.mutation import MutationReport, Result, Trial, render
from mock_platform.verification.reports import SUFFIXES, write_file


def trial(test: str, code: str, result: Result) -> Trial:
    """A test that ran again while `line_items.get` failed."""
    return Trial(test, "line_items.get", f"line_items.get-{code}", result)


@pytest.fixture
def report() -> MutationReport:
    """What two workers found."""
    found = MutationReport(7, begun=True, tests=1, expected=1)
    found.trials = [trial("test_a", "404", "survived"), trial("test_a", "401", "noticed")]
    other = MutationReport(7, tests=2, left_out=3, not_green=1)
    other.trials = [trial("test_<b>", "404", "survived"), trial("test_<b>", "401", "unmet"),
                    trial("test_c", "404", "endless")]  # fmt: skip
    found.add(other)
    return found


def written(report: MutationReport, name: str, folder: Path) -> str:
    """The text of the file of this name."""
    text = render(report, SUFFIXES[Path(name).suffix])
    assert f"written to {name}" == write_file(text, name, folder)
    return (folder / name).read_text("utf-8")


def test_formats_of_the_plugin() -> None:
    """The plugin takes the ends of names that the report knows, without loading it."""
    assert tuple(SUFFIXES) == _MUTATION_SUFFIXES


def test_text(report: MutationReport, tmp_path: Path) -> None:
    """Counts come first, then the tests that stayed green, by operation and failure."""
    assert [
        "3 tests met 3 failures, one at a time; 2 passed unnoticed",
        "3 failures not tried, as the time was used up (--mock-mutate-budget)",
        "1 failure not met, as the test did not call the operation again",
        "1 failure stopped, as the test waited too long",
        "1 failure not tried, as the test meets it anyway",
        "1 test not tried, as not green without it",
        "", "line_items.get", "  line_items.get-404", "    test_<b>", "    test_a",
    ] == written(report, "out/report.txt", tmp_path).splitlines()  # fmt: skip


def test_json(report: MutationReport, tmp_path: Path) -> None:
    """How many tests met how many failures, and who stayed green under which."""
    found = json.loads(written(report, "report.json", tmp_path))

    assert (3, 3, 7) == (found["tests"], found["failures"], found["seed"])
    where = {"operation": "line_items.get", "failure": "line_items.get-404"}
    assert [{"test": "test_<b>", **where}, {"test": "test_a", **where}] == found["survived"]


def test_junit(report: MutationReport, tmp_path: Path) -> None:
    """A failure under which tests stayed green fails the build of a CI system."""
    (suite,) = ET.fromstring(written(report, "report.xml", tmp_path))

    shown = tuple(suite.get(name) for name in ("name", "tests", "failures"))
    assert ("line_items.get", "2", "1") == shown
    (failure,) = suite.iter("failure")
    assert ("2 tests stayed green", "test_<b>\ntest_a") == (failure.get("message"), failure.text)


def test_html(report: MutationReport, tmp_path: Path) -> None:
    """One page, in which a name of a test is no markup."""
    page = written(report, "report.html", tmp_path)

    assert "<code>test_&lt;b&gt;</code>" in page
    assert "3 tests met 3 failures, one at a time; 2 passed unnoticed." in page


@pytest.mark.parametrize(("begun", "line"), [
    (True, "no green test called an operation of a sandbox in this process"),
    (False, "no failure was tried, as the run was stopped before"),
])  # fmt: skip
def test_nothing_tried(line: str, *, begun: bool) -> None:
    """A run in which no test met a failure says so, as it would seem perfect."""
    assert [line] == list(MutationReport(begun=begun).describe())
