"""Promoted accounts: which users and which line items, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.ads.line_items.parts import CLICKS, CYCLISTS, DELETED, FOLLOWERS, call, data, history
from tests.support import Sandbox, refusal

OWN_USER, NORTHBIKE_USER = "2244994945", "3805104374"


def test_a_user_is_promoted(box: Sandbox) -> None:
    """The answer is one record; a user who is promoted already is not promoted again."""
    assert call(box, "DELETE", "promoted_accounts/1f2qc").status_code == 200
    made = call(box, "POST", "promoted_accounts", line_item_id=CYCLISTS, user_id=OWN_USER)
    again = call(box, "POST", "promoted_accounts", line_item_id=CYCLISTS, user_id=OWN_USER)

    record = data(made)
    assert made.get_json()["request"]["params"]["user_id"] == int(OWN_USER)
    assert record == data(again)
    assert record == data(call(box, "GET", f"promoted_accounts/{record['id']}"))
    assert sorted(record) == sorted(
        ["id", "line_item_id", "user_id", "entity_status", "approval_status", "created_at",
         "updated_at", "deleted"]
    )  # fmt: skip
    assert (record["user_id"], record["approval_status"]) == (OWN_USER, "ACCEPTED")
    assert ["CREATE"] == history(box, "PROMOTED_ACCOUNT", record["id"])


@pytest.mark.parametrize(
    ("line_item", "user", "status", "errors"),
    [
        (CLICKS, OWN_USER, 400, [("INCOMPATIBLE_LINE_ITEM", "line_item_id")]),
        (DELETED, OWN_USER, 404, [("LINE_ITEM_NOT_FOUND", "line_item_id")]),
        (FOLLOWERS, NORTHBIKE_USER, 400, [("INVALID_USER", "user_id")]),
        (FOLLOWERS, "1", 403, [("USER_NOT_FOUND", "user_id")]),
        (FOLLOWERS, "harbor", 400, [("INVALID_PARAMETER", "user_id")]),
    ],
)
def test_who_cannot_be_promoted(
    box: Sandbox, line_item: str, user: str, status: int, errors: Any
) -> None:
    """Line items of other products and users whom the account cannot promote are refused."""
    response = call(box, "POST", "promoted_accounts", line_item_id=line_item, user_id=user)

    assert refusal(response) == (status, errors)


def test_listed_by_line_item(box: Sandbox) -> None:
    """One line item of the product is enough; with none of them the list is refused."""
    mixed = data(call(box, "GET", "promoted_accounts", line_item_ids=f"{CLICKS},{FOLLOWERS}"))
    by_id = data(call(box, "GET", "promoted_accounts", promoted_account_ids="1f2qc"))
    refused = call(box, "GET", "promoted_accounts", line_item_ids=f"{CLICKS},unknown")

    assert [one["id"] for one in mixed] == ["1f2pa"]
    assert [one["id"] for one in by_id] == ["1f2qc"]
    assert refusal(refused) == (400, [("INCOMPATIBLE_LINE_ITEM", "line_item_ids")])


def test_a_promotion_is_deleted(box: Sandbox) -> None:
    """A second delete finds nothing."""
    gone = data(call(box, "DELETE", "promoted_accounts/1f2pa"))
    again = call(box, "DELETE", "promoted_accounts/1f2pa")

    assert gone["deleted"] is True
    assert refusal(again) == (404, [("PROMOTED_ACCOUNT_NOT_FOUND", "promoted_account_id")])
    assert ["DELETE"] == history(box, "PROMOTED_ACCOUNT", "1f2pa")


def test_approval_is_a_transition(box: Sandbox) -> None:
    """By hand, a review ends when a test says so."""
    with box.world.work():
        box.world.transitions.set_pace("promoted_account", progression="manual")
    assert call(box, "DELETE", "promoted_accounts/1f2qc").status_code == 200
    made = data(call(box, "POST", "promoted_accounts", line_item_id=CYCLISTS, user_id=OWN_USER))
    with box.world.work():
        box.world.transitions.move("promoted_account", made["id"], "ACCEPTED")

    assert made["approval_status"] == "UNDER_REVIEW"
    read = data(call(box, "GET", f"promoted_accounts/{made['id']}"))
    assert read["approval_status"] == "ACCEPTED"
