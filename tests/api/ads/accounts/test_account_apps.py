"""The apps of an account (document B, "Accounts" and "Account app")."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox

PATH = f"/12/accounts/{ACCOUNT}/account_apps"
ALL = ["tf", "tg", "ub", "ve"]
"""The apps of the account; the last one is deleted."""


def body(box: Sandbox, **params: Any) -> Any:
    """One page."""
    response = box.call("GET", PATH, query_string=params)
    assert response.status_code == 200, response.get_json()
    return response.get_json()


def ids(page: Any) -> list[str]:
    """Ids of the apps on a page."""
    return [app["id"] for app in page["data"]]


@pytest.mark.spec("B, Account app", "id, app_store_identifier")
def test_shape(box: Sandbox) -> None:
    """An app has the documented fields and no other ones."""
    page = body(box)

    assert page["data"][0] == {
        "id": "tf",
        "app_store_identifier": "1423330822",
        "conversion_tracking_enabled": True,
        "deep_link_pattern": "harborroasters://subscribe",
        "os_type": "iOS",
        "created_at": "2025-02-11T09:20:00Z",
        "updated_at": "2026-06-01T12:00:00Z",
        "deleted": False,
    }
    assert page["request"] == {"params": {"account_id": ACCOUNT}}


def test_of_this_account(box: Sandbox) -> None:
    """Each account lists its own apps."""
    other = box.call("GET", f"/12/accounts/{OTHER_ACCOUNT}/account_apps", keys=NORTHBIKE).get_json()

    assert ids(body(box)) == ALL[:3]
    assert ids(other) == ["x8", "x9"]
    assert box.call("GET", f"/12/accounts/{OTHER_ACCOUNT}/account_apps").status_code == 403


@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_apps")
def test_with_deleted_and_total(box: Sandbox) -> None:
    """with_deleted adds the deleted ones, and the total counts them."""
    assert body(box, count=1, with_deleted="true", with_total_count="true")["total_count"] == 4
    assert body(box, with_total_count="true")["total_count"] == 3
    assert ids(body(box, with_deleted="true")) == ALL


@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_apps")
@pytest.mark.parametrize(
    ("attribute", "ascending"),
    [
        ("created_at", ["ve", "tf", "tg", "ub"]),
        ("updated_at", ["ve", "ub", "tf", "tg"]),
        ("deleted", ["tf", "tg", "ub", "ve"]),
    ],
)
def test_sort(box: Sandbox, attribute: str, ascending: list[str]) -> None:
    """Timestamps and deleted sort both ways."""
    assert ids(body(box, sort_by=f"{attribute}-asc", with_deleted="true")) == ascending
    assert ids(body(box, sort_by=f"{attribute}-desc", with_deleted="true")) == ascending[::-1]
