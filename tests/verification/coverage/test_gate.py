"""What a coverage is measured against: its scope, its baseline, and the gate."""

from __future__ import annotations

import pytest

from mock_platform.api.operation_patterns import BadPatterns
from mock_platform.api.served import OPERATION_IDS
from mock_platform.platform import Platform
from mock_platform.verification.coverage.gate import BadBaseline, CoverageScope, Gate, read_baseline
from mock_platform.verification.coverage.pages import render
from tests.control.support import call, fields
from tests.support import BEARER, Sandbox
from tests.verification.coverage.test_document import LIST, coverage, row

IDS = ("line_items.get", "line_items.list", "oauth.request_token", "oauth2.token")


def test_the_ids_are_those_of_the_platform() -> None:
    """Patterns can be checked before a platform is made."""
    assert sorted(OPERATION_IDS) == sorted(op.id for op in Platform().operations)


@pytest.mark.parametrize(("text", "inside"), [
    ("line_items.*", IDS[:2]),
    (" line_items.get , oauth* ", (IDS[0], *IDS[2:])),
    ("oauth.*", IDS[2:3]),
    ("*", IDS),
    ("*.list,", IDS[1:2]),
])  # fmt: skip
def test_patterns_choose_operations(text: str, inside: tuple[str, ...]) -> None:
    """They are separated by commas; a star is any text."""
    scope = CoverageScope.read(text, IDS)

    assert list(inside) == [name for name in IDS if scope.includes(name)]


def test_without_patterns_everything_is_inside() -> None:
    """The scope of nothing in particular is everything."""
    assert all(map(CoverageScope().includes, IDS))


@pytest.mark.parametrize(("text", "told"), [
    ("line_item.*", "'line_item.*' matches no operation; did you mean 'line_items.*'?"),
    ("line_items.gte", "'line_items.gte' matches no operation; did you mean 'line_items.get'?"),
    ("lineitems.ge*", "'lineitems.ge*' matches no operation; did you mean 'line_items.get'?"),
    ("oath*", "'oath*' matches no operation; did you mean 'oauth.*'?"),
    ("Line_items.*", "'Line_items.*' matches no operation; did you mean 'line_items.*'?"),
    ("zzz", "'zzz' matches no operation ("),
    ("oauth*,zzz,yyy", "'zzz' matches no operation; 'yyy' matches no operation ("),
    (" , ", "no pattern is given; write one such as 'line_items.*,oauth*'"),
])  # fmt: skip
def test_patterns_without_operation_are_refused(text: str, told: str) -> None:
    """Each is named, with the nearest operation or family."""
    with pytest.raises(BadPatterns) as caught:
        CoverageScope.read(text, IDS)

    assert str(caught.value).startswith(told)


def test_a_coverage_is_restricted(box: Sandbox) -> None:
    """Operations, totals, percentage and problem types are those of the scope alone."""
    box.call("GET", f"{LIST}?count=2")
    box.call("GET", "/12/accounts")
    whole = coverage(box)

    found = call(box, "GET", "/coverage?only=line_items.*").get_json()
    replay = call(box, "GET", "/coverage?only=webhooks.replay").get_json()

    ids = [row["id"] for row in found["operations"]]
    assert ids == [name for name in OPERATION_IDS if name.startswith("line_items.")]
    assert ["line_items.*"] == found["only"]
    assert (1, len(ids)) == (found["totals"]["operations"]["covered"], len(found["operations"]))
    assert found["percent"] > whole["percent"]
    assert [] == found["problem_types"]
    assert "conflict" in {kind["slug"] for kind in replay["problem_types"]}
    assert {row["operation"] for row in found["never_seen"]} <= set(ids)


def test_the_route_refuses_patterns_without_operation(box: Sandbox) -> None:
    """With the name of the parameter and what was meant."""
    answer = call(box, "GET", "/coverage?only=line_item.*")

    assert (400, ["only"]) == (answer.status_code, fields(answer))
    assert "did you mean 'line_items.*'?" in answer.get_json()["detail"]


