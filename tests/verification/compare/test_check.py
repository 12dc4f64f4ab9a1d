from __future__ import annotations

from typing import Any

import pytest

from mock_platform.core.operation import Origin
from mock_platform.platform import Platform
from mock_platform.verification.compare.answers import ComparedAnswer
from mock_platform.verification.compare.check import check
from mock_platform.verification.compare.client import ProbeRequest
from mock_platform.verification.compare.findings import Drift, DriftScope, make_report
from mock_platform.verification.compare.plan import list_reads, list_unasked
from mock_platform.verification.compare.report import render_text
from mock_platform.verification.compare.side import OwnSandbox
from mock_platform.world.clock import machine_now
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


def compare(comparison: Comparison, server: Changed, *only: str, **scope: Any) -> Drift:
    """How a server differs."""
    comparison.platform.worlds.default.reset()
    own = OwnSandbox(comparison.platform, comparison.credentials)
    wanted = DriftScope(only=only, **scope)
    try:
        return check(server, own, comparison.description, machine_now(), wanted)
    finally:
        server.platform.close()


def test_everything_of_document_b_is_asked(comparison: Comparison) -> None:
    """Each operation that reads and whose answer ends is asked in its plain form."""
    drift = compare(comparison, Changed(comparison), kinds=("plain",))

    asked = {each.operation for each in drift.checked}
    # The id of one is in a field of messages that has to be asked for, those of others are in none,
    # or only those of records of the caller are answered.
    left_out = {"dm_conversations.list", "scheduled_broadcasts.get"}
    left_out |= {"spaces.buyers", "analytics.posts", "older.statuses.reposts"}
    assert {op.id for op in list_reads(comparison.platform.operations)} - left_out == asked
    reads = [
        op
        for op in comparison.platform.operations
        if op.origin is Origin.DOCUMENT_B and op.method == "GET" and not op.sandbox_only
    ]
    assert asked > {op.id for op in reads}
    endless = {each.operation for each in list_unasked(comparison.platform.operations)}
    assert left_out | endless == {each.operation for each in drift.skipped}
    assert not drift.differs


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        (ComparedAnswer(204), "204"),
        (
            ComparedAnswer(404, (), b'{"errors":[{"code":"ROUTE_NOT_FOUND"}]}'),
            "404 ROUTE_NOT_FOUND",
        ),
        (
            ComparedAnswer(302, [("Location", "http://elsewhere/")]),
            "302 to http://elsewhere/ (not followed)",
        ),
        (ComparedAnswer(500, (), b"<html>"), "500"),
    ],
)
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


def test_given_values(comparison: Comparison) -> None:
    """A value from the user is sent to the other server."""
    server = Changed(comparison)

    compare(comparison, server, "cards.get", kinds=("plain",), given={"card_id": "8xyz"})

    assert any(target.endswith("/cards/8xyz") for target in server.asked)


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
