"""The harness of refusals: what a row checks, and what it complains of."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from tests.refusals import Refusal, make_refusal_test, refusals
from tests.spec.table import marks
from tests.support import ACCOUNT, BEARER, Keys, Sandbox

LINE_ITEM = f"/12/accounts/{ACCOUNT}/line_items/itttx"
RIGHT = [
    Refusal(
        f"PUT {LINE_ITEM}", "two errors of the advertising interface", 400,
        [("INVALID_PARAMETER", "end_time"), ("INVALID_PARAMETER", "goal")],
        query={"goal": "NOTHING", "end_time": "tomorrow"}, messages=["tomorrow", "NOTHING"],
        spec={"B, Line items": ["goal: default"], "operations": ["line_items.update"]},
    ),
    Refusal(
        "GET /12/accounts/{account}/line_items", "a part of the path", 403,
        [("ACCOUNT_NOT_FOUND", "account_id")],
    ),
    Refusal(
        f"GET {LINE_ITEM}", "a record that is changed before", 404,
        [("LINE_ITEM_NOT_FOUND", "line_item_id")],
        given={("line_items", "itttx"): {"deleted": True}},
    ),
    Refusal(
        "POST /2/posts", "a problem of v2", 400, json={"text": 1}, problem="invalid-request",
        shows={"title": "Invalid Request", "errors": [{}]}, messages=["text"],
    ),
    Refusal(
        "POST /2/posts", "a caller of another kind", 403, keys=BEARER, json={"text": "Hello"},
        problem="unsupported-authentication", text="is forbidden for this endpoint",
    ),
    Refusal(
        "POST /1.1/oauth/invalidate_token", "keys of nobody", 401, keys=Keys("k", "s", "t", "u"),
        shows={"errors": [{"code": 32}]}, text="Could not authenticate you",
    ),
    Refusal(
        "POST /oauth2/token", "a form", 403, keys=None, form={"grant_type": "nothing"},
        more={"headers": {"X-Any": "1"}}, text="authenticity_token_error",
    ),
]  # fmt: skip


@refusals(RIGHT)
def test_a_right_row_passes(box: Sandbox, row: Refusal) -> None:
    """Errors, messages, problems, members and texts of all three families are compared."""
    assert row.status == row.check(box, account="none").status_code


@pytest.mark.parametrize(
    ("number", "wrong"),
    [
        (0, {"status": 404}), (0, {"errors": [("INVALID_PARAMETER", "goal")]}),
        (0, {"messages": ["NOTHING"]}), (0, {"messages": ["tomorrow", "SITE_VISITS"]}),
        (0, {"problem": "invalid-request"}), (3, {"problem": "conflict"}),
        (3, {"shows": {"title": "Forbidden"}}), (3, {"shows": {"errors": []}}),
        (3, {"shows": {"more": None}}), (4, {"text": "Hello"}),
        (5, {"shows": {"errors": [{"code": 34}]}}),
    ],
)  # fmt: skip
def test_a_wrong_row_fails(box: Sandbox, number: int, wrong: dict[str, Any]) -> None:
    """Whatever a row says of the answer must be so."""
    with pytest.raises(AssertionError):
        replace(RIGHT[number], **wrong).check(box)


def test_a_request_that_stores_something_is_no_refusal(box: Sandbox) -> None:
    """Records stay as they are, unless the row says that they may change."""
    row = Refusal(f"DELETE {LINE_ITEM}", "a delete", 200, shows={"data": {"deleted": True}})

    replace(row, request=f"GET {LINE_ITEM}", shows={"data": {"deleted": False}}).check(box)
    with pytest.raises(AssertionError, match="a refused request changed records"):
        row.check(box)


def test_a_row_expects_more_than_a_status() -> None:
    """Many things are 400: a row says which of them it means."""
    with pytest.raises(ValueError, match="a status alone"):
        Refusal("GET /2/posts", "anything", 400)


def test_ids_say_what_is_refused_and_are_unlike() -> None:
    """Each row is a test of its own, and no two are called the same."""
    (made,) = refusals(RIGHT[:1]).args[1]

    assert (RIGHT[0].holds, [RIGHT[0].spec]) == (made.id, [mark.args[0] for mark in made.marks])
    with pytest.raises(ValueError, match=re.escape(f"several are called ['{RIGHT[0].holds}']")):
        refusals([RIGHT[0], RIGHT[0]])


def test_the_rules_of_a_row_are_read_from_the_source() -> None:
    """`tests/spec` finds them in the list that a test is made of; a refusal is an outside."""
    here = [mark for mark in marks()[0] if mark.test.startswith("test_refusals.py::")]

    for name in ("test_a_right_row_passes", "test_a_row_by_itself"):
        own = [mark for mark in here if mark.test == f"test_refusals.py::{name}"]
        assert {"B, Line items"} == {mark.heading for mark in own}
        assert ["goal: default", "PUT /12/accounts/:account_id/line_items/:line_item_id"] == [
            mark.begins for mark in own if mark.side == "outside"
        ]


test_a_row_by_itself = make_refusal_test(RIGHT[:1])
