from __future__ import annotations

from typing import Any

import pytest

from mock_platform.platform import Platform
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.client import ProbeRequest
from mock_platform.verification.compare.findings import Drift, make_report
from mock_platform.verification.compare.report import render_text
from mock_platform.verification.compare.side import OwnSandbox
from tests.verification.compare.servers import Comparison


class Changed(OwnSandbox):
    """A server in this process that answers paths with these ends otherwise."""

    def __init__(self, comparison: Comparison, **changes: ComparedAnswer) -> None:
        super().__init__(Platform(), comparison.credentials)
        self._changes = changes
        self.asked: list[str] = []

    def ask(self, request: ProbeRequest) -> ComparedAnswer:
        """Return one answer."""
        self.asked.append(request.target)
        found = super().ask(request)
        return self._changes.get(request.path.rpartition("/")[2], found)


class Empty(Changed):
    """A server in this process that has no record."""

    def ask(self, request: ProbeRequest) -> ComparedAnswer:
        """Return a 404."""
        return ComparedAnswer(404, (), b'{"errors":[{"code":"NOT_FOUND"}]}')


def compare(comparison: Comparison, server: Changed, *only: str, **scope: Any) -> Drift:
    """How a server differs."""
    try:
        return comparison.run(server, *only, **scope)
    finally:
        server.platform.close()


@pytest.mark.parametrize(("answer", "got"), [
    (ComparedAnswer(204), "204"),
    (ComparedAnswer(404, (), b'{"errors":[{"code":"ROUTE_NOT_FOUND"}]}'), "404 ROUTE_NOT_FOUND"),
    (ComparedAnswer(302, [("Location", "http://elsewhere/")]),
     "302 to http://elsewhere/ (not followed)"),
    (ComparedAnswer(500, (), b"<html>"), "500"),
])  # fmt: skip
def test_other_status(comparison: Comparison, answer: ComparedAnswer, got: str) -> None:
    """Another status is reported with the codes of the body or its redirect target."""
    server = Changed(comparison, placements=answer)

    drift = compare(comparison, server, "placements.list", kinds=("plain",))

    (found,) = make_report(drift, "x", {}).findings
    assert ("status", "200", got) == (found.kind, found.expected, found.got)


def test_rate_limit_is_no_difference(comparison: Comparison) -> None:
    """A used-up rate limit says nothing about the contract."""
    drift = compare(
        comparison, Changed(comparison, placements=ComparedAnswer(429)), "placements.list"
    )

    assert not drift.differs
    (skipped,) = drift.skipped
    assert "try again later" in skipped.reason


def test_no_json(comparison: Comparison) -> None:
    """A body that is not JSON is reported, and hides nothing else."""
    page = ComparedAnswer(200, [("content-type", "text/html")], b"<html>")

    drift = compare(comparison, Changed(comparison, placements=page), "placements.list")

    found = {(each.kind, each.where) for each in make_report(drift, "x", {}).findings}
    assert {
        ("media type", "content-type"),
        ("header", "x-current-api-version"),
        ("type", "(body)"),
    } <= found
    assert "status" in {kind for kind, _ in found}  # the refusals are asked as well


def test_a_list_that_fails_hides_little(comparison: Comparison) -> None:
    """Below a list that fails, ids come from elsewhere: the accounts are the same here."""
    server = Changed(comparison, line_items=ComparedAnswer(500))

    drift = compare(comparison, server, "line_items.*")

    checked = {each.operation: each for each in drift.checked}
    assert "plain" in {probe.probe for probe in checked["line_items.get"].probes}
    assert not checked["line_items.get"].differs


def test_without_values_refusals_are_asked(comparison: Comparison) -> None:
    """An operation whose ids no answer contains is asked with unknown ones, and named."""
    server = Changed(comparison, accounts=ComparedAnswer(500))

    drift = compare(comparison, server, "line_items.get", "accounts.list")

    checked = {each.operation: each for each in drift.checked}
    probes = {probe.probe for probe in checked["line_items.get"].probes}
    assert {"unknown account_id", "other method"} == probes
    left_out = dict(checked["line_items.get"].left_out)
    assert "no answer of the server contains account_id" in left_out["unknown line_item_id"]
    (skipped,) = drift.skipped
    assert "give it with --value" in skipped.reason


def test_the_name_of_a_missing_value_is_the_one_that_is_taken(comparison: Comparison) -> None:
    """For `:id` the report has the name that `--value` needs, since every list has ids."""
    drift = compare(comparison, Empty(comparison), "users.get", kinds=("plain",))

    (skipped,) = drift.skipped
    assert "give it with --value user_id=VALUE" in skipped.reason


def test_given_values(comparison: Comparison) -> None:
    """A value from the user is sent to the other server; one that nothing asks for is named."""
    server = Changed(comparison)
    given = {"card_id": "8xyz", "cards_id": "9", "shoe": "44"}

    drift = compare(comparison, server, "cards.get", kinds=("plain",), given=given)

    assert any(target.endswith("/cards/8xyz") for target in server.asked)
    assert [
        "no request has a value cards_id, which --value gave. Did you mean 'card_id'?",
        "no request has a value shoe, which --value gave.",
    ] == make_report(drift, "http://x", {}).notes


def test_report_names_assumptions(comparison: Comparison) -> None:
    """A difference refutes the assumption about its place; control characters are escaped."""
    body = b'{"data":[],"next_cursor":"","request":{"params":{"account_id":"18ce54d4x5t"}}}'
    headers = [("content-type", "application/json"), ("x-current-api-version", "\x1b[31m12")]
    server = Changed(comparison, line_items=ComparedAnswer(200, headers, body))

    drift = compare(comparison, server, "line_items.list", kinds=("plain",))

    report = make_report(drift, "http://x", comparison.platform.assumptions())
    (found,) = [each for each in report.findings if each.kind == "empty"]
    assert {"ads.next-cursor-null": "refuted"} == found.assumptions
    assert "ads.next-cursor-null" in report.list_assumptions("refuted")
    text = render_text(report)
    assert "\x1b" not in text
    assert r"\x1b[31m12" in text
    assert "assumptions refuted: ads.next-cursor-null" in text
    assert f"--accept {found.id} --reason TEXT" in text
