"""Uploads of users: every rule of both batches of document B, just inside and just outside."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.ads.audiences.support import (
    AUDIENCE,
    DO_NOT_REACH_LIST,
    EMAIL,
    base,
    hashed,
    update,
    upload,
)
from tests.generated import examples
from tests.support import (
    ACCOUNT,
    NORTHBIKE,
    OTHER_ACCOUNT,
    Sandbox,
    Sandboxes,
    data_of,
    faults,
    refusal,
)

pytestmark = pytest.mark.usefixtures("noon")

FROZEN = "2026-11-20T12:00:00Z"


def stored(box: Sandbox, audience: str = "1nmth") -> list[dict[str, Any]]:
    """The users of an audience."""
    found = box.world.store.page("audience_users", {"_audience_id": audience})
    return [entry.record for entry in found]


@pytest.mark.spec("operations", "custom_audiences.users")
@pytest.mark.spec("B, Custom audiences", "params.effective_at", "params.expires_at")
@pytest.mark.spec("B, Custom audiences", "Several identifier", "Response data: {success_count")
def test_users_are_stored_with_defaults(box: Sandbox) -> None:
    """effective_at is now, expires_at 13 calendar months after the request."""
    size = box.record("custom_audiences", "1nmth")["audience_size"]
    sent = {"email": [EMAIL], "partner_user_id": ["Plain-7"]}
    response = upload(box, [update(sent)])

    assert response.get_json() == {
        "request": {"params": {"account_id": ACCOUNT, "custom_audience_id": "1nmth"}},
        "data": {"success_count": 1, "total_count": 1},
    }
    (user,) = stored(box)
    assert user["identifiers"] == sent
    assert (user["effective_at"], user["expires_at"]) == (FROZEN, "2027-12-20T12:00:00Z")
    assert box.record("custom_audiences", "1nmth")["audience_size"] == size + 1


@pytest.mark.spec("B, Custom audiences", "Each user object", "Every value except")
@pytest.mark.parametrize(
    "kind", ["email", "device_id", "handle", "platform_id", "phone_number", "partner_user_id"]
)
def test_each_identifier_is_taken(box: Sandbox, kind: str) -> None:
    """Each of the six kinds identifies a user by itself; hashes may be in either case."""
    values = [hashed("a"), hashed("b").upper()] if kind != "partner_user_id" else ["Plain 7", "8"]
    response = upload(box, [update({kind: values})])

    assert {"success_count": 1, "total_count": 1} == response.get_json()["data"]
    assert [{kind: values}] == [user["identifiers"] for user in stored(box)]


@pytest.mark.spec("B, Custom audiences", "Response data: {success_count")
def test_counts_are_of_users(box: Sandbox) -> None:
    """Two operations with two users each count four."""
    batch = [
        update({"email": [hashed(each)]}, {"handle": [hashed(f"h{each}")]}) for each in ("a", "b")
    ]

    assert data_of(upload(box, batch)) == {"success_count": 4, "total_count": 4}


def test_the_same_user_again_is_replaced(box: Sandbox) -> None:
    """Sending the same identifiers twice keeps one user, with the later dates."""
    upload(box, [update({"email": [EMAIL]})])
    upload(box, [update({"email": [EMAIL.upper()]}, expires_at="2026-12-01T00:00:00Z")])
    (user,) = stored(box)
    assert user["expires_at"] == "2026-12-01T00:00:00Z"


def test_a_repeated_identifier_counts_once(box: Sandbox) -> None:
    """A user is identified by the set of its identifiers, in which each has its place once."""
    upload(box, [update({"email": [EMAIL]}), update({"email": [EMAIL, EMAIL.upper()]})])

    assert [{"email": [EMAIL, EMAIL.upper()]}] == [user["identifiers"] for user in stored(box)]


@pytest.mark.spec("B, Custom audiences", "Each user object")
@pytest.mark.parametrize("value", [1, None, True, "x", [5], [[]], {"email": 1}])
@pytest.mark.parametrize(("path", "audience"), [(AUDIENCE, "1nmth"), (DO_NOT_REACH_LIST, "4y1bc")])
def test_an_unknown_key_of_a_user_identifies_nobody(
    box: Sandbox, path: str, audience: str, value: Any
) -> None:
    """A key beside the identifiers is ignored whatever its type: not kept, and no reason to go."""
    others = [update({"email": [hashed(each)], "mail": value}) for each in ("a", "b")]
    gone = update({"email": [hashed("a")], "mail": value}, kind="Delete")
    box.clear("audience_users")
    response = upload(box, [*others, gone], path)

    assert (response.status_code, "unknown-key") == (200, response.headers["X-Mock-Warnings"])
    assert [{"email": [hashed("b")]}] == [user["identifiers"] for user in stored(box, audience)]


@pytest.mark.spec("B, Custom audiences", "operation_type")
def test_delete_takes_users_out_by_any_identifier(box: Sandbox) -> None:
    """One shared identifier is enough; other users stay."""
    handle, other = hashed("ada"), {"email": [hashed("b")]}
    upload(box, [update({"email": [EMAIL], "handle": [handle]}, other)])
    response = upload(box, [update({"handle": [handle]}, kind="Delete")])

    assert data_of(response) == {"success_count": 1, "total_count": 1}
    assert [user["identifiers"] for user in stored(box)] == [other]


@pytest.mark.spec("B, Custom audiences", "Batches succeed")
def test_operations_are_applied_in_order(box: Sandbox) -> None:
    """A user added and removed within one batch is out; the other way round it is in."""
    user = {"email": [EMAIL]}
    upload(box, [update(user), update(user, kind="Delete")])
    gone = stored(box)
    upload(box, [update(user, kind="Delete"), update(user)])

    assert (gone, len(stored(box))) == ([], 1)


def test_a_batch_of_turns_ends_as_its_last_turn(box: Sandbox) -> None:
    """Users put in after a Delete are found by the next one, and only those it names are gone."""
    ada, bob = {"email": [EMAIL], "handle": [hashed("ada")]}, {"email": [hashed("bob")]}
    size = box.record("custom_audiences", "1nmth")["audience_size"]
    out = update({"handle": [hashed("ada")]}, kind="Delete")
    upload(box, [update(ada), out, update(ada, bob), out, out, update(ada), update(ada), out])

    assert [bob] == [user["identifiers"] for user in stored(box)]
    assert box.record("custom_audiences", "1nmth")["audience_size"] == size + 1


SOUND = {"email": [EMAIL]}
BAD_ITEMS = [
    ("operation_type is required", {"params": {"users": [SOUND]}}, "operation_type"),
    ("operation_type is Update or Delete", update(SOUND, kind="UPDATE"), "operation_type"),
    ("params is required", {"operation_type": "Update"}, "params"),
    ("users is required", {"operation_type": "Update", "params": {}}, "users"),
    ("users is an array", {"operation_type": "Update", "params": {"users": {}}}, "users"),
    ("a user is an object", update("x"), "users[0]"),
    ("a user has an identifier", update({}), "users[0]"),
    ("identifiers are known", update({"mail": [EMAIL]}), "users[0]"),
    ("identifiers are arrays", update({"email": EMAIL}), "users[0].email"),
    ("email is hashed", update({"email": ["a@b.c"]}), "users[0].email[0]"),
    ("phone is hashed", update({"phone_number": ["+1"]}), "users[0].phone_number[0]"),
    ("a hash has 64 digits", update({"email": [EMAIL[:-1]]}), "users[0].email[0]"),
    ("a hash has no more", update({"email": [EMAIL + "0"]}), "users[0].email[0]"),
    ("a hash is hex", update({"email": ["g" * 64]}), "users[0].email[0]"),
    ("an expiry is ISO 8601", update(SOUND, expires_at="soon"), "expires_at"),
    ("expiry is after now", update(SOUND, expires_at=FROZEN), "expires_at"),
]
BAD_ITEMS_OF_AUDIENCES = [
    ("device_id is hashed", update({"device_id": ["x"]}), "users[0].device_id[0]"),
    ("handle is hashed", update({"handle": ["@ada"]}), "users[0].handle[0]"),
    ("platform_id is hashed", update({"platform_id": ["12"]}), "users[0].platform_id[0]"),
    ("partner id is not empty", update({"partner_user_id": [""]}),
     "users[0].partner_user_id[0]"),
    ("times are ISO 8601", update(SOUND, effective_at="soon"), "effective_at"),
    ("expiry is after effective", update(SOUND, effective_at="2027-01-01T00:00:00Z",
                                         expires_at="2027-01-01T00:00:00Z"), "expires_at"),
    ("expiry by default is after effective", update(SOUND, effective_at="2027-12-20T12:00:00Z"),
     "expires_at"),
]  # fmt: skip


@pytest.mark.spec("B, Custom audiences", "operation_type", case="operation_type is required")
@pytest.mark.spec("B, Custom audiences", "operation_type", case="operation_type is Update or")
@pytest.mark.spec("B, Custom audiences", "params: required", case="params is required")
@pytest.mark.spec("B, Custom audiences", "params.users: required", case="users is required")
@pytest.mark.spec("B, Custom audiences", "params.users: required", case="a user is an object")
@pytest.mark.spec("B, Custom audiences", "params.effective_at", case="times are ISO 8601")
@pytest.mark.spec("B, Custom audiences", "params.expires_at", case="expiry is after effective")
@pytest.mark.spec("B, Custom audiences", "Each user object", case="identifiers are known")
@pytest.mark.spec("B, Custom audiences", "Each user object", case="identifiers are arrays")
@pytest.mark.spec("B, Custom audiences", "Every value except", case="email is hashed")
@pytest.mark.spec("B, Custom audiences", "Every value except", case=("device_id is", "handle is"))
@pytest.mark.spec("B, Custom audiences", "Every value except", case=("platform_id is", "phone is"))
@pytest.mark.spec("B, Custom audiences", "Batch errors: request-level", "Batches succeed")
@pytest.mark.spec("operations", "do_not_reach_lists.users")
@pytest.mark.spec("B, Do-not-reach lists", "Same batch error")
@pytest.mark.spec("B, Do-not-reach lists", "users (array of", case="phone is hashed")
@pytest.mark.spec("B, Errors", "Batch uploads report")
@pytest.mark.parametrize(("path", "rule", "item", "parameter"), [
    *((AUDIENCE, *row) for row in (*BAD_ITEMS, *BAD_ITEMS_OF_AUDIENCES)),
    *((DO_NOT_REACH_LIST, *row) for row in BAD_ITEMS),
])  # fmt: skip
def test_a_bad_item_refuses_the_whole_batch(
    box: Sandbox, path: str, rule: str, item: dict[str, Any], parameter: str
) -> None:
    """Item faults are under operation_errors at their index; nothing of the batch is kept."""
    before = box.world.store.count("audience_users")
    response = upload(box, [update(SOUND), item, update(SOUND)], path)
    body = response.get_json()

    assert response.status_code == 400, rule
    assert {"operation_errors", "request"} == body.keys()
    assert [len(errors) for errors in body["operation_errors"]] == [0, 1, 0]
    error = body["operation_errors"][1][0]
    assert ({"code", "message", "parameter"}, parameter) == (error.keys(), error["parameter"])
    assert error["code"] in {"INVALID_PARAMETER", "MISSING_PARAMETER"}
    assert error["message"]
    assert before == box.world.store.count("audience_users")


@pytest.mark.spec("B, Custom audiences", "Body is an array", "Batch errors: request-level")
@pytest.mark.spec("B, Do-not-reach lists", "Same batch error")
@pytest.mark.spec("B, Errors", "Batch uploads report")
@pytest.mark.parametrize("path", [AUDIENCE, DO_NOT_REACH_LIST])
@pytest.mark.parametrize("body", [{}, [], "x", 5, b"["])
def test_request_level_faults_stand_under_errors(box: Sandbox, path: str, body: Any) -> None:
    """What is wrong with the request as a whole is not an item's fault."""
    response = upload(box, body, path)

    assert (400, "INVALID_PARAMETER") == (response.status_code, faults(response)[0][0])
    assert "operation_errors" not in response.get_json()


