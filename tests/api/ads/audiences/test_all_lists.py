"""Custom audiences themselves, permissions under version 12, and do-not-reach lists."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.ads.audiences.support import EMAIL, hashed, update, upload
from tests.api.ads.line_items.parts import BASE, call, data
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, faults, refusal

NEWSLETTER, APP_USERS, SMALL, YOUNG, GONE = "1nmth", "2906h", "2b4kp", "2c9xv", "2d0aa"
SHARED_TO_READ, SHARED_TO_WRITE, CAFE_OWNERS = "4q7sd", "4q9zz", "3m8qe"
WHOLESALE, EUROPE = "18ce55fw2ag", "18ce5b7qk2c"
KEYS = [
    "audience_size", "audience_type", "created_at", "deleted", "description", "id", "name",
    "owner_account_id", "partner_source", "permission_level", "reasons_not_targetable",
    "targetable", "targetable_types", "updated_at",
]  # fmt: skip


def ids(response: TestResponse) -> list[str]:
    """The ids of a list."""
    return [record["id"] for record in data(response)]


# -- audiences ----------------------------------------------------------------------------------


def test_a_new_audience_is_processed(box: Sandbox) -> None:
    """It is not targetable and has no size, until its hour is over; GET answers at once."""
    made = data(call(box, "POST", "custom_audiences", name="Gift buyers"))
    read = data(call(box, "GET", f"custom_audiences/{made['id']}"))
    users = [{"email": [hashed(str(number))]} for number in range(100)]
    path = f"{BASE}/custom_audiences/{made['id']}/users"
    assert upload(box, [update(*users)], path).status_code == 200
    uploaded = data(call(box, "GET", f"custom_audiences/{made['id']}"))
    box.world.clock.advance(3600)
    done = data(call(box, "GET", f"custom_audiences/{made['id']}"))

    assert sorted(made) == KEYS
    assert made == read
    for record in (made, uploaded):
        assert (record["targetable"], record["audience_size"]) == (False, None)
        assert record["reasons_not_targetable"] == ["PROCESSING", "TOO_SMALL"]
    assert (made["owner_account_id"], made["permission_level"]) == (ACCOUNT, "READ_WRITE")
    assert (made["description"], made["partner_source"]) == (None, "OTHER")
    assert (done["targetable"], done["audience_size"]) == (True, 100)
    assert done["reasons_not_targetable"] == []


def test_an_audience_below_a_hundred_users(box: Sandbox) -> None:
    """After its processing 99 users are too small, one more is enough."""
    made = data(call(box, "POST", "custom_audiences", name="Gift buyers"))
    path = f"{BASE}/custom_audiences/{made['id']}/users"
    box.world.clock.advance(3600)
    users = [{"email": [hashed(str(number))]} for number in range(99)]
    upload(box, [update(*users)], path)
    small = data(call(box, "GET", f"custom_audiences/{made['id']}"))
    upload(box, [update({"email": [EMAIL]})], path)
    enough = data(call(box, "GET", f"custom_audiences/{made['id']}"))

    assert (small["audience_size"], small["reasons_not_targetable"]) == (99, ["TOO_SMALL"])
    assert (enough["audience_size"], enough["targetable"]) == (100, True)


def test_the_processing_is_a_transition(box: Sandbox) -> None:
    """A test may end it at once; a young audience of the fixtures has one as well."""
    with box.world.work():
        box.world.transitions.set_pace("audience", progression="immediate")
    made = data(call(box, "POST", "custom_audiences", name="Gift buyers", description="2026"))
    young = data(call(box, "GET", f"custom_audiences/{YOUNG}"))

    assert (made["reasons_not_targetable"], made["audience_size"]) == (["TOO_SMALL"], 0)
    assert made["description"] == "2026"
    assert young["reasons_not_targetable"] == ["TOO_SMALL"]


def test_an_audience_that_is_processed_can_be_targeted(box: Sandbox) -> None:
    """Targeting needs the end of the processing."""
    box.change("custom_audiences", YOUNG, _size=500)
    target = {
        "line_item_id": "iumz0", "targeting_type": "CUSTOM_AUDIENCE", "targeting_value": YOUNG,
        "operator_type": "EQ",
    }  # fmt: skip
    before = call(box, "POST", "targeting_criteria", **target)
    box.world.clock.advance(3600)
    after = call(box, "POST", "targeting_criteria", **target)

    assert refusal(before) == (400, [("INVALID_PARAMETER", "targeting_value")])
    assert after.status_code == 200


def test_own_and_shared_audiences_are_listed(box: Sandbox) -> None:
    """By default those of the account, with SHARED those that others share with it."""
    own = call(box, "GET", "custom_audiences")
    shared = call(box, "GET", "custom_audiences", permission_scope="SHARED")
    everything = call(box, "GET", "custom_audiences", with_deleted="true", with_total_count="true")

    assert ids(own) == [NEWSLETTER, APP_USERS, SMALL, YOUNG]
    assert {one["id"]: one["permission_level"] for one in data(shared)} == {
        CAFE_OWNERS: "READ_ONLY",
        SHARED_TO_READ: "READ_ONLY",
        SHARED_TO_WRITE: "READ_WRITE",
    }
    assert ACCOUNT not in {one["owner_account_id"] for one in data(shared)}
    assert GONE in ids(everything)
    assert everything.get_json()["total_count"] == 5


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"custom_audience_ids": f"{APP_USERS},{SHARED_TO_READ}"}, [APP_USERS]),
        ({"q": "NEWS"}, [NEWSLETTER]),
        ({"q": "letter"}, []),
        ({"q": "gravel", "permission_scope": "SHARED"}, [SHARED_TO_READ]),
        ({"q": "app", "custom_audience_ids": NEWSLETTER}, []),
        ({"sort_by": "name-asc"}, [APP_USERS, YOUNG, NEWSLETTER, SMALL]),
    ],
)
def test_filters(box: Sandbox, query: dict[str, str], found: list[str]) -> None:
    """Ids and the beginning of the name restrict the list, in any case."""
    assert found == ids(call(box, "GET", "custom_audiences", **query))


@pytest.mark.parametrize(("length", "status"), [(0, 400), (1, 200), (255, 200), (256, 400)])
def test_the_length_of_q(box: Sandbox, length: int, status: int) -> None:
    """A name is searched by 1 to 255 characters."""
    assert call(box, "GET", "custom_audiences", q="x" * length).status_code == status


def test_a_shared_audience_is_read_with_its_level(box: Sandbox) -> None:
    """An audience of another account shows the level of the permission."""
    record = data(call(box, "GET", f"custom_audiences/{SHARED_TO_READ}"))

    assert (record["permission_level"], record["owner_account_id"]) == ("READ_ONLY", OTHER_ACCOUNT)


def test_an_audience_is_changed(box: Sandbox) -> None:
    """The answer has is_owner as well; an empty description unsets it, nothing changes nothing."""
    changed = data(call(box, "PUT", f"custom_audiences/{NEWSLETTER}", name="Readers"))
    unset = data(call(box, "PUT", f"custom_audiences/{NEWSLETTER}", description=""))
    same = data(call(box, "PUT", f"custom_audiences/{NEWSLETTER}"))
    read = data(call(box, "GET", f"custom_audiences/{NEWSLETTER}"))

    assert (changed["name"], changed["is_owner"]) == ("Readers", True)
    assert (unset["description"], same) == (None, unset)
    assert {**read, "is_owner": True} == same
    assert "is_owner" not in read


def test_who_may_change_an_audience(box: Sandbox) -> None:
    """READ_WRITE is enough to change it, READ_ONLY is not; only the owner deletes it."""
    written = call(box, "PUT", f"custom_audiences/{SHARED_TO_WRITE}", description="Guests")
    read_only = call(box, "PUT", f"custom_audiences/{SHARED_TO_READ}", description="Guests")
    deleted = call(box, "DELETE", f"custom_audiences/{SHARED_TO_WRITE}")

    assert (data(written)["description"], data(written)["is_owner"]) == ("Guests", False)
    assert refusal(read_only) == (403, [("ACTION_NOT_ALLOWED", None)])
    assert refusal(deleted) == (403, [("ACTION_NOT_ALLOWED", None)])


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "custom_audiences"), ("PUT", f"custom_audiences/{APP_USERS}")]
)
def test_a_name_is_unique_in_the_account(box: Sandbox, method: str, path: str) -> None:
    """The name of another audience is refused; its own, a deleted one's or a foreign one is not."""
    taken = call(box, method, path, name="Newsletter readers")
    old = call(box, method, path, name="Old customers")
    foreign = call(box, method, path, name="Gravel riders")

    assert refusal(taken) == (400, [("INVALID_PARAMETER", "name")])
    assert (old.status_code, foreign.status_code) == (200, 200)
    own = call(box, "PUT", f"custom_audiences/{NEWSLETTER}", name="Newsletter readers")
    assert own.status_code == 200


