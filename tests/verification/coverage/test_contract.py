from __future__ import annotations

import pytest

from mock_platform.api.served import OPERATIONS
from mock_platform.core.operation import Operation
from mock_platform.settings import Settings
from mock_platform.verification.coverage.contract import (
    Outcome,
    find_match,
    list_documented,
    list_parameters,
)


def operation(id_: str) -> Operation:
    """An operation of the table."""
    return next(entry for entry in OPERATIONS if entry.id == id_)


def test_outcomes_of_an_operation() -> None:
    """Success first, then what the operation declares and what its stages refuse with."""
    found = list_documented(operation("line_items.list"), Settings())

    assert Outcome(200, "") == found[0]
    assert {
        Outcome(400, "INVALID_PARAMETER"),
        Outcome(401, "UNAUTHORIZED_ACCESS"),
        Outcome(401, "89"),
        Outcome(403, "ACCOUNT_NOT_FOUND"),
    } <= set(found)
    assert Outcome(500, "INTERNAL_ERROR") not in found
    assert Outcome(400, "MISSING_PARAMETER") not in found
    assert Outcome(403, "READONLY_CLIENT_APPLICATION") not in found


def test_writes_can_be_refused_to_readers() -> None:
    """What the gates of an operation refuse with is among its outcomes."""
    found = list_documented(operation("line_items.update"), Settings())

    assert Outcome(403, "READONLY_CLIENT_APPLICATION") in found


def test_batches_have_item_errors() -> None:
    """A batch can be refused by its items."""
    found = list_documented(operation("do_not_reach_lists.users"), Settings())

    assert Outcome(400, "operation_errors") in found


def test_problem_types_have_their_status() -> None:
    """Declared problem types come with the status of their type, a blank one with what is left."""
    found = list_documented(operation("account_activity.replay"), Settings())

    assert {Outcome(409, "conflict"), Outcome(404, "resource-not-found")} <= set(found)
    assert Outcome(410, "about:blank") in found


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


@pytest.mark.parametrize(
    ("observed", "meant"),
    [
        (Outcome(404, "A"), Outcome(404, "A")),
        (Outcome(400, "A"), Outcome(404, "A")),
        (Outcome(404, "B"), None),
        (Outcome(410, "C"), Outcome(410, "")),
        (Outcome(400, "about:blank"), None),
        (Outcome(401, "about:blank"), Outcome(401, "about:blank")),
    ],
)
def test_matching(observed: Outcome, meant: Outcome | None) -> None:
    """An outcome is known exactly, by its code, or by a status for which no code is documented."""
    known = [
        Outcome(200, ""),
        Outcome(404, "A"),
        Outcome(410, ""),
        Outcome(401, "about:blank"),
    ]

    assert meant == find_match(observed, known)
