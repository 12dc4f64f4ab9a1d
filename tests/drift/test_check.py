from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mock_platform.control.routes import describe_everything
from mock_platform.core.auth.authenticate import Scheme
from mock_platform.core.envelope import Lines
from mock_platform.core.jsonio import dumps, loads
from mock_platform.core.operation import Origin
from mock_platform.drift import Drift, check, report
from mock_platform.drift.client import ServerAnswer
from mock_platform.platform import Platform
from tests.support import ACCOUNT, BEARER, HARBOR, Sandbox, sandbox

LIST = f"/12/accounts/{ACCOUNT}/line_items"
Change = Callable[[ServerAnswer], ServerAnswer]


class Changed:
    """A server in this process that answers some paths otherwise."""

    def __init__(self, **changes: Change) -> None:
        self._box: Sandbox = sandbox()
        self._changes = changes
        self.asked: list[str] = []

    def has_credentials(self, schemes: tuple[Scheme, ...]) -> bool:
        """It knows how to sign for a user and for an app."""
        return not {"oauth1", "bearer"}.isdisjoint(schemes)

    def get(self, path: str, schemes: tuple[Scheme, ...]) -> ServerAnswer:
        """One answer, signed as the well-known user."""
        self.asked.append(path)
        bearer = {} if "oauth1" in schemes else {"Authorization": f"Bearer {BEARER}"}
        found = self._box.call("GET", path, keys=None if bearer else HARBOR, headers=bearer)
        answer = ServerAnswer(found.status_code, dict(found.headers), found.data)
        change = self._changes.get(path.rpartition("/")[2])
        return answer if change is None else change(answer)


def status(number: int, body: bytes = b"{}", **headers: str) -> Change:
    """Answers with this status."""
    return lambda _answer: ServerAnswer(number, headers, body)


def data(change: Callable[[dict[str, Any]], Any]) -> Change:
    """Changes each record of an answer in place."""

    def changed(answer: ServerAnswer) -> ServerAnswer:
        body = loads(answer.body)
        for record in body["data"]:
            change(record)
        return ServerAnswer(answer.status, answer.headers, dumps(body))

    return changed


def checked(**changes: Change) -> Drift:
    """What a check finds on such a server."""
    platform = Platform()
    return check(Changed(**changes), describe_everything(platform).at("http://x"), platform)


def found(drift: Drift) -> dict[str, list[tuple[str, str, str, str]]]:
    """The differences by operation."""
    return {
        each.operation: [(d.kind, d.where, d.expected, d.got) for d in each.differences]
        for each in drift.checked
        if each.differences
    }


def test_a_sandbox_does_not_differ_from_itself() -> None:
    """Everything that can be read is as declared; what cannot be asked for has a reason."""
    drift = checked()
    readable = {
        operation.id
        for operation in Platform().operations
        if operation.method == "GET"
        and operation.returns.media_type == "application/json"
        and not operation.sandbox_only
        and not isinstance(operation.returns, Lines)
    }
    skipped = {each.operation for each in drift.skipped}
    documented = {op.id for op in Platform().operations if op.origin is Origin.DOCUMENT_B}

    assert not drift.differs
    assert {} == found(drift)
    assert {
        "insights.search_keywords", "account_history.list", "product_sets.get",
        "tailored_audiences.permissions.list",
    } == skipped & documented  # fmt: skip
    reasons = [each.reason for each in drift.skipped if each.operation not in documented]
    known = ("needs the parameters", "needs one of the parameters", "no list of")
    assert all(reason.startswith(known) for reason in reasons)
    assert sorted(readable - skipped) == sorted(each.operation for each in drift.checked)


def test_only_reads_are_asked_for_once() -> None:
    """Each operation is asked for once where its first account has records."""
    server = Changed()
    platform = Platform()

    check(server, describe_everything(platform).at("http://x"), platform)

    assert 1 == server.asked.count(LIST)
    assert len(server.asked) == len(set(server.asked))


def test_renamed_field() -> None:
    """A renamed field is one that is missing and one that is not declared."""
    drift = checked(line_items=data(lambda record: record.update(title=record.pop("name"))))

    assert drift.differs
    assert {
        "line_items.list": [
            ("missing", "data[].name", "string or null", "absent"),
            ("extra", "data[].title", "absent", "string"),
        ]
    } == found(drift)


def test_other_type_and_value() -> None:
    """Another type and a value outside the enumeration are reported with both sides."""

    def change(record: dict[str, Any]) -> None:
        record.update(deleted="no", objective="WORLD_PEACE")

    ((operation, differences),) = found(checked(line_items=data(change))).items()

    assert "line_items.list" == operation
    assert ("type", "data[].deleted", "boolean", "string") in differences
    assert ["WORLD_PEACE"] == [got for kind, _, _, got in differences if kind == "enum"]


@pytest.mark.parametrize(
    ("answer", "got"),
    [
        (status(204), "204"),
        (status(404, b'{"errors":[{"code":"ROUTE_NOT_FOUND"}]}'), "404 ROUTE_NOT_FOUND"),
        (status(302, Location="http://elsewhere/"), "302 to http://elsewhere/ (not followed)"),
        (status(500, b"<html>"), "500"),
    ],
)
def test_other_status(answer: Change, got: str) -> None:
    """Another status is reported with the codes of the body or its redirect target."""
    drift = checked(placements=answer)

    assert {"placements.list": [("status", "status", "200", got)]} == found(drift)


def test_rate_limit_is_no_drift() -> None:
    """A used-up rate limit says nothing about the contract."""
    drift = checked(placements=status(429))

    assert not drift.differs
    (skipped,) = [each for each in drift.skipped if each.operation == "placements.list"]
    assert "try again later" in skipped.reason


def test_no_json() -> None:
    """A body that is not JSON is reported."""
    drift = checked(placements=status(200, b"<html>", **{"content-type": "text/html"}))

    assert [
        ("header", "content-type", "application/json", "text/html"),
        ("header", "x-current-api-version", "12", "absent"),
        ("type", "(body)", "JSON", "something else"),
    ] == found(drift)["placements.list"]


def test_without_accounts_nothing_below_them_is_asked_for() -> None:
    """Operations whose parameters no list contains are named, not guessed."""
    drift = checked(accounts=status(401, b'{"errors":[{"code":89}]}'))

    assert {"accounts.list": [("status", "status", "200", "401 89")]} == found(drift)
    reasons = {each.operation: each.reason for each in drift.skipped}
    assert "no list of the server contains :account_id" == reasons["line_items.list"]


def test_report() -> None:
    """The report has a line for each difference, and totals."""
    drift = checked(line_items=data(lambda record: record.update(deleted="no")))

    text = report.render_text(drift, "http://x")
    shown = report.as_json(drift, "http://x")

    assert text.startswith(
        f"line_items.list  GET {LIST}\n  type data[].deleted: declared as boolean, got string\n"
    )
    counts = f"{len(drift.checked)} operations checked, 1 differ, {len(drift.skipped)} not checked."
    assert text.endswith(f"http://x: {counts}")
    assert shown["drift"]
    (row,) = [row for row in shown["operations"] if row["differences"]]
    assert [
        {"kind": "type", "where": "data[].deleted", "expected": "boolean", "got": "string"}
    ] == (row["differences"])
    assert [each.operation for each in drift.skipped] == [
        row["operation"] for row in shown["skipped"]
    ]