def test_names_of_the_query_are_those_on_the_wire(box: Sandbox) -> None:
    """A misspelt parameter is refused with the known ones."""
    detail = call(box, "GET", "/coverage?onyl=x").get_json()["detail"]

    assert "\"onyl\" is unknown here. Did you mean 'only'? Allowed: format, only." in detail


def test_what_was_covered_is_a_line_each(box: Sandbox) -> None:
    """Sorted, without counts and dates: the same coverage writes the same file."""
    for _ in range(2):
        box.call("GET", f"{LIST}?count=2")
        box.call("GET", "/12/accounts/zz/line_items")
    first = call(box, "GET", "/coverage?format=baseline").text
    box.call("GET", f"{LIST}?count=3")

    assert ["line_items.list 200", "line_items.list 403 ACCOUNT_NOT_FOUND"] == [
        line for line in first.splitlines() if not line.startswith("#")
    ]
    assert first == render(coverage(box), "baseline")


def test_a_written_baseline_is_kept_by_the_same_coverage(box: Sandbox) -> None:
    """What is written can be read, and has lost nothing; with less, the lost lines are named."""
    box.call("GET", f"{LIST}?count=2")
    less = coverage(box)
    box.call("GET", "/12/accounts", keys=BEARER)
    more = coverage(box)
    baseline = read_baseline(render(more, "baseline"), "a", OPERATION_IDS)

    assert [] == baseline.find_lost(more, CoverageScope())
    assert ["accounts.list 200"] == baseline.find_lost(less, CoverageScope())
    assert [] == baseline.find_lost(less, CoverageScope(("line_items.*",)))
    assert ["accounts.list 200", "line_items.list 200"] == baseline.find_lost(None, CoverageScope())


def test_outcomes_that_nothing_documents_are_not_in_it(box: Sandbox) -> None:
    """A scenario can make up any answer; that is not part of the contract."""
    found = coverage(box)
    outcome = {"status": 418, "code": "", "documented": False, "count": 1}
    outcomes = row(found, "accounts.list")["outcomes"]

    outcomes.append(outcome)
    assert "accounts.list" not in render(found, "baseline")
    outcomes.append(outcome | {"documented": True})
    assert "accounts.list 418\n" in render(found, "baseline")


def test_comments_and_empty_lines_are_skipped() -> None:
    """People may write between the lines."""
    text = "# ours\n\n  line_items.list   200 \nline_items.get 404 NOT_FOUND\n"

    found = read_baseline(text, "a", OPERATION_IDS)

    assert {("line_items.list", 200, ""), ("line_items.get", 404, "NOT_FOUND")} == found.points


def test_faults_have_their_place() -> None:
    """Every fault of the file is named, with its line and the nearest operation."""
    text = "# x\nline_item.get 404 NOT_FOUND\nline_items.get\nline_items.get 999\nzzz 200\n"

    with pytest.raises(BadBaseline) as caught:
        read_baseline(text, "a.baseline", OPERATION_IDS)

    first, second, third, last = str(caught.value).splitlines()
    assert first.startswith("a.baseline:2:1: there is no operation 'line_item.get'. Did you mean ")
    assert first.endswith("'line_items.get'?")
    assert second.startswith("a.baseline:3:1: 'line_items.get' is not an operation, a status and a")
    assert third.startswith("a.baseline:4:1: 'line_items.get 999' is not an operation,")
    assert "a.baseline:5:1: there is no operation 'zzz'." == last


def test_a_gate_has_all_its_conditions(box: Sandbox) -> None:
    """Percentage and baseline fail by themselves; without conditions nothing fails."""
    found = coverage(box)
    baseline = read_baseline("line_items.get 200\nline_items.list 200\n", "a", OPERATION_IDS)

    failures = Gate(1, baseline=baseline).list_failures(found)

    lost = ["line_items.get 200", "line_items.list 200"]
    assert [
        ("percentage", "0 % is below the required 1 %", []),
        ("baseline", "2 outcomes of a that earlier runs covered were not covered", lost),
    ] == [(each.name, each.text, list(each.lost)) for each in failures]
    assert [] == Gate().list_failures(found) == Gate(0).list_failures(None)