@pytest.mark.spec("B, Custom audiences", "params.expires_at")
def test_dates_just_inside_are_taken(box: Sandbox) -> None:
    """An expiry one second after the effective date is fine, also the one by default."""
    batch = [
        update(SOUND, expires_at="2026-11-20T12:00:01Z"),
        update(SOUND, effective_at="2027-12-20T11:59:59Z"),
        update(SOUND, effective_at="2027-12-20T12:00:00Z", expires_at="2027-12-20T12:00:01Z"),
        update(SOUND, effective_at="2027-01-01T00:00:00Z", expires_at="2027-01-01T00:00:01Z"),
    ]

    assert upload(box, batch).status_code == 200


@pytest.mark.spec("B, Limits", "Custom audience users batch: 2500")
@pytest.mark.parametrize(("operations", "status"), [(2500, 200), (2501, 400)])
def test_a_request_has_at_most_2500_operations(box: Sandbox, operations: int, status: int) -> None:
    """2,500 operations pass, one more is a request-level error."""
    batch = [update({"partner_user_id": [str(n)]}) for n in range(operations)]
    response = upload(box, batch)

    assert response.status_code == status
    assert ("errors" in response.get_json()) is (status == 400)
    assert len(stored(box)) == (operations if status == 200 else 0)


@pytest.mark.spec("B, Limits", "Custom audience users batch: body")
@pytest.mark.parametrize(("size", "status"), [(5_000_000, 200), (5_000_001, 413)])
def test_a_body_has_at_most_five_million_bytes(box: Sandbox, size: int, status: int) -> None:
    """A body of exactly 5,000,000 bytes passes, one more byte is 413."""
    body = json.dumps([update(SOUND)]).encode()

    assert upload(box, body + b" " * (size - len(body))).status_code == status


