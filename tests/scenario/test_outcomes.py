from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.core.operation import Operation
from mock_platform.scenario.outcomes import (
    Outcome,
    choose_effect,
    find_codes,
    find_match,
    list_documented,
    list_parameters,
)
from mock_platform.settings import Settings


def operation(id_: str) -> Operation:
    """An operation of the table."""
    return next(entry for entry in OPERATIONS if entry.id == id_)


@pytest.mark.parametrize(("name", "listed", "unlisted"), [
    pytest.param("line_items.list",
                 {(400, "INVALID_PARAMETER"), (401, "UNAUTHORIZED_ACCESS"), (401, "89"),
                  (403, "ACCOUNT_NOT_FOUND")},
                 {(500, "INTERNAL_ERROR"), (400, "MISSING_PARAMETER"),
                  (403, "READONLY_CLIENT_APPLICATION")},
                 id="what it declares, and what its stages refuse with"),
    pytest.param("line_items.update", {(403, "READONLY_CLIENT_APPLICATION")}, set(),
                 id="a write can be refused to a reader"),
    pytest.param("do_not_reach_lists.users", {(400, "operation_errors")}, set(),
                 id="a batch can be refused by its items"),
    pytest.param("account_activity.replay",
                 {(409, "conflict"), (404, "resource-not-found"), (410, "about:blank")}, set(),
                 id="problem types have their status, a blank one what is left"),
])  # fmt: skip
def test_outcomes_of_an_operation(
    name: str, listed: set[tuple[int, str]], unlisted: set[tuple[int, str]]
) -> None:
    """Success comes first, then what the operation can be refused with."""
    found = list_documented(operation(name), Settings())

    assert Outcome(operation(name).returns.status, "") == found[0]
    assert listed <= set(found)
    assert unlisted.isdisjoint(found)


@pytest.mark.parametrize("entry", OPERATIONS, ids=lambda entry: entry.id)
def test_declared_failures_are_outcomes(entry: Operation) -> None:
    """Nothing that an operation declares is forgotten, and nothing is listed twice."""
    found = list_documented(entry, Settings())

    assert len(found) == len(set(found))
    assert set(entry.errors) <= {outcome.code for outcome in found}
    assert set(entry.statuses) <= {outcome.status for outcome in found}


def test_parameters() -> None:
    """Parameters have the name of the wire, and say whether they are required."""
    found = dict(list_parameters(operation("account_history.list")))

    assert found["entity_id"]
    assert not found["count"]
    assert () == list_parameters(operation("product_sets.get"))


@pytest.mark.parametrize(("observed", "meant"), [
    (Outcome(404, "A"), Outcome(404, "A")),
    (Outcome(400, "A"), Outcome(404, "A")),
    (Outcome(404, "B"), None),
    (Outcome(410, "C"), Outcome(410, "")),
    (Outcome(400, "about:blank"), None),
    (Outcome(401, "about:blank"), Outcome(401, "about:blank")),
    (Outcome(201, ""), Outcome(200, "")),
    (Outcome(429, "about:blank"), Outcome(429, "88")),
    (Outcome(429, "usage-capped"), None),
])  # fmt: skip
def test_matching(observed: Outcome, meant: Outcome | None) -> None:
    """An outcome is known exactly, by its code or status, or as the recorded form of one."""
    known = [
        Outcome(200, ""), Outcome(404, "A"), Outcome(410, ""), Outcome(401, "about:blank"),
        Outcome(429, "88"),
    ]  # fmt: skip

    assert meant == find_match(observed, known)


@pytest.mark.parametrize(("status", "body", "expected"), [
    (200, b'{"code":1}', [""]),
    (302, b"", [""]),
    (404, b"", [""]),
    (404, b'{"errors":[{"code":"LINE_ITEM_NOT_FOUND"}]}', ["LINE_ITEM_NOT_FOUND"]),
    (401, b'{"errors":[{"code":89,"message":"x"}]}', ["89"]),
    (400, b'{"errors":[{"code":"A_1","message":"m","value":"\\"code\\":"}],"request":{}}', ["A_1"]),
    (400, b'{"errors":[{"code":"A\\"B","message":"m"}]}', ['A"B']),
    (400, b'{"errors":[{"code":7}]}', ["7"]),
    (400, b'{"errors":[{"code":"A"', ["A"]),
    (403, b'{"code":93,"message":"x"}', ["93"]),
    (400, b'{"errors":[{"code":"A"},{"code":"B"},{"code":"A"}]}', ["A", "B"]),
    (400, b'{"operation_errors":[[{"code":"A"}]],"request":{}}', ["operation_errors"]),
    (400, b'{"operation_errors":' + b" " * 70_000 + b"[]}", ["operation_errors"]),
    (409, b'{"type":"http://x/2/problems/conflict","errors":[]}', ["conflict"]),
    (401, b'{"type":"about:blank","title":"Unauthorized"}', ["about:blank"]),
    (401, b"Invalid request token.", ["Invalid request token."]),
    (403, b"<!doctype html><p>no</p>", [""]),
    (500, b"x" * 81, [""]),
    (500, b"{broken", [""]),
])  # fmt: skip
def test_codes(status: int, body: bytes, expected: list[str]) -> None:
    """A failure is counted by the code that its body names, in any dialect."""
    assert expected == list(find_codes(status, body))


@pytest.mark.parametrize(("outcome", "effect"), [
    (Outcome(409, "conflict"), {"problem": "conflict"}),
    (Outcome(410, "conflict"), {"problem": "conflict", "status": 410}),
    (Outcome(401, "about:blank"), {"problem": "about:blank", "status": 401}),
])  # fmt: skip
def test_the_effect_of_a_problem(outcome: Outcome, effect: dict[str, Any]) -> None:
    """It has the status of the outcome, which is named where the problem has another one."""
    assert effect == choose_effect(outcome)
