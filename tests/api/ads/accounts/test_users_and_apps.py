"""Whose posts an account may promote."""

from __future__ import annotations

import pytest

from mock_platform.api.ads.accounts.users_and_apps import find_full_user, find_promotable_type
from tests.support import ACCOUNT, OTHER_ACCOUNT, Sandbox

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