def test_a_name_is_required(box: Sandbox) -> None:
    """An audience without name is refused."""
    assert faults(call(box, "POST", "custom_audiences")) == [("MISSING_PARAMETER", "name")]


def test_a_deleted_audience(box: Sandbox) -> None:
    """It is found with_deleted only; its criteria stay, and targeted still lists them."""
    before = box.call("GET", f"{BASE}/custom_audiences/{NEWSLETTER}/targeted").get_json()["data"]
    gone = data(call(box, "DELETE", f"custom_audiences/{NEWSLETTER}"))
    again = call(box, "DELETE", f"custom_audiences/{NEWSLETTER}")
    after = box.call("GET", f"{BASE}/custom_audiences/{NEWSLETTER}/targeted").get_json()["data"]
    read = call(box, "GET", f"custom_audiences/{NEWSLETTER}", with_deleted="true")

    assert gone["deleted"] is True
    assert refusal(again) == (404, [("NOT_FOUND", "custom_audience_id")])
    assert call(box, "GET", f"custom_audiences/{NEWSLETTER}").status_code == 404
    assert data(read) == gone
    assert before == after != []


# -- permissions --------------------------------------------------------------------------------


def test_a_permission_is_granted_and_revoked(box: Sandbox) -> None:
    """The record names the custom audience; version 5 sees the same permission."""
    path = f"custom_audiences/{SMALL}/permissions"
    made = data(call(box, "POST", path, granted_account_id=WHOLESALE, permission_level="READ_ONLY"))
    older = box.call(
        "GET", f"/5/accounts/{ACCOUNT}/tailored_audiences/{SMALL}/permissions"
    ).get_json()["data"]
    gone = data(call(box, "DELETE", f"{path}/{made['id']}"))
    again = call(box, "DELETE", f"{path}/{made['id']}")

    assert sorted(made) == sorted(
        ["id", "custom_audience_id", "granted_account_id", "permission_level", "created_at",
         "updated_at", "deleted"]
    )  # fmt: skip
    assert (made["custom_audience_id"], made["granted_account_id"]) == (SMALL, WHOLESALE)
    assert [one["id"] for one in older] == [made["id"]]
    assert gone["deleted"] is True
    assert refusal(again) == (404, [("NOT_FOUND", "custom_audience_permission_id")])


