"""Whose posts an account may promote, and the apps of an account (document B, "Account app")."""

from __future__ import annotations

from typing import Any

import pytest

from mock_platform.api.ads.accounts.users_and_apps import find_full_user, find_promotable_type
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox

HARBOR_USER, NORTHBIKE_USER, INES = "2244994945", "3805104374", "2790441185"


@pytest.mark.parametrize(
    ("user_id", "kind"), [(HARBOR_USER, "FULL"), (NORTHBIKE_USER, "REPOSTS_ONLY"), (INES, None)]
)
def test_kinds_of_promotable_users(box: Sandbox, user_id: str, kind: str | None) -> None:
    """The account's own user, one for reposts only, and a user who only works with it."""
    assert kind == find_promotable_type(box.world, ACCOUNT, user_id)


def test_a_removed_user_is_not_promotable(box: Sandbox) -> None:
    """A deleted promotable user does not count."""
    box.change("promotable_users", "mx71", deleted=True)

    assert find_promotable_type(box.world, ACCOUNT, NORTHBIKE_USER) is None


def test_without_records_the_first_user_is_full(box: Sandbox) -> None:
    """An account from a fixture folder without promotable users can promote posts all the same."""
    box.change("promotable_users", "mvq3", deleted=True)

    assert NORTHBIKE_USER == find_full_user(box.world, OTHER_ACCOUNT)
    assert find_full_user(box.world, "unknown") is None


def test_a_new_account_has_one(box: Sandbox) -> None:
    """The creator of a sandbox account is its FULL user."""
    made = box.call("POST", "/sandbox/12/accounts").get_json()["data"]
    stored = box.world.store.page("promotable_users", {"_account_id": made["id"]})

    assert [(HARBOR_USER, "FULL")] == [
        (entry.record["user_id"], entry.record["promotable_user_type"]) for entry in stored
    ]


APPS = f"/12/accounts/{ACCOUNT}/account_apps"
ALL_APPS = ["tf", "tg", "ub", "ve"]
"""The apps of the account; the last one is deleted."""


def body(box: Sandbox, **params: Any) -> Any:
    """One page."""
    response = box.call("GET", APPS, query_string=params)
    assert response.status_code == 200, response.get_json()
    return response.get_json()


def ids(page: Any) -> list[str]:
    """Ids of the apps on a page."""
    return [app["id"] for app in page["data"]]


@pytest.mark.spec("B, Account app", "id, app_store_identifier")
def test_an_app(box: Sandbox) -> None:
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


def test_apps_of_this_account(box: Sandbox) -> None:
    """Each account lists its own apps."""
    other = box.call("GET", f"/12/accounts/{OTHER_ACCOUNT}/account_apps", keys=NORTHBIKE).get_json()

    assert ids(body(box)) == ALL_APPS[:3]
    assert ids(other) == ["x8", "x9"]
    assert box.call("GET", f"/12/accounts/{OTHER_ACCOUNT}/account_apps").status_code == 403


@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_apps")
def test_deleted_apps_and_totals(box: Sandbox) -> None:
    """with_deleted adds the deleted ones, and the total counts them."""
    assert body(box, count=1, with_deleted="true", with_total_count="true")["total_count"] == 4
    assert body(box, with_total_count="true")["total_count"] == 3
    assert ids(body(box, with_deleted="true")) == ALL_APPS


@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_apps")
@pytest.mark.parametrize(
    ("attribute", "ascending"),
    [
        ("created_at", ["ve", "tf", "tg", "ub"]),
        ("updated_at", ["ve", "ub", "tf", "tg"]),
        ("deleted", ["tf", "tg", "ub", "ve"]),
    ],
)
def test_apps_are_sorted(box: Sandbox, attribute: str, ascending: list[str]) -> None:
    """Timestamps and deleted sort both ways."""
    assert ids(body(box, sort_by=f"{attribute}-asc", with_deleted="true")) == ascending
    assert ids(body(box, sort_by=f"{attribute}-desc", with_deleted="true")) == ascending[::-1]
