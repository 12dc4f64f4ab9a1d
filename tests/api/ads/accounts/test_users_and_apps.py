"""Whose posts an account may promote, and the apps of an account (document B, "Account app")."""

from __future__ import annotations

import pytest

from mock_platform.api.ads.accounts.users_and_apps import find_full_user, find_promotable_type
from tests.api.ads.support import echo, get, ids
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, data_of

HARBOR_USER, NORTHBIKE_USER, INES = "2244994945", "3805104374", "2790441185"


def test_kinds_of_promotable_users(box: Sandbox) -> None:
    """The account's own user, one for reposts only, and users who only work with it or are gone."""
    users = {HARBOR_USER: "FULL", NORTHBIKE_USER: "REPOSTS_ONLY", INES: None}

    assert users == {user: find_promotable_type(box.world, ACCOUNT, user) for user in users}
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


ALL_APPS = ["tf", "tg", "ub", "ve"]
"""The apps of the account; the last one is deleted."""


@pytest.mark.spec("B, Account app", "id, app_store_identifier")
def test_an_app(box: Sandbox) -> None:
    """An app has the documented fields and no other ones; each account lists its own."""
    response = get(box, "account_apps")

    assert echo(response) == {"account_id": ACCOUNT}
    assert data_of(response)[0] == {
        "id": "tf", "app_store_identifier": "1423330822", "conversion_tracking_enabled": True,
        "deep_link_pattern": "harborroasters://subscribe", "os_type": "iOS",
        "created_at": "2025-02-11T09:20:00Z", "updated_at": "2026-06-01T12:00:00Z",
        "deleted": False,
    }  # fmt: skip
    other = box.call("GET", f"/12/accounts/{OTHER_ACCOUNT}/account_apps", keys=NORTHBIKE)
    assert (ids(response), ids(other)) == (ALL_APPS[:3], ["x8", "x9"])


@pytest.mark.spec("B, Accounts", "GET /12/accounts/:account_id/account_apps")
def test_deleted_apps_and_totals(box: Sandbox) -> None:
    """with_deleted adds the deleted ones, and the total counts them."""
    totals = [
        get(box, "account_apps", count=1, with_total_count="true", with_deleted=value)
        for value in ("true", "false")
    ]

    assert [answer.get_json()["total_count"] for answer in totals] == [4, 3]
    assert ids(get(box, "account_apps", with_deleted="true")) == ALL_APPS