GRANTS: list[Any] = [
    (SHARED_TO_WRITE, EUROPE, 403, [("ACTION_NOT_ALLOWED", None)]),
    (SMALL, ACCOUNT, 400, [("INVALID_PARAMETER", "granted_account_id")]),
    (SMALL, "nope", 403, [("ACCOUNT_NOT_FOUND", "granted_account_id")]),
    (SMALL, OTHER_ACCOUNT, 400, [("FEATURE_NOT_AVAILABLE", "granted_account_id")]),
    (NEWSLETTER, WHOLESALE, 400, [("INVALID_PARAMETER", "granted_account_id")]),
    ("nope", WHOLESALE, 404, [("NOT_FOUND", "custom_audience_id")]),
]


@pytest.mark.parametrize(("audience", "account", "status", "errors"), GRANTS)
def test_what_cannot_be_granted(
    box: Sandbox, audience: str, account: str, status: int, errors: Any
) -> None:
    """The rules are those of version 5."""
    response = call(
        box, "POST", f"custom_audiences/{audience}/permissions", granted_account_id=account,
        permission_level="READ_ONLY",
    )  # fmt: skip

    assert refusal(response) == (status, errors)


def test_only_the_owner_revokes(box: Sandbox) -> None:
    """The account that has a permission cannot revoke it."""
    response = call(box, "DELETE", f"custom_audiences/{SHARED_TO_READ}/permissions/15c")

    assert refusal(response) == (403, [("ACTION_NOT_ALLOWED", None)])


# -- do-not-reach lists -------------------------------------------------------------------------


def test_the_list_of_an_account(box: Sandbox) -> None:
    """An account has one list; a second one is refused while it lives."""
    listed = call(box, "GET", "do_not_reach_lists")
    second = call(box, "POST", "do_not_reach_lists", description="Another")
    assert call(box, "DELETE", "do_not_reach_lists/4y1bc").status_code == 200
    made = data(call(box, "POST", "do_not_reach_lists", description="Another"))
    everything = call(box, "GET", "do_not_reach_lists", with_deleted="true")

    assert listed.get_json()["next_cursor"] is None
    assert ids(listed) == ["4y1bc"]
    assert refusal(second) == (400, [("INVALID_PARAMETER", "")])
    assert ids(everything) == ["4y1bc", made["id"]]
    assert (made["name"], made["description"]) == ("Do Not Reach List", "Another")
    assert (made["targetable"], made["list_size"]) == (False, None)
    assert made["reasons_not_targetable"] == ["PROCESSING", "TOO_SMALL"]


def test_a_new_list_is_processed(box: Sandbox) -> None:
    """After an hour it is only too small; its users are counted from the beginning."""
    assert call(box, "DELETE", "do_not_reach_lists/4y1bc").status_code == 200
    made = data(call(box, "POST", "do_not_reach_lists"))
    path = f"/12/batch/accounts/{ACCOUNT}/do_not_reach_lists/{made['id']}/users"
    assert upload(box, [update({"email": [EMAIL]})], path).status_code == 200
    box.world.clock.advance(3600)

    assert made["description"] is None
    (after,) = data(call(box, "GET", "do_not_reach_lists"))
    assert after["reasons_not_targetable"] == ["TOO_SMALL"]
    assert box.record("do_not_reach_lists", made["id"])["_size"] == 1


def test_lists_are_those_of_the_account(box: Sandbox) -> None:
    """Another user's account has its own list."""
    response = box.call("GET", f"/12/accounts/{OTHER_ACCOUNT}/do_not_reach_lists", keys=NORTHBIKE)

    assert ids(response) == ["4y3fg"]
