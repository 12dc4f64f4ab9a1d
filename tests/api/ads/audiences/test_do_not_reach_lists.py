"""Do-not-reach lists: uploads and deletion (document B)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from werkzeug.test import TestResponse

from mock_platform.api.ads.audiences.users import add_months
from tests.api.ads.audiences import support as audiences
from tests.api.ads.audiences.support import DO_NOT_REACH_LIST, hashed, update
from tests.api.ads.support import drop, get, ids, load, make, post
from tests.support import ACCOUNT, NORTHBIKE, OTHER_ACCOUNT, Sandbox, refusal, sandbox

pytestmark = pytest.mark.usefixtures("noon")

LIST = "4y1bc"
EMAIL = hashed("ada@example.com").upper()
PHONE = hashed("+15550199")


def upload(box: Sandbox, body: Any, key: str = LIST) -> TestResponse:
    """Send a batch."""
    return audiences.upload(box, body, DO_NOT_REACH_LIST.replace(LIST, key))


@pytest.mark.spec("operations", "do_not_reach_lists.users")
@pytest.mark.spec("B, Do-not-reach lists", "Response data: array")
@pytest.mark.spec("B, What public facts and settled questions add", "The batch of a")
def test_a_batch_answers_per_operation(box: Sandbox) -> None:
    """Data and the echoed request are parallel to the input; users are not echoed.

    expires_at is echoed with seconds and Z whatever its form was, and not if it was null.
    """
    user = {"email": [EMAIL]}
    answer = upload(box, [
        update(user, {"phone_number": [PHONE]}, expires_at=None),
        update({"email": [EMAIL.lower()]}, kind="Delete", expires_at="2027-01-01"),
    ])  # fmt: skip
    ids = {"account_id": ACCOUNT, "do_not_reach_list_id": LIST}

    assert answer.get_json() == {
        "request": [
            {"params": ids, "operation_type": "Update"},
            {"params": {"expires_at": "2027-01-01T00:00:00Z", **ids}, "operation_type": "Delete"},
        ],
        "data": [{"success_count": 2, "total_count": 2}, {"success_count": 1, "total_count": 1}],
    }
    assert box.record("do_not_reach_lists", LIST)["_size"] == 3


@pytest.mark.spec("B, Do-not-reach lists", "expires_at (ISO")
@pytest.mark.parametrize(("expires_at", "status"), [
    ("2026-11-20T12:00:00Z", 400), ("2026-11-20T12:00:01Z", 200), ("2027-12-20T12:00:00Z", 200),
    ("2027-12-20T12:00:01Z", 400),
])  # fmt: skip
def test_expiry_is_later_than_now_and_within_13_months(
    box: Sandbox, expires_at: str, status: int
) -> None:
    """expires_at is tried just inside and just outside of both ends."""
    response = upload(box, [update({"email": [EMAIL]}, expires_at=expires_at)])

    assert response.status_code == status
    if status == 400:
        (errors,) = response.get_json()["operation_errors"]
        assert [e["parameter"] for e in errors] == ["expires_at"]


@pytest.mark.spec("B, Custom audiences", "params.expires_at")
@pytest.mark.parametrize(("start", "end"), [
    ("2026-01-31T00:00:00+00:00", "2027-02-28T00:00:00+00:00"),
    ("2027-01-31T00:00:00+00:00", "2028-02-29T00:00:00+00:00"),
    ("2026-12-31T23:59:59+00:00", "2028-01-31T23:59:59+00:00"),
])  # fmt: skip
def test_thirteen_months_are_calendar_months(start: str, end: str) -> None:
    """A day that the month lacks is its last."""
    assert add_months(datetime.fromisoformat(start)) == datetime.fromisoformat(end)


@pytest.mark.spec("B, Do-not-reach lists", "users (array of")
@pytest.mark.parametrize("kind", ["handle", "device_id", "platform_id", "partner_user_id"])
def test_only_email_and_phone_number_are_taken(box: Sandbox, kind: str) -> None:
    """A user with other identifiers of custom audiences alone is refused; nothing is kept."""
    response = upload(box, [update({"email": [EMAIL]}), update({kind: [PHONE]})])

    assert response.status_code == 400
    assert [len(errors) for errors in response.get_json()["operation_errors"]] == [0, 1]
    assert box.record("do_not_reach_lists", LIST)["_size"] == 2


@pytest.mark.spec("operations", "do_not_reach_lists.delete")
def test_a_list_is_deleted_once(box: Sandbox) -> None:
    """The list comes back deleted; afterwards it is not found, neither for uploads."""
    gone = drop(box, f"do_not_reach_lists/{LIST}")

    assert (gone["deleted"], gone["id"]) == (True, LIST)
    assert upload(box, [update({"email": [EMAIL]})]).status_code == 404


@pytest.mark.spec("B, Do-not-reach list", "id, name, description")
def test_a_small_list_is_not_targetable(box: Sandbox) -> None:
    """With 100 users the list stops being TOO_SMALL, and only then its size is shown."""
    users = [{"email": [hashed(str(n))]} for n in range(98)]
    upload(box, [update(*users[:97])])
    small = box.record("do_not_reach_lists", LIST)
    upload(box, [update(users[97])])
    enough = box.record("do_not_reach_lists", LIST)

    assert (small["list_size"], small["reasons_not_targetable"]) == (None, ["TOO_SMALL"])
    assert (enough["list_size"], enough["targetable"]) == (100, True)
    assert [] == enough["reasons_not_targetable"]


@pytest.mark.spec("B, Do-not-reach lists", "expires_at (ISO")
def test_expiry_defaults_to_13_months(box: Sandbox) -> None:
    """Without expires_at a user stays 13 calendar months; one that is sent is kept."""
    before = {entry.key for entry in box.world.store.page("audience_users")}
    dated = update({"phone_number": [PHONE]}, expires_at="2027-01-01T00:00:00Z")
    upload(box, [update({"email": [EMAIL]}), dated])
    new = [e.record for e in box.world.store.page("audience_users") if e.key not in before]

    assert {"email": "2027-12-20T12:00:00Z", "phone_number": "2027-01-01T00:00:00Z"} == {
        next(iter(user["identifiers"])): user["expires_at"] for user in new
    }
    assert {("2026-11-20T12:00:00Z", LIST)} == {(u["effective_at"], u["_audience_id"]) for u in new}


YOUNG = {
    "targetable": False, "reasons_not_targetable": ["PROCESSING", "TOO_SMALL"], "list_size": None,
}  # fmt: skip
SMALL = {"targetable": False, "reasons_not_targetable": ["TOO_SMALL"], "list_size": None}
ENOUGH = {"targetable": True, "reasons_not_targetable": [], "list_size": 100}


class TestYoungLists:
    """A new list is being processed until its transition."""

    def shown(self, box: Sandbox, key: str = "4y2de") -> dict[str, Any]:
        """What a list shows of its state."""
        record = box.client.get(f"/_mock/state/do_not_reach_lists/{key}").get_json()
        return {name: record[name] for name in YOUNG}

    def put(self, box: Sandbox, **fields: Any) -> TestResponse:
        """Put a list in from outside."""
        record = {"_account_id": ACCOUNT, **fields}
        return box.client.put("/_mock/state/do_not_reach_lists/9zz", json=record)

    def pace(self, box: Sandbox, **pace: Any) -> dict[str, Any]:
        """Set how fast lists are processed."""
        path = "/_mock/transitions/do_not_reach_list"
        found: dict[str, Any] = box.client.put(path, json=pace).get_json()
        return found

    def test_the_kind(self) -> None:
        """The kind is listed with the others, with the young list of the fixtures."""
        kind = sandbox().client.get("/_mock/transitions").get_json()["do_not_reach_list"]

        assert {
            "progression": "time", "seconds": 3600, "polls": 1,
            "states": ["PROCESSING", "PROCESSED"], "under_way": ["4y2de"],
        } == kind  # fmt: skip

    def test_an_hour_on_the_worlds_clock(self) -> None:
        """The shipped list, ten minutes old at the start, is processed fifty minutes later."""
        box = sandbox(freeze=datetime.fromisoformat("2026-11-20T12:00:00+00:00"))
        seen = [self.shown(box)]
        for seconds in (2999, 1):
            box.world.clock.advance(seconds)
            seen.append(self.shown(box))

        assert [YOUNG, YOUNG, SMALL] == seen
        assert [] == self.pace(box)["under_way"]

    def test_by_hand(self, box: Sandbox) -> None:
        """A list moves there and back by hand, whatever its age."""
        path = "/_mock/transitions/do_not_reach_list/4y1bc"
        states = []
        for to in ("PROCESSING", "PROCESSED"):
            moved = box.client.post(path, json={"to": to}).get_json()
            states.append((moved["state"], self.shown(box, "4y1bc")))

        assert [("PROCESSING", YOUNG), ("PROCESSED", SMALL)] == states

    @pytest.mark.parametrize(("progression", "expected"), [
        ("manual", YOUNG), ("polls", YOUNG), ("immediate", SMALL),
    ])  # fmt: skip
    def test_the_clock_alone(self, box: Sandbox, progression: str, expected: Any) -> None:
        """Under the other progressions no age processes a list; `immediate` does at once."""
        self.pace(box, progression=progression)
        self.put(box, created_at="2020-01-01T00:00:00Z")

        assert (expected, expected) == (self.shown(box, "9zz"), self.shown(box))

    def test_polls(self, box: Sandbox) -> None:
        """Under `polls` each call that reads the list counts."""
        self.pace(box, progression="polls", polls=2)
        self.put(box)
        seen = []
        for _ in range(2):
            upload(box, [update({"email": [EMAIL]})], "9zz")
            seen.append(self.shown(box, "9zz"))

        assert [YOUNG, SMALL] == seen

    @pytest.mark.parametrize(("fields", "expected"), [
        ({}, YOUNG),
        ({"targetable": True, "list_size": 100}, ENOUGH),
        ({"reasons_not_targetable": [], "list_size": 100}, ENOUGH),
        ({"reasons_not_targetable": ["TOO_SMALL"]}, SMALL),
    ])  # fmt: skip
    def test_what_a_record_leaves_out(self, box: Sandbox, fields: Any, expected: Any) -> None:
        """A list that says nothing of its state is a new one; what it says is kept."""
        assert 200 == self.put(box, **fields).status_code
        assert expected == self.shown(box, "9zz")

    def test_uploads_show_once_it_is_processed(self, box: Sandbox) -> None:
        """A young list takes users; how many, and whether they are enough, shows afterwards."""
        self.put(box)
        users = [{"email": [hashed(str(n))]} for n in range(100)]
        answer = upload(box, [update(*users)], "9zz")
        before = self.shown(box, "9zz")
        box.world.clock.advance(3600)

        assert (200, YOUNG) == (answer.status_code, before)
        assert ENOUGH == self.shown(box, "9zz")

    def test_a_deleted_list_shows_how_far_it_was(self, box: Sandbox) -> None:
        """The delete answers with the state that the list has at that moment."""
        for hours, expected in ((0, YOUNG), (1, SMALL)):
            self.put(box)
            box.world.clock.advance(3600 * hours)
            gone = drop(box, "do_not_reach_lists/9zz")
            assert (expected | {"deleted": True}).items() <= gone.items()

    def test_another_accounts_list_is_not_looked_at(self, box: Sandbox) -> None:
        """A call that is refused counts as no look at the list."""
        self.pace(box, progression="polls", polls=1)
        refused = upload(box, [update({"email": [EMAIL]})], "4y2de")

        assert (404, YOUNG) == (refused.status_code, self.shown(box))

    def test_an_odd_record_waits_to_be_moved(self, box: Sandbox) -> None:
        """Without a moment of creation no time counts, and nothing fails."""
        record = {"id": "9zz", "reasons_not_targetable": ["PROCESSING"], "created_at": "soon"}
        box.client.put("/_mock/state/do_not_reach_lists/9zz?unchecked=true", json=record)

        assert "9zz" in self.pace(box)["under_way"]


# -- the list of an account ---------------------------------------------------------------------


def test_the_list_of_an_account(box: Sandbox) -> None:
    """An account has one list; a second one is refused while it lives.

    A new one is processed in an hour; its users are counted from the beginning.
    """
    listed = get(box, "do_not_reach_lists")
    second = post(box, "do_not_reach_lists", description="Another")
    drop(box, "do_not_reach_lists/4y1bc")
    made = make(box, "do_not_reach_lists", description="Another")
    unset = make_another(box, made["id"])
    given = {"name": "Do Not Reach List", "description": "Another", **YOUNG}

    assert listed.get_json()["next_cursor"] is None
    assert ids(listed) == ["4y1bc"]
    assert refusal(second) == (400, [("INVALID_PARAMETER", "")])
    assert given.items() <= made.items()
    assert unset["description"] is None
    assert ids(get(box, "do_not_reach_lists", with_deleted="true")) == [
        "4y1bc", made["id"], unset["id"]
    ]  # fmt: skip
    assert upload(box, [update({"email": [EMAIL]})], unset["id"]).status_code == 200
    box.world.clock.advance(3600)
    assert load(box, "do_not_reach_lists")[0]["reasons_not_targetable"] == ["TOO_SMALL"]
    assert box.record("do_not_reach_lists", unset["id"])["_size"] == 1


def make_another(box: Sandbox, key: str) -> Any:
    """A list without a description in place of another one."""
    drop(box, f"do_not_reach_lists/{key}")
    return make(box, "do_not_reach_lists")


def test_lists_are_those_of_the_account(box: Sandbox) -> None:
    """Another user's account has its own list."""
    response = box.call("GET", f"/12/accounts/{OTHER_ACCOUNT}/do_not_reach_lists", keys=NORTHBIKE)

    assert ids(response) == ["4y3fg"]