@pytest.mark.spec("B, Limits", "Custom audience users batch: 1500")
def test_uploads_are_limited_to_1500_a_minute(box: Sandbox) -> None:
    """The 1,500th request of a minute passes, the 1,501st is 429, the next minute is free."""
    key = ("custom_audiences.users", "audience uploads", "2244994945")
    first = upload(box, [update(SOUND)])
    for _ in range(1498):
        box.world.windows.count(key, 1500, 60)
    last = upload(box, [update(SOUND)])
    over = upload(box, [update(SOUND)])
    box.world.clock.advance(60)
    later = upload(box, [update(SOUND)])

    assert first.headers["x-rate-limit-limit"] == "1500"
    assert (last.status_code, last.headers["x-rate-limit-remaining"]) == (200, "0")
    assert refusal(over) == (429, [("TOO_MANY_REQUESTS", None)])
    assert later.status_code == 200


def test_who_may_upload(box: Sandbox) -> None:
    """READ_ONLY may not change an audience, READ_WRITE may; parameters come before records."""
    batch = [update(SOUND)]
    keys = ("4q7sd", "4q9zz", "nope")
    found = [upload(box, batch, f"{base(key)}/users").status_code for key in keys]
    own = upload(box, batch, f"{base('4q7sd', OTHER_ACCOUNT)}/users", keys=NORTHBIKE)

    assert [403, 200, 404] == found
    assert own.status_code == 200
    assert upload(box, [{}], f"{base('nope')}/users").status_code == 400


@examples(40)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from(
                        ["operation_type", "params", "users", "email", "expires_at", "x"]),
                        inner, max_size=4), max_leaves=12))  # fmt: skip
def test_no_body_brings_the_sandbox_down(sandboxes: Sandboxes, body: Any) -> None:
    """Whatever JSON is sent, the answer is a success or a refusal with a reason."""
    box = sandboxes.get()

    assert upload(box, body).status_code in {200, 400}
    assert box.platform.errors == []
